/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/picture.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "capture/pixel.h"

/* A half-open rectangle of picture pixels. */
struct area {
	int left, top, right, bottom;
};

static int clamp(int64_t value, int low, int high)
{
	return value < low ? low : value > high ? high : (int)value;
}

/* The part of x,y,w,h that lies in the picture; left >= right or top >= bottom when none does. */
static struct area clip(const struct picture *picture, int64_t x, int64_t y, int64_t w, int64_t h)
{
	return (struct area){
	        .left = clamp(x, 0, picture->width),
	        .top = clamp(y, 0, picture->height),
	        .right = clamp(x + w, 0, picture->width),
	        .bottom = clamp(y + h, 0, picture->height),
	};
}

static uint8_t *picture_at(struct picture *picture, int x, int y)
{
	return picture->data + (ptrdiff_t)y * picture->stride + (ptrdiff_t)x * 4;
}

/* value * part / 255, rounded to nearest. */
static inline uint32_t fraction(uint32_t value, uint32_t part)
{
	uint32_t product = value * part + 128;
	return (product + (product >> 8)) >> 8;
}

/* Premultiplied source over destination; a channel above its alpha, which is wrong, saturates. */
static void blend_pixel(uint8_t *bgrx, uint32_t argb)
{
	uint32_t alpha = argb >> 24;
	if (alpha == 255) {
		pixel_set(bgrx, argb & 0xffffff);
		return;
	}
	for (int c = 0; c < 3; c++) {
		uint32_t value = (argb >> (8 * c) & 0xff) + fraction(bgrx[c], 255 - alpha);
		bgrx[c] = (uint8_t)(value > 255 ? 255 : value);
	}
}

void picture_blend_argb(struct picture *picture, int x, int y, const uint32_t *argb, int w, int h)
{
	struct area area = clip(picture, x, y, w, h);
	for (int row = area.top; row < area.bottom; row++) {
		const uint32_t *from = argb + ((ptrdiff_t)row - y) * w + ((ptrdiff_t)area.left - x);
		for (int column = area.left; column < area.right; column++, from++) {
			if (*from != 0)
				blend_pixel(picture_at(picture, column, row), *from);
		}
	}
}

static void fill(struct picture *picture, int x, int y, int w, int h, uint32_t argb)
{
	struct area area = clip(picture, x, y, w, h);
	for (int row = area.top; row < area.bottom; row++) {
		for (int column = area.left; column < area.right; column++)
			blend_pixel(picture_at(picture, column, row), argb);
	}
}

/* The characters of a coordinate, GLYPH_WIDTH x GLYPH_HEIGHT, leftmost pixel in bit 4. */
#define GLYPH_WIDTH   5
#define GLYPH_HEIGHT  7
#define GLYPH_ADVANCE 6

static const uint8_t digits[10][GLYPH_HEIGHT] = {
        {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e},
        {0x04, 0x0c, 0x14, 0x04, 0x04, 0x04, 0x1f},
        {0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f},
        {0x1f, 0x02, 0x04, 0x0e, 0x01, 0x11, 0x0e},
        {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02},
        {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
        {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e},
        {0x1f, 0x01, 0x02, 0x04, 0x04, 0x08, 0x08},
        {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e},
        {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c},
};
static const uint8_t minus[GLYPH_HEIGHT] = {0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00};

/* Draws the text's set pixels as squares of `zoom` pixels, each grown by `border` on all sides. */
static void draw_glyphs(struct picture *picture, int x, int y, const char *text, int zoom,
        int border, uint32_t argb)
{
	for (; *text != '\0'; text++, x += GLYPH_ADVANCE * zoom) {
		const uint8_t *glyph = *text == '-' ? minus : digits[*text - '0'];
		for (int i = 0; i < GLYPH_WIDTH * GLYPH_HEIGHT; i++) {
			int column = i % GLYPH_WIDTH, row = i / GLYPH_WIDTH;
			if (glyph[row] >> (GLYPH_WIDTH - 1 - column) & 1)
				fill(picture, x + column * zoom - border, y + row * zoom - border,
				        zoom + 2 * border, zoom + 2 * border, argb);
		}
	}
}

/* Light digits in a dark halo: one of the two stands out from any background. */
static void draw_label(struct picture *picture, int x, int y, const char *text, int zoom)
{
	draw_glyphs(picture, x, y, text, zoom, zoom, 0xff000000);
	draw_glyphs(picture, x, y, text, zoom, 0, 0xffffff60);
}

/* One direction of the grid. */
struct grid_axis {
	int64_t origin; /* screen coordinate of the picture's edge */
	double scale;   /* picture pixels per screen pixel */
	int length;     /* picture pixels */
	int64_t step;   /* screen pixels between lines */
};

/*
 * A round number of screen pixels that comes to 50 to 120 picture pixels (or 1, where even that is
 * more): the largest of 1, 2, 5, 10… that is not more than 120, or, where 2 is too little and 5 too
 * much, 4.
 */
static int64_t grid_step(double scale)
{
	static const int64_t round[] = {1, 2, 5};
	int64_t best = 1;
	for (int64_t power = 1; power <= 1000000000; power *= 10) {
		for (int i = 0; i < 3; i++) {
			if ((double)(round[i] * power) * scale <= 120)
				best = round[i] * power;
		}
	}
	return (double)best * scale < 50 ? best * 2 : best;
}

/* The picture pixel in which the middle of the screen pixel at `coordinate` lies. */
static int64_t grid_position(const struct grid_axis *axis, int64_t coordinate)
{
	return (int64_t)floor(((double)(coordinate - axis->origin) + 0.5) * axis->scale);
}

static int64_t first_line(const struct grid_axis *axis)
{
	int64_t multiple = axis->origin / axis->step * axis->step;
	return multiple < axis->origin ? multiple + axis->step : multiple;
}

/* Dashes of two colours, one of which contrasts; half transparent, so that the screen shows. */
static void draw_line(struct picture *picture, int position, bool is_vertical)
{
	const uint32_t light = 0x90909090, strong = 0x90900060;
	int length = is_vertical ? picture->height : picture->width;
	for (int at = 0; at < length; at += 4) {
		uint32_t argb = at / 4 % 2 ? light : strong;
		if (is_vertical)
			fill(picture, position, at, 1, 4, argb);
		else
			fill(picture, at, position, 4, 1, argb);
	}
}

static void draw_lines(struct picture *picture, const struct grid_axis *axis, bool is_vertical)
{
	for (int64_t at = first_line(axis);; at += axis->step) {
		int64_t position = grid_position(axis, at);
		if (position >= axis->length)
			return;
		draw_line(picture, (int)position, is_vertical);
	}
}

static int label_width(int chars, int zoom)
{
	return (chars * GLYPH_ADVANCE - 1) * zoom;
}

/*
 * Where a number of that size goes whose line is at `line`: behind it, or before it where the
 * picture ends too soon; -1 where that would run into what ends at `taken`.
 */
static int64_t label_position(int64_t line, int size, int zoom, int length, int64_t taken)
{
	int gap = zoom + 2; /* its halo, and a pixel on either side of that */
	int64_t position = line + gap;
	if (position + size + zoom > length)
		position = line - gap - size;
	return position - zoom >= taken ? position : -1;
}

/* Numbers along the top edge. */
static void draw_column_labels(struct picture *picture, const struct grid_axis *axis, int zoom)
{
	int64_t taken = 0;
	for (int64_t at = first_line(axis);; at += axis->step) {
		int64_t line = grid_position(axis, at);
		if (line >= axis->length)
			return;
		char text[24];
		int chars = snprintf(text, sizeof(text), "%lld", (long long)at);
		int width = label_width(chars, zoom);
		int64_t x = label_position(line, width, zoom, axis->length, taken);
		if (x < 0)
			continue;
		draw_label(picture, (int)x, zoom + 1, text, zoom);
		taken = x + width + zoom;
	}
}

/* Numbers along the left edge, below those of the top edge. */
static void draw_row_labels(struct picture *picture, const struct grid_axis *axis, int zoom)
{
	int height = GLYPH_HEIGHT * zoom;
	int64_t taken = height + 2 * zoom + 2;
	for (int64_t at = first_line(axis);; at += axis->step) {
		int64_t line = grid_position(axis, at);
		if (line >= axis->length)
			return;
		char text[24];
		snprintf(text, sizeof(text), "%lld", (long long)at);
		int64_t y = label_position(line, height, zoom, axis->length, taken);
		if (y >= 0)
			draw_label(picture, zoom + 1, (int)y, text, zoom);
	}
}

/* Double-size digits where the picture is large and the numbers fit between the lines. */
static int label_zoom(const struct picture *picture, const struct grid_axis *across)
{
	int64_t last = across->origin + (int64_t)(across->length / across->scale);
	int chars = snprintf(NULL, 0, "%lld", (long long)last);
	double distance = (double)across->step * across->scale;
	return picture->width >= 500 && label_width(chars, 2) + 8 <= distance ? 2 : 1;
}

void picture_draw_grid(
        struct picture *picture, int origin_x, int origin_y, double scale_x, double scale_y)
{
	assert(scale_x > 0 && scale_y > 0);
	struct grid_axis across = {origin_x, scale_x, picture->width, grid_step(scale_x)};
	/* Squares, also where rounding to whole pixels has made the scales differ a little. */
	bool is_square = fabs(scale_y / scale_x - 1) < 0.02;
	struct grid_axis down = {
	        origin_y, scale_y, picture->height, is_square ? across.step : grid_step(scale_y)};
	draw_lines(picture, &across, true);
	draw_lines(picture, &down, false);
	int zoom = label_zoom(picture, &across);
	draw_column_labels(picture, &across, zoom);
	draw_row_labels(picture, &down, zoom);
}
