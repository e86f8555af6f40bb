/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cropping and encoding: what is written is read back by the libraries that others read it with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <libdeflate.h>
#include <png.h>
#include <turbojpeg.h>
#include <webp/decode.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "capture/picture.h"
#include "tests/unit/picture_rig.h"

static const struct picture_meta meta = {
        .taken_wall_us = 1795981891042000, .origin_x = -7, .origin_y = 1200};

static void encode(const struct pixels *pixels, enum picture_format format, int quality,
        int threads, struct buffer *out)
{
	assert_int_equal(picture_encode(pixels, format, quality, threads, &meta, out), 0);
}

static void knows_format_names(void **state)
{
	enum picture_format format = PICTURE_PNG;
	assert_true(picture_format_parse("webp", &format));
	assert_int_equal(format, PICTURE_WEBP);
	assert_true(picture_format_parse("png", &format));
	assert_int_equal(format, PICTURE_PNG);
	assert_true(picture_format_parse("jpg", &format));
	assert_int_equal(format, PICTURE_JPEG);
	assert_true(picture_format_parse("jpeg", &format));
	assert_false(picture_format_parse("gif", &format));
	assert_false(picture_format_parse("", &format));
	assert_false(picture_format_parse("PNG ", &format));
	assert_int_equal(format, PICTURE_JPEG);
	assert_string_equal(picture_format_name(PICTURE_JPEG), "jpeg");
	assert_string_equal(picture_format_mime(PICTURE_JPEG), "image/jpeg");
	assert_string_equal(picture_format_mime(PICTURE_WEBP), "image/webp");
}

static void crops(void **state)
{
	static const int crops[][4] = {
	        {0, 0, 31, 23}, {0, 0, 1, 1}, {30, 22, 1, 1}, {5, 7, 20, 3}, {3, 0, 1, 23}};
	struct pixels pixels = rig_make(RIG_NOISE, 31, 23, 12, 1);
	for (size_t i = 0; i < ARRAY_LEN(crops); i++) {
		const int *area = crops[i];
		struct picture *crop = picture_crop(&pixels, area[0], area[1], area[2], area[3]);
		struct pixels cropped = picture_pixels(crop);
		assert_int_equal(cropped.width, area[2]);
		assert_int_equal(cropped.height, area[3]);
		for (int y = 0; y < area[3]; y++) {
			for (int x = 0; x < area[2]; x++)
				assert_int_equal(rig_rgb(&cropped, x, y),
				        rig_rgb(&pixels, area[0] + x, area[1] + y));
		}
		picture_destroy(crop);
	}
	picture_destroy(NULL);
	rig_free(&pixels);
}

static void refuses_rows_longer_than_an_int(void **state)
{
	assert_null(picture_create(1 << 29, 1));
}

/* A chunk of a PNG in memory. */
struct chunk {
	uint32_t len;
	char type[5];
	const uint8_t *data;
};

static uint32_t read_be32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static size_t read_chunks(const struct buffer *png, struct chunk *chunks, size_t max)
{
	assert_true(png->len > 8);
	assert_memory_equal(png->data, "\x89PNG\r\n\x1a\n", 8);
	size_t count = 0;
	for (size_t at = 8; at < png->len;) {
		assert_true(count < max && png->len - at >= 12);
		struct chunk *chunk = &chunks[count++];
		chunk->len = read_be32(png->data + at);
		assert_true(chunk->len <= png->len - at - 12);
		memcpy(chunk->type, png->data + at + 4, 4);
		chunk->type[4] = '\0';
		chunk->data = png->data + at + 8;
		uint32_t crc = libdeflate_crc32(0, png->data + at + 4, chunk->len + 4);
		assert_int_equal(read_be32(chunk->data + chunk->len), crc);
		at += chunk->len + 12;
	}
	return count;
}

static void check_text(const struct chunk *chunk, const char *key, const char *text)
{
	assert_string_equal(chunk->type, "tEXt");
	assert_int_equal(chunk->len, strlen(key) + 1 + strlen(text));
	assert_string_equal((const char *)chunk->data, key);
	assert_memory_equal(chunk->data + strlen(key) + 1, text, strlen(text));
}

/* All chunks in order; no others. */
static void check_chunks(const struct buffer *png, const struct pixels *pixels, int bit_depth)
{
	struct chunk chunks[16];
	size_t count = read_chunks(png, chunks, ARRAY_LEN(chunks));
	struct chunk *next = chunks;
	assert_int_equal(count, bit_depth > 0 ? 7 : 6);
	assert_string_equal(next->type, "IHDR");
	assert_int_equal(read_be32(next->data), pixels->width);
	assert_int_equal(read_be32(next->data + 4), pixels->height);
	assert_int_equal(next->data[8], bit_depth > 0 ? bit_depth : 8);
	assert_int_equal(next->data[9], bit_depth > 0 ? 3 : 2);
	assert_memory_equal(next->data + 10, "\0\0\0", 3);
	next++;
	assert_string_equal(next->type, "sRGB");
	assert_int_equal(next->len, 1);
	assert_int_equal(next->data[0], 0);
	next++;
	if (bit_depth > 0) {
		assert_string_equal(next->type, "PLTE");
		assert_int_equal(next->len % 3, 0);
		assert_in_range(next->len / 3, 1, 1u << bit_depth);
		/* In order: not as chance and two threads found them. */
		for (uint32_t i = 3; i < next->len; i += 3)
			assert_true(memcmp(next->data + i - 3, next->data + i, 3) < 0);
		next++;
	}
	check_text(next++, "Creation Time", "2026-11-29T19:51:31.042Z");
	check_text(next++, "Screen Origin", "-7,1200");
	assert_string_equal(next->type, "IDAT");
	next++;
	assert_string_equal(next->type, "IEND");
	assert_int_equal(next->len, 0);
}

/* libpng, which checks every sum, must read exactly the pixels back. */
static void check_decodes_to(const struct buffer *png, const struct pixels *pixels)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
	assert_true(png_image_begin_read_from_memory(&image, png->data, png->len));
	assert_false(image.format & PNG_FORMAT_FLAG_ALPHA);
	image.format = PNG_FORMAT_RGB;
	assert_int_equal(image.width, pixels->width);
	assert_int_equal(image.height, pixels->height);
	uint8_t *rgb = xmalloc(PNG_IMAGE_SIZE(image));
	if (!png_image_finish_read(&image, NULL, rgb, 0, NULL))
		fail_msg("libpng: %s", image.message);
	assert_int_equal(image.warning_or_error, 0);
	const uint8_t *next = rgb;
	for (int y = 0; y < pixels->height; y++) {
		for (int x = 0; x < pixels->width; x++, next += 3) {
			uint32_t got = (uint32_t)next[0] << 16 | (uint32_t)next[1] << 8 | next[2];
			if (got != rig_rgb(pixels, x, y))
				fail_msg("%d,%d: %06x, not %06x", x, y, got, rig_rgb(pixels, x, y));
		}
	}
	free(rgb);
}

static int expected_bit_depth(const struct pixels *pixels)
{
	static bool seen[1 << 24];
	memset(seen, 0, sizeof(seen));
	int count = 0;
	for (int y = 0; y < pixels->height; y++) {
		for (int x = 0; x < pixels->width; x++) {
			bool *is_seen = &seen[rig_rgb(pixels, x, y)];
			count += !*is_seen;
			*is_seen = true;
		}
	}
	return count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : count <= 256 ? 8 : 0;
}

static void check_png(enum rig_kind kind, int width, int height, int padding)
{
	struct pixels pixels = rig_make(kind, width, height, padding, 1);
	/* The same colours with other garbage. */
	struct pixels same = rig_make(kind, width, height, 0, 2);
	struct buffer one = {0}, two = {0};
	encode(&pixels, PICTURE_PNG, 0, 1, &one);
	encode(&same, PICTURE_PNG, 0, 2, &two);
	check_chunks(&one, &pixels, expected_bit_depth(&pixels));
	check_decodes_to(&one, &pixels);
	assert_int_equal(one.len, two.len);
	assert_memory_equal(one.data, two.data, one.len);
	buffer_finish(&one);
	buffer_finish(&two);
	rig_free(&pixels);
	rig_free(&same);
}

static void writes_png_of_any_size(void **state)
{
	static const int sizes[][2] = {{1, 1}, {1, 800}, {800, 1}, {2, 3}, {3, 2}, {5, 5}, {6, 1},
	        {7, 3}, {8, 8}, {9, 2}, {15, 17}, {16, 16}, {17, 15}, {100, 33}, {641, 481}};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		for (int kind = 0; kind < RIG_KINDS; kind++)
			check_png((enum rig_kind)kind, sizes[i][0], sizes[i][1], 4 * (kind % 4));
	}
}

static void writes_large_png(void **state)
{
	for (int kind = 0; kind < RIG_KINDS; kind++)
		check_png((enum rig_kind)kind, 1280, 800, 0);
	check_png(RIG_TEXT, 1599, 1200, 4);
	check_png(RIG_SIXTEEN_COLOURS, 1599, 1200, 4);
	check_png(RIG_NOISE, 300001, 2, 0);
	check_png(RIG_NOISE, 1, 300001, 4);
}

/* Different rows in turn decide for different filters and levels. */
static void writes_png_of_mixed_content(void **state)
{
	struct pixels pixels = rig_alloc(1000, 900, 8, 3);
	for (int y = 0; y < pixels.height; y++) {
		enum rig_kind kind = (enum rig_kind)(rig_hash((uint32_t)(y / 40)) % RIG_KINDS);
		for (int x = 0; x < pixels.width; x++)
			rig_set(&pixels, x, y, rig_colour(kind, x, y, 1000, 900));
	}
	struct buffer png = {0};
	encode(&pixels, PICTURE_PNG, 0, 2, &png);
	check_decodes_to(&png, &pixels);
	buffer_finish(&png);
	rig_free(&pixels);
}

/* A colour in one pixel only, wherever it is, must not be missed. */
static void finds_single_colours(void **state)
{
	uint32_t seed = 5;
	for (int round = 0; round < 300; round++) {
		struct pixels pixels = rig_make(RIG_TWO_COLOURS, 67, 41, 0, seed);
		for (int i = 0; i < round % 20; i++)
			rig_set(&pixels, (int)(rig_random(&seed) % 67),
			        (int)(rig_random(&seed) % 41), rig_random(&seed));
		struct buffer png = {0};
		encode(&pixels, PICTURE_PNG, 0, 1, &png);
		check_chunks(&png, &pixels, expected_bit_depth(&pixels));
		check_decodes_to(&png, &pixels);
		buffer_finish(&png);
		rig_free(&pixels);
	}
}

/* What libpng makes of the same pixels at its default level. */
static size_t libpng_size(const struct pixels *pixels)
{
	png_image image = {.version = PNG_IMAGE_VERSION,
	        .width = (png_uint_32)pixels->width,
	        .height = (png_uint_32)pixels->height,
	        .format = PNG_FORMAT_RGB};
	uint8_t *rgb = xmalloc(PNG_IMAGE_SIZE(image)), *next = rgb;
	for (int y = 0; y < pixels->height; y++) {
		for (int x = 0; x < pixels->width; x++) {
			uint32_t colour = rig_rgb(pixels, x, y);
			*next++ = (uint8_t)(colour >> 16);
			*next++ = (uint8_t)(colour >> 8);
			*next++ = (uint8_t)colour;
		}
	}
	png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
	void *memory = xmalloc(size);
	assert_true(png_image_write_to_memory(&image, memory, &size, 0, rgb, 0, NULL));
	free(memory);
	free(rgb);
	return size;
}

static void is_no_larger_than_libpng(void **state)
{
	static const enum rig_kind kinds[] = {
	        RIG_FLAT, RIG_TWO_COLOURS, RIG_SIXTEEN_COLOURS, RIG_TEXT};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct pixels pixels = rig_make(kinds[i], 1280, 800, 0, 1);
		struct buffer png = {0};
		encode(&pixels, PICTURE_PNG, 0, 2, &png);
		assert_in_range(png.len, 1, libpng_size(&pixels));
		buffer_finish(&png);
		rig_free(&pixels);
	}
}

static void appends(void **state)
{
	struct pixels pixels = rig_make(RIG_TEXT, 40, 30, 0, 1);
	for (int format = PICTURE_PNG; format <= PICTURE_WEBP; format++) {
		struct buffer out = {0}, alone = {0};
		buffer_append(&out, "before", 6);
		encode(&pixels, (enum picture_format)format, 80, 1, &out);
		encode(&pixels, (enum picture_format)format, 80, 1, &alone);
		assert_int_equal(out.len, alone.len + 6);
		assert_memory_equal(out.data, "before", 6);
		assert_memory_equal(out.data + 6, alone.data, alone.len);
		buffer_finish(&out);
		buffer_finish(&alone);
	}
	rig_free(&pixels);
}

/* The mean difference of a channel from the original. */
static double mean_error(const struct pixels *pixels, const uint8_t *bgrx)
{
	double sum = 0;
	for (int y = 0; y < pixels->height; y++) {
		for (int x = 0; x < pixels->width; x++, bgrx += 4) {
			for (int c = 0; c < 3; c++)
				sum += abs(rig_pixel(pixels, x, y)[c] - bgrx[c]);
		}
	}
	return sum / 3 / pixels->width / pixels->height;
}

static double jpeg_error(const struct pixels *pixels, int quality, int expected_subsampling)
{
	struct buffer jpeg = {0};
	encode(pixels, PICTURE_JPEG, quality, 1, &jpeg);
	tjhandle decompressor = tjInitDecompress();
	int width, height, subsampling, colourspace;
	assert_int_equal(tjDecompressHeader3(decompressor, jpeg.data, jpeg.len, &width, &height,
	                         &subsampling, &colourspace),
	        0);
	assert_int_equal(width, pixels->width);
	assert_int_equal(height, pixels->height);
	assert_int_equal(subsampling, expected_subsampling);
	uint8_t *bgrx = xmalloc((size_t)width * (size_t)height * 4);
	assert_int_equal(tjDecompress2(decompressor, jpeg.data, jpeg.len, bgrx, width, 0, height,
	                         TJPF_BGRX, 0),
	        0);
	double error = mean_error(pixels, bgrx);
	free(bgrx);
	tjDestroy(decompressor);
	buffer_finish(&jpeg);
	return error;
}

static void writes_jpeg(void **state)
{
	static const int sizes[][2] = {{1, 1}, {1, 800}, {641, 481}, {100, 7}};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct pixels pixels = rig_make(RIG_PHOTO, sizes[i][0], sizes[i][1], 8, 1);
		double fine = jpeg_error(&pixels, 95, TJSAMP_444);
		double coarse = jpeg_error(&pixels, 30, TJSAMP_420);
		assert_true(fine < 2);
		assert_true(coarse < 12);
		jpeg_error(&pixels, 90, TJSAMP_444);
		jpeg_error(&pixels, 89, TJSAMP_420);
		rig_free(&pixels);
	}
}

static double webp_error(const struct pixels *pixels, int quality, size_t *len)
{
	struct buffer webp = {0};
	encode(pixels, PICTURE_WEBP, quality, 1, &webp);
	WebPBitstreamFeatures features;
	assert_int_equal(WebPGetFeatures(webp.data, webp.len, &features), VP8_STATUS_OK);
	assert_int_equal(features.width, pixels->width);
	assert_int_equal(features.height, pixels->height);
	assert_false(features.has_alpha);
	assert_int_equal(features.format, quality == 100 ? 2 : 1);
	int width, height;
	uint8_t *bgra = WebPDecodeBGRA(webp.data, webp.len, &width, &height);
	assert_non_null(bgra);
	double error = mean_error(pixels, bgra);
	WebPFree(bgra);
	*len = webp.len;
	buffer_finish(&webp);
	return error;
}

static void writes_webp(void **state)
{
	static const int sizes[][2] = {{1, 1}, {1, 800}, {641, 481}, {100, 7}};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct pixels pixels = rig_make(RIG_PHOTO, sizes[i][0], sizes[i][1], 8, 1);
		size_t fine_len, coarse_len, lossless_len;
		assert_true(webp_error(&pixels, 95, &fine_len) < 4);
		assert_true(webp_error(&pixels, 20, &coarse_len) < 15);
		assert_true(webp_error(&pixels, 100, &lossless_len) == 0);
		assert_true(sizes[i][0] < 641 || coarse_len < fine_len);
		rig_free(&pixels);
	}
}

/* X garbage, which a library could take for alpha, changes nothing. */
static void ignores_x_bytes(void **state)
{
	struct pixels pixels = rig_make(RIG_PHOTO, 123, 77, 0, 1);
	struct pixels same = rig_make(RIG_PHOTO, 123, 77, 16, 2);
	for (int quality = 80; quality <= 100; quality += 20) {
		for (int format = PICTURE_PNG; format <= PICTURE_WEBP; format++) {
			struct buffer one = {0}, two = {0};
			encode(&pixels, (enum picture_format)format, quality, 1, &one);
			encode(&same, (enum picture_format)format, quality, 2, &two);
			assert_int_equal(one.len, two.len);
			assert_memory_equal(one.data, two.data, one.len);
			buffer_finish(&one);
			buffer_finish(&two);
		}
	}
	rig_free(&pixels);
	rig_free(&same);
}

static void check_size(int width, int height, enum picture_format format, int expected)
{
	struct pixels pixels = {.data = calloc((size_t)width * (size_t)height, 4),
	        .width = width,
	        .height = height,
	        .stride = width * 4};
	struct buffer out = {0};
	buffer_append(&out, "kept", 4);
	assert_int_equal(picture_encode(&pixels, format, 80, 2, &meta, &out), expected);
	if (expected < 0)
		assert_int_equal(out.len, 4);
	else
		assert_true(out.len > 100);
	buffer_finish(&out);
	rig_free(&pixels);
}

static void says_what_a_format_cannot_hold(void **state)
{
	check_size(65500, 1, PICTURE_JPEG, 0);
	check_size(65501, 1, PICTURE_JPEG, -EOVERFLOW);
	check_size(1, 65501, PICTURE_JPEG, -EOVERFLOW);
	check_size(16383, 1, PICTURE_WEBP, 0);
	check_size(16384, 1, PICTURE_WEBP, -EOVERFLOW);
	check_size(1, 16384, PICTURE_WEBP, -EOVERFLOW);
	check_size(70000, 2, PICTURE_PNG, 0);
	check_size(1, 1100000, PICTURE_PNG, 0); /* libpng's own limit is a million */
}

static void *no_memory(size_t size)
{
	return NULL;
}

static void says_that_memory_is_short(void **state)
{
	struct pixels pixels = rig_make(RIG_TEXT, 641, 481, 0, 1);
	struct buffer out = {0};
	buffer_append(&out, "kept", 4);
	libdeflate_set_memory_allocator(no_memory, free);
	for (int threads = 1; threads <= 2; threads++) {
		assert_int_equal(
		        picture_encode(&pixels, PICTURE_PNG, 0, threads, &meta, &out), -ENOMEM);
		assert_int_equal(out.len, 4);
	}
	libdeflate_set_memory_allocator(malloc, free);
	encode(&pixels, PICTURE_PNG, 0, 2, &out);
	buffer_finish(&out);
	rig_free(&pixels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(knows_format_names),
	        cmocka_unit_test(crops),
	        cmocka_unit_test(refuses_rows_longer_than_an_int),
	        cmocka_unit_test(writes_png_of_any_size),
	        cmocka_unit_test(writes_large_png),
	        cmocka_unit_test(writes_png_of_mixed_content),
	        cmocka_unit_test(finds_single_colours),
	        cmocka_unit_test(is_no_larger_than_libpng),
	        cmocka_unit_test(appends),
	        cmocka_unit_test(writes_jpeg),
	        cmocka_unit_test(writes_webp),
	        cmocka_unit_test(ignores_x_bytes),
	        cmocka_unit_test(says_what_a_format_cannot_hold),
	        cmocka_unit_test(says_that_memory_is_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
