/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/activity.h"

#include <stdlib.h>

#include "base/alloc.h"

/*
 * A tile becomes hot when it has changed in HOT_HITS frames, each at most COOL_US after the one
 * before: a typed letter or a blinking caret (2 changes a second) never gets there, anything that
 * moves at 6 frames a second or more does within half a second.
 */
#define HOT_HITS 4

struct tile {
	int64_t last_us;
	uint64_t last_serial;
	int hits; /* changes in a row, each within ACTIVITY_COOL_US of the one before */
};

struct activity {
	int width, height;
	int columns, rows;
	struct rect hot;         /* empty when nothing is hot */
	int64_t wanted_full_us;  /* when the whole of `hot` was last needed */
	struct tile tiles[];
};

struct span {
	int first_column, last_column;
	int first_row, last_row;
};

struct activity *activity_create(int width, int height)
{
	int columns = (width + ACTIVITY_TILE - 1) / ACTIVITY_TILE;
	int rows = (height + ACTIVITY_TILE - 1) / ACTIVITY_TILE;
	struct activity *activity = xcalloc(
		1, sizeof(*activity) + (size_t)columns * (size_t)rows * sizeof(struct tile));
	activity->width = width;
	activity->height = height;
	activity->columns = columns;
	activity->rows = rows;
	for (int i = 0; i < columns * rows; i++)
		activity->tiles[i].last_us = INT64_MIN;
	return activity;
}

void activity_destroy(struct activity *activity)
{
	free(activity);
}

/* The tiles that touch area; false when it lies outside the screen. */
static bool span_of(const struct activity *activity, const struct rect *area, struct span *out)
{
	struct rect screen = {0, 0, activity->width, activity->height};
	struct rect inside = rect_intersect(area, &screen);
	if (rect_is_empty(&inside))
		return false;
	out->first_column = inside.x / ACTIVITY_TILE;
	out->first_row = inside.y / ACTIVITY_TILE;
	out->last_column = (inside.x + inside.width - 1) / ACTIVITY_TILE;
	out->last_row = (inside.y + inside.height - 1) / ACTIVITY_TILE;
	return true;
}

static void note_tile(struct tile *tile, uint64_t serial, int64_t now_us)
{
	if (tile->last_serial == serial && tile->last_us == now_us)
		return; /* several rectangles of one frame touch this tile */
	bool is_in_row = tile->last_us != INT64_MIN && now_us - tile->last_us <= ACTIVITY_COOL_US;
	tile->hits = is_in_row ? tile->hits + 1 : 1;
	tile->last_us = now_us;
	tile->last_serial = serial;
}

void activity_note(
	struct activity *activity, pixman_region32_t *region, uint64_t serial, int64_t now_us)
{
	int count;
	pixman_box32_t *boxes = pixman_region32_rectangles(region, &count);
	for (int i = 0; i < count; i++) {
		struct rect area = {boxes[i].x1, boxes[i].y1, boxes[i].x2 - boxes[i].x1,
			boxes[i].y2 - boxes[i].y1};
		struct span span;
		if (!span_of(activity, &area, &span))
			continue;
		for (int row = span.first_row; row <= span.last_row; row++)
			for (int column = span.first_column; column <= span.last_column; column++)
				note_tile(&activity->tiles[row * activity->columns + column],
					serial, now_us);
	}
}

/* The last change of the area's tiles; INT64_MIN and 0 when nothing has changed there. */
static struct tile newest_in(const struct activity *activity, const struct rect *area)
{
	struct tile newest = {.last_us = INT64_MIN};
	struct span span;
	if (!span_of(activity, area, &span))
		return newest;
	for (int row = span.first_row; row <= span.last_row; row++) {
		for (int column = span.first_column; column <= span.last_column; column++) {
			const struct tile *tile = &activity->tiles[row * activity->columns + column];
			if (tile->last_us > newest.last_us)
				newest.last_us = tile->last_us;
			if (tile->last_serial > newest.last_serial)
				newest.last_serial = tile->last_serial;
		}
	}
	return newest;
}

int64_t activity_last_change_us(const struct activity *activity, const struct rect *area)
{
	return newest_in(activity, area).last_us;
}

uint64_t activity_last_serial(const struct activity *activity, const struct rect *area)
{
	return newest_in(activity, area).last_serial;
}

static void span_add(struct span *span, int column, int row)
{
	if (column < span->first_column)
		span->first_column = column;
	if (column > span->last_column)
		span->last_column = column;
	if (row < span->first_row)
		span->first_row = row;
	if (row > span->last_row)
		span->last_row = row;
}

/* In pixels; empty for a span to which nothing was added. */
static struct rect span_rect(const struct activity *activity, const struct span *span)
{
	if (span->last_column < 0)
		return (struct rect){0};
	struct rect screen = {0, 0, activity->width, activity->height};
	struct rect tiles = {span->first_column * ACTIVITY_TILE, span->first_row * ACTIVITY_TILE,
		(span->last_column - span->first_column + 1) * ACTIVITY_TILE,
		(span->last_row - span->first_row + 1) * ACTIVITY_TILE};
	return rect_intersect(&tiles, &screen);
}

/* What holds the tiles that changed at since_us or later, at least `hits` times in a row. */
static struct rect tiles_rect(const struct activity *activity, int64_t since_us, int hits)
{
	struct span span = {activity->columns, -1, activity->rows, -1};
	for (int row = 0; row < activity->rows; row++) {
		for (int column = 0; column < activity->columns; column++) {
			const struct tile *tile = &activity->tiles[row * activity->columns + column];
			if (tile->last_us != INT64_MIN && tile->last_us >= since_us &&
				tile->hits >= hits)
				span_add(&span, column, row);
		}
	}
	return span_rect(activity, &span);
}

struct rect activity_changed_since(const struct activity *activity, int64_t since_us)
{
	return tiles_rect(activity, since_us, 1);
}

bool activity_hot_rect(struct activity *activity, int64_t now_us, struct rect *out)
{
	struct rect needed = tiles_rect(activity, now_us - ACTIVITY_COOL_US, HOT_HITS);
	if (rect_is_empty(&needed)) {
		activity->hot = needed;
		return false;
	}
	struct rect grown = rect_bounding(&activity->hot, &needed);
	if (rect_equals(&needed, &grown) || rect_is_empty(&activity->hot))
		activity->wanted_full_us = now_us;
	activity->hot = grown;
	if (now_us - activity->wanted_full_us > ACTIVITY_SHRINK_US) {
		activity->hot = needed;
		activity->wanted_full_us = now_us;
	}
	*out = activity->hot;
	return true;
}
