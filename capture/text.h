/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of text onto a picture: FreeType with the system's sans font (fontconfig finds it). Without
 * one nothing is drawn. Any thread; one picture is used by one thread at a time.
 */
#ifndef CAPTURE_TEXT_H
#define CAPTURE_TEXT_H

#include <stdint.h>

struct picture;

/* How wide the line will be, in pixels, at `size` pixels an em. */
int text_width(const char *text, int size);

/*
 * Draws UTF-8 text in colour 0xRRGGBB; x is where it begins, baseline where it stands. What lies
 * outside the picture is cut off.
 */
void text_draw(struct picture *picture, int x, int baseline, int size, uint32_t rgb, const char *text);

#endif
