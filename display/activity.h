/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has been changing on the screen, and where: per 64x64 tile, when it last changed and how
 * often lately. From it come the quiet time (settling), the serial of the last change inside an
 * area (for caches), and the hot rectangle (pixels that keep changing over several frames, such as
 * a video), which is kept stable so that an encoder can live on it. Pure: no X, no clock of its own.
 */
#ifndef DISPLAY_ACTIVITY_H
#define DISPLAY_ACTIVITY_H

#include <pixman.h>
#include <stdbool.h>
#include <stdint.h>

#include "display/rect.h"

#define ACTIVITY_TILE 64 /* pixels a side */

struct activity;

struct activity *activity_create(int width, int height);
void activity_destroy(struct activity *activity); /* accepts NULL */

/* Notes that `region` of the screen changed at now_us in the frame with this serial. */
void activity_note(
	struct activity *activity, pixman_region32_t *region, uint64_t serial, int64_t now_us);

/* When a tile that touches `area` last changed; INT64_MIN when none ever did. */
int64_t activity_last_change_us(const struct activity *activity, const struct rect *area);

/* The largest serial noted for a tile that touches `area`; 0 when none. */
uint64_t activity_last_serial(const struct activity *activity, const struct rect *area);

/* What holds all tiles that changed at since_us or later, clipped to the screen; empty when none. */
struct rect activity_changed_since(const struct activity *activity, int64_t since_us);

/*
 * The rectangle that is hot at now_us, on tile borders clipped to the screen; false when nothing is.
 * It grows at once, shrinks only after ACTIVITY_SHRINK_US of the smaller need, and is gone once
 * nothing in it has changed for ACTIVITY_COOL_US.
 */
#define ACTIVITY_COOL_US   200000
#define ACTIVITY_SHRINK_US 1000000
bool activity_hot_rect(struct activity *activity, int64_t now_us, struct rect *out);

#endif
