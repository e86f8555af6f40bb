/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes rectangles of a frame losslessly for one viewer, in its pixel format: Tight, ZRLE, Hextile
 * or Raw by libvncserver's encoders. The library is used for nothing else: it never sees the peer.
 * Its "socket" is a memory file, so that encoding neither waits for the network nor blocks input, and
 * each encoder has a screen record of its own, so that viewers share nothing.
 *
 * One thread at a time; create and destroy on the thread that encodes.
 */
#ifndef TAKEOVER_RFB_H
#define TAKEOVER_RFB_H

#include <stdbool.h>

#include "takeover/rfb_caps.h"
#include "takeover/rfb_protocol.h"

struct buffer;
struct frame;
struct rect;
struct rfb_encoder;

/* Pixels as frames have them: what ServerInit announces. */
extern const struct rfb_pixel_format rfb_native_format;

/* NULL when descriptors or memory are short (logged). */
struct rfb_encoder *rfb_encoder_create(void);
void rfb_encoder_destroy(struct rfb_encoder *encoder); /* accepts NULL */

/* What the viewer wants; a colour map for it may be appended to out. */
void rfb_encoder_set_format(
	struct rfb_encoder *encoder, const struct rfb_pixel_format *format, struct buffer *out);
void rfb_encoder_set_caps(struct rfb_encoder *encoder, const struct rfb_caps *caps);

/* The frame that rectangles are cut from until the next call. Borrowed. */
void rfb_encoder_set_frame(struct rfb_encoder *encoder, const struct frame *frame);

/*
 * Appends the rectangle, which lies inside the frame and is at most RFB_RECT_AREA_MAX pixels, to out;
 * adds to *rects how many RFB rectangles it became, or sets *is_open when that is not known (viewers
 * with LastRect only). False when the encoder failed; out is then as before.
 */
#define RFB_RECT_AREA_MAX (256 * 1024)
bool rfb_encoder_put(struct rfb_encoder *encoder, const struct rect *rect, struct buffer *out,
	unsigned *rects, bool *is_open);

/* Once, before the first encoder: the library's log goes to ours. */
void rfb_library_init(void);

#endif
