/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one X connection and what is known about its server: extensions, event dispatch, error traps,
 * and the server's death told as a callback. Display thread only, from open to close.
 *
 * Xlib keeps its error handlers per process; this file installs them once and finds the connection
 * by its Display. One thread per Display: two threads on one Display deadlock when the server dies.
 */
#ifndef DISPLAY_XCONN_H
#define DISPLAY_XCONN_H

#include <X11/Xlib.h>
#include <stdbool.h>

#include "base/list.h"

struct loop;
struct loop_io;
struct loop_prepare;
struct loop_timer;

/* All fields are owned by the display thread and read-only outside xconn.c. */
struct xconn {
	Display *dpy;
	int screen;
	Window root;
	struct loop *loop;
	bool is_broken;      /* the server has gone: make no more X calls, wait for on_lost */

	bool has_shm, has_damage, has_fixes, has_randr, has_xres, has_xtest, has_xkb;
	int damage_event, fixes_event, randr_event, xkb_event; /* first event numbers */
	int xi_opcode;       /* of XInputExtension, 0 without it */

	/* private */
	struct loop_io *io;
	struct loop_prepare *prepare;
	struct loop_timer *lost_timer;
	struct list listeners;
	void (*on_lost)(void *arg);
	void *on_lost_arg;
	int trap_depth;
	int trapped_error;
	unsigned long trap_serial; /* of the first request inside the outermost trap */
};

/*
 * Connects to `display` (":99"). on_lost is called once, from the loop, when the server goes away;
 * the owner then calls xconn_close. Returns NULL when nobody answers there.
 */
struct xconn *xconn_open(
	const char *display, struct loop *loop, void (*on_lost)(void *arg), void *arg);
void xconn_close(struct xconn *conn); /* accepts NULL; fine for a broken connection */

/* Somebody who wants to see events. Embedded; unlink with xconn_unlisten before freeing. */
struct xconn_listener {
	struct list link;
	/* Called for every event, in the order of listening. The event may be of any type. */
	void (*on_event)(void *arg, XEvent *event);
	void *arg;
};
void xconn_listen(struct xconn *conn, struct xconn_listener *listener);
void xconn_unlisten(struct xconn_listener *listener);

/*
 * Between trap and untrap X protocol errors are kept instead of logged. untrap waits for the
 * server's answer to everything before (one round trip) and returns the first error code
 * (BadWindow, …), 0 for none, or -1 when the connection broke. They nest; the outer one sees the
 * inner one's errors only if the inner did not return them.
 */
void xconn_trap(struct xconn *conn);
int xconn_untrap(struct xconn *conn);
/*
 * The same where all requests inside have a reply and it has been read: their errors have come with
 * it, so that no further round trip is needed.
 */
int xconn_untrap_replied(struct xconn *conn);

/*
 * Waits for the server's answer to everything so far. Returns whether it took so long
 * (XCONN_SLOW_US) that callers may have given up meanwhile: look at the posts before acting. False
 * for a broken connection.
 */
#define XCONN_SLOW_US 500000
bool xconn_was_slow(struct xconn *conn);

/* Handles all events already read or waiting, without blocking (after a round trip of one's own). */
void xconn_dispatch_pending(struct xconn *conn);

#endif
