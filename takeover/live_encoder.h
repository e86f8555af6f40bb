/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one H.264 encoder on the hot rectangle, for all viewers of one quality: a thread that takes the
 * newest frame whenever some subscriber has room, encodes the hot rectangle and hands the same packet
 * to all. A subscriber joins at an IDR, one that fell behind goes on with the next.
 *
 * live_encoder_show is called on the display thread; subscribe, unsubscribe, ask_for_idr and poke from
 * any thread that holds no lock which its callbacks take.
 */
#ifndef TAKEOVER_LIVE_ENCODER_H
#define TAKEOVER_LIVE_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "display/rect.h"

struct live_encoder;
struct live_view;

/* Immutable once handed out. */
struct live_packet {
	_Atomic int refs;   /* private */
	struct rect rect;
	bool is_idr;
	uint64_t sequence;  /* one more than the packet before; a gap means: wait for an IDR */
	size_t len;
	uint8_t data[];     /* Annex B */
};
struct live_packet *live_packet_ref(struct live_packet *packet);
void live_packet_unref(struct live_packet *packet); /* accepts NULL */

/* Embedded. Both callbacks run on the encoder's thread and return at once. */
struct live_subscriber {
	struct list link;                 /* private */
	bool (*has_room)(void *arg);
	void (*on_packet)(void *arg, struct live_packet *packet); /* borrowed */
	void *arg;
};

/* tier 0 is the best picture (link_rate.h). */
struct live_encoder *live_encoder_create(int tier);
/* All subscribers have gone before. Accepts NULL. */
void live_encoder_destroy(struct live_encoder *encoder);

void live_encoder_show(struct live_encoder *encoder, const struct live_view *view);

void live_encoder_subscribe(struct live_encoder *encoder, struct live_subscriber *subscriber);
/* No callback runs any more once it has returned. */
void live_encoder_unsubscribe(struct live_encoder *encoder, struct live_subscriber *subscriber);
void live_encoder_ask_for_idr(struct live_encoder *encoder);
/* A subscriber has room again. */
void live_encoder_poke(struct live_encoder *encoder);

/* Whether this build of libavcodec can encode H.264. */
bool live_encoder_is_possible(void);

#endif
