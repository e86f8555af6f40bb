/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/live_encoder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "display/frame.h"
#include "display/frame_look.h"
#include "display/live_source.h"
#include "takeover/h264.h"
#include "takeover/link_rate.h"
#define LOG_MODULE "live-encoder"
#include "base/log.h"

/*
 * What each tier is for: a link that takes anything; a busy home uplink; 50 kB/s, of which a third is
 * left for what is typed and repainted.
 */
static const struct {
	int crf, max_kbps, fps;
} tiers[LINK_TIERS] = {{24, 0, 30}, {30, 1400, 20}, {36, 260, 15}};

/* IDRs are many times the size of other frames: a crowd of joining viewers shares one. */
#define IDR_INTERVAL_US 250000

struct live_encoder {
	int tier; /* immutable */
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* guarded by lock */
	bool is_ending;
	struct frame *newest; /* not encoded yet; NULL: none */
	struct rect hot;      /* of newest */
	bool is_interrupted;  /* the motion stopped or moved since the last packet */
	bool is_idr_wanted;

	/* The list has a lock of its own, held while the callbacks run: unsubscribing waits for them. */
	pthread_mutex_t list_lock;
	struct list subscribers; /* guarded by list_lock */
	int subscriber_count;    /* guarded by lock */

	/* the encoder thread's */
	struct h264 *h264;
	struct rect rect;        /* what h264 was made for */
	bool is_text;            /* likewise */
	uint64_t sequence;
	int64_t last_us, last_idr_us;
};

struct live_packet *live_packet_ref(struct live_packet *packet)
{
	atomic_fetch_add(&packet->refs, 1);
	return packet;
}

void live_packet_unref(struct live_packet *packet)
{
	if (packet != NULL && atomic_fetch_sub(&packet->refs, 1) == 1)
		free(packet);
}

bool live_encoder_is_possible(void)
{
	return h264_is_possible();
}

static bool some_has_room(struct live_encoder *encoder)
{
	bool has_room = false;
	pthread_mutex_lock(&encoder->list_lock);
	struct live_subscriber *subscriber;
	list_for_each(subscriber, &encoder->subscribers, link)
		has_room |= subscriber->has_room(subscriber->arg);
	pthread_mutex_unlock(&encoder->list_lock);
	return has_room;
}

/* Encoding parameters hang on size and kind: a new rectangle is a new encoder. */
static bool prepare(struct live_encoder *encoder, const struct frame *frame, const struct rect *hot,
	bool is_interrupted)
{
	if (encoder->h264 != NULL && rect_equals(&encoder->rect, hot) && !is_interrupted)
		return true;
	bool is_text = frame_looks_like_text(frame, hot);
	bool is_same_size = encoder->h264 != NULL && encoder->rect.width == hot->width &&
			    encoder->rect.height == hot->height && encoder->is_text == is_text;
	encoder->rect = *hot;
	encoder->is_text = is_text;
	encoder->last_idr_us = 0;
	if (is_same_size)
		return true; /* an IDR is enough */
	h264_destroy(encoder->h264);
	const struct h264_settings settings = {.width = hot->width,
		.height = hot->height,
		.crf = tiers[encoder->tier].crf,
		.max_kbps = tiers[encoder->tier].max_kbps,
		.fps = tiers[encoder->tier].fps,
		.is_text = is_text};
	encoder->h264 = h264_create(&settings);
	return encoder->h264 != NULL;
}

static struct live_packet *make_packet(struct live_encoder *encoder, struct frame *frame,
	const struct rect *hot, bool force_idr)
{
	const uint8_t *data;
	size_t len;
	bool is_idr;
	const uint8_t *pixels =
		frame->pixels + (size_t)hot->y * (size_t)frame->stride + (size_t)hot->x * 4;
	if (!h264_encode(encoder->h264, pixels, frame->stride, force_idr, &data, &len, &is_idr)) {
		h264_destroy(encoder->h264);
		encoder->h264 = NULL;
		return NULL;
	}
	struct live_packet *packet = malloc(sizeof(*packet) + len);
	if (packet == NULL)
		return NULL;
	atomic_init(&packet->refs, 1);
	packet->rect = *hot;
	packet->is_idr = is_idr;
	packet->sequence = ++encoder->sequence;
	packet->len = len;
	memcpy(packet->data, data, len);
	return packet;
}

static void hand_out(struct live_encoder *encoder, struct live_packet *packet)
{
	pthread_mutex_lock(&encoder->list_lock);
	struct live_subscriber *subscriber;
	list_for_each(subscriber, &encoder->subscribers, link)
		subscriber->on_packet(subscriber->arg, packet);
	pthread_mutex_unlock(&encoder->list_lock);
}

static void encode(struct live_encoder *encoder, struct frame *frame, const struct rect *hot,
	bool is_interrupted, bool is_idr_wanted)
{
	if (!prepare(encoder, frame, hot, is_interrupted))
		return;
	int64_t now_us = clock_monotonic_us();
	bool is_idr_due = encoder->last_idr_us == 0 ||
			  (is_idr_wanted && now_us - encoder->last_idr_us >= IDR_INTERVAL_US);
	if (is_idr_wanted && !is_idr_due) { /* soon */
		pthread_mutex_lock(&encoder->lock);
		encoder->is_idr_wanted = true;
		pthread_mutex_unlock(&encoder->lock);
	}
	struct live_packet *packet = make_packet(encoder, frame, hot, is_idr_due);
	if (packet == NULL)
		return;
	if (packet->is_idr)
		encoder->last_idr_us = now_us;
	encoder->last_us = now_us;
	hand_out(encoder, packet);
	live_packet_unref(packet);
}

/* Waits until the tier's next frame may come. Called with the lock held. */
static void wait_for_turn(struct live_encoder *encoder)
{
	int64_t due_us = encoder->last_us + 1000000 / tiers[encoder->tier].fps - 8000;
	while (!encoder->is_ending && encoder->tier > 0 && clock_monotonic_us() < due_us) {
		struct timespec due = {
			.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
		if (pthread_cond_timedwait(&encoder->wake, &encoder->lock, &due) != 0)
			break;
	}
}

static void *thread_main(void *arg)
{
	struct live_encoder *encoder = arg;
	pthread_setname_np(pthread_self(), "live-encoder");
	pthread_mutex_lock(&encoder->lock);
	while (!encoder->is_ending) {
		if (encoder->newest == NULL || encoder->subscriber_count == 0) {
			pthread_cond_wait(&encoder->wake, &encoder->lock);
			continue;
		}
		pthread_mutex_unlock(&encoder->lock);
		bool has_room = some_has_room(encoder);
		pthread_mutex_lock(&encoder->lock);
		if (!has_room && !encoder->is_ending) {
			pthread_cond_wait(&encoder->wake, &encoder->lock);
			continue;
		}
		wait_for_turn(encoder);
		struct frame *frame = encoder->newest;
		struct rect hot = encoder->hot;
		bool is_interrupted = encoder->is_interrupted, is_idr_wanted = encoder->is_idr_wanted;
		encoder->newest = NULL;
		if (frame == NULL)
			continue;
		encoder->is_interrupted = encoder->is_idr_wanted = false;
		pthread_mutex_unlock(&encoder->lock);
		encode(encoder, frame, &hot, is_interrupted, is_idr_wanted);
		frame_unref(frame);
		pthread_mutex_lock(&encoder->lock);
	}
	pthread_mutex_unlock(&encoder->lock);
	return NULL;
}

struct live_encoder *live_encoder_create(int tier)
{
	struct live_encoder *encoder = xcalloc(1, sizeof(*encoder));
	encoder->tier = tier;
	pthread_mutex_init(&encoder->lock, NULL);
	pthread_mutex_init(&encoder->list_lock, NULL);
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&encoder->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	list_init(&encoder->subscribers);
	if (pthread_create(&encoder->thread, NULL, thread_main, encoder) != 0)
		abort(); /* made once, early: no thread means that nothing will work */
	return encoder;
}

void live_encoder_destroy(struct live_encoder *encoder)
{
	if (encoder == NULL)
		return;
	pthread_mutex_lock(&encoder->lock);
	encoder->is_ending = true;
	pthread_cond_signal(&encoder->wake);
	pthread_mutex_unlock(&encoder->lock);
	pthread_join(encoder->thread, NULL);
	frame_unref(encoder->newest);
	h264_destroy(encoder->h264);
	pthread_cond_destroy(&encoder->wake);
	pthread_mutex_destroy(&encoder->lock);
	pthread_mutex_destroy(&encoder->list_lock);
	free(encoder);
}

void live_encoder_show(struct live_encoder *encoder, const struct live_view *view)
{
	struct frame *old = NULL;
	pthread_mutex_lock(&encoder->lock);
	if (rect_is_empty(&view->hot) || !rect_equals(&view->hot, &encoder->hot))
		encoder->is_interrupted = true;
	encoder->hot = view->hot;
	bool is_new = pixman_region32_not_empty(view->damage);
	if (rect_is_empty(&view->hot) || encoder->subscriber_count == 0) {
		old = encoder->newest;
		encoder->newest = NULL;
	} else if (is_new || encoder->is_interrupted || encoder->is_idr_wanted) {
		old = encoder->newest;
		encoder->newest = frame_ref(view->frame);
		pthread_cond_signal(&encoder->wake);
	}
	pthread_mutex_unlock(&encoder->lock);
	frame_unref(old);
}

void live_encoder_subscribe(struct live_encoder *encoder, struct live_subscriber *subscriber)
{
	pthread_mutex_lock(&encoder->list_lock);
	list_append(&encoder->subscribers, &subscriber->link);
	pthread_mutex_unlock(&encoder->list_lock);
	pthread_mutex_lock(&encoder->lock);
	encoder->subscriber_count++;
	encoder->is_idr_wanted = true;
	pthread_mutex_unlock(&encoder->lock);
}

void live_encoder_unsubscribe(struct live_encoder *encoder, struct live_subscriber *subscriber)
{
	pthread_mutex_lock(&encoder->list_lock);
	list_remove(&subscriber->link);
	pthread_mutex_unlock(&encoder->list_lock);
	pthread_mutex_lock(&encoder->lock);
	encoder->subscriber_count--;
	pthread_mutex_unlock(&encoder->lock);
}

void live_encoder_ask_for_idr(struct live_encoder *encoder)
{
	pthread_mutex_lock(&encoder->lock);
	encoder->is_idr_wanted = true;
	pthread_mutex_unlock(&encoder->lock);
}

void live_encoder_poke(struct live_encoder *encoder)
{
	pthread_mutex_lock(&encoder->lock);
	pthread_cond_signal(&encoder->wake);
	pthread_mutex_unlock(&encoder->lock);
}
