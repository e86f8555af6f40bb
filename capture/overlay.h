/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What recordings show on top of the screen: the pointer, ripples where the agent clicked, the keys
 * it pressed; or, instead of the screen, a card. Nothing of it is on the screen itself. Times are
 * monotonic microseconds, coordinates those of the canvas. One thread at a time.
 */
#ifndef CAPTURE_OVERLAY_H
#define CAPTURE_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "display/rect.h"

struct cursor_image;
struct overlay;
struct picture;

/* The pointer, OVERLAY_RIPPLES ripples, the key strip. */
#define OVERLAY_RIPPLES   4
#define OVERLAY_RECTS_MAX (OVERLAY_RIPPLES + 2)

struct overlay *overlay_create(int width, int height);
void overlay_destroy(struct overlay *overlay); /* accepts NULL */

/* cursor is ref'ed; NULL: no pointer. x, y: its hot spot. */
void overlay_set_pointer(struct overlay *overlay, struct cursor_image *cursor, int x, int y);
void overlay_add_click(struct overlay *overlay, int x, int y, int64_t now_us);
/* A key or a chord ("ctrl+s"), in UTF-8; joins those of the last moment. */
void overlay_add_key(struct overlay *overlay, const char *name, int64_t now_us);

/* Where it draws now; returns how many rectangles. */
int overlay_rects(const struct overlay *overlay, int64_t now_us, struct rect out[OVERLAY_RECTS_MAX]);
/* Draws onto the part of the canvas that begins at x, y. */
void overlay_draw(const struct overlay *overlay, int64_t now_us, struct picture *part, int x, int y);
/* When it will look different although nothing was added; INT64_MAX: never. */
int64_t overlay_next_us(const struct overlay *overlay, int64_t now_us);

/* Fills the picture with a card that says `text` in one line. */
void overlay_draw_card(struct picture *picture, const char *text);

#endif
