/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JPEG pictures of the moving part of the screen, made once however many viewers want the same one.
 * Any thread.
 */
#ifndef TAKEOVER_JPEG_SHARE_H
#define TAKEOVER_JPEG_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct frame;
struct jpeg_share;
struct rect;

struct jpeg {
	_Atomic int refs; /* private */
	size_t len;
	uint8_t data[];
};
void jpeg_unref(struct jpeg *jpeg); /* accepts NULL */

struct jpeg_share *jpeg_share_create(void);
void jpeg_share_destroy(struct jpeg_share *share); /* accepts NULL */

/*
 * The rectangle of the frame, quality 1 to 100; waits for another thread that is at the same one.
 * NULL when memory is short. The caller unrefs it.
 */
struct jpeg *jpeg_share_get(
	struct jpeg_share *share, struct frame *frame, const struct rect *rect, int quality);

#endif
