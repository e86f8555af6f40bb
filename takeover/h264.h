/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures of one size to H.264 as viewers decode it: libx264 through libavcodec, baseline, one slice
 * a frame, no delay (a picture in, its packet out). One thread at a time.
 */
#ifndef TAKEOVER_H264_H
#define TAKEOVER_H264_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct h264;

struct h264_settings {
	int width, height;  /* even */
	int crf;
	int max_kbps;       /* 0: as the crf needs */
	int fps;            /* for the rate control */
	bool is_text;       /* search far for where a line has gone */
};

/* NULL (logged) when libavcodec has no libx264 or refuses. */
struct h264 *h264_create(const struct h264_settings *settings);
void h264_destroy(struct h264 *h264); /* accepts NULL */

/*
 * Encodes a picture (B, G, R, X). *data and *len are valid until the next call; *is_idr tells whether
 * decoding can begin here. False (logged) when encoding failed.
 */
bool h264_encode(struct h264 *h264, const uint8_t *pixels, int stride, bool force_idr,
	const uint8_t **data, size_t *len, bool *is_idr);

bool h264_is_possible(void);

#endif
