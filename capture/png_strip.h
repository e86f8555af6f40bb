/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some rows of a picture on their way into a PNG's IDAT stream: indexed or filtered, then
 * compressed to a raw DEFLATE stream of their own. Different threads may work on different strips
 * at once.
 */
#ifndef CAPTURE_PNG_STRIP_H
#define CAPTURE_PNG_STRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/palette.h"
#include "capture/picture.h"

struct png_strip {
	struct pixels rows;            /* borrowed */
	const struct palette *palette; /* borrowed; has all colours; NULL: RGB */
	bool is_last;                  /* else the stream is left open for the next strip's */
	uint8_t *out;                  /* borrowed, png_strip_out_size() bytes */

	/* Results of png_strip_compress. */
	int error; /* 0, -ENOMEM, or -EBADMSG: the compressor's stream cannot be left open */
	size_t out_len;
	size_t filtered_len; /* bytes before compression */
	uint32_t adler;      /* Adler-32 of them */
};

/* Bytes per row of a PNG before compression, filter byte included; palette may be NULL. */
size_t png_row_size(int width, const struct palette *palette);

/* Room that png_strip_compress needs to work in, and for its result. */
size_t png_strip_work_size(int width, int height, const struct palette *palette);
size_t png_strip_out_size(int width, int height, const struct palette *palette);

/* Filters and compresses into out, using work (png_strip_work_size() bytes). */
void png_strip_compress(struct png_strip *strip, uint8_t *work);

#endif
