/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen as a film: one thread that takes the newest frame at most `fps` times a second, draws
 * pointer, clicks and keys over it, encodes it and hands the packet to all sinks. Recordings,
 * replay and broadcasts with the same settings share one. While nothing changes it encodes
 * nothing. The canvas keeps the size of the first frame (made even); later sizes are placed into it.
 *
 * Main thread, but for the watch's callback (display thread) and the sinks' (the film's thread).
 */
#ifndef CAPTURE_FILM_H
#define CAPTURE_FILM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "capture/encoder.h"
#include "capture/fragments.h"
#include "display/rect.h"

struct film;
struct frame;
struct packet;
struct screen;

struct film_settings {
	int fps;             /* a ceiling */
	enum encoder_quality quality;
	bool shows_cursor, shows_clicks, shows_keys;
	struct rect region;  /* within the screen; empty: all of it */
};

/* Embedded. on_packet runs on the film's thread and returns at once; the packet is borrowed. */
struct film_sink {
	struct list link;     /* private */
	bool wants_keys;      /* every few seconds while things change */
	bool wants_heartbeat; /* a packet each second, and a key every few, whether anything changes or not */
	void (*on_packet)(void *arg, struct packet *packet);
	void *arg;
};

/*
 * Begins with `frame`, whose size the canvas takes. NULL (logged) when there is no memory, thread or
 * encoder for it.
 */
struct film *film_create(
	struct screen *screen, const struct film_settings *settings, struct frame *frame);
/* All sinks have gone. It goes on by posts; film_destroy_done tells when. */
void film_destroy(struct film *film);

/* Whether it is what a film with these settings would be that begins with a frame of that size. */
bool film_fits(const struct film *film, const struct film_settings *settings, int width, int height);

/* What its packets are; valid as long as it is. */
void film_format(const struct film *film, struct video_format *out);

int film_fps(const struct film *film);

/* The sink gets a key packet of the present picture at once, then all others. */
void film_subscribe(struct film *film, struct film_sink *sink);
/* No callback runs any more once it has returned. */
void film_unsubscribe(struct film *film, struct film_sink *sink);
/* Makes the next packet a key, at once. Any thread. */
void film_ask_for_key(struct film *film);

/* Awake time (pacer.h). Any thread. */
int64_t film_now_us(struct film *film);

/*
 * Awake time up to which all pictures have been handed out: now, unless some wait for a processor, which on
 * a busy box may take seconds. Any thread but from inside a sink.
 */
int64_t film_settled_us(struct film *film);

/* Shows the screen as it is now, when no damage has told of it yet. */
void film_offer(struct film *film, struct frame *frame);

/*
 * Calls done(arg) on the film's thread once everything shown so far has been handed out, at once and
 * whatever the fps.
 */
void film_sync(struct film *film, void (*done)(void *arg), void *arg);

/* A card instead of the screen from here on; when it ends, film_offer shows the screen again. */
void film_set_private(struct film *film, bool is_private);

/* What the agent did, screen coordinates. */
void film_add_click(struct film *film, int x, int y);
void film_add_key(struct film *film, const char *name);

struct film_stats {
	uint64_t packets, bytes;
	uint64_t skipped;   /* views that a newer one overtook before their turn */
	uint64_t scaled;    /* the screen's size did not fit: how often it changed to such a one */
};
void film_stats(struct film *film, struct film_stats *out);

#endif
