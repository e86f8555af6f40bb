/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes the screen's size through RandR. Display thread only. */
#ifndef DISPLAY_RESIZE_H
#define DISPLAY_RESIZE_H

struct xconn;

/*
 * Makes the screen width x height. Returns 0, -ENOTSUP when the server has no RandR output to
 * resize, -ERANGE when the server does not go to that size (Xvfb: up to the size it started with;
 * *max_width and *max_height then say how far, 0 when unknown), -ENOTCONN.
 */
int screen_resize_to(
	struct xconn *conn, int width, int height, int *max_width, int *max_height);

#endif
