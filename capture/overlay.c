/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/overlay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "capture/picture.h"
#include "capture/text.h"
#include "display/cursor.h"

/* A ripple grows for so long, in so many steps: each step is a picture to encode. */
#define RIPPLE_US      450000
#define RIPPLE_STEP_US 50000
#define RIPPLE_RADIUS  26
/* How long keys stand, and what joins into one strip. */
#define KEYS_US        1800000
#define KEYS_JOIN_US   1200000
#define KEYS_CHARS     40
#define KEYS_SIZE      20
#define KEYS_PADDING   12

struct ripple {
	int x, y;
	int64_t since_us; /* 0: none */
};

struct overlay {
	int width, height;
	struct cursor_image *cursor;
	int x, y;
	struct ripple ripples[OVERLAY_RIPPLES];
	int next_ripple;
	char keys[KEYS_CHARS * 4 + 64];
	int keys_width;
	int64_t keys_us; /* when the last was pressed; 0: none */
};

struct overlay *overlay_create(int width, int height)
{
	struct overlay *overlay = xcalloc(1, sizeof(*overlay));
	overlay->width = width;
	overlay->height = height;
	return overlay;
}

void overlay_destroy(struct overlay *overlay)
{
	if (overlay == NULL)
		return;
	cursor_image_unref(overlay->cursor);
	free(overlay);
}

void overlay_set_pointer(struct overlay *overlay, struct cursor_image *cursor, int x, int y)
{
	struct cursor_image *old = overlay->cursor;
	overlay->cursor = cursor != NULL ? cursor_image_ref(cursor) : NULL;
	overlay->x = x;
	overlay->y = y;
	cursor_image_unref(old);
}

void overlay_add_click(struct overlay *overlay, int x, int y, int64_t now_us)
{
	overlay->ripples[overlay->next_ripple] = (struct ripple){x, y, now_us};
	overlay->next_ripple = (overlay->next_ripple + 1) % OVERLAY_RIPPLES;
}

/* Drops characters at the front until no more than KEYS_CHARS are left. */
static void shorten(char *text)
{
	size_t len = strlen(text), drop = 0;
	uint32_t code_point;
	for (size_t count = utf8_count(text, len); count > KEYS_CHARS; count--)
		drop += utf8_decode(text + drop, len - drop, &code_point);
	memmove(text, text + drop, len - drop + 1);
}

void overlay_add_key(struct overlay *overlay, const char *name, int64_t now_us)
{
	bool joins = overlay->keys_us != 0 && now_us - overlay->keys_us < KEYS_JOIN_US;
	size_t used = joins ? strlen(overlay->keys) : 0;
	bool is_word = name[0] != '\0' && utf8_count(name, strlen(name)) > 1;
	bool needs_gap = used > 0 && is_word;
	snprintf(overlay->keys + used, sizeof(overlay->keys) - used, "%s%s%s", needs_gap ? " " : "",
		name, is_word ? " " : "");
	shorten(overlay->keys);
	overlay->keys_width = text_width(overlay->keys, KEYS_SIZE);
	overlay->keys_us = now_us;
}

static bool is_rippling(const struct ripple *ripple, int64_t now_us)
{
	return ripple->since_us != 0 && now_us - ripple->since_us < RIPPLE_US;
}

static bool shows_keys(const struct overlay *overlay, int64_t now_us)
{
	return overlay->keys_us != 0 && now_us - overlay->keys_us < KEYS_US;
}

static struct rect pointer_rect(const struct overlay *overlay)
{
	return (struct rect){overlay->x - overlay->cursor->hot_x, overlay->y - overlay->cursor->hot_y,
		overlay->cursor->width, overlay->cursor->height};
}

static struct rect keys_rect(const struct overlay *overlay)
{
	int width = overlay->keys_width + 2 * KEYS_PADDING, height = KEYS_SIZE + 2 * KEYS_PADDING;
	return (struct rect){(overlay->width - width) / 2, overlay->height - height - 16, width, height};
}

int overlay_rects(const struct overlay *overlay, int64_t now_us, struct rect out[OVERLAY_RECTS_MAX])
{
	struct rect all[OVERLAY_RECTS_MAX], canvas = {0, 0, overlay->width, overlay->height};
	int count = 0, kept = 0;
	if (overlay->cursor != NULL)
		all[count++] = pointer_rect(overlay);
	for (int i = 0; i < OVERLAY_RIPPLES; i++) {
		const struct ripple *ripple = &overlay->ripples[i];
		if (is_rippling(ripple, now_us))
			all[count++] = (struct rect){ripple->x - RIPPLE_RADIUS - 1,
				ripple->y - RIPPLE_RADIUS - 1, 2 * RIPPLE_RADIUS + 3, 2 * RIPPLE_RADIUS + 3};
	}
	if (shows_keys(overlay, now_us))
		all[count++] = keys_rect(overlay);
	for (int i = 0; i < count; i++) {
		struct rect seen = rect_intersect(&all[i], &canvas);
		if (!rect_is_empty(&seen))
			out[kept++] = seen;
	}
	return kept;
}

static void blend(struct picture *part, int x, int y, uint32_t rgb, double alpha)
{
	if (x < 0 || y < 0 || x >= part->width || y >= part->height)
		return;
	uint8_t *pixel = part->data + (ptrdiff_t)y * part->stride + (ptrdiff_t)x * 4;
	for (int c = 0; c < 3; c++) {
		double ink = (double)(rgb >> (8 * c) & 0xff);
		pixel[c] = (uint8_t)lround(pixel[c] + (ink - pixel[c]) * alpha);
	}
}

/* A ring of two colours that grows and fades: it stands out from any ground. */
static void draw_ripple(
	const struct ripple *ripple, int64_t now_us, struct picture *part, int left, int top)
{
	double age = (double)(now_us - ripple->since_us) / RIPPLE_US;
	double radius = 6 + (RIPPLE_RADIUS - 8) * age, strength = 1 - age * 0.8;
	for (int y = ripple->y - RIPPLE_RADIUS; y <= ripple->y + RIPPLE_RADIUS; y++) {
		for (int x = ripple->x - RIPPLE_RADIUS; x <= ripple->x + RIPPLE_RADIUS; x++) {
			double distance = hypot(x - ripple->x, y - ripple->y) - radius;
			double cover = 2 - fabs(distance);
			if (cover > 0)
				blend(part, x - left, y - top, distance < 0 ? 0xff5020 : 0xffffff,
					fmin(cover, 1) * strength);
		}
	}
}

static void draw_keys(const struct overlay *overlay, struct picture *part, int left, int top)
{
	struct rect box = keys_rect(overlay);
	for (int y = box.y; y < box.y + box.height; y++) {
		for (int x = box.x; x < box.x + box.width; x++)
			blend(part, x - left, y - top, 0x101418, 0.82);
	}
	text_draw(part, box.x + KEYS_PADDING - left, box.y + KEYS_PADDING + KEYS_SIZE * 4 / 5 - top,
		KEYS_SIZE, 0xffffff, overlay->keys);
}

void overlay_draw(const struct overlay *overlay, int64_t now_us, struct picture *part, int x, int y)
{
	for (int i = 0; i < OVERLAY_RIPPLES; i++) {
		if (is_rippling(&overlay->ripples[i], now_us))
			draw_ripple(&overlay->ripples[i], now_us, part, x, y);
	}
	if (shows_keys(overlay, now_us))
		draw_keys(overlay, part, x, y);
	if (overlay->cursor != NULL) {
		struct rect at = pointer_rect(overlay);
		picture_blend_argb(part, at.x - x, at.y - y, overlay->cursor->argb, at.width, at.height);
	}
}

int64_t overlay_next_us(const struct overlay *overlay, int64_t now_us)
{
	int64_t next_us = INT64_MAX;
	for (int i = 0; i < OVERLAY_RIPPLES; i++) {
		if (is_rippling(&overlay->ripples[i], now_us))
			next_us = now_us + RIPPLE_STEP_US;
	}
	if (shows_keys(overlay, now_us) && overlay->keys_us + KEYS_US < next_us)
		next_us = overlay->keys_us + KEYS_US;
	return next_us;
}

void overlay_draw_card(struct picture *picture, const char *text)
{
	int size = picture->width / 32 < 12 ? 12 : picture->width / 32;
	for (int y = 0; y < picture->height; y++) {
		uint8_t *row = picture->data + (ptrdiff_t)y * picture->stride;
		for (int x = 0; x < picture->width; x++) {
			row[x * 4] = 0x3a;
			row[x * 4 + 1] = 0x2c;
			row[x * 4 + 2] = 0x22;
		}
	}
	int x = (picture->width - text_width(text, size)) / 2;
	text_draw(picture, x, picture->height / 2, size, 0xf0f4f8, text);
}
