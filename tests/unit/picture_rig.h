/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures to test with: made with any stride, with garbage in every byte that must not matter. */
#ifndef TESTS_UNIT_PICTURE_RIG_H
#define TESTS_UNIT_PICTURE_RIG_H

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "capture/picture.h"

/* The same numbers in each run, so that a failure can be repeated. */
static inline uint32_t rig_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* What the pictures show; each is 0xRRGGBB at x,y. */
enum rig_kind {
	RIG_FLAT,
	RIG_TWO_COLOURS,
	RIG_FOUR_COLOURS,
	RIG_SIXTEEN_COLOURS,
	RIG_256_COLOURS,
	RIG_257_COLOURS, /* the last one only in the last pixel */
	RIG_TEXT,
	RIG_GRADIENT,
	RIG_PHOTO,
	RIG_NOISE,
	RIG_KINDS,
};

static inline uint32_t rig_hash(uint32_t value)
{
	value = (value ^ value >> 16) * 0x45d9f3b;
	value = (value ^ value >> 16) * 0x45d9f3b;
	return value ^ value >> 16;
}

/* Runs of one of `count` grey-free colours. */
static inline uint32_t rig_palette_colour(int x, int y, uint32_t count)
{
	uint32_t index = rig_hash((uint32_t)(x / 5) + (uint32_t)(y / 3) * 4096) % count;
	return index * 0x010305 + 0x102030;
}

/* Dark letters with soft edges, of a few shapes, in lines on white. */
static inline uint32_t rig_text(int x, int y)
{
	if (y % 20 >= 12 || x % 9 == 8)
		return 0xffffff;
	uint32_t letter = rig_hash((uint32_t)(x / 9 + y / 20 * 512)) % 26;
	uint32_t ink = rig_hash(letter * 977 + (uint32_t)(x % 9 + y % 20 * 16)) % 5;
	uint32_t tint = rig_hash((uint32_t)(y / 20 * 31 + x / 200)) % 40;
	return 0xffffff - ink * 0x333333 + (ink == 3 ? tint * 0x010203 : 0);
}

static inline uint32_t rig_photo(int x, int y)
{
	uint32_t grain = rig_hash((uint32_t)x + (uint32_t)y * 8192);
	uint32_t red = 60 + (uint32_t)(x / 7 + y / 5) % 120 + grain % 5;
	uint32_t green = 40 + (uint32_t)(x / 9 + y / 3) % 150 + (grain >> 8) % 5;
	uint32_t blue = 90 + (uint32_t)(y / 4) % 100 + (grain >> 16) % 5;
	return red << 16 | green << 8 | blue;
}

static inline uint32_t rig_colour(enum rig_kind kind, int x, int y, int width, int height)
{
	switch (kind) {
	case RIG_FLAT:
		return 0x808080;
	case RIG_TWO_COLOURS:
		return rig_palette_colour(x, y, 2);
	case RIG_FOUR_COLOURS:
		return rig_palette_colour(x, y, 4);
	case RIG_SIXTEEN_COLOURS:
		return rig_palette_colour(x, y, 16);
	case RIG_256_COLOURS:
		return (uint32_t)(x % 16 + y % 16 * 16) * 0x010305;
	case RIG_257_COLOURS:
		if (x == width - 1 && y == height - 1)
			return 0xffffff;
		return (uint32_t)(x % 16 + y % 16 * 16) * 0x010305;
	case RIG_TEXT:
		return rig_text(x, y);
	case RIG_GRADIENT:
		return (uint32_t)(x * 255 / width) << 16 | (uint32_t)(y * 255 / height) << 8 |
		       (uint32_t)((x + y) * 255 / (width + height));
	case RIG_PHOTO:
		return rig_photo(x, y);
	default:
		return rig_hash((uint32_t)x + (uint32_t)y * 65536) & 0xffffff;
	}
}

static inline uint8_t *rig_pixel(const struct pixels *pixels, int x, int y)
{
	return (uint8_t *)pixels->data + (ptrdiff_t)y * pixels->stride + (ptrdiff_t)x * 4;
}

static inline uint32_t rig_rgb(const struct pixels *pixels, int x, int y)
{
	const uint8_t *pixel = rig_pixel(pixels, x, y);
	return (uint32_t)pixel[2] << 16 | (uint32_t)pixel[1] << 8 | pixel[0];
}

static inline void rig_set(const struct pixels *pixels, int x, int y, uint32_t rgb)
{
	uint8_t *pixel = rig_pixel(pixels, x, y);
	pixel[0] = (uint8_t)rgb;
	pixel[1] = (uint8_t)(rgb >> 8);
	pixel[2] = (uint8_t)(rgb >> 16);
}

/*
 * Memory for width x height, rows `padding` bytes apart; X bytes and padding are random (by seed).
 * Ends exactly behind the last pixel, so that a sanitizer sees reads beyond it. Free data.
 */
static inline struct pixels rig_alloc(int width, int height, int padding, uint32_t seed)
{
	int stride = width * 4 + padding;
	size_t size = (size_t)stride * (size_t)height - (size_t)padding;
	uint8_t *data = xmalloc(size);
	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)rig_random(&seed);
	return (struct pixels){.data = data, .width = width, .height = height, .stride = stride};
}

static inline struct pixels rig_make(
        enum rig_kind kind, int width, int height, int padding, uint32_t seed)
{
	struct pixels pixels = rig_alloc(width, height, padding, seed);
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++)
			rig_set(&pixels, x, y, rig_colour(kind, x, y, width, height));
	}
	return pixels;
}

static inline void rig_free(struct pixels *pixels)
{
	free((void *)pixels->data);
}

#endif
