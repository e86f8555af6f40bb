/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The up to 256 colours of a picture, and its pixels as indices into them: terminals and plain
 * toolkits use a handful, and a palette PNG of them is several times smaller and quicker to make.
 * Pure; any number of threads may read one palette, one may change it.
 */
#ifndef CAPTURE_PALETTE_H
#define CAPTURE_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PALETTE_MAX   256
#define PALETTE_SLOTS 2048

struct palette {
	uint32_t colours[PALETTE_MAX]; /* 0xRRGGBB, by index */
	int count;
	/* Open-addressing hash, at most an eighth full. */
	uint32_t slot_colour[PALETTE_SLOTS];
	uint8_t slot_index[PALETTE_SLOTS];
};

void palette_init(struct palette *palette);

/* Adds the colours of `width` (at least 1) B,G,R,X pixels. False when that would make more than
 * 256. */
bool palette_add_row(struct palette *palette, const uint8_t *bgrx, int width);

/* Adds the other palette's colours. False when that would make more than 256. */
bool palette_merge(struct palette *palette, const struct palette *other);

/* Puts the colours in order of their value, whatever the order they were found in. */
void palette_sort(struct palette *palette);

/* Writes the index of each pixel; all colours must be in the palette. */
void palette_index_row(
        const struct palette *palette, const uint8_t *bgrx, int width, uint8_t *indices);

/* Bits per pixel of a palette PNG with so many colours: 1, 2, 4 or 8. */
int palette_bit_depth(const struct palette *palette);

/* Packs indices as PNG wants them, leftmost pixel in the high bits; unused low bits are 0. */
void palette_pack_row(const uint8_t *indices, int width, int bit_depth, uint8_t *out);

#endif
