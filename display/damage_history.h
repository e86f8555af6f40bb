/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed from one frame to the next, for the last few frames. Pure; one thread at a time. */
#ifndef DISPLAY_DAMAGE_HISTORY_H
#define DISPLAY_DAMAGE_HISTORY_H

#include <pixman.h>
#include <stdbool.h>
#include <stdint.h>

/* Frames looked back at: more than a pool of them usually has in turn. */
#define DAMAGE_HISTORY_MAX 8

struct damage_history {
	struct {
		uint64_t serial; /* of the frame; 0: none yet */
		pixman_region32_t region;
	} frames[DAMAGE_HISTORY_MAX]; /* the frame with a serial is at serial % DAMAGE_HISTORY_MAX */
	uint64_t last;
};

/* Nothing is known of frames up to this serial. */
void damage_history_init(struct damage_history *history, uint64_t last_serial);
void damage_history_finish(struct damage_history *history);

/* The frame after the last one; `region` is what differs, and is copied. */
void damage_history_add(struct damage_history *history, const pixman_region32_t *region);

/*
 * Adds to `out` all that changed between the frame with this serial and the last one. False, and
 * `out` as it was, when that frame is too old or none (0).
 */
bool damage_history_since(
	const struct damage_history *history, uint64_t serial, pixman_region32_t *out);

#endif
