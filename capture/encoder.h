/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures to H.264 for files: libx264, called directly, because it alone can be told which
 * macroblocks have not changed (libavcodec has no way to say so); those are skipped without a
 * search. Holds back no picture: each one in gives its packet out. The encoder owns the canvas in
 * YUV; what changed is painted onto it, so that the rest is neither converted nor searched. One
 * thread at a time.
 */
#ifndef CAPTURE_ENCODER_H
#define CAPTURE_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct encoder;
struct packet;
struct pixels;

enum encoder_quality {
	ENCODER_SMALL,
	ENCODER_BALANCED,
	ENCODER_SHARP,
	ENCODER_LOSSLESS, /* 4:4:4, every pixel as it was but for the rounding of YUV; not every player takes it */
};

/* By their numbers; ends with NULL. */
extern const char *const encoder_quality_names[];

bool encoder_quality_parse(const char *text, enum encoder_quality *out);
const char *encoder_quality_name(enum encoder_quality quality);

struct encoder_settings {
	int width, height; /* even */
	enum encoder_quality quality;
	int fps;           /* the ceiling, for the level */
};

/* An encoder with a black canvas. NULL (logged) when memory is short or libx264 refuses. */
struct encoder *encoder_create(const struct encoder_settings *settings);
void encoder_destroy(struct encoder *encoder); /* accepts NULL */

/* SPS and PPS in Annex B, for the containers; valid as long as the encoder is. */
const uint8_t *encoder_extradata(const struct encoder *encoder, size_t *len);

/*
 * Paints pixels onto the canvas at x, y (even), inside of it. Of an odd width or height the last
 * column or row shares its colour with the one behind it, whose brightness stays as it is.
 */
void encoder_paint(struct encoder *encoder, const struct pixels *pixels, int x, int y);

/* Whether something was painted since the last packet. */
bool encoder_is_dirty(const struct encoder *encoder);

struct encoder_wish {
	bool is_key;       /* decoding can begin here */
	bool is_text;      /* search far for where a line has gone */
	bool is_scene;     /* much is new: a key costs little more */
	bool is_fine;      /* little is new, and stays: leave no trace of what was there before */
};

/* Encodes the canvas. NULL (logged) when that failed; the caller sets the packet's time. */
struct packet *encoder_encode(struct encoder *encoder, const struct encoder_wish *wish);

#endif
