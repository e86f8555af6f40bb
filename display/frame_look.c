/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/frame_look.h"

#include <stddef.h>
#include <stdint.h>

#include "display/frame.h"
#include "display/rect.h"

/* Pixels a side that are looked at. */
#define GRID 32

/* Text and user interfaces are drawn on a ground: one colour has most of a coarse grid of pixels. */
bool frame_looks_like_text(const struct frame *frame, const struct rect *rect)
{
	uint32_t ground = 0;
	int votes = 0, count = 0;
	/* Boyer and Moore's majority vote, and then whether it is one. */
	for (int i = 0; i < 2 * GRID * GRID; i++) {
		int cell = i % (GRID * GRID);
		int x = rect->x + (cell % GRID * 2 + 1) * rect->width / (GRID * 2);
		int y = rect->y + (cell / GRID * 2 + 1) * rect->height / (GRID * 2);
		const uint8_t *p = frame->pixels + (size_t)y * (size_t)frame->stride + (size_t)x * 4;
		uint32_t colour = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
		if (i >= GRID * GRID) {
			count += colour == ground;
		} else if (votes == 0) {
			ground = colour;
			votes = 1;
		} else {
			votes += colour == ground ? 1 : -1;
		}
	}
	return count * 2 > GRID * GRID;
}
