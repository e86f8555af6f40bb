/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One screenshot: from what the caller asked for and the frame that answers it to the bytes of a
 * picture file. Pure but for memory; any thread.
 */
#ifndef CAPTURE_SHOT_H
#define CAPTURE_SHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/value_rule.h"
#include "capture/picture.h"
#include "display/frame_request.h"

/* Pictures larger than this a side are refused (scale too large). */
#define SHOT_MAX_SIDE 16384

struct shot_options {
	struct frame_options frame;
	enum picture_format format;
	int quality;    /* 1..100; JPEG and WebP */
	double scale;   /* picture pixels per screen pixel, 0.01..8 */
	int max_side;   /* shrink so that no side is longer; 0: no limit */
	bool has_grid;  /* draw a coordinate grid */
};

extern const struct shot_options shot_defaults;

/* The options that shot_option_set knows, in the order of the documentation. */
extern const struct value_rule shot_option_rules[];

/*
 * Sets one option from its text as it stands in a query ("region", "10,20,300,200"). Returns NULL,
 * or a sentence (static or in error[error_size]) that says what is wrong with the value. An unknown
 * name is such a fault too. shot_options_check tells what only the whole set can tell.
 */
const char *shot_option_set(struct shot_options *options, const char *name, const char *value,
	char *error, size_t error_size);
const char *shot_options_check(const struct shot_options *options);

/* Where the points of the picture are on the screen: x_screen = origin_x + x_picture / scale_x. */
struct shot_geometry {
	int width, height;       /* of the picture */
	int origin_x, origin_y;  /* screen coordinates of its top left corner */
	double scale_x, scale_y; /* picture pixels per screen pixel */
};

/* Plans the picture for a reply without error. False when it would be larger than SHOT_MAX_SIDE. */
bool shot_plan(const struct shot_options *options, const struct frame_reply *reply,
	struct shot_geometry *out);

/*
 * A text that is the same for two shots exactly if they give the same picture: options, area,
 * its last change, pointer. The caller frees it.
 */
char *shot_key(const struct shot_options *options, const struct frame_reply *reply);

/* Encodes. Returns 0 or a negative errno (picture_encode). */
int shot_render(const struct shot_options *options, const struct frame_reply *reply,
	const struct shot_geometry *geometry, struct buffer *out);

#endif
