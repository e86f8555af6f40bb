/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells when the program under the keyboard focus has taken all key events sent so far. Only then
 * may a keycode get another meaning, since a program looks a keycode up when it reads the event.
 * Display thread only; nothing blocks, the answer comes by callback.
 *
 * How: _NET_WM_PING where the window offers it (the answer goes to the root window, where we
 * listen; it stands behind the key events in the program's queue). Else, or when no answer comes
 * (Qt offers it and was seen not to answer), the program's X socket is empty and its main thread
 * sleeps on, looks in a row with a round trip to the server before each. Else a measured wait.
 */
#ifndef DISPLAY_BARRIER_H
#define DISPLAY_BARRIER_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <sys/types.h>

struct barrier;
struct xconn;

enum barrier_outcome {
	BARRIER_PASSED,    /* seen, or nobody has the focus */
	BARRIER_WAITED,    /* could not be seen; the measured wait is over */
	BARRIER_TIMED_OUT, /* the program has not taken its events within the limit */
};

struct barrier *barrier_create(struct xconn *conn);
void barrier_destroy(struct barrier *barrier); /* cancels; accepts NULL */

/*
 * Flushes, then calls done once, from the loop, at the latest after about limit_ms. One at a time:
 * none may be under way.
 */
void barrier_begin(struct barrier *barrier, int limit_ms,
	void (*done)(void *arg, enum barrier_outcome outcome), void *arg);
/*
 * The same for the program that owns `window` (None: passes at once). With the window manager's own
 * window: it has acted on all events so far.
 */
void barrier_begin_on(struct barrier *barrier, Window window, int limit_ms,
	void (*done)(void *arg, enum barrier_outcome outcome), void *arg);
/* The callback will not be called any more. Fine when none is under way. */
void barrier_cancel(struct barrier *barrier);

/*
 * Blocks for at most about a fifth of a second, or until the program is seen to have taken its
 * events. For the way out, when no loop runs any more; none may be under way.
 */
void barrier_wait(struct barrier *barrier);

/* The innermost window under the pointer; None over the bare root. */
Window barrier_pointer_window(struct xconn *conn);

/* The process behind a window, when it is on this machine; else -1. */
pid_t barrier_window_pid(struct barrier *barrier, Window window);

/* The window that gets the keys: the focus, or what is under the pointer; None when nobody does. */
Window barrier_focus_window(struct xconn *conn);

#endif
