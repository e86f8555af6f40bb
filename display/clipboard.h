/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads selections (ICCCM section 2): asks the owner, follows INCR transfers, never waits inside a
 * call. One transfer at a time; further ones queue. Display thread only.
 */
#ifndef DISPLAY_CLIPBOARD_H
#define DISPLAY_CLIPBOARD_H

#include <stddef.h>

struct clipboard;
struct xconn;

enum clipboard_selection {
	CLIPBOARD_CLIPBOARD,
	CLIPBOARD_PRIMARY,
};

enum clipboard_content {
	CLIPBOARD_TEXT, /* UTF-8 */
	CLIPBOARD_PNG,
};

/* An owner that makes no progress for this long is given up. */
#define CLIPBOARD_TIMEOUT_MS 3000
/* Larger contents are refused. */
#define CLIPBOARD_MAX_BYTES (64u << 20)

struct clipboard *clipboard_create(struct xconn *conn);
/* Requests still open are answered -ENOTCONN. Accepts NULL. */
void clipboard_destroy(struct clipboard *clipboard);

/*
 * Reads a selection and calls done once, never from inside this call: error 0 with data (borrowed,
 * valid during the call; len 0 with error 0 for an empty or unowned selection asked for text);
 * -ENOENT when there is no such content (an unowned selection asked for a picture, an owner that
 * has no such target), -ETIMEDOUT when the owner does not answer, -EFBIG, -ENOTCONN.
 */
typedef void (*clipboard_done)(void *arg, int error, const char *data, size_t len);
void clipboard_read(struct clipboard *clipboard, enum clipboard_selection selection,
	enum clipboard_content content, clipboard_done done, void *arg);

#endif
