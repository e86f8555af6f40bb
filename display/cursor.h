/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pointer: where it is and what it looks like, through XFixes. Images are shared by reference
 * and may be read on any thread; everything else is for the display thread.
 */
#ifndef DISPLAY_CURSOR_H
#define DISPLAY_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct xconn;
struct cursor;

struct cursor_image {
	_Atomic int refs;     /* private */
	int width, height;
	int hot_x, hot_y;     /* the pixel of the image that is at the pointer's position */
	uint64_t serial;      /* differs whenever the image does */
	uint32_t argb[];      /* premultiplied 0xAARRGGBB, width * height */
};
struct cursor_image *cursor_image_ref(struct cursor_image *image);
void cursor_image_unref(struct cursor_image *image); /* accepts NULL */

struct cursor *cursor_create(struct xconn *conn);
void cursor_destroy(struct cursor *cursor); /* accepts NULL */

/* The present image (borrowed), or NULL when there is none (no XFixes, no pointer, server gone). */
struct cursor_image *cursor_image(struct cursor *cursor);

/* The pointer's position on the root window (one round trip); false when the server is gone. */
bool cursor_position(struct cursor *cursor, int *x, int *y);

#endif
