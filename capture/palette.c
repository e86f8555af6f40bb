/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/palette.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pixel.h"

#define SLOT_EMPTY 0xffffffffu /* no colour: colours have 24 bits */

void palette_init(struct palette *palette)
{
	palette->count = 0;
	memset(palette->slot_colour, 0xff, sizeof(palette->slot_colour));
}

/* The slot that holds the colour, or the empty one where it belongs. */
static inline uint32_t find_slot(const struct palette *palette, uint32_t rgb)
{
	uint32_t slot = rgb * 0x9e3779b1u >> 21; /* Fibonacci hashing: the top 11 bits */
	while (palette->slot_colour[slot] != rgb && palette->slot_colour[slot] != SLOT_EMPTY)
		slot = (slot + 1) % PALETTE_SLOTS;
	return slot;
}

static bool add_colour(struct palette *palette, uint32_t rgb)
{
	uint32_t slot = find_slot(palette, rgb);
	if (palette->slot_colour[slot] == rgb)
		return true;
	if (palette->count == PALETTE_MAX)
		return false;
	palette->slot_colour[slot] = rgb;
	palette->slot_index[slot] = (uint8_t)palette->count;
	palette->colours[palette->count] = rgb;
	palette->count++;
	return true;
}

bool palette_merge(struct palette *palette, const struct palette *other)
{
	for (int i = 0; i < other->count; i++) {
		if (!add_colour(palette, other->colours[i]))
			return false;
	}
	return true;
}

static int compare_colours(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return (left > right) - (left < right);
}

void palette_sort(struct palette *palette)
{
	uint32_t colours[PALETTE_MAX];
	int count = palette->count;
	memcpy(colours, palette->colours, (size_t)count * sizeof(colours[0]));
	qsort(colours, (size_t)count, sizeof(colours[0]), compare_colours);
	palette_init(palette);
	for (int i = 0; i < count; i++)
		add_colour(palette, colours[i]);
}

/*
 * Pixels are looked at eight at once, and against two colours, since nearly all of a screen repeats
 * the last two: paper and ink.
 */
#define RUN 8

typedef uint32_t lanes __attribute__((vector_size(16)));

struct run {
	lanes is_first[2], is_second[2]; /* all ones where the pixel has that colour */
};

/* Compares RUN pixels, X bytes aside. True when each has one of the two colours. */
static inline bool compare_run(
        struct run *run, const uint8_t *bgrx, uint32_t first, uint32_t second)
{
	lanes all = ~(lanes){0};
	for (int i = 0; i < 2; i++) {
		lanes pixels;
		memcpy(&pixels, bgrx + (size_t)i * sizeof(pixels), sizeof(pixels));
		pixels &= htole32(0xffffff);
		run->is_first[i] = (lanes)(pixels == htole32(first));
		run->is_second[i] = (lanes)(pixels == htole32(second));
		all &= run->is_first[i] | run->is_second[i];
	}
	uint64_t halves[2];
	memcpy(halves, &all, sizeof(halves));
	return (halves[0] & halves[1]) == UINT64_MAX;
}

bool palette_add_row(struct palette *palette, const uint8_t *bgrx, int width)
{
	uint32_t last = pixel_rgb(bgrx), before = last;
	if (!add_colour(palette, last))
		return false;
	for (int x = 0; x < width;) {
		struct run run;
		if (width - x >= RUN && compare_run(&run, bgrx + (size_t)x * 4, last, before)) {
			x += RUN;
			continue;
		}
		for (int end = x + RUN < width ? x + RUN : width; x < end; x++) {
			uint32_t colour = pixel_rgb(bgrx + (size_t)x * 4);
			if (colour == last)
				continue;
			if (colour != before && !add_colour(palette, colour))
				return false;
			before = last;
			last = colour;
		}
	}
	return true;
}

/* Writes an index for each of the pixels that compare_run found to have one of two colours. */
static inline void put_run(const struct run *run, uint8_t first, uint8_t second, uint8_t *indices)
{
	for (int i = 0; i < 2; i++) {
		lanes index = (run->is_first[i] & first) | (run->is_second[i] & second);
		uint32_t four[4];
		memcpy(four, &index, sizeof(four));
		uint32_t packed = htole32(four[0] | four[1] << 8 | four[2] << 16 | four[3] << 24);
		memcpy(indices + (size_t)i * 4, &packed, sizeof(packed));
	}
}

void palette_index_row(
        const struct palette *palette, const uint8_t *bgrx, int width, uint8_t *indices)
{
	uint32_t last = pixel_rgb(bgrx), before = last;
	uint8_t last_index = palette->slot_index[find_slot(palette, last)];
	uint8_t before_index = last_index;
	for (int x = 0; x < width;) {
		struct run run;
		if (width - x >= RUN && compare_run(&run, bgrx + (size_t)x * 4, last, before)) {
			put_run(&run, last_index, before_index, indices + x);
			x += RUN;
			continue;
		}
		for (int end = x + RUN < width ? x + RUN : width; x < end; x++) {
			uint32_t colour = pixel_rgb(bgrx + (size_t)x * 4);
			if (colour != last) {
				uint8_t index =
				        colour == before
				                ? before_index
				                : palette->slot_index[find_slot(palette, colour)];
				before = last;
				before_index = last_index;
				last = colour;
				last_index = index;
			}
			indices[x] = last_index;
		}
	}
}

int palette_bit_depth(const struct palette *palette)
{
	return palette->count <= 2 ? 1 : palette->count <= 4 ? 2 : palette->count <= 16 ? 4 : 8;
}

/*
 * Eight indices, the first in the highest byte, become eight fields of `depth` bits in the low end:
 * each step halves the number of lanes and moves the left one down beside the right one.
 */
static inline uint64_t pack_eight(uint64_t x, int depth)
{
	x = (x & 0x00ff00ff00ff00ff) | (x >> 8 & 0x00ff00ff00ff00ff) << depth;
	x = (x & 0x0000ffff0000ffff) | (x >> 16 & 0x0000ffff0000ffff) << 2 * depth;
	return (x & 0xffffffff) | (x >> 32) << 4 * depth;
}

void palette_pack_row(const uint8_t *indices, int width, int bit_depth, uint8_t *out)
{
	if (bit_depth == 8) {
		memcpy(out, indices, (size_t)width);
		return;
	}
	for (int x = 0; x < width; x += 8) {
		int count = width - x < 8 ? width - x : 8;
		uint64_t eight = 0;
		memcpy(&eight, indices + x, (size_t)count);
		uint64_t packed = pack_eight(be64toh(eight), bit_depth) << (64 - 8 * bit_depth);
		packed = htobe64(packed);
		size_t len = ((size_t)count * (size_t)bit_depth + 7) / 8;
		memcpy(out, &packed, len);
		out += len;
	}
}
