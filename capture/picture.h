/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Still pictures: an own copy of pixels that can be cropped out of a frame, scaled, drawn on and
 * encoded. Pure: no X, no I/O, any thread (one picture is used by one thread at a time). Pixels are
 * B, G, R, X in memory; X is undefined and never reaches an encoded file (PNG is colour type 2 or
 * 3, never with alpha).
 */
#ifndef CAPTURE_PICTURE_H
#define CAPTURE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* A rectangle of pixels that somebody else owns. */
struct pixels {
	const uint8_t *data; /* B,G,R,X */
	int width, height;
	int stride; /* bytes */
};

/* A picture that owns its memory (free with picture_destroy). */
struct picture {
	uint8_t *data; /* B,G,R,X; height * stride bytes */
	int width, height;
	int stride;
};

enum picture_format {
	PICTURE_PNG,
	PICTURE_JPEG,
	PICTURE_WEBP,
};

/* "png", "jpeg", "webp" (also "jpg"); false when text is none of them. */
bool picture_format_parse(const char *text, enum picture_format *out);
const char *picture_format_name(enum picture_format format);
const char *picture_format_mime(enum picture_format format);

/* A picture of undefined pixels. NULL when memory is short (or a row is longer than an int). */
struct picture *picture_create(int width, int height);
/* Copies x,y,width,height (which must lie inside src). NULL when memory is short. */
struct picture *picture_crop(const struct pixels *src, int x, int y, int width, int height);
void picture_destroy(struct picture *picture);
struct pixels picture_pixels(const struct picture *picture);

/*
 * A copy scaled to exactly width x height (each at least 1). Shrinking averages all covered source
 * pixels (separable filter, no aliasing), growing by whole factors repeats pixels, else bilinear.
 * NULL when memory is short.
 */
struct picture *picture_scale(const struct pixels *src, int width, int height);

/*
 * Draws premultiplied A,R,G,B words (0xAARRGGBB, native order) of size w x h with its top left
 * corner at x,y (may lie partly or wholly outside).
 */
void picture_blend_argb(struct picture *picture, int x, int y, const uint32_t *argb, int w, int h);

/*
 * Draws a coordinate grid: lines each `step` screen pixels (chosen from the scale so that lines are
 * 50 to 120 picture pixels apart) and their screen coordinates along the top and left edges,
 * legible on any background. origin_*: screen coordinates of the picture's top left corner;
 * scale_*: picture pixels per screen pixel.
 */
void picture_draw_grid(
        struct picture *picture, int origin_x, int origin_y, double scale_x, double scale_y);

/* What goes into a file besides the pixels. */
struct picture_meta {
	int64_t taken_wall_us;  /* written as a PNG text chunk "Creation Time" (RFC 3339) */
	int origin_x, origin_y; /* written as a PNG text chunk "Screen Origin" ("X,Y") */
};

/*
 * Encodes to out (appended). quality 1..100 for JPEG and WebP (100 in WebP is lossless); ignored
 * for PNG. `threads`: how many threads the call may use in all (1 or 2; PNG only); the bytes are
 * the same for both. Returns 0 or a negative errno (-ENOMEM, -EOVERFLOW when the format cannot hold
 * that size: JPEG 65,500 and WebP 16,383 pixels a side), and then leaves out as it was.
 */
int picture_encode(const struct pixels *src, enum picture_format format, int quality, int threads,
        const struct picture_meta *meta, struct buffer *out);

#endif
