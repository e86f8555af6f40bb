/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one viewer's picture lacks, and the next FramebufferUpdate that brings it nearer to the
 * screen: small fresh changes first, then what moves (H.264 or JPEG), then what is left over, up to a
 * number of bytes. What was sent with loss is remembered and repaired once it stops moving, so that
 * everything that rests is exact. Belongs to one thread.
 */
#ifndef TAKEOVER_RFB_UPDATE_H
#define TAKEOVER_RFB_UPDATE_H

#include <pixman.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/rect.h"
#include "takeover/rfb_caps.h"
#include "takeover/rfb_protocol.h"

struct buffer;
struct cursor_image;
struct frame;
struct jpeg_share;
struct live_packet;
struct rfb_encoder;

struct rfb_update {
	struct rfb_encoder *encoder;   /* owned */
	struct jpeg_share *jpegs;      /* borrowed */
	const char *name;              /* the desktop's; borrowed */
	struct rfb_caps caps;
	struct rfb_pixel_format format;
	int width, height;             /* as the viewer knows them */

	/* The screen: set by the owner before has_work and build. */
	struct frame *frame;           /* owned reference; NULL before the first */
	struct rect hot;
	struct cursor_image *cursor;   /* owned reference or NULL */
	int pointer_x, pointer_y;
	int lights;
	int jpeg_quality;              /* for what moves */
	int jpeg_rows;                 /* of one picture of it; 0: all in one */

	/* private */
	pixman_region32_t fresh;       /* changed since the last build */
	pixman_region32_t backlog;     /* changed before and not sent yet */
	pixman_region32_t lossy;       /* what the viewer shows approximately */
	pixman_region32_t motion;      /* what moved in the hot rectangle and goes out as JPEG */
	int backlog_y;                 /* where sending the backlog goes on */
	uint64_t cursor_serial;        /* sent; 0: never */
	bool is_cursor_hidden;         /* sent: no cursor */
	int sent_x, sent_y, sent_lights; /* -1: never */
	bool is_name_due, is_size_due, is_qemu_due, is_mouse_due;
	int answer_status;             /* to SetDesktopSize, -1: none is due */
};

/* Takes the encoder. width x height: what ServerInit said. */
void rfb_update_init(struct rfb_update *update, struct rfb_encoder *encoder,
	struct jpeg_share *jpegs, const char *name, int width, int height);
void rfb_update_finish(struct rfb_update *update);

/* SetEncodings and SetPixelFormat; may append to out (a colour map). */
void rfb_update_set_caps(struct rfb_update *update, const struct rfb_caps *caps);
void rfb_update_set_format(
	struct rfb_update *update, const struct rfb_pixel_format *format, struct buffer *out);

/* The region has changed on the screen, or the viewer asked for it anew. */
void rfb_update_damage(struct rfb_update *update, pixman_region32_t *region);

/* Whether a size change stands between the viewer and anything else. */
bool rfb_update_needs_resize(const struct rfb_update *update);
/* Whether it can be told of one; else it must be closed. */
bool rfb_update_can_resize(const struct rfb_update *update);

/* Whether there is anything to send inside `area` (NULL: everywhere), packets aside. */
bool rfb_update_has_work(struct rfb_update *update, pixman_region32_t *area);

/*
 * Appends one FramebufferUpdate to out, of about `budget` bytes at the most, from inside `area`. The
 * packets are H.264 for the hot rectangle, in order; they all go out, and however large they are, what
 * is left over gets a part on top. Appends nothing when there is nothing. *motion is set when some of
 * it was the moving picture. False when encoding failed: close.
 */
bool rfb_update_build(struct rfb_update *update, pixman_region32_t *area, size_t budget,
	struct live_packet *const *packets, int packet_count, struct buffer *out, bool *motion);

#endif
