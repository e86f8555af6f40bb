/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/publisher.h"

#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "capture/film.h"
#include "capture/fragments.h"
#include "capture/pacer.h"
#include "capture/packet.h"
#include "capture/packet_queue.h"
#define LOG_MODULE "publisher"
#include "base/log.h"

/* What may wait for a slow target; older pictures are dropped then. */
#define QUEUE_BYTES (8u << 20)
/* A target that takes nothing for so long is gone. */
#define STALL_US    10000000
#define GOODBYE_US  1000000
#define RETRY_FIRST_US 500000
#define RETRY_MAX_US   30000000
/* A connection that held so long was a good one: the pauses begin anew. */
#define GOOD_US     10000000

struct publisher {
	struct loop *loop;                /* immutable */
	struct film *film;                /* immutable */
	char *url;                        /* immutable */
	struct publisher_events events;   /* immutable */
	struct film_sink sink;
	struct packet_queue *queue;
	pthread_t thread;
	bool is_stopping, is_joined;      /* main thread */
	_Atomic int is_connected;
	_Atomic uint64_t packets, bytes, reconnects;
	/* its own thread */
	AVFormatContext *context;
	int64_t patience_us;              /* monotonic: when a blocking call is given up */
	bool is_saying_goodbye;           /* the end of a playlist is written although it was stopped */
	int64_t first_us;                 /* of this connection; 0: nothing sent yet */
	struct frame_grid grid;
};

static const struct {
	const char *prefix, *format;
} schemes[] = {
	{"rtmp://", "flv"}, {"rtmps://", "flv"}, {"rtsp://", "rtsp"}, {"srt://", "mpegts"},
};

static bool is_playlist(const char *url)
{
	size_t len = strlen(url);
	return len > 5 && url[0] == '/' && strcmp(url + len - 5, ".m3u8") == 0;
}

static const char *format_of(const char *url)
{
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		if (strncmp(url, schemes[i].prefix, strlen(schemes[i].prefix)) == 0 &&
			url[strlen(schemes[i].prefix)] != '\0')
			return schemes[i].format;
	}
	return is_playlist(url) ? "hls" : NULL;
}

bool publisher_check(const char *url, const char **advice)
{
	*advice = "must begin with rtmp://, rtmps://, rtsp:// or srt://, or be the absolute path of an "
		  "HLS playlist that ends in .m3u8";
	return format_of(url) != NULL;
}

static int is_interrupted(void *arg)
{
	const struct publisher *publisher = arg;
	bool is_unwanted = packet_queue_is_closed(publisher->queue) && !publisher->is_saying_goodbye;
	return is_unwanted || clock_monotonic_us() > publisher->patience_us;
}

/* [film] */
static void on_packet(void *arg, struct packet *packet)
{
	struct publisher *publisher = arg;
	packet_queue_put(publisher->queue, packet); /* the film's next key is never far */
}

static void fill(const struct publisher *publisher, AVCodecParameters *par)
{
	struct video_format format;
	film_format(publisher->film, &format);
	par->codec_type = AVMEDIA_TYPE_VIDEO;
	par->codec_id = AV_CODEC_ID_H264;
	par->width = format.width;
	par->height = format.height;
	par->extradata = av_mallocz(format.extradata_len + AV_INPUT_BUFFER_PADDING_SIZE);
	if (par->extradata == NULL)
		return;
	memcpy(par->extradata, format.extradata, format.extradata_len);
	par->extradata_size = (int)format.extradata_len;
}

/* Half a minute to look back at, and nothing left behind. */
static void set_options(const struct publisher *publisher, AVDictionary **options)
{
	if (is_playlist(publisher->url)) {
		av_dict_set(options, "hls_time", "4", 0);
		av_dict_set(options, "hls_list_size", "8", 0);
		av_dict_set(options, "hls_flags", "delete_segments+temp_file+independent_segments", 0);
	} else if (strncmp(publisher->url, "rtsp", 4) == 0) {
		av_dict_set(options, "rtsp_transport", "tcp", 0);
	} else if (strncmp(publisher->url, "rtmp", 4) == 0) {
		av_dict_set(options, "flvflags", "no_duration_filesize", 0);
	}
}

static int connect_target(struct publisher *publisher)
{
	AVFormatContext *context = NULL;
	AVDictionary *options = NULL;
	AVIOInterruptCB interrupt = {is_interrupted, publisher};
	publisher->patience_us = clock_monotonic_us() + STALL_US;
	int ret = avformat_alloc_output_context2(
		&context, NULL, format_of(publisher->url), publisher->url);
	if (ret < 0)
		return ret;
	context->interrupt_callback = interrupt;
	AVStream *stream = avformat_new_stream(context, NULL);
	if (stream == NULL) {
		avformat_free_context(context);
		return AVERROR(ENOMEM);
	}
	fill(publisher, stream->codecpar);
	stream->time_base = (AVRational){1, FRAME_GRID_TICKS};
	set_options(publisher, &options);
	if ((context->oformat->flags & AVFMT_NOFILE) == 0)
		ret = avio_open2(&context->pb, publisher->url, AVIO_FLAG_WRITE, &interrupt, NULL);
	if (ret >= 0)
		ret = avformat_write_header(context, &options);
	av_dict_free(&options);
	publisher->context = context;
	return ret;
}

static void disconnect(struct publisher *publisher, bool is_good)
{
	AVFormatContext *context = publisher->context;
	if (context == NULL)
		return;
	publisher->patience_us = clock_monotonic_us() + GOODBYE_US;
	publisher->is_saying_goodbye = true;
	if (is_good)
		av_write_trailer(context);
	if ((context->oformat->flags & AVFMT_NOFILE) == 0)
		avio_closep(&context->pb);
	avformat_free_context(context);
	publisher->context = NULL;
	publisher->is_saying_goodbye = false;
}

static int send(struct publisher *publisher, const struct packet *packet)
{
	AVPacket *out = av_packet_alloc();
	if (out == NULL || av_new_packet(out, (int)packet->len) < 0) {
		av_packet_free(&out);
		return AVERROR(ENOMEM);
	}
	memcpy(out->data, packet->data, packet->len);
	if (publisher->first_us == 0) {
		publisher->first_us = packet->time_us;
		publisher->grid = (struct frame_grid){
			.fps = film_fps(publisher->film), .last_slot = -1};
	}
	out->pts = out->dts =
		frame_grid_place(&publisher->grid, packet->time_us - publisher->first_us);
	out->duration = FRAME_GRID_TICKS / publisher->grid.fps;
	out->flags = packet->is_key ? AV_PKT_FLAG_KEY : 0;
	av_packet_rescale_ts(out, (AVRational){1, FRAME_GRID_TICKS},
		publisher->context->streams[0]->time_base);
	publisher->patience_us = clock_monotonic_us() + STALL_US;
	int ret = av_write_frame(publisher->context, out);
	av_packet_free(&out);
	atomic_fetch_add(&publisher->packets, 1);
	atomic_fetch_add(&publisher->bytes, packet->len);
	return ret;
}

struct telling {
	struct publisher *publisher;
	const char *what;
};

static void on_told(void *arg)
{
	struct telling *telling = arg;
	struct publisher *publisher = telling->publisher;
	publisher->events.on_change(publisher->events.arg, telling->what);
	free(telling);
}

static void tell(struct publisher *publisher, const char *what)
{
	struct telling *telling = xcalloc(1, sizeof(*telling));
	telling->publisher = publisher;
	telling->what = what;
	loop_post(publisher->loop, on_told, telling);
}

/* Sends until the target has gone or the broadcast ends. */
static int broadcast(struct publisher *publisher)
{
	int ret = 0;
	packet_queue_restart(publisher->queue);
	film_ask_for_key(publisher->film);
	publisher->first_us = 0;
	while (ret >= 0 && !packet_queue_is_closed(publisher->queue)) {
		struct packet *packet = packet_queue_take(publisher->queue, STALL_US);
		if (packet != NULL)
			ret = send(publisher, packet);
		packet_unref(packet);
	}
	return ret;
}

static void on_thread_ended(void *arg);

static void *thread_main(void *arg)
{
	struct publisher *publisher = arg;
	int64_t pause_us = RETRY_FIRST_US;
	pthread_setname_np(pthread_self(), "publisher");
	while (!packet_queue_is_closed(publisher->queue)) {
		int64_t since_us = clock_monotonic_us();
		int ret = connect_target(publisher);
		if (ret >= 0) {
			publisher->is_connected = 1;
			tell(publisher, "connected");
			ret = broadcast(publisher);
			publisher->is_connected = 0;
		}
		disconnect(publisher, ret >= 0);
		if (packet_queue_is_closed(publisher->queue))
			break;
		log_info("a broadcast lost its target (%s); trying again in %lld ms", av_err2str(ret),
			(long long)pause_us / 1000);
		tell(publisher, "lost");
		atomic_fetch_add(&publisher->reconnects, 1);
		packet_queue_sleep(publisher->queue, pause_us);
		bool was_good = clock_monotonic_us() - since_us > GOOD_US + pause_us;
		pause_us = was_good ? RETRY_FIRST_US : pause_us * 2 > RETRY_MAX_US ? RETRY_MAX_US : pause_us * 2;
	}
	loop_post(publisher->loop, on_thread_ended, publisher);
	return NULL;
}

struct publisher *publisher_create(
	struct loop *loop, struct film *film, const char *url, const struct publisher_events *events)
{
	struct publisher *publisher = xcalloc(1, sizeof(*publisher));
	publisher->loop = loop;
	publisher->film = film;
	publisher->url = xstrdup(url);
	publisher->events = *events;
	publisher->queue = packet_queue_create(QUEUE_BYTES);
	publisher->sink = (struct film_sink){
		.wants_heartbeat = true, .on_packet = on_packet, .arg = publisher};
	avformat_network_init();
	if (pthread_create(&publisher->thread, NULL, thread_main, publisher) != 0) {
		packet_queue_destroy(publisher->queue);
		free(publisher->url);
		free(publisher);
		return NULL;
	}
	film_subscribe(film, &publisher->sink);
	return publisher;
}

void publisher_stop(struct publisher *publisher)
{
	if (publisher->is_stopping)
		return;
	publisher->is_stopping = true;
	film_unsubscribe(publisher->film, &publisher->sink);
	packet_queue_close(publisher->queue);
}

void publisher_join(struct publisher *publisher)
{
	if (!publisher->is_joined)
		pthread_join(publisher->thread, NULL);
	publisher->is_joined = true;
}

/* The last post of the thread: no other can come behind it. */
static void on_thread_ended(void *arg)
{
	struct publisher *publisher = arg;
	publisher_join(publisher);
	publisher->events.on_stopped(publisher->events.arg);
	packet_queue_destroy(publisher->queue);
	free(publisher->url);
	free(publisher);
}

/* Stream keys and passwords stand at the end of such URLs, and in front of the host. */
static char *public_part(const char *url)
{
	if (url[0] == '/')
		return xstrdup(url);
	const char *host = strstr(url, "://") + 3;
	size_t len = strcspn(host, "/?");
	const char *at = memchr(host, '@', len);
	const char *shown = at != NULL ? at + 1 : host;
	return xasprintf("%.*s%.*s/…", (int)(host - url), url, (int)(len - (size_t)(shown - host)), shown);
}

json_t *publisher_json(struct publisher *publisher)
{
	char *url = public_part(publisher->url);
	json_t *json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "url", url, "state",
		publisher->is_connected ? "connected" : "connecting", "packets",
		(json_int_t)publisher->packets, "bytes", (json_int_t)publisher->bytes, "dropped",
		(json_int_t)packet_queue_dropped(publisher->queue), "reconnects",
		(json_int_t)publisher->reconnects);
	free(url);
	return json;
}
