/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/frame_diff.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "display/activity.h"
#include "display/frame.h"

#define TILE ACTIVITY_TILE

/* Pixels compared at once. */
#define STEP 16

typedef uint32_t lanes __attribute__((vector_size(16)));

/*
 * The fourth byte is left out: the server keeps rubbish there (the alpha of 32-bit windows). Written
 * in vectors, since the compiler makes none of its own of a loop that may end early.
 */
static bool row_differs(const uint32_t *a, const uint32_t *b, int count)
{
	int i = 0;
	for (; i + STEP <= count; i += STEP) {
		lanes left[STEP / 4], right[STEP / 4], any = {0};
		memcpy(left, a + i, sizeof(left));
		memcpy(right, b + i, sizeof(right));
		for (int k = 0; k < STEP / 4; k++)
			any |= left[k] ^ right[k];
		any &= 0x00ffffff;
		uint64_t halves[2];
		memcpy(halves, &any, sizeof(halves));
		if ((halves[0] | halves[1]) != 0)
			return true;
	}
	uint32_t difference = 0;
	for (; i < count; i++)
		difference |= a[i] ^ b[i];
	return (difference & 0x00ffffff) != 0;
}

static const uint32_t *pixel_at(const struct frame *frame, int x, int y)
{
	return (const uint32_t *)(const void *)(frame->pixels + (size_t)y * (size_t)frame->stride) +
	       x;
}

static bool tile_differs(
	const struct frame *before, const struct frame *after, const pixman_box32_t *tile)
{
	for (int y = tile->y1; y < tile->y2; y++) {
		if (row_differs(pixel_at(before, tile->x1, y), pixel_at(after, tile->x1, y),
			    tile->x2 - tile->x1))
			return true;
	}
	return false;
}

static void add_run(pixman_region32_t *out, int x1, int x2, int y1, int y2)
{
	if (x2 > x1)
		pixman_region32_union_rect(
			out, out, x1, y1, (unsigned)(x2 - x1), (unsigned)(y2 - y1));
}

void frame_diff(const struct frame *before, const struct frame *after, pixman_region32_t *damage,
	pixman_region32_t *out)
{
	assert(before->width == after->width && before->height == after->height);
	const pixman_box32_t *extents = pixman_region32_extents(damage);
	int last_y = extents->y2 < after->height ? extents->y2 : after->height;
	int last_x = extents->x2 < after->width ? extents->x2 : after->width;
	int first_x = extents->x1 > 0 ? extents->x1 / TILE * TILE : 0;
	for (int y = extents->y1 > 0 ? extents->y1 / TILE * TILE : 0; y < last_y; y += TILE) {
		int y2 = y + TILE < after->height ? y + TILE : after->height;
		int run_x1 = 0, run_x2 = 0;
		for (int x = first_x; x < last_x; x += TILE) {
			pixman_box32_t tile = {x, y,
				x + TILE < after->width ? x + TILE : after->width, y2};
			if (pixman_region32_contains_rectangle(damage, &tile) == PIXMAN_REGION_OUT ||
				!tile_differs(before, after, &tile))
				continue;
			if (run_x2 != x) {
				add_run(out, run_x1, run_x2, y, y2);
				run_x1 = x;
			}
			run_x2 = tile.x2;
		}
		add_run(out, run_x1, run_x2, y, y2);
	}
}

/* How many pixels are the same before the first that differs; count when all are. */
static int same_at_start(const uint32_t *a, const uint32_t *b, int count)
{
	int same = 0;
	while (same + STEP <= count && !row_differs(a + same, b + same, STEP))
		same += STEP;
	while (same < count && ((a[same] ^ b[same]) & 0x00ffffff) == 0)
		same++;
	return same;
}

/* And after the last that differs. */
static int same_at_end(const uint32_t *a, const uint32_t *b, int count)
{
	int rest = count;
	while (rest >= STEP && !row_differs(a + rest - STEP, b + rest - STEP, STEP))
		rest -= STEP;
	while (rest > 0 && ((a[rest - 1] ^ b[rest - 1]) & 0x00ffffff) == 0)
		rest--;
	return count - rest;
}

/* How many of `most` rows are the same, from the first one on by `step` (1 or -1). */
static int same_rows(const struct frame *before, const struct frame *after,
	const struct rect *inside, int first, int step, int most)
{
	int same = 0;
	while (same < most && !row_differs(pixel_at(before, inside->x, first + same * step),
				      pixel_at(after, inside->x, first + same * step), inside->width))
		same++;
	return same;
}

void frame_diff_extents(const struct frame *before, const struct frame *after,
	const struct rect *area, struct rect *out)
{
	struct rect extents = {0};
	frame_diff_grow(before, after, area, &extents);
	*out = extents;
}

void frame_diff_grow(const struct frame *before, const struct frame *after,
	const struct rect *area, struct rect *extents)
{
	struct rect whole = {0, 0, after->width, after->height};
	struct rect inside = rect_intersect(area, &whole);
	struct rect known = rect_intersect(extents, &inside);
	bool is_known = !rect_is_empty(&known);
	int above = same_rows(before, after, &inside, inside.y, 1,
		is_known ? known.y - inside.y : inside.height);
	if (above == inside.height)
		return;
	int bottom = inside.y + inside.height;
	int below = same_rows(before, after, &inside, bottom - 1, -1,
		is_known ? bottom - known.y - known.height : inside.height);
	/* Each row can only make the margins narrower: nothing else of it is looked at. */
	int left = is_known ? known.x - inside.x : inside.width;
	int right = is_known ? inside.x + inside.width - known.x - known.width : inside.width;
	for (int row = above; row < inside.height - below && left + right > 0; row++) {
		const uint32_t *a = pixel_at(before, inside.x, inside.y + row);
		const uint32_t *b = pixel_at(after, inside.x, inside.y + row);
		left = same_at_start(a, b, left);
		right = same_at_end(a + inside.width - right, b + inside.width - right, right);
	}
	*extents = (struct rect){inside.x + left, inside.y + above, inside.width - left - right,
		inside.height - above - below};
}
