/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two frames. Pure; any thread. */
#ifndef DISPLAY_FRAME_DIFF_H
#define DISPLAY_FRAME_DIFF_H

#include <pixman.h>

#include "display/rect.h"

struct frame;

/*
 * Adds to `out` the 64x64 tiles (clipped to the frame, merged along rows) that touch `damage` and
 * in which any of the B, G, R bytes differs. Both frames have the same size.
 */
void frame_diff(const struct frame *before, const struct frame *after, pixman_region32_t *damage,
	pixman_region32_t *out);

/*
 * The smallest rectangle that holds every pixel of `area` that differs; empty when none does. Both
 * frames have the same size; `out` may be `area` itself.
 */
void frame_diff_extents(const struct frame *before, const struct frame *after,
	const struct rect *area, struct rect *out);

/*
 * Grows *extents (empty: none yet), of which only what is inside `area` is kept, to hold also what
 * differs in `area`. What it holds already is not compared.
 */
void frame_diff_grow(const struct frame *before, const struct frame *after,
	const struct rect *area, struct rect *extents);

#endif
