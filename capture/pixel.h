/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing single B,G,R,X pixels on any byte order. X is undefined: masked when read. */
#ifndef CAPTURE_PIXEL_H
#define CAPTURE_PIXEL_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "capture/picture.h"

/* 0xRRGGBB */
static inline uint32_t pixel_rgb(const uint8_t *bgrx)
{
	uint32_t word;
	memcpy(&word, bgrx, sizeof(word));
	return le32toh(word) & 0xffffff;
}

/* Writes 0xRRGGBB; X becomes 0. */
static inline void pixel_set(uint8_t *bgrx, uint32_t rgb)
{
	uint32_t word = htole32(rgb);
	memcpy(bgrx, &word, sizeof(word));
}

static inline const uint8_t *pixels_row(const struct pixels *pixels, int y)
{
	return pixels->data + (ptrdiff_t)y * pixels->stride;
}

#endif
