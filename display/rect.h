/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rectangle in screen pixels; empty when width or height is not positive. Pure. */
#ifndef DISPLAY_RECT_H
#define DISPLAY_RECT_H

#include <stdbool.h>

struct rect {
	int x, y;
	int width, height;
};

static inline bool rect_is_empty(const struct rect *rect)
{
	return rect->width <= 0 || rect->height <= 0;
}

static inline bool rect_equals(const struct rect *a, const struct rect *b)
{
	return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height;
}

/* What a and b share; an empty rectangle when nothing. Sizes up to 2^30 are safe. */
static inline struct rect rect_intersect(const struct rect *a, const struct rect *b)
{
	int left = a->x > b->x ? a->x : b->x;
	int top = a->y > b->y ? a->y : b->y;
	int right_a = a->x + a->width, right_b = b->x + b->width;
	int bottom_a = a->y + a->height, bottom_b = b->y + b->height;
	int right = right_a < right_b ? right_a : right_b;
	int bottom = bottom_a < bottom_b ? bottom_a : bottom_b;
	if (right <= left || bottom <= top)
		return (struct rect){0};
	return (struct rect){left, top, right - left, bottom - top};
}

/* The smallest that holds both, of which each may be empty. */
static inline struct rect rect_bounding(const struct rect *a, const struct rect *b)
{
	if (rect_is_empty(a))
		return *b;
	if (rect_is_empty(b))
		return *a;
	int left = a->x < b->x ? a->x : b->x;
	int top = a->y < b->y ? a->y : b->y;
	int right_a = a->x + a->width, right_b = b->x + b->width;
	int bottom_a = a->y + a->height, bottom_b = b->y + b->height;
	int right = right_a > right_b ? right_a : right_b;
	int bottom = bottom_a > bottom_b ? bottom_a : bottom_b;
	return (struct rect){left, top, right - left, bottom - top};
}

#endif
