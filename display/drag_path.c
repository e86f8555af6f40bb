/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/drag_path.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* The last move but one is this far from the end: still within any target. */
#define NEAR_END_PX 2

static void add(struct drag_path *path, int x, int y)
{
	path->points[path->count++] = (struct action_point){x, y};
}

static double distance(const struct action_point *a, const struct action_point *b)
{
	return hypot(b->x - a->x, b->y - a->y);
}

/* The moves after `from` up to and including `to`. */
static void add_segment(struct drag_path *path, const struct action_point *from,
	const struct action_point *to, int steps)
{
	for (int i = 1; i <= steps; i++)
		add(path, from->x + (int)lround((double)(to->x - from->x) * i / steps),
			from->y + (int)lround((double)(to->y - from->y) * i / steps));
}

void drag_path_plan(struct drag_path *path, const struct action_point *start,
	const struct action_point *waypoints, size_t count)
{
	const struct action_point *last = start;
	double total = 0;
	for (size_t i = 0; i < count; i++) {
		if (last != NULL)
			total += distance(last, &waypoints[i]);
		last = &waypoints[i];
	}
	path->points = xcalloc(count * (DRAG_STEPS + 1) + 4, sizeof(path->points[0]));
	path->count = 0;
	last = start;
	if (start != NULL)
		add(path, start->x, start->y);
	for (size_t i = 0; i < count; i++) {
		const struct action_point *to = &waypoints[i];
		if (last == NULL) {
			add(path, to->x, to->y);
		} else {
			int steps = total > 0 ? (int)ceil(DRAG_STEPS * distance(last, to) / total) : 1;
			add_segment(path, last, to, steps > 0 ? steps : 1);
		}
		last = to;
	}
	/* A second motion within the target: it is the one that makes it take notice. */
	const struct action_point end = *last;
	int nudge = end.x >= NEAR_END_PX ? -NEAR_END_PX : NEAR_END_PX;
	if (total > 4 * NEAR_END_PX) {
		add(path, end.x + nudge, end.y);
		add(path, end.x, end.y);
	}
}

void drag_path_finish(struct drag_path *path)
{
	free(path->points);
	*path = (struct drag_path){0};
}
