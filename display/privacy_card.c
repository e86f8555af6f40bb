/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/privacy_card.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "display/frame.h"
#include "display/frame_pool.h"
#include "display/privacy.h"

#define GLYPH_WIDTH  5
#define GLYPH_HEIGHT 7
#define ADVANCE      6
#define SCALE_MAX    5

static const uint32_t ground = 0xff202830, ink = 0xffd8dee6;

/* The letters of the card's text, a row a byte, the leftmost pixel is bit 4. */
static const struct glyph {
	char letter;
	uint8_t rows[GLYPH_HEIGHT];
} glyphs[] = {
	{'a', {0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f}},
	{'c', {0x00, 0x00, 0x0e, 0x10, 0x10, 0x10, 0x0e}},
	{'e', {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e}},
	{'h', {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x11}},
	{'n', {0x00, 0x00, 0x1e, 0x11, 0x11, 0x11, 0x11}},
	{'o', {0x00, 0x00, 0x0e, 0x11, 0x11, 0x11, 0x0e}},
	{'p', {0x00, 0x00, 0x1e, 0x11, 0x1e, 0x10, 0x10}},
	{'r', {0x00, 0x00, 0x16, 0x18, 0x10, 0x10, 0x10}},
	{'s', {0x00, 0x00, 0x0f, 0x10, 0x0e, 0x01, 0x1e}},
	{'t', {0x08, 0x08, 0x1e, 0x08, 0x08, 0x08, 0x06}},
};

struct privacy_card {
	pthread_mutex_t lock;
	struct frame *frame; /* the last one made; guarded by lock */
};

static const struct glyph *find_glyph(char letter)
{
	for (size_t i = 0; i < ARRAY_LEN(glyphs); i++) {
		if (glyphs[i].letter == letter)
			return &glyphs[i];
	}
	return NULL; /* a blank */
}

/* A dot of the text: a square of `scale` pixels, which lies inside. */
static void put_dot(struct frame *frame, int x, int y, int scale)
{
	for (int row = y; row < y + scale; row++) {
		uint32_t *pixels = (uint32_t *)(void *)(frame_writable_pixels(frame) +
							(size_t)row * (size_t)frame->stride);
		for (int column = x; column < x + scale; column++)
			pixels[column] = ink;
	}
}

static void put_text(struct frame *frame)
{
	int count = (int)strlen(PRIVACY_CARD_TEXT);
	int scale = frame->width / (count * ADVANCE + 2);
	if (scale > SCALE_MAX)
		scale = SCALE_MAX;
	if (scale == 0 || frame->height < GLYPH_HEIGHT * scale)
		return; /* too small for words */
	int left = (frame->width - count * ADVANCE * scale) / 2;
	int top = (frame->height - GLYPH_HEIGHT * scale) / 2;
	for (int i = 0; i < count; i++) {
		const struct glyph *glyph = find_glyph(PRIVACY_CARD_TEXT[i]);
		for (int dot = 0; glyph != NULL && dot < GLYPH_WIDTH * GLYPH_HEIGHT; dot++) {
			int column = dot % GLYPH_WIDTH, row = dot / GLYPH_WIDTH;
			if ((glyph->rows[row] >> (GLYPH_WIDTH - 1 - column) & 1) != 0)
				put_dot(frame, left + (i * ADVANCE + column) * scale,
					top + row * scale, scale);
		}
	}
}

static struct frame *make_frame(int width, int height)
{
	/* A pool of its own without a server: what it gives out is ordinary memory. */
	struct frame_pool *pool = frame_pool_create(NULL, NULL, 24, width, height, false);
	struct frame *frame = frame_pool_acquire(pool);
	frame_pool_destroy(pool);
	if (frame == NULL)
		return NULL;
	for (int y = 0; y < height; y++) {
		uint32_t *pixels = (uint32_t *)(void *)(frame_writable_pixels(frame) +
							(size_t)y * (size_t)frame->stride);
		for (int x = 0; x < width; x++)
			pixels[x] = ground;
	}
	put_text(frame);
	pixman_region32_union_rect(
		&frame->damage, &frame->damage, 0, 0, (unsigned)width, (unsigned)height);
	frame->taken_us = clock_monotonic_us();
	frame->taken_wall_us = clock_wall_us();
	return frame;
}

struct privacy_card *privacy_card_create(void)
{
	struct privacy_card *card = xcalloc(1, sizeof(*card));
	pthread_mutex_init(&card->lock, NULL);
	return card;
}

void privacy_card_destroy(struct privacy_card *card)
{
	if (card == NULL)
		return;
	frame_unref(card->frame);
	pthread_mutex_destroy(&card->lock);
	free(card);
}

struct frame *privacy_card_frame(struct privacy_card *card, int width, int height)
{
	pthread_mutex_lock(&card->lock);
	struct frame *frame = card->frame;
	if (frame == NULL || frame->width != width || frame->height != height) {
		frame_unref(frame);
		card->frame = frame = make_frame(width, height);
	}
	if (frame != NULL)
		frame_ref(frame);
	pthread_mutex_unlock(&card->lock);
	return frame;
}
