/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be done to windows, with a window manager and without one. Display thread only. A window
 * may die at any moment: that is an error here, never an X error anywhere else.
 *
 * Results are 0 or a negative errno: -ENOENT no such window (any more), -ENOTSUP it takes a window
 * manager, or a better one, -ENXIO the window is not on the screen (unmapped), -EPERM the window is
 * not to be touched (the root window, or one of this program's own), -EINVAL the server refused the
 * values, -ENOTCONN. window_error says it as a sentence. What a window manager is asked for happens
 * later, or never.
 */
#ifndef DISPLAY_WINDOW_OPS_H
#define DISPLAY_WINDOW_OPS_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stddef.h>

#include "display/rect.h"

struct xconn;

/* What went wrong, to follow "window 123 " or stand alone: "does not exist". Static. */
const char *window_error(int result);

/* The window by which a manager that follows the EWMH says that it runs; None without one. */
Window window_manager_check(struct xconn *conn);
bool window_manager_runs(struct xconn *conn);
/* Whether it says (in _NET_SUPPORTED) that it knows the property or message of that name. */
bool window_manager_supports(struct xconn *conn, const char *name);

/* Whether this program made the window. */
bool window_is_own(struct xconn *conn, Window window);
bool window_exists(struct xconn *conn, Window window);
bool window_is_viewable(struct xconn *conn, Window window);

/*
 * Place and size as X has them: for a child of the root the place of its outer corner (where a move
 * would put it), for others (in a frame) the place of their inside on the screen.
 */
int window_geometry(struct xconn *conn, Window window, struct rect *out);
/* The place that window_move would have to be given to leave the window where it is. */
int window_place(struct xconn *conn, Window window, int *x, int *y);

/* None when there is no parent (the root) or no such window. */
Window window_parent(struct xconn *conn, Window window);
/* Whether `window` is `other` or lies in it. */
bool window_is_inside(struct xconn *conn, Window window, Window other);
/*
 * The window that belongs to a program: the nearest of `window` and its ancestors that has WM_STATE,
 * else (when `window` is a frame) the one with it inside, else the child of the root that it lies in.
 * None for the root and when it is gone.
 */
Window window_client(struct xconn *conn, Window window);
/* The same for what is under the pointer; None over the bare root. */
Window window_under_pointer(struct xconn *conn);

/*
 * To the front and given the keys: asks the window manager (and switches to the window's desktop),
 * without one maps, raises and focuses.
 */
int window_activate(struct xconn *conn, Window window);
/* The window that gets the keys, no more than that. */
int window_focus(struct xconn *conn, Window window);

int window_quit(struct xconn *conn, Window window);  /* asks it to close; -ENOTSUP: it cannot be asked */
int window_close(struct xconn *conn, Window window); /* destroys it */
int window_kill(struct xconn *conn, Window window);  /* ends its program's connection */

int window_move(struct xconn *conn, Window window, int x, int y);
int window_resize(struct xconn *conn, Window window, int width, int height);
int window_raise(struct xconn *conn, Window window);
int window_lower(struct xconn *conn, Window window);
int window_map(struct xconn *conn, Window window);
int window_unmap(struct xconn *conn, Window window);
int window_minimize(struct xconn *conn, Window window);

/* _NET_WM_STATE: 0 removes, 1 adds, 2 toggles _NET_WM_STATE_`name` (upper case). */
int window_state(struct xconn *conn, Window window, int action, const char *name);

/* Columns and rows to pixels by the window's size hints; unchanged for windows without steps. */
int window_size_from_hints(struct xconn *conn, Window window, int *width, int *height);

/* Sends an EWMH client message about `window` (may be the root) to the window manager. */
int window_send_message(struct xconn *conn, Window window, const char *type, const long data[5]);

#endif
