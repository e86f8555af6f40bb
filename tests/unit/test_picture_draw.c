/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scaling and drawing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <limits.h>
#include <math.h>

#include "base/alloc.h"
#include "capture/picture.h"
#include "tests/unit/picture_rig.h"

static struct picture *scale(const struct pixels *pixels, int width, int height)
{
	struct picture *scaled = picture_scale(pixels, width, height);
	assert_non_null(scaled);
	assert_int_equal(scaled->width, width);
	assert_int_equal(scaled->height, height);
	return scaled;
}

static const int sizes[][2] = {{1, 1}, {2, 2}, {1, 50}, {50, 1}, {31, 23}, {62, 46}, {64, 48},
        {63, 47}, {128, 96}, {97, 200}};

static void keeps_flat_colours(void **state)
{
	static const uint32_t colours[] = {0x000000, 0xffffff, 0x808080, 0x0102fe, 0x7f3399};
	for (size_t c = 0; c < ARRAY_LEN(colours); c++) {
		struct pixels pixels = rig_alloc(64, 48, 8, 1);
		for (int i = 0; i < 64 * 48; i++)
			rig_set(&pixels, i % 64, i / 64, colours[c]);
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			struct picture *scaled = scale(&pixels, sizes[i][0], sizes[i][1]);
			struct pixels out = picture_pixels(scaled);
			for (int y = 0; y < out.height; y++) {
				for (int x = 0; x < out.width; x++)
					assert_int_equal(rig_rgb(&out, x, y), colours[c]);
			}
			picture_destroy(scaled);
		}
		rig_free(&pixels);
	}
}

static void repeats_pixels_for_whole_factors(void **state)
{
	static const int factors[][2] = {{1, 1}, {2, 2}, {3, 1}, {1, 4}, {5, 3}};
	struct pixels pixels = rig_make(RIG_NOISE, 17, 11, 4, 1);
	for (size_t i = 0; i < ARRAY_LEN(factors); i++) {
		int across = factors[i][0], down = factors[i][1];
		struct picture *scaled = scale(&pixels, 17 * across, 11 * down);
		struct pixels out = picture_pixels(scaled);
		for (int y = 0; y < out.height; y++) {
			for (int x = 0; x < out.width; x++)
				assert_int_equal(rig_rgb(&out, x, y),
				        rig_rgb(&pixels, x / across, y / down));
		}
		picture_destroy(scaled);
	}
	rig_free(&pixels);
}

/* The average of what an output pixel covers, by the definition. */
static double covered_average(const struct pixels *pixels, int channel, double left, double top,
        double right, double bottom)
{
	double sum = 0, area = 0;
	for (int y = (int)top; y < bottom && y < pixels->height; y++) {
		for (int x = (int)left; x < right && x < pixels->width; x++) {
			double across = fmin(right, x + 1) - fmax(left, x);
			double down = fmin(bottom, y + 1) - fmax(top, y);
			sum += across * down * rig_pixel(pixels, x, y)[channel];
			area += across * down;
		}
	}
	return sum / area;
}

static void averages_what_a_pixel_covers(void **state)
{
	static const int shrunk[][2] = {{32, 24}, {31, 23}, {1, 1}, {63, 47}, {64, 5}, {7, 48}};
	struct pixels pixels = rig_make(RIG_NOISE, 64, 48, 4, 1);
	for (size_t i = 0; i < ARRAY_LEN(shrunk); i++) {
		struct picture *scaled = scale(&pixels, shrunk[i][0], shrunk[i][1]);
		struct pixels out = picture_pixels(scaled);
		double across = 64.0 / out.width, down = 48.0 / out.height;
		for (int y = 0; y < out.height; y++) {
			for (int x = 0; x < out.width; x++) {
				for (int c = 0; c < 3; c++) {
					double expected = covered_average(&pixels, c, x * across,
					        y * down, (x + 1) * across, (y + 1) * down);
					assert_true(
					        fabs(rig_pixel(&out, x, y)[c] - expected) < 0.51);
				}
			}
		}
		picture_destroy(scaled);
	}
	rig_free(&pixels);
}

/* A picture mirrored both ways scales to the mirrored result: nothing shifts. */
static void does_not_shift(void **state)
{
	struct pixels pixels = rig_make(RIG_PHOTO, 41, 37, 0, 1);
	struct pixels mirrored = rig_alloc(41, 37, 0, 2);
	for (int y = 0; y < 37; y++) {
		for (int x = 0; x < 41; x++)
			rig_set(&mirrored, x, y, rig_rgb(&pixels, 40 - x, 36 - y));
	}
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int width = sizes[i][0], height = sizes[i][1];
		struct picture *one = scale(&pixels, width, height);
		struct picture *two = scale(&mirrored, width, height);
		struct pixels a = picture_pixels(one), b = picture_pixels(two);
		for (int y = 0; y < height; y++) {
			for (int x = 0; x < width; x++) {
				for (int c = 0; c < 3; c++)
					assert_in_range(rig_pixel(&a, x, y)[c] + 1 -
					                        rig_pixel(&b, width - 1 - x,
					                                height - 1 - y)[c],
					        0, 2);
			}
		}
		picture_destroy(one);
		picture_destroy(two);
	}
	rig_free(&pixels);
	rig_free(&mirrored);
}

/* A white spot's centre of gravity is where the mapping of points puts it. */
static void maps_points_exactly(void **state)
{
	static const int targets[][2] = {
	        {640, 400}, {1001, 626}, {333, 208}, {2000, 1250}, {2560, 1600}};
	static const int spots[][2] = {{0, 0}, {637, 399}, {1276, 796}, {100, 700}};
	for (size_t i = 0; i < ARRAY_LEN(spots); i++) {
		struct pixels pixels = rig_alloc(1280, 800, 0, 1);
		for (int y = 0; y < 800; y++) {
			for (int x = 0; x < 1280; x++) {
				bool is_spot = x - spots[i][0] >= 0 && x - spots[i][0] < 4 &&
				               y - spots[i][1] >= 0 && y - spots[i][1] < 4;
				rig_set(&pixels, x, y, is_spot ? 0xffffff : 0);
			}
		}
		for (size_t t = 0; t < ARRAY_LEN(targets); t++) {
			struct picture *scaled = scale(&pixels, targets[t][0], targets[t][1]);
			struct pixels out = picture_pixels(scaled);
			double weight = 0, x_sum = 0, y_sum = 0;
			for (int y = 0; y < out.height; y++) {
				for (int x = 0; x < out.width; x++) {
					double value = rig_pixel(&out, x, y)[1];
					weight += value;
					x_sum += value * (x + 0.5);
					y_sum += value * (y + 0.5);
				}
			}
			double x = (spots[i][0] + 2) * out.width / 1280.0;
			double y = (spots[i][1] + 2) * out.height / 800.0;
			assert_true(fabs(x_sum / weight - x) < 0.5);
			assert_true(fabs(y_sum / weight - y) < 0.5);
			picture_destroy(scaled);
		}
		rig_free(&pixels);
	}
}

static void grows_smoothly(void **state)
{
	struct pixels pixels = rig_alloc(2, 1, 0, 1);
	rig_set(&pixels, 0, 0, 0x000000);
	rig_set(&pixels, 1, 0, 0xffffff);
	struct picture *scaled = scale(&pixels, 5, 1);
	struct pixels out = picture_pixels(scaled);
	/* Centres at 0.2, 0.6, 1.0, 1.4, 1.8 of two pixels whose own are at 0.5 and 1.5. */
	static const uint32_t expected[] = {0x000000, 0x1a1a1a, 0x808080, 0xe6e6e6, 0xffffff};
	for (int x = 0; x < 5; x++)
		assert_int_equal(rig_rgb(&out, x, 0), expected[x]);
	picture_destroy(scaled);
	rig_free(&pixels);
}

static struct picture *make_flat(int width, int height, uint32_t rgb)
{
	struct picture *picture = picture_create(width, height);
	struct pixels pixels = picture_pixels(picture);
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++)
			rig_set(&pixels, x, y, rgb);
	}
	return picture;
}

static void blends_premultiplied(void **state)
{
	for (uint32_t alpha = 0; alpha <= 255; alpha++) {
		for (uint32_t below = 0; below <= 255; below += 5) {
			uint32_t above = alpha / 2;
			struct picture *picture = make_flat(1, 1, below << 16 | 0x0055ff);
			uint32_t argb = alpha << 24 | above << 16 | alpha << 8;
			picture_blend_argb(picture, 0, 0, &argb, 1, 1);
			double left = 1 - alpha / 255.0;
			assert_int_equal(picture->data[2], lround(above + below * left));
			assert_int_equal(picture->data[1], lround(alpha + 0x55 * left));
			assert_int_equal(picture->data[0], lround(0xff * left));
			picture_destroy(picture);
		}
	}
	/* Not premultiplied as it should be: must not wrap around. */
	struct picture *picture = make_flat(1, 1, 0xc0c0c0);
	uint32_t argb = 0x80ffffff;
	picture_blend_argb(picture, 0, 0, &argb, 1, 1);
	assert_int_equal(picture->data[0], 255);
	picture_destroy(picture);
}

static void clips_what_it_blends(void **state)
{
	enum { SIDE = 16 };
	uint32_t *argb = xcalloc(SIDE * SIDE, sizeof(*argb));
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		argb[i] = 0xff000000 | (i + 1);
	static const int at[] = {
	        INT_MIN, -INT_MAX, -17, -16, -15, -8, 0, 1, 3, 7, 19, 20, 21, INT_MAX};
	for (size_t i = 0; i < ARRAY_LEN(at) * ARRAY_LEN(at); i++) {
		int left = at[i % ARRAY_LEN(at)], top = at[i / ARRAY_LEN(at)];
		struct picture *picture = make_flat(20, 20, 0xabcdef);
		picture_blend_argb(picture, left, top, argb, SIDE, SIDE);
		struct pixels out = picture_pixels(picture);
		for (int y = 0; y < 20; y++) {
			for (int x = 0; x < 20; x++) {
				int64_t column = (int64_t)x - left, row = (int64_t)y - top;
				bool is_inside =
				        column >= 0 && column < SIDE && row >= 0 && row < SIDE;
				assert_int_equal(rig_rgb(&out, x, y),
				        is_inside ? row * SIDE + column + 1 : 0xabcdef);
			}
		}
		picture_destroy(picture);
	}
	free(argb);
}

/* No label reaches so far from the edge that it is written along. */
#define LABELS_END 60

/* The columns (or rows) beyond the labels that the grid has drawn a line on. */
static size_t find_lines(
        const struct pixels *pixels, uint32_t background, bool is_vertical, int *lines, size_t max)
{
	size_t count = 0;
	int length = is_vertical ? pixels->width : pixels->height;
	int across = is_vertical ? pixels->height : pixels->width;
	for (int at = LABELS_END; at < length; at++) {
		int changed = 0;
		for (int i = across / 2; i < across; i++)
			changed += rig_rgb(pixels, is_vertical ? at : i, is_vertical ? i : at) !=
			           background;
		/* Half of the dashes may be of the background's colour. */
		if (changed >= across / 2 * 2 / 5) {
			assert_true(count < max);
			lines[count++] = at;
		}
	}
	return count;
}

struct grid_case {
	int origin;
	double scale;
	int step; /* expected */
};

static void check_grid(const struct grid_case *expected, uint32_t background)
{
	struct picture *picture = make_flat(1000, 700, background);
	picture_draw_grid(
	        picture, expected->origin, expected->origin, expected->scale, expected->scale);
	struct pixels out = picture_pixels(picture);
	for (int is_vertical = 0; is_vertical <= 1; is_vertical++) {
		int lines[64];
		size_t count = find_lines(&out, background, is_vertical, lines, ARRAY_LEN(lines));
		int length = is_vertical ? 1000 : 700;
		size_t next = 0;
		for (int at = -4000; at <= 20000; at += expected->step) {
			double position = floor((at - expected->origin + 0.5) * expected->scale);
			if (position < LABELS_END || position >= length)
				continue;
			assert_true(next < count);
			assert_int_equal(lines[next++], (int)position);
		}
		assert_int_equal(next, count);
	}
	picture_destroy(picture);
}

static void draws_lines_where_they_belong(void **state)
{
	static const struct grid_case cases[] = {{0, 1, 100}, {37, 1, 100}, {-250, 1, 100},
	        {0, 0.5, 200}, {1234, 0.78, 100}, {100, 2, 50}, {3000, 0.245, 400}, {10, 8, 10},
	        {5, 60, 2}, {5, 100, 1}, {5, 300, 1}, {0, 0.1, 1000}};
	static const uint32_t backgrounds[] = {0x000000, 0xffffff, 0x808080, 0xff00aa, 0x123456};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (size_t b = 0; b < ARRAY_LEN(backgrounds); b++)
			check_grid(&cases[i], backgrounds[b]);
	}
}

static void keeps_lines_50_to_120_pixels_apart(void **state)
{
	for (double factor = 0.011; factor < 55; factor *= 1.037) {
		struct picture *picture = make_flat(1000, 700, 0);
		picture_draw_grid(picture, 0, 0, factor, factor);
		struct pixels out = picture_pixels(picture);
		int lines[64];
		size_t count = find_lines(&out, 0, true, lines, ARRAY_LEN(lines));
		assert_true(count >= 2);
		for (size_t i = 1; i < count; i++)
			assert_in_range(lines[i] - lines[i - 1], 47, 121);
		picture_destroy(picture);
	}
}

/* The label's digits and their halo are both there, so one of them contrasts with anything. */
static void labels_are_legible_on_any_background(void **state)
{
	static const uint32_t backgrounds[] = {0x000000, 0xffffff, 0x808080, 0xffff60, 0x202020};
	for (size_t b = 0; b < ARRAY_LEN(backgrounds); b++) {
		struct picture *picture = make_flat(1000, 700, backgrounds[b]);
		picture_draw_grid(picture, 0, 0, 1, 1);
		struct pixels out = picture_pixels(picture);
		int bright = 0, dark = 0;
		for (int y = 0; y < 20; y++) {
			for (int x = 200; x < 245; x++) {
				uint32_t rgb = rig_rgb(&out, x, y);
				bright += rgb == 0xffff60;
				dark += rgb == 0x000000;
			}
		}
		/* "200" at twice 5x7: 14, 16 and 16 dots of four pixels. */
		assert_true(bright >= (14 + 16 + 16) * 4);
		assert_true(dark >= (14 + 16 + 16) * 4);
		picture_destroy(picture);
	}
}

/* Reads a label back by its shape, as somebody who looks at the picture does. */
static void labels_say_the_coordinate(void **state)
{
	static const char seven[7][6] = {
	        "#####", "....#", "...#.", "..#..", "..#..", ".#...", ".#..."};
	struct picture *picture = make_flat(400, 300, 0x808080);
	picture_draw_grid(picture, 700, 0, 1, 1);
	struct pixels out = picture_pixels(picture);
	/* The line of 700 is column 0; single size: gap of 3, then the 7. */
	for (int y = 0; y < 7; y++) {
		for (int x = 0; x < 5; x++)
			assert_int_equal(
			        rig_rgb(&out, 3 + x, 2 + y) == 0xffff60, seven[y][x] == '#');
	}
	picture_destroy(picture);
}

static void draws_on_small_pictures(void **state)
{
	for (int width = 1; width < 80; width += 3) {
		for (int height = 1; height < 80; height += 7) {
			struct picture *picture = make_flat(width, height, 0xffffff);
			picture_draw_grid(picture, INT_MAX - 3, INT_MIN, 1, 0.3);
			picture_draw_grid(picture, 0, -2, 1000, 0.01);
			picture_destroy(picture);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(keeps_flat_colours),
	        cmocka_unit_test(repeats_pixels_for_whole_factors),
	        cmocka_unit_test(averages_what_a_pixel_covers),
	        cmocka_unit_test(does_not_shift),
	        cmocka_unit_test(maps_points_exactly),
	        cmocka_unit_test(grows_smoothly),
	        cmocka_unit_test(blends_premultiplied),
	        cmocka_unit_test(clips_what_it_blends),
	        cmocka_unit_test(draws_lines_where_they_belong),
	        cmocka_unit_test(keeps_lines_50_to_120_pixels_apart),
	        cmocka_unit_test(labels_are_legible_on_any_background),
	        cmocka_unit_test(labels_say_the_coordinate),
	        cmocka_unit_test(draws_on_small_pictures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
