/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture of a film: frames of whatever size placed on a canvas of one size, with the overlay on
 * top, painted onto the encoder only where something changed. The film's thread only.
 */
#ifndef CAPTURE_FILM_CANVAS_H
#define CAPTURE_FILM_CANVAS_H

#include <pixman.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor_image;
struct encoder_wish;
struct film_canvas;
struct film_settings;
struct frame;
struct packet;
struct video_format;

#define FILM_EVENTS_MAX 64

/* A click at x, y, or a key. */
struct film_event {
	int x, y;
	char *key; /* NULL: a click */
};

/* All borrowed. */
struct film_view {
	struct frame *frame;        /* NULL: as before */
	pixman_region32_t *damage;  /* of it */
	bool has_pointer;           /* the three that follow are new */
	struct cursor_image *cursor;
	int pointer_x, pointer_y;
	const struct film_event *events;
	size_t event_count;
	bool is_private;
};

/* NULL when there is no memory or encoder for it. */
struct film_canvas *film_canvas_create(const struct film_settings *settings, const struct frame *frame);
void film_canvas_destroy(struct film_canvas *canvas); /* accepts NULL */

void film_canvas_format(const struct film_canvas *canvas, struct video_format *out);

/* Shows the view. Returns whether the picture differs now; *wish: how to encode what changed. */
bool film_canvas_show(struct film_canvas *canvas, const struct film_view *view, int64_t now_us,
	struct encoder_wish *wish);
struct packet *film_canvas_encode(struct film_canvas *canvas, const struct encoder_wish *wish);

/* When it will look different by itself (monotonic us; INT64_MAX: never). */
int64_t film_canvas_next_us(const struct film_canvas *canvas, int64_t now_us);
/* How often the screen has taken a size that does not fit. */
uint64_t film_canvas_scaled(const struct film_canvas *canvas);

#endif
