/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame: one immutable picture of the whole screen, shared by reference between threads.
 * Pixels are 4 bytes each in memory order B, G, R, X (a little-endian 0x??RRGGBB word); X is
 * whatever the X server left there and means nothing.
 *
 * frame_ref and frame_unref may be called from any thread. The last unref gives the memory back to
 * the pool it came from (or frees it, when the pool is gone).
 */
#ifndef DISPLAY_FRAME_H
#define DISPLAY_FRAME_H

#include <pixman.h>
#include <stdint.h>

struct frame_pool;

struct frame {
	/* All immutable once the display thread has handed the frame out. */
	int width, height;       /* pixels, never 0 */
	int stride;              /* bytes from one row to the next, a multiple of 4 */
	const uint8_t *pixels;   /* height * stride bytes */
	uint64_t serial;         /* grows by one with each visible change of the screen, over
				    reattachments and size changes too */
	int64_t taken_us;        /* clock_monotonic_us() when the server was read */
	int64_t taken_wall_us;   /* clock_wall_us() then */
	pixman_region32_t damage; /* what differs from the frame with serial - 1; all of it when the
				     size changed or nothing came before */
};

struct frame *frame_ref(struct frame *frame);
void frame_unref(struct frame *frame); /* accepts NULL */

#endif
