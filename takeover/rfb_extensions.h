/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages and rectangles to a viewer that libvncserver does not know or gets wrong: fences,
 * cursors with alpha, sizes, names, lights, H.264 and JPEG rectangles, texts. Each function appends to
 * a buffer; rectangles go inside a FramebufferUpdate. Pure.
 */
#ifndef TAKEOVER_RFB_EXTENSIONS_H
#define TAKEOVER_RFB_EXTENSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "takeover/rfb_caps.h"
#include "takeover/rfb_protocol.h"

struct cursor_image;
struct rect;

void rfb_put_u8(struct buffer *out, unsigned value);
void rfb_put_u16(struct buffer *out, unsigned value);
void rfb_put_u32(struct buffer *out, uint32_t value);

/* The head of a FramebufferUpdate; its count of rectangles is set by rfb_end_update. */
size_t rfb_begin_update(struct buffer *out);
void rfb_end_update(struct buffer *out, size_t begin, unsigned rects);
void rfb_put_rect(struct buffer *out, int x, int y, int width, int height, int32_t encoding);

/* Rectangles. */
void rfb_put_h264(struct buffer *out, const struct rect *rect, bool is_first, const void *data, size_t len);
/* A whole JPEG picture as a Tight rectangle; at most 2048 wide, len below 4 MiB. */
void rfb_put_jpeg(struct buffer *out, const struct rect *rect, const void *data, size_t len);
/*
 * The cursor's shape in the best form the viewer understands; image NULL: none is shown. False (and
 * nothing appended) when it understands none. `format` is the viewer's pixel format.
 */
bool rfb_put_cursor(struct buffer *out, const struct rfb_caps *caps,
	const struct rfb_pixel_format *format, const struct cursor_image *image);
void rfb_put_pointer_pos(struct buffer *out, int x, int y);
void rfb_put_desktop_name(struct buffer *out, const char *name);
/* reason 0: the server's doing, 1: this viewer's; status 0: done, 1: prohibited, 3: invalid. */
void rfb_put_extended_size(struct buffer *out, int width, int height, int reason, int status);
/* `lights` are LIVE_LIGHT_*, whose bits are QEMU's. Returns the number of rectangles. */
unsigned rfb_put_lights(struct buffer *out, const struct rfb_caps *caps, int lights);

/* Messages. */
void rfb_put_fence(struct buffer *out, uint32_t flags, const void *payload, size_t len);
/* text as Latin-1; characters it lacks become '?'. */
void rfb_put_cut_text(struct buffer *out, const char *utf8, size_t len);
void rfb_put_clipboard_caps(struct buffer *out);
void rfb_put_clipboard_action(struct buffer *out, uint32_t flags);
void rfb_put_clipboard_text(struct buffer *out, const char *utf8, size_t len);

/*
 * The text of an extended clipboard's "provide": inflated, line ends made \n, checked to be UTF-8.
 * NULL when there is none, when it is broken or longer than RFB_CUT_TEXT_MAX. The caller frees it.
 */
char *rfb_read_clipboard_text(uint32_t flags, const uint8_t *data, size_t len, size_t *text_len);
/* A plain cut text, Latin-1, as UTF-8 with \n. The caller frees it. */
char *rfb_read_cut_text(const uint8_t *data, size_t len, size_t *text_len);

#endif
