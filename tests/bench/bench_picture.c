/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long still pictures take to encode and scale, and how large they get, against libpng at its
 * default level. Not part of the suite. Pictures: PNG files given as arguments
 * (tests/bench/make-pictures makes real ones), else two synthetic ones.
 *
 * Usage: bench_picture [FILE.png...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "capture/picture.h"

#define ROUNDS 15

static int compare_times(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

struct run {
	const struct pixels *pixels;
	enum picture_format format;
	int quality, threads;
	double scale;
	size_t bytes;
};

static void run_encode(struct run *run)
{
	struct picture_meta meta = {.taken_wall_us = clock_wall_us()};
	struct buffer out = {0};
	if (picture_encode(run->pixels, run->format, run->quality, run->threads, &meta, &out) < 0)
		abort();
	run->bytes = out.len;
	buffer_finish(&out);
}

static void run_scale(struct run *run)
{
	int width = (int)(run->pixels->width * run->scale);
	int height = (int)(run->pixels->height * run->scale);
	struct picture *scaled = picture_scale(run->pixels, width, height);
	if (scaled == NULL)
		abort();
	run->bytes = (size_t)scaled->stride * (size_t)scaled->height;
	picture_destroy(scaled);
}

static void run_libpng(struct run *run)
{
	size_t row_size = (size_t)run->pixels->width * 3;
	uint8_t *rgb = xmalloc(row_size * (size_t)run->pixels->height);
	for (int y = 0; y < run->pixels->height; y++) {
		const uint8_t *from = run->pixels->data + (ptrdiff_t)y * run->pixels->stride;
		uint8_t *to = rgb + (size_t)y * row_size;
		for (int x = 0; x < run->pixels->width; x++, from += 4, to += 3) {
			to[0] = from[2];
			to[1] = from[1];
			to[2] = from[0];
		}
	}
	png_image image = {.version = PNG_IMAGE_VERSION,
	        .width = (png_uint_32)run->pixels->width,
	        .height = (png_uint_32)run->pixels->height,
	        .format = PNG_FORMAT_RGB};
	png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
	void *memory = xmalloc(size);
	if (!png_image_write_to_memory(&image, memory, &size, 0, rgb, 0, NULL))
		abort();
	run->bytes = size;
	free(memory);
	free(rgb);
}

/* Prints the median of the rounds, after one that warms the caches up. */
static void measure(const char *label, void (*call)(struct run *run), struct run run, int rounds)
{
	int64_t times[ROUNDS];
	call(&run);
	for (int i = 0; i < rounds; i++) {
		int64_t start = clock_monotonic_us();
		call(&run);
		times[i] = clock_monotonic_us() - start;
	}
	qsort(times, (size_t)rounds, sizeof(times[0]), compare_times);
	printf("  %-22s %8.2f ms (least %6.2f) %9zu bytes\n", label,
	        (double)times[rounds / 2] / 1000, (double)times[0] / 1000, run.bytes);
}

static void bench(const char *name, const struct pixels *pixels)
{
	printf("%s, %dx%d\n", name, pixels->width, pixels->height);
	struct run run = {.pixels = pixels, .format = PICTURE_PNG};
	measure("libpng default", run_libpng, run, 3);
	run.threads = 1;
	measure("PNG, 1 thread", run_encode, run, ROUNDS);
	run.threads = 2;
	measure("PNG, 2 threads", run_encode, run, ROUNDS);
	run.format = PICTURE_JPEG;
	run.quality = 80;
	measure("JPEG 80", run_encode, run, ROUNDS);
	run.quality = 95;
	measure("JPEG 95", run_encode, run, ROUNDS);
	run.format = PICTURE_WEBP;
	run.quality = 80;
	measure("WebP 80", run_encode, run, ROUNDS);
	run.quality = 100;
	measure("WebP lossless", run_encode, run, ROUNDS);
	static const double scales[] = {0.5, 0.77, 1.3, 2.0};
	for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
		char label[32];
		snprintf(label, sizeof(label), "scale %.2f", scales[i]);
		run.scale = scales[i];
		measure(label, run_scale, run, ROUNDS);
	}
}

static void bench_file(const char *path)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
	if (!png_image_begin_read_from_file(&image, path)) {
		fprintf(stderr, "bench_picture: %s: %s\n", path, image.message);
		exit(1);
	}
	image.format = PNG_FORMAT_BGRA;
	uint8_t *data = xmalloc(PNG_IMAGE_SIZE(image));
	if (!png_image_finish_read(&image, NULL, data, 0, NULL)) {
		fprintf(stderr, "bench_picture: %s: %s\n", path, image.message);
		exit(1);
	}
	struct pixels pixels = {.data = data,
	        .width = (int)image.width,
	        .height = (int)image.height,
	        .stride = (int)image.width * 4};
	bench(path, &pixels);
	free(data);
}

/* Smooth colour in both directions, as in a page header or a desktop background. */
static void draw_gradient(struct picture *picture)
{
	for (int y = 0; y < picture->height; y++) {
		for (int x = 0; x < picture->width; x++) {
			uint8_t *pixel = picture->data + (ptrdiff_t)y * picture->stride + x * 4;
			pixel[0] = (uint8_t)(x * 255 / picture->width);
			pixel[1] = (uint8_t)(y * 255 / picture->height);
			pixel[2] = (uint8_t)((x + y) * 255 / (picture->width + picture->height));
		}
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Blobs of colour under fine grain: about as hard to compress as a photograph. */
static void draw_photo(struct picture *picture)
{
	uint32_t state = 1;
	uint8_t grid[3][26][41];
	for (size_t i = 0; i < sizeof(grid); i++)
		((uint8_t *)grid)[i] = (uint8_t)next_random(&state);
	for (int y = 0; y < picture->height; y++) {
		for (int x = 0; x < picture->width; x++) {
			uint8_t *pixel = picture->data + (ptrdiff_t)y * picture->stride + x * 4;
			int gx = x / 32, gy = y / 32, fx = x % 32, fy = y % 32;
			for (int c = 0; c < 3; c++) {
				int top = grid[c][gy][gx] * (32 - fx) + grid[c][gy][gx + 1] * fx;
				int low = grid[c][gy + 1][gx] * (32 - fx) +
				          grid[c][gy + 1][gx + 1] * fx;
				int value = (top * (32 - fy) + low * fy) / 1024;
				value = 16 + value * 7 / 8 + (int)(next_random(&state) % 7) - 3;
				pixel[c] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
			}
		}
	}
}

static void bench_drawn(const char *name, void (*draw)(struct picture *picture))
{
	struct picture *picture = picture_create(1280, 800);
	if (picture == NULL)
		abort();
	draw(picture);
	struct pixels pixels = picture_pixels(picture);
	bench(name, &pixels);
	picture_destroy(picture);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		bench_file(argv[i]);
	bench_drawn("gradient", draw_gradient);
	bench_drawn("photo-like", draw_photo);
	return 0;
}
