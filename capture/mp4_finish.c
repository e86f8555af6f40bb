/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/mp4_finish.h"

#include <errno.h>
#include <fcntl.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file_folder.h"
#include "capture/fragments.h"
#define LOG_MODULE "mp4"
#include "base/log.h"

/* What the moov needs beside its tables: heads, codec data, names. */
#define MOOV_HEADS 8192
/* Per sample: duration (8), size (4), its chunk (8) at worst, sync table (4). */
#define MOOV_SAMPLE 24
/* Per chapter or subtitle, beside its text, in all tables that name it. */
#define MOOV_NOTE 64
#define TEXT_MAX 1000

struct job {
	AVFormatContext *in, *out;
	AVStream *video, *subtitle;
	const struct mp4_notes *subtitles;
	size_t next_subtitle;
};

void mp4_notes_add(struct mp4_notes *notes, int64_t at_ms, const char *text)
{
	notes->items = xrealloc(notes->items, (notes->count + 1) * sizeof(notes->items[0]));
	size_t i = notes->count++;
	for (; i > 0 && notes->items[i - 1].at_ms > at_ms; i--)
		notes->items[i] = notes->items[i - 1];
	notes->items[i] = (struct mp4_note){at_ms, xstrdup(text)};
}

void mp4_notes_copy(const struct mp4_notes *from, struct mp4_notes *to)
{
	*to = (struct mp4_notes){0};
	for (size_t i = 0; i < from->count; i++)
		mp4_notes_add(to, from->items[i].at_ms, from->items[i].text);
}

void mp4_notes_finish(struct mp4_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->items[i].text);
	free(notes->items);
	*notes = (struct mp4_notes){0};
}

static int from_averror(int ret)
{
	if (ret >= 0)
		return 0;
	int error = AVUNERROR(ret);
	return error > 0 && error < 4096 ? -error : -EIO;
}

static void add_chapters(AVFormatContext *out, const struct mp4_notes *notes, int64_t duration_ms)
{
	if (notes->count == 0)
		return;
	/* What comes before the first mark is a chapter too, or players name it after the mark. */
	bool has_start = notes->items[0].at_ms == 0;
	size_t count = notes->count + (has_start ? 0 : 1);
	out->chapters = av_calloc(count, sizeof(out->chapters[0]));
	if (out->chapters == NULL)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct mp4_note *note = has_start ? &notes->items[i] : i > 0 ? &notes->items[i - 1] : NULL;
		const struct mp4_note *next = NULL;
		if (i + 1 < count)
			next = has_start ? &notes->items[i + 1] : &notes->items[i];
		AVChapter *chapter = av_mallocz(sizeof(*chapter));
		if (chapter == NULL)
			return;
		chapter->id = (int64_t)i + 1;
		chapter->time_base = (AVRational){1, 1000};
		chapter->start = note != NULL ? note->at_ms : 0;
		chapter->end = next != NULL ? next->at_ms : duration_ms;
		if (chapter->end <= chapter->start)
			chapter->end = chapter->start + 1;
		av_dict_set(&chapter->metadata, "title", note != NULL ? note->text : "start", 0);
		out->chapters[out->nb_chapters++] = chapter;
	}
}

/* The defaults of 3GPP timed text (26.245): white, centred, at the bottom, on a shade. */
static const uint8_t text_style[] = {
	0, 0, 0, 0,             /* flags */
	1, 0xff,                /* centred, at the bottom */
	0, 0, 0, 0xa0,          /* background */
	0, 0, 0, 0, 0, 0, 0, 0, /* the box: all of it */
	0, 0, 0, 0, 0, 1, 0, 18, 255, 255, 255, 255, /* font 1, 18 pixels, white */
	0, 0, 0, 18, 'f', 't', 'a', 'b', 0, 1, 0, 1, 5, 'S', 'e', 'r', 'i', 'f',
};

static bool add_subtitle_stream(struct job *job)
{
	if (job->subtitles->count == 0)
		return true;
	job->subtitle = avformat_new_stream(job->out, NULL);
	if (job->subtitle == NULL)
		return false;
	AVCodecParameters *par = job->subtitle->codecpar;
	par->codec_type = AVMEDIA_TYPE_SUBTITLE;
	par->codec_id = AV_CODEC_ID_MOV_TEXT;
	par->width = job->video->codecpar->width;
	par->height = job->video->codecpar->height / 6;
	par->extradata = av_mallocz(sizeof(text_style) + AV_INPUT_BUFFER_PADDING_SIZE);
	if (par->extradata == NULL)
		return false;
	memcpy(par->extradata, text_style, sizeof(text_style));
	par->extradata_size = sizeof(text_style);
	job->subtitle->time_base = (AVRational){1, 1000};
	av_dict_set(&job->subtitle->metadata, "language", "und", 0);
	av_dict_set(&job->subtitle->metadata, "handler_name", "what the agent said", 0);
	job->subtitle->disposition = AV_DISPOSITION_DEFAULT;
	return true;
}

static int64_t moov_bytes(const struct job *job, int64_t samples, const struct mp4_notes *chapters)
{
	int64_t bytes = MOOV_HEADS + samples * MOOV_SAMPLE;
	for (size_t i = 0; i < chapters->count; i++)
		bytes += MOOV_NOTE + 2 * (int64_t)strlen(chapters->items[i].text);
	return bytes + 2 * MOOV_NOTE * (int64_t)job->subtitles->count;
}

static int open_out(struct job *job, const char *path, const struct mp4_notes *chapters,
	const struct fragments_summary *summary)
{
	AVDictionary *options = NULL;
	int ret = avformat_alloc_output_context2(&job->out, NULL, "mp4", path);
	if (ret < 0)
		return ret;
	AVStream *stream = avformat_new_stream(job->out, NULL);
	if (stream == NULL)
		return AVERROR(ENOMEM);
	ret = avcodec_parameters_copy(stream->codecpar, job->video->codecpar);
	stream->codecpar->codec_tag = MKTAG('a', 'v', 'c', '1');
	stream->time_base = job->video->time_base;
	stream->sample_aspect_ratio = (AVRational){1, 1};
	if (ret < 0 || !add_subtitle_stream(job))
		return ret < 0 ? ret : AVERROR(ENOMEM);
	add_chapters(job->out, chapters, ticks_to_ms(summary->end));
	av_dict_set(&job->out->metadata, "encoder", "boxscreen " BOXSCREEN_VERSION, 0);
	/* Room for the index in front: with it known, the file need not be written twice. */
	av_dict_set_int(&options, "moov_size", moov_bytes(job, summary->sample_count, chapters),
		0);
	av_dict_set_int(&options, "video_track_timescale", FRAGMENTS_TIMESCALE, 0);
	av_dict_set(&options, "movflags", "+write_colr", 0);
	ret = avio_open(&job->out->pb, path, AVIO_FLAG_WRITE);
	if (ret >= 0)
		ret = avformat_write_header(job->out, &options);
	av_dict_free(&options);
	return ret;
}

/* A subtitle's sample: its length and its text. An empty text ends the one before. */
static int write_text(struct job *job, int64_t at_ms, int64_t end_ms, const char *text)
{
	AVPacket *packet = av_packet_alloc();
	size_t len = strlen(text);
	if (len > TEXT_MAX)
		for (len = TEXT_MAX; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
			;
	int ret = packet != NULL ? av_new_packet(packet, (int)len + 2) : AVERROR(ENOMEM);
	if (ret >= 0) {
		packet->data[0] = (uint8_t)(len >> 8);
		packet->data[1] = (uint8_t)len;
		memcpy(packet->data + 2, text, len);
		packet->stream_index = job->subtitle->index;
		packet->pts = packet->dts = av_rescale_q(
			at_ms, (AVRational){1, 1000}, job->subtitle->time_base);
		packet->duration = av_rescale_q(
			end_ms - at_ms, (AVRational){1, 1000}, job->subtitle->time_base);
		packet->flags |= AV_PKT_FLAG_KEY;
		ret = av_write_frame(job->out, packet);
	}
	av_packet_free(&packet);
	return ret;
}

/* Writes the subtitles that begin before `until_ms`. */
static int write_subtitles(struct job *job, int64_t until_ms, int64_t duration_ms)
{
	const struct mp4_notes *notes = job->subtitles;
	int ret = 0;
	while (ret >= 0 && job->next_subtitle < notes->count &&
		notes->items[job->next_subtitle].at_ms < until_ms) {
		size_t i = job->next_subtitle++;
		int64_t at_ms = notes->items[i].at_ms;
		int64_t next_ms = i + 1 < notes->count ? notes->items[i + 1].at_ms : duration_ms;
		if (next_ms > duration_ms)
			next_ms = duration_ms;
		if (i == 0 && at_ms > 0)
			ret = write_text(job, 0, at_ms, "");
		if (next_ms <= at_ms)
			continue;
		int64_t end_ms = at_ms + SUBTITLE_MS < next_ms ? at_ms + SUBTITLE_MS : next_ms;
		if (ret >= 0)
			ret = write_text(job, at_ms, end_ms, notes->items[i].text);
		if (ret >= 0 && end_ms < next_ms)
			ret = write_text(job, end_ms, next_ms, "");
	}
	return ret;
}

/* Writes a sample that lasts until `end` (ticks), and the subtitles that begin in it before. */
static int write_sample(struct job *job, AVPacket *sample, int64_t end, int64_t duration)
{
	AVRational ticks = {1, FRAGMENTS_TIMESCALE}, base = job->video->time_base;
	int64_t at = av_rescale_q(sample->pts, base, ticks);
	int ret = write_subtitles(job, ticks_to_ms(at) + 1, ticks_to_ms(duration));
	sample->duration = av_rescale_q(end - at, ticks, base);
	av_packet_rescale_ts(sample, base, job->out->streams[0]->time_base);
	sample->stream_index = 0;
	sample->pos = -1;
	return ret >= 0 ? av_write_frame(job->out, sample) : ret;
}

/*
 * A sample is written when the next is known: libavformat does not tell how long the last one of a
 * fragment lasts, and an idle screen's lasts for minutes.
 */
static int copy_samples(struct job *job, int64_t duration)
{
	AVPacket *sample = av_packet_alloc(), *next = av_packet_alloc();
	int ret = sample != NULL && next != NULL ? 0 : AVERROR(ENOMEM);
	AVRational ticks = {1, FRAGMENTS_TIMESCALE};
	while (ret >= 0 && (ret = av_read_frame(job->in, next)) >= 0) {
		int64_t next_at = av_rescale_q(next->pts, job->video->time_base, ticks);
		if (sample->data != NULL)
			ret = write_sample(job, sample, next_at, duration);
		av_packet_unref(sample);
		av_packet_move_ref(sample, next);
	}
	if (ret == AVERROR_EOF)
		ret = sample->data != NULL ? write_sample(job, sample, duration, duration) : 0;
	if (ret >= 0)
		ret = write_subtitles(job, INT64_MAX, ticks_to_ms(duration));
	av_packet_free(&sample);
	av_packet_free(&next);
	return ret;
}

static int open_in(struct job *job, const char *path)
{
	char *url = xasprintf("file:%s", path);
	int ret = avformat_open_input(&job->in, url, NULL, NULL);
	free(url);
	if (ret < 0)
		return ret;
	if (job->in->nb_streams == 0)
		return AVERROR_INVALIDDATA;
	job->video = job->in->streams[0];
	return 0;
}

/* The file of fragments and the finished one beside it, both opened once: libavformat is given what is
   open, never a name in whose place somebody could have laid a link meanwhile. */
struct place {
	int folder, old, new;
	const char *name;
	char *beside;
};

static int open_new(struct place *place)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	place->new = openat(place->folder, place->beside, flags, 0600);
	/* What an earlier run left there, or a trap. */
	if (place->new < 0 && errno == EEXIST && unlinkat(place->folder, place->beside, 0) == 0)
		place->new = openat(place->folder, place->beside, flags, 0600);
	return place->new < 0 ? -errno : 0;
}

static int open_place(struct place *place, const char *path)
{
	*place = (struct place){.old = -1, .new = -1};
	place->folder = file_folder_open(path, &place->name);
	if (place->folder < 0)
		return place->folder;
	place->beside = xasprintf("%s.finishing", place->name);
	place->old = openat(
		place->folder, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return place->old < 0 ? -errno : 0;
}

static void close_place(struct place *place)
{
	const int fds[] = {place->new, place->old, place->folder};
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	free(place->beside);
}

static int write_finished(struct job *job, const struct place *place,
	const struct fragments_summary *summary, const struct mp4_notes *chapters,
	struct mp4_result *result)
{
	char in[40], out[48];
	snprintf(in, sizeof(in), "/proc/self/fd/%d", place->old);
	snprintf(out, sizeof(out), "file:/proc/self/fd/%d", place->new);
	int ret = open_in(job, in);
	if (ret < 0)
		return ret;
	ret = open_out(job, out, chapters, summary);
	if (ret >= 0)
		ret = copy_samples(job, summary->end);
	if (ret >= 0)
		ret = av_write_trailer(job->out);
	result->duration_ms = ticks_to_ms(summary->end);
	result->width = job->video->codecpar->width;
	result->height = job->video->codecpar->height;
	return ret;
}

/* Puts the new file in the old one's place, with its rights, once it is on the disk. */
static int replace(const struct place *place, struct mp4_result *result)
{
	struct stat old, new;
	if (fstat(place->old, &old) < 0 || fchmod(place->new, old.st_mode & 0777) < 0 ||
		fsync(place->new) < 0 || fstat(place->new, &new) < 0 ||
		renameat(place->folder, place->beside, place->folder, place->name) < 0)
		return -errno;
	result->bytes = new.st_size;
	result->device = new.st_dev;
	result->inode = new.st_ino;
	return 0;
}

static int finish(const struct place *place, const struct fragments_summary *summary,
	const struct mp4_notes *chapters, const struct mp4_notes *subtitles,
	struct mp4_result *result)
{
	struct job job = {.subtitles = subtitles};
	*result = (struct mp4_result){0};
	int ret = from_averror(write_finished(&job, place, summary, chapters, result));
	if (job.out != NULL && job.out->pb != NULL) {
		int close_ret = from_averror(avio_closep(&job.out->pb));
		ret = ret < 0 ? ret : close_ret;
	}
	avformat_close_input(&job.in);
	avformat_free_context(job.out);
	return ret == 0 ? replace(place, result) : ret;
}

int mp4_finish(const char *path, const struct mp4_notes *chapters,
	const struct mp4_notes *subtitles, struct mp4_result *result)
{
	struct fragments_summary summary;
	struct place place;
	int ret = open_place(&place, path);
	if (ret == 0 && (!fragments_inspect(place.old, &summary) || summary.fragment_count == 0))
		ret = -ENODATA;
	if (ret == 0)
		ret = open_new(&place);
	if (ret == 0) {
		ret = finish(&place, &summary, chapters, subtitles, result);
		if (ret < 0)
			unlinkat(place.folder, place.beside, 0);
	}
	close_place(&place);
	return ret;
}

int mp4_probe(const char *path, struct mp4_result *result)
{
	struct job job = {0};
	struct stat st;
	int ret = open_in(&job, path);
	bool is_finished = ret >= 0 && job.in->duration > 0 && stat(path, &st) == 0;
	if (is_finished)
		*result = (struct mp4_result){.duration_ms = job.in->duration / 1000,
			.bytes = st.st_size,
			.width = job.video->codecpar->width,
			.height = job.video->codecpar->height};
	avformat_close_input(&job.in);
	return is_finished ? 0 : -ENODATA;
}
