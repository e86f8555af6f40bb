/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/png_strip.h"

#include <errno.h>
#include <string.h>

#include <libdeflate.h>

#include "capture/deflate_join.h"
#include "capture/pixel.h"

#define FILTER_NONE 0
#define FILTER_SUB  1

/* One filter is chosen for each band of rows, by looking at one row in so many. */
#define FILTER_BAND  32
#define SAMPLE_EVERY 8

/* A terminal at 1280x800: 12.6 kB at level 6, 15.1 at 3, which takes 0.5 ms less of 4.9 in all. */
#define LEVEL_PALETTE 3

size_t png_row_size(int width, const struct palette *palette)
{
	size_t bits = palette != NULL ? (size_t)palette_bit_depth(palette) : 24;
	return 1 + ((size_t)width * bits + 7) / 8;
}

size_t png_strip_work_size(int width, int height, const struct palette *palette)
{
	/* With a palette, one row of indices besides. */
	return png_row_size(width, palette) * (size_t)height +
	       (palette != NULL ? (size_t)width : 0);
}

size_t png_strip_out_size(int width, int height, const struct palette *palette)
{
	size_t filtered_len = png_row_size(width, palette) * (size_t)height;
	return libdeflate_deflate_compress_bound(NULL, filtered_len) + DEFLATE_JOIN_EXTRA;
}

static bool row_repeats(const struct pixels *rows, int y)
{
	return y > 0 &&
	       memcmp(pixels_row(rows, y), pixels_row(rows, y - 1), (size_t)rows->width * 4) == 0;
}

/* Packed palette indices, unfiltered: differences of indices mean nothing. */
static void pack_rows(struct png_strip *strip, uint8_t *to)
{
	const struct pixels *rows = &strip->rows;
	size_t row_size = png_row_size(rows->width, strip->palette);
	int bit_depth = palette_bit_depth(strip->palette);
	uint8_t *indices = to + row_size * (size_t)rows->height;
	for (int y = 0; y < rows->height; y++, to += row_size) {
		to[0] = FILTER_NONE;
		if (row_repeats(rows, y)) {
			memcpy(to + 1, to + 1 - row_size, row_size - 1);
		} else {
			palette_index_row(
			        strip->palette, pixels_row(rows, y), rows->width, indices);
			palette_pack_row(indices, rows->width, bit_depth, to + 1);
		}
		strip->adler = libdeflate_adler32(strip->adler, to, row_size);
	}
}

static void filter_pixel(const uint8_t *bgrx, bool is_sub, int x, uint8_t *to)
{
	const uint8_t *pixel = bgrx + (size_t)x * 4;
	for (int i = 0; i < 3; i++)
		to[(size_t)x * 3 + i] =
		        (uint8_t)(pixel[2 - i] - (is_sub && x > 0 ? pixel[-2 - i] : 0));
}

typedef uint8_t byte_pack __attribute__((vector_size(16)));

/* RGB of each pixel, with FILTER_SUB less its left neighbour's, byte by byte modulo 256. */
static inline __attribute__((always_inline)) void filter_row_by_four(
        const uint8_t *bgrx, int width, bool is_sub, uint8_t *to)
{
	filter_pixel(bgrx, is_sub, 0, to);
	int x = 1;
	/* Each store writes four bytes too many, so two pixels must follow. */
	for (; x + 5 < width; x += 4) {
		byte_pack pixels, left;
		memcpy(&pixels, bgrx + (size_t)x * 4, sizeof(pixels));
		memcpy(&left, bgrx + (size_t)x * 4 - 4, sizeof(left));
		if (is_sub)
			pixels -= left;
		pixels = __builtin_shufflevector(
		        pixels, pixels, 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 7, 11, 15);
		memcpy(to + (size_t)x * 3, &pixels, sizeof(pixels));
	}
	for (; x < width; x++)
		filter_pixel(bgrx, is_sub, x, to);
}

#if defined(__x86_64__)
/* Byte shuffles are not in the baseline; without them the compiler's are five times slower. */
__attribute__((target("ssse3"))) static void filter_row_ssse3(
        const uint8_t *bgrx, int width, bool is_sub, uint8_t *to)
{
	if (is_sub)
		filter_row_by_four(bgrx, width, true, to);
	else
		filter_row_by_four(bgrx, width, false, to);
}
#endif

static void filter_row(const uint8_t *bgrx, int width, bool is_sub, uint8_t *to)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("ssse3")) {
		filter_row_ssse3(bgrx, width, is_sub, to);
		return;
	}
#endif
	filter_row_by_four(bgrx, width, is_sub, to);
}

/* How the pixels of some rows differ from their left neighbours. */
struct texture {
	int64_t pixels;
	int64_t changes; /* that differ at all */
	int64_t small;   /* that differ by less than 8 or so in each channel */
};

static inline bool is_small_step(uint32_t rgb, uint32_t left)
{
	/* Halved, so that the top bit of each byte is free to keep differences from borrowing. */
	uint32_t halves = rgb >> 1 & 0x7f7f7f, left_halves = left >> 1 & 0x7f7f7f;
	return (((halves | 0x808080) - left_halves + 0x040404) & 0xf8f8f8) == 0x808080;
}

static void texture_add_row(struct texture *texture, const uint8_t *bgrx, int width)
{
	unsigned int changes = 0, small = 0;
	uint32_t left = pixel_rgb(bgrx);
	for (int x = 1; x < width; x++) {
		uint32_t rgb = pixel_rgb(bgrx + (size_t)x * 4);
		if (rgb == left)
			continue;
		changes++;
		small += is_small_step(rgb, left);
		left = rgb;
	}
	texture->pixels += width;
	texture->changes += changes;
	texture->small += small;
}

/*
 * Text compresses best as it is, since equal glyphs stay equal; smooth and grainy pictures when
 * only the differences from the left neighbour are kept.
 */
static bool texture_is_smooth(const struct texture *texture)
{
	return texture->small * 2 > texture->changes;
}

/*
 * Where more time stops to pay. One 1280x800 picture at one thread, ms and KB:
 *
 *   level               3          4          5          6
 *   text             5.9  171   6.0  167   6.8  163   7.8  161
 *   smooth colours   4.2   43   4.3   44   4.9   44   5.6   36
 *   text and photo    10  344     -         14  332    19  324
 *   photo             34 1652    33 1652    39 1652    39 1652
 */
static int texture_level(const struct texture *texture)
{
	if (texture->changes * 10 > texture->pixels * 3)
		return 3;
	return texture_is_smooth(texture) ? 6 : 4;
}

static struct texture band_texture(const struct pixels *rows, int start)
{
	struct texture texture = {0};
	for (int y = start; y < rows->height && y < start + FILTER_BAND; y += SAMPLE_EVERY)
		texture_add_row(&texture, pixels_row(rows, y), rows->width);
	return texture;
}

/* Filters all rows; returns the level to compress them at. */
static int filter_rows(struct png_strip *strip, uint8_t *to)
{
	const struct pixels *rows = &strip->rows;
	size_t row_size = png_row_size(rows->width, NULL);
	struct texture sum = {0};
	uint8_t filter = FILTER_NONE;
	for (int y = 0; y < rows->height; y++, to += row_size) {
		if (y % FILTER_BAND == 0) {
			struct texture band = band_texture(rows, y);
			filter = texture_is_smooth(&band) ? FILTER_SUB : FILTER_NONE;
			sum.pixels += band.pixels;
			sum.changes += band.changes;
			sum.small += band.small;
		}
		to[0] = filter;
		filter_row(pixels_row(rows, y), rows->width, filter == FILTER_SUB, to + 1);
		strip->adler = libdeflate_adler32(strip->adler, to, row_size);
	}
	return texture_level(&sum);
}

static void compress(struct png_strip *strip, int level, const uint8_t *filtered)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
	if (compressor == NULL) {
		strip->error = -ENOMEM;
		return;
	}
	strip->out_len =
	        libdeflate_deflate_compress(compressor, filtered, strip->filtered_len, strip->out,
	                png_strip_out_size(strip->rows.width, strip->rows.height, strip->palette));
	libdeflate_free_compressor(compressor);
}

/* Lets the next strip's stream follow. */
static void leave_open(struct png_strip *strip)
{
	struct deflate_tail tail;
	strip->error = deflate_join_scan(strip->out, strip->out_len, &tail);
	if (strip->error == 0)
		strip->out_len = deflate_join_reopen(strip->out, &tail);
}

void png_strip_compress(struct png_strip *strip, uint8_t *work)
{
	const struct pixels *rows = &strip->rows;
	int level = LEVEL_PALETTE;
	/* Summed row by row, while they are in the nearest cache. */
	strip->adler = 1;
	if (strip->palette != NULL)
		pack_rows(strip, work);
	else
		level = filter_rows(strip, work);
	strip->filtered_len = png_row_size(rows->width, strip->palette) * (size_t)rows->height;
	strip->error = 0;
	compress(strip, level, work);
	if (strip->error == 0 && !strip->is_last)
		leave_open(strip);
}
