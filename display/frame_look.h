/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kind of picture a part of a frame is: encoders search differently. Pure; any thread. */
#ifndef DISPLAY_FRAME_LOOK_H
#define DISPLAY_FRAME_LOOK_H

#include <stdbool.h>

struct frame;
struct rect;

/* Text and user interfaces, as opposed to photos and films. rect lies inside the frame. */
bool frame_looks_like_text(const struct frame *frame, const struct rect *rect);

#endif
