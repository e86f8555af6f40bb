/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "capture/film.h"
#include "capture/fragments.h"
#include "capture/packet.h"
#include "capture/pacer.h"
#define LOG_MODULE "recorder"
#include "base/log.h"

/* What is in memory only: at most so old, and so much. Half of what may be lost to a kill. */
#define FLUSH_US    900000
#define FLUSH_BYTES (4u << 20)
/* How often a still screen's last picture is told to last longer, and the disk's room is looked at. */
#define EXTEND_US   1000000
#define SPACE_US    2000000
/* What may wait for a disk that hangs. */
#define QUEUE_BYTES (48u << 20)
/* Cuts shorter than this are not worth a chapter. */
#define CUT_TOLD_US 1000000

enum order_type { ORDER_PACKET, ORDER_PAUSE, ORDER_RESUME, ORDER_MARK, ORDER_SAY, ORDER_STOP };

struct order {
	struct list link;
	enum order_type type;
	int64_t time_us; /* awake */
	struct packet *packet;
	char *text;
};

struct recorder {
	struct loop *loop;              /* immutable */
	struct film *film;              /* immutable */
	char *path;                     /* immutable */
	struct recorder_events events;  /* immutable */
	struct film_sink sink;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* guarded by lock */
	struct list orders;
	size_t queued_bytes;
	bool is_waiting_for_key;        /* packets were dropped: the next ones hang on them */
	bool has_ended;                 /* no more orders */
	bool is_told;                   /* a post to the main thread is on its way */
	int sync_count;                 /* calls of the film that are to come */
	struct recorder_status status;
	struct mp4_notes chapters, subtitles;

	bool is_stopping, is_joined;    /* main thread */
	bool is_dead;                   /* main thread: freed, but for a post that is on its way */

	/* the recorder's thread */
	struct fragments *fragments;
	struct pacer pacer;
	bool needs_key;                 /* of the next packet: after the start and a pause */
	struct frame_grid grid;
	int64_t flushed_us, space_us;   /* monotonic */
	int error;
};

static void order_free(struct order *order)
{
	packet_unref(order->packet);
	free(order->text);
	free(order);
}

/* Called with the lock held. */
static void append_order(struct recorder *recorder, enum order_type type, int64_t time_us,
	struct packet *packet, const char *text)
{
	if (recorder->has_ended)
		return;
	struct order *order = xcalloc(1, sizeof(*order));
	order->type = type;
	order->time_us = time_us;
	order->packet = packet != NULL ? packet_ref(packet) : NULL;
	order->text = text != NULL ? xstrdup(text) : NULL;
	list_append(&recorder->orders, &order->link);
	pthread_cond_signal(&recorder->wake);
}

static void give_order(struct recorder *recorder, enum order_type type, const char *text)
{
	int64_t now_us = film_now_us(recorder->film);
	pthread_mutex_lock(&recorder->lock);
	append_order(recorder, type, now_us, NULL, text);
	pthread_mutex_unlock(&recorder->lock);
}

/* [film] */
static void on_packet(void *arg, struct packet *packet)
{
	struct recorder *recorder = arg;
	bool wants_key = false;
	pthread_mutex_lock(&recorder->lock);
	if (packet->is_key)
		recorder->is_waiting_for_key = false;
	if (recorder->queued_bytes + packet->len > QUEUE_BYTES && !recorder->is_waiting_for_key) {
		log_warn("%s: the disk does not keep up; pictures are lost", recorder->path);
		recorder->is_waiting_for_key = wants_key = true;
	}
	if (recorder->is_waiting_for_key) {
		recorder->status.lost++;
	} else {
		recorder->queued_bytes += packet->len;
		append_order(recorder, ORDER_PACKET, packet->time_us, packet, NULL);
	}
	pthread_mutex_unlock(&recorder->lock);
	if (wants_key)
		film_ask_for_key(recorder->film);
}

static void on_told(void *arg)
{
	struct recorder *recorder = arg;
	pthread_mutex_lock(&recorder->lock);
	recorder->is_told = false;
	pthread_mutex_unlock(&recorder->lock);
	if (!recorder->is_dead) {
		recorder->events.on_change(recorder->events.arg);
		return;
	}
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}

/* Called with the lock held. */
static void tell(struct recorder *recorder)
{
	if (recorder->is_told)
		return;
	recorder->is_told = true;
	loop_post(recorder->loop, on_told, recorder);
}

static void note(struct recorder *recorder, struct mp4_notes *notes, int64_t at_us, const char *text)
{
	pthread_mutex_lock(&recorder->lock);
	mp4_notes_add(notes, at_us / 1000, text);
	tell(recorder);
	pthread_mutex_unlock(&recorder->lock);
}

static void set_state(struct recorder *recorder, enum recorder_state state)
{
	pthread_mutex_lock(&recorder->lock);
	recorder->status.state = state;
	recorder->status.error = recorder->error;
	tell(recorder);
	pthread_mutex_unlock(&recorder->lock);
}

static void note_progress(struct recorder *recorder)
{
	pthread_mutex_lock(&recorder->lock);
	recorder->status.duration_ms = recorder->pacer.pts_us / 1000;
	recorder->status.bytes = fragments_file_bytes(recorder->fragments);
	pthread_mutex_unlock(&recorder->lock);
}

/* Looks whether there is room left, now and then. */
static void look_at_space(struct recorder *recorder, int64_t now_us)
{
	struct statvfs room;
	if (now_us - recorder->space_us < SPACE_US)
		return;
	recorder->space_us = now_us;
	if (statvfs(recorder->path, &room) == 0 &&
		(int64_t)room.f_bavail * (int64_t)room.f_frsize < RECORDER_SPACE_MIN)
		recorder->error = -ENOSPC;
}

/* Writes what waits; the last picture lasts until the present moment of the recording. */
static void flush(struct recorder *recorder)
{
	recorder->flushed_us = clock_monotonic_us();
	int ret = fragments_flush(recorder->fragments, ticks_from_us(recorder->pacer.pts_us));
	if (ret < 0 && recorder->error == 0)
		recorder->error = ret;
	look_at_space(recorder, recorder->flushed_us);
	note_progress(recorder);
}

static void take_packet(struct recorder *recorder, const struct order *order)
{
	struct packet *packet = order->packet;
	int64_t cut_us = 0;
	if (recorder->pacer.is_paused || (recorder->needs_key && !packet->is_key))
		return;
	int64_t pts_us = pacer_advance(&recorder->pacer, order->time_us, packet->is_change, &cut_us);
	/* The first picture is there from the beginning, however long it took to be made. */
	bool is_first = recorder->grid.last_slot < 0;
	recorder->needs_key = false;
	fragments_add(recorder->fragments, packet,
		frame_grid_place(&recorder->grid, is_first ? 0 : pts_us));
	if (cut_us >= CUT_TOLD_US) {
		char *text = xasprintf("%lld s without change left out", (long long)(cut_us / 1000000));
		note(recorder, &recorder->chapters, pts_us, text);
		free(text);
	}
}

static void pause_now(struct recorder *recorder, int64_t time_us)
{
	pacer_pause(&recorder->pacer, time_us);
	flush(recorder);
	set_state(recorder, RECORDER_PAUSED);
}

static void resume_now(struct recorder *recorder, int64_t time_us)
{
	int64_t paused_us = time_us - recorder->pacer.last_us;
	pacer_resume(&recorder->pacer, time_us);
	recorder->needs_key = true;
	film_ask_for_key(recorder->film);
	char *text = xasprintf("paused for %lld s", (long long)((paused_us + 500000) / 1000000));
	note(recorder, &recorder->chapters, recorder->pacer.pts_us, text);
	free(text);
	set_state(recorder, RECORDER_RECORDING);
}

/* Returns false when the recording ends with it. */
static bool carry_out(struct recorder *recorder, const struct order *order)
{
	int64_t ignored_us = 0;
	if (order->type == ORDER_PACKET) {
		take_packet(recorder, order);
		return true;
	}
	if (order->type == ORDER_PAUSE && !recorder->pacer.is_paused)
		pause_now(recorder, order->time_us);
	else if (order->type == ORDER_RESUME && recorder->pacer.is_paused)
		resume_now(recorder, order->time_us);
	int64_t pts_us = pacer_advance(&recorder->pacer, order->time_us, false, &ignored_us);
	if (order->type == ORDER_MARK)
		note(recorder, &recorder->chapters, pts_us, order->text);
	else if (order->type == ORDER_SAY)
		note(recorder, &recorder->subtitles, pts_us, order->text);
	return order->type != ORDER_STOP;
}

/* Called with the lock held; the next order, or NULL when it is time to flush. */
static struct order *next_order(struct recorder *recorder)
{
	while (list_is_empty(&recorder->orders)) {
		bool has_samples = !fragments_is_empty(recorder->fragments);
		bool is_still = recorder->pacer.is_paused || pacer_is_cutting(&recorder->pacer);
		int64_t due_us = recorder->flushed_us + (has_samples ? FLUSH_US : is_still ? SPACE_US : EXTEND_US);
		if (clock_monotonic_us() >= due_us)
			return NULL;
		struct timespec due = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
		pthread_cond_timedwait(&recorder->wake, &recorder->lock, &due);
	}
	struct order *order = container_of(recorder->orders.next, struct order, link);
	list_remove(&order->link);
	recorder->queued_bytes -= order->packet != NULL ? order->packet->len : 0;
	return order;
}

static bool is_flush_due(const struct recorder *recorder)
{
	return clock_monotonic_us() - recorder->flushed_us >= FLUSH_US ||
	       fragments_waiting_bytes(recorder->fragments) >= FLUSH_BYTES;
}

/* What lasts until now is not what waits to be drawn over it: that shall have its place, too. */
static void go_on_to_now(struct recorder *recorder)
{
	int64_t ignored_us = 0, settled_us = film_settled_us(recorder->film);
	pthread_mutex_lock(&recorder->lock);
	bool has_all = list_is_empty(&recorder->orders);
	pthread_mutex_unlock(&recorder->lock);
	if (has_all)
		pacer_advance(&recorder->pacer, settled_us, false, &ignored_us);
}

static void record(struct recorder *recorder)
{
	bool goes_on = true;
	while (goes_on && recorder->error == 0) {
		pthread_mutex_lock(&recorder->lock);
		struct order *order = next_order(recorder);
		pthread_mutex_unlock(&recorder->lock);
		if (order != NULL) {
			goes_on = carry_out(recorder, order);
			order_free(order);
		} else {
			go_on_to_now(recorder);
		}
		if (order == NULL || is_flush_due(recorder))
			flush(recorder);
	}
	if (recorder->error == 0)
		flush(recorder);
}

/* Nobody gives orders any more; those that were left are dropped. */
static void close_queue(struct recorder *recorder)
{
	pthread_mutex_lock(&recorder->lock);
	recorder->has_ended = true;
	struct order *order, *tmp;
	list_for_each_safe(order, tmp, &recorder->orders, link) {
		list_remove(&order->link);
		order_free(order);
	}
	pthread_mutex_unlock(&recorder->lock);
}

static void make_seekable(struct recorder *recorder)
{
	struct mp4_notes chapters, subtitles;
	struct mp4_result result;
	pthread_mutex_lock(&recorder->lock);
	mp4_notes_copy(&recorder->chapters, &chapters);
	mp4_notes_copy(&recorder->subtitles, &subtitles);
	pthread_mutex_unlock(&recorder->lock);
	int ret = mp4_finish(recorder->path, &chapters, &subtitles, &result);
	mp4_notes_finish(&chapters);
	mp4_notes_finish(&subtitles);
	pthread_mutex_lock(&recorder->lock);
	if (ret == 0) {
		recorder->status.is_seekable = true;
		recorder->status.duration_ms = result.duration_ms;
		recorder->status.bytes = result.bytes;
		recorder->status.device = result.device;
		recorder->status.inode = result.inode;
	}
	pthread_mutex_unlock(&recorder->lock);
	if (ret < 0)
		log_warn("%s stays a file of fragments: %s", recorder->path, strerror(-ret));
	if (ret < 0 && recorder->error == 0)
		recorder->error = ret;
}

static void *thread_main(void *arg)
{
	struct recorder *recorder = arg;
	pthread_setname_np(pthread_self(), "recorder");
	record(recorder);
	close_queue(recorder);
	fragments_destroy(recorder->fragments);
	recorder->fragments = NULL;
	set_state(recorder, RECORDER_FINISHING);
	make_seekable(recorder);
	bool is_full = recorder->error == -ENOSPC || recorder->error == -EDQUOT;
	set_state(recorder, recorder->error == 0 ? RECORDER_DONE
			    : is_full            ? RECORDER_NO_SPACE
						 : RECORDER_FAILED);
	return NULL;
}

static void recorder_free(struct recorder *recorder)
{
	mp4_notes_finish(&recorder->chapters);
	mp4_notes_finish(&recorder->subtitles);
	free(recorder->path);
	pthread_cond_destroy(&recorder->wake);
	recorder->is_dead = true;
	pthread_mutex_lock(&recorder->lock);
	bool is_told = recorder->is_told;
	pthread_mutex_unlock(&recorder->lock);
	if (is_told)
		return; /* the post frees the rest */
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}

int recorder_create(struct loop *loop, struct film *film, const char *path, int fd,
	int64_t max_idle_ms, const struct recorder_events *events, struct recorder **out)
{
	struct video_format format;
	struct fragments *fragments;
	film_format(film, &format);
	int ret = fragments_create(fd, &format, &fragments);
	if (ret < 0)
		return ret;
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	pthread_condattr_t attributes;
	recorder->loop = loop;
	recorder->film = film;
	recorder->path = xstrdup(path);
	recorder->events = *events;
	recorder->fragments = fragments;
	recorder->needs_key = true;
	recorder->grid = (struct frame_grid){.fps = film_fps(film), .last_slot = -1};
	recorder->flushed_us = clock_monotonic_us();
	recorder->status.width = format.width;
	recorder->status.height = format.height;
	recorder->sink = (struct film_sink){.on_packet = on_packet, .arg = recorder};
	list_init(&recorder->orders);
	pacer_init(&recorder->pacer, film_now_us(film), max_idle_ms * 1000);
	pthread_mutex_init(&recorder->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&recorder->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&recorder->thread, NULL, thread_main, recorder) != 0) {
		fragments_destroy(fragments);
		recorder_free(recorder);
		return -EAGAIN;
	}
	film_subscribe(film, &recorder->sink);
	*out = recorder;
	return 0;
}

/* [film] Everything shown so far is in the queue. */
static void on_synced(struct recorder *recorder, enum order_type type)
{
	give_order(recorder, type, NULL);
	pthread_mutex_lock(&recorder->lock);
	recorder->sync_count--;
	pthread_cond_broadcast(&recorder->wake);
	pthread_mutex_unlock(&recorder->lock);
}

static void on_synced_pause(void *arg)
{
	on_synced(arg, ORDER_PAUSE);
}

static void on_synced_stop(void *arg)
{
	on_synced(arg, ORDER_STOP);
}

static void sync_then(struct recorder *recorder, void (*done)(void *arg))
{
	pthread_mutex_lock(&recorder->lock);
	recorder->sync_count++;
	pthread_mutex_unlock(&recorder->lock);
	film_sync(recorder->film, done, recorder);
}

void recorder_pause(struct recorder *recorder)
{
	sync_then(recorder, on_synced_pause);
}

void recorder_resume(struct recorder *recorder)
{
	give_order(recorder, ORDER_RESUME, NULL);
}

void recorder_mark(struct recorder *recorder, const char *text)
{
	give_order(recorder, ORDER_MARK, text);
}

void recorder_say(struct recorder *recorder, const char *text)
{
	give_order(recorder, ORDER_SAY, text);
}

void recorder_stop(struct recorder *recorder)
{
	if (recorder->is_stopping)
		return;
	recorder->is_stopping = true;
	sync_then(recorder, on_synced_stop);
}

void recorder_status(struct recorder *recorder, struct recorder_status *out)
{
	pthread_mutex_lock(&recorder->lock);
	*out = recorder->status;
	pthread_mutex_unlock(&recorder->lock);
}

void recorder_notes(struct recorder *recorder, struct mp4_notes *chapters, struct mp4_notes *subtitles)
{
	pthread_mutex_lock(&recorder->lock);
	mp4_notes_copy(&recorder->chapters, chapters);
	mp4_notes_copy(&recorder->subtitles, subtitles);
	pthread_mutex_unlock(&recorder->lock);
}

void recorder_finish(struct recorder *recorder)
{
	if (recorder->is_joined)
		return;
	recorder_stop(recorder);
	pthread_join(recorder->thread, NULL);
	recorder->is_joined = true;
	film_unsubscribe(recorder->film, &recorder->sink);
	pthread_mutex_lock(&recorder->lock);
	while (recorder->sync_count > 0)
		pthread_cond_wait(&recorder->wake, &recorder->lock);
	pthread_mutex_unlock(&recorder->lock);
}

void recorder_destroy(struct recorder *recorder)
{
	if (recorder == NULL)
		return;
	recorder_finish(recorder);
	recorder_free(recorder);
}
