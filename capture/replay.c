/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/replay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "capture/film.h"
#include "capture/pacer.h"
#include "capture/packet.h"

struct held {
	struct list link;
	struct packet *packet;
};

struct replay {
	struct film *film;      /* immutable */
	int64_t length_us;      /* immutable */
	struct film_sink sink;
	pthread_mutex_t lock;
	struct list packets;    /* oldest first, a key first; guarded by lock */
	size_t bytes;           /* guarded by lock */
	bool is_waiting_for_key; /* guarded by lock */
};

struct replay_clip {
	struct packet **packets;
	size_t count;
	int64_t from_us, to_us; /* awake */
	struct video_format format;
	uint8_t *extradata;
	int fps;
};

/* Called with the lock held. */
static void drop_first(struct replay *replay)
{
	struct held *first = container_of(replay->packets.next, struct held, link);
	list_remove(&first->link);
	replay->bytes -= first->packet->len;
	packet_unref(first->packet);
	free(first);
}

/* The second key of the ring, from which it could begin as well; NULL when there is none. */
static struct held *next_key(struct replay *replay)
{
	struct held *held;
	list_for_each(held, &replay->packets, link) {
		if (held->packet->is_key && held->link.prev != &replay->packets)
			return held;
	}
	return NULL;
}

/* Called with the lock held: lets go of what is too old, or too much. Returns whether a key is wanted. */
static bool trim(struct replay *replay, int64_t now_us)
{
	for (;;) {
		struct held *key = next_key(replay);
		bool is_too_much = replay->bytes > REPLAY_BYTES_MAX;
		if (key == NULL && is_too_much) {
			while (!list_is_empty(&replay->packets))
				drop_first(replay);
			replay->is_waiting_for_key = true;
			return true;
		}
		if (key == NULL || (!is_too_much && key->packet->time_us > now_us - replay->length_us))
			return false;
		while (replay->packets.next != &key->link)
			drop_first(replay);
	}
}

/* [film] */
static void on_packet(void *arg, struct packet *packet)
{
	struct replay *replay = arg;
	bool wants_key = false;
	pthread_mutex_lock(&replay->lock);
	if (packet->is_key)
		replay->is_waiting_for_key = false;
	if (!replay->is_waiting_for_key) {
		struct held *held = xcalloc(1, sizeof(*held));
		held->packet = packet_ref(packet);
		list_append(&replay->packets, &held->link);
		replay->bytes += packet->len;
		wants_key = trim(replay, packet->time_us);
	}
	pthread_mutex_unlock(&replay->lock);
	if (wants_key)
		film_ask_for_key(replay->film);
}

struct replay *replay_create(struct film *film, int seconds)
{
	struct replay *replay = xcalloc(1, sizeof(*replay));
	replay->film = film;
	replay->length_us = (int64_t)seconds * 1000000;
	replay->is_waiting_for_key = true;
	pthread_mutex_init(&replay->lock, NULL);
	list_init(&replay->packets);
	replay->sink = (struct film_sink){.wants_keys = true, .on_packet = on_packet, .arg = replay};
	film_subscribe(film, &replay->sink);
	return replay;
}

void replay_destroy(struct replay *replay)
{
	if (replay == NULL)
		return;
	film_unsubscribe(replay->film, &replay->sink);
	while (!list_is_empty(&replay->packets))
		drop_first(replay);
	pthread_mutex_destroy(&replay->lock);
	free(replay);
}

/* How long ago the ring begins, at most the wanted length. Called with the lock held. */
static int64_t held_us(const struct replay *replay, int64_t now_us)
{
	if (list_is_empty(&replay->packets))
		return 0;
	const struct held *first = container_of(replay->packets.next, struct held, link);
	int64_t held = now_us - first->packet->time_us;
	return held < replay->length_us ? held : replay->length_us;
}

void replay_status(struct replay *replay, struct replay_status *out)
{
	int64_t now_us = film_now_us(replay->film);
	pthread_mutex_lock(&replay->lock);
	*out = (struct replay_status){.seconds = (int)(replay->length_us / 1000000),
		.held_ms = held_us(replay, now_us) / 1000,
		.bytes = replay->bytes};
	pthread_mutex_unlock(&replay->lock);
}

struct replay_clip *replay_take(struct replay *replay)
{
	int64_t now_us = film_now_us(replay->film);
	struct replay_clip *clip = xcalloc(1, sizeof(*clip));
	struct held *held;
	pthread_mutex_lock(&replay->lock);
	clip->to_us = now_us;
	clip->from_us = now_us - held_us(replay, now_us);
	list_for_each(held, &replay->packets, link) {
		clip->packets = xrealloc(clip->packets, (clip->count + 1) * sizeof(clip->packets[0]));
		clip->packets[clip->count++] = packet_ref(held->packet);
	}
	pthread_mutex_unlock(&replay->lock);
	film_format(replay->film, &clip->format);
	clip->fps = film_fps(replay->film);
	clip->extradata = xmemdup(clip->format.extradata, clip->format.extradata_len);
	clip->format.extradata = clip->extradata;
	if (clip->count > 0)
		return clip;
	replay_clip_free(clip);
	return NULL;
}

/*
 * The ring begins at a key, up to some seconds before the time that was asked for: what lies before is
 * needed to decode the rest, and passes as quickly as pictures may follow each other.
 */
int replay_write(struct replay_clip *clip, int fd)
{
	struct fragments *fragments;
	int ret = fragments_create(fd, &clip->format, &fragments);
	struct frame_grid grid = {.fps = clip->fps, .last_slot = -1};
	int64_t picture_us = (int64_t)1000000 / clip->fps, late_us = 0;
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < clip->count && ret == 0; i++) {
		int64_t at_us = clip->packets[i]->time_us - clip->from_us + late_us;
		int64_t least_us = (grid.last_slot + 1) * picture_us;
		if (at_us < least_us) {
			late_us += least_us - at_us;
			at_us = least_us;
		}
		fragments_add(fragments, clip->packets[i], frame_grid_place(&grid, at_us));
		if (fragments_waiting_bytes(fragments) > 1u << 20)
			ret = fragments_flush(fragments, 0);
	}
	if (ret == 0)
		ret = fragments_flush(fragments, ticks_from_us(clip->to_us - clip->from_us + late_us));
	fragments_destroy(fragments);
	return ret;
}

void replay_clip_size(const struct replay_clip *clip, int *width, int *height)
{
	*width = clip->format.width;
	*height = clip->format.height;
}

void replay_clip_free(struct replay_clip *clip)
{
	if (clip == NULL)
		return;
	for (size_t i = 0; i < clip->count; i++)
		packet_unref(clip->packets[i]);
	free(clip->packets);
	free(clip->extradata);
	free(clip);
}
