/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/frame_diff.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/activity.h"
#include "display/frame.h"

#define TILE ACTIVITY_TILE

/* The fourth byte is left out: the server keeps rubbish there (the alpha of 32-bit windows). */
static bool row_differs(const uint32_t *a, const uint32_t *b, int count)
{
	uint32_t difference = 0;
	for (int i = 0; i < count; i++)
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

/* The first and the last pixel of a row that differ, in out[0] and out[1]; false when none does. */
static bool row_span(const uint32_t *a, const uint32_t *b, int count, int out[2])
{
	int first = 0, last = count - 1;
	while (first < count && ((a[first] ^ b[first]) & 0x00ffffff) == 0)
		first++;
	if (first == count)
		return false;
	while (((a[last] ^ b[last]) & 0x00ffffff) == 0)
		last--;
	out[0] = first;
	out[1] = last;
	return true;
}

void frame_diff_extents(const struct frame *before, const struct frame *after,
	const struct rect *area, struct rect *out)
{
	struct rect whole = {0, 0, after->width, after->height};
	struct rect inside = rect_intersect(area, &whole);
	int left = inside.width, right = -1, top = -1, bottom = -1, span[2];
	for (int row = 0; row < inside.height; row++) {
		const uint32_t *a = pixel_at(before, inside.x, inside.y + row);
		const uint32_t *b = pixel_at(after, inside.x, inside.y + row);
		/* Inside what is known to differ already nothing can widen the span. */
		bool is_known = right >= 0 && !row_differs(a, b, left) &&
				!row_differs(a + right + 1, b + right + 1, inside.width - right - 1);
		if (is_known) {
			if (row_differs(a + left, b + left, right - left + 1))
				bottom = row;
			continue;
		}
		if (!row_span(a, b, inside.width, span))
			continue;
		left = span[0] < left ? span[0] : left;
		right = span[1] > right ? span[1] : right;
		top = top < 0 ? row : top;
		bottom = row;
	}
	*out = right < 0 ? (struct rect){0}
			 : (struct rect){inside.x + left, inside.y + top, right - left + 1,
				   bottom - top + 1};
}
