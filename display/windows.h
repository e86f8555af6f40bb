/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The windows a person would call windows: with a window manager its client list, without one the
 * mapped children of the root. Display thread only. Windows may die at any moment: one that does
 * while it is looked at is left out.
 */
#ifndef DISPLAY_WINDOWS_H
#define DISPLAY_WINDOWS_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/rect.h"

struct xconn;

struct window_info {
	Window id;
	char *title;            /* UTF-8, "" when it has none */
	char *class_name;       /* second part of WM_CLASS, "" */
	char *instance;         /* first part of WM_CLASS, "" */
	int pid;                /* _NET_WM_PID or the client's by XRes; 0 when unknown */
	int desktop;            /* -1: on all, or no desktops here */
	struct rect area;       /* the client window on the root, without a frame */
	bool is_active, is_visible, is_override_redirect;
};

struct window_list {
	struct window_info *items; /* bottom of the stack first */
	size_t count;
};

/* Fills *out; window_list_finish frees it. Returns 0 or -ENOTCONN. */
int windows_list(struct xconn *conn, struct window_list *out);
void window_list_finish(struct window_list *list);

/* The window that has the input focus as the window manager tells it, else the top-level window
   of the X focus; None when there is none. */
Window windows_active(struct xconn *conn);

/* The process that the window says it is of (_NET_WM_PID), else its client's; 0 when unknown. */
int windows_pid(struct xconn *conn, Window window);

/*
 * Where the window is on the root, without its border. Returns 0, -ENOENT when there is no such
 * window, -ENXIO when it is not on the screen (unmapped), -ENOTCONN.
 */
int windows_area(struct xconn *conn, Window window, struct rect *out);

/*
 * Whether some program on this machine has connected lately but shows no window yet: one whose
 * process is younger than STARTUP_MAX_MS and that owns no mapped window. So that "wait until the
 * screen is quiet" does not end before a program just started has painted for the first time.
 */
#define STARTUP_MAX_MS 3000
bool windows_program_is_starting(struct xconn *conn);

#endif
