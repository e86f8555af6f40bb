/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of a drag in steps that toolkits understand: one jump starts a drag in Chromium but never
 * reaches the target, so there are always enough moves in between, at least two of them within the
 * last few pixels. Pure.
 */
#ifndef DISPLAY_DRAG_PATH_H
#define DISPLAY_DRAG_PATH_H

#include <stddef.h>

#include "display/action.h"

/* Between two moves. */
#define DRAG_STEP_MS 6
/* Moves between start and end, for a path without waypoints of its own. */
#define DRAG_STEPS 16

struct drag_path {
	struct action_point *points; /* owned; press at the first, release at the last */
	size_t count;
};

/* Plans from `start` (NULL: the first waypoint) along all waypoints. */
void drag_path_plan(struct drag_path *path, const struct action_point *start,
	const struct action_point *waypoints, size_t count);
void drag_path_finish(struct drag_path *path);

#endif
