/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts an Xvfb, watches it and starts it again when it dies. A display on which somebody else's
 * server lives is used as it is and never touched. Main thread only.
 */
#ifndef DISPLAY_XSERVER_H
#define DISPLAY_XSERVER_H

#include <stdbool.h>

struct loop;
struct xserver;

#define XSERVER_ANY_NUMBER (-1)

struct xserver_options {
	int number;            /* of the display, or XSERVER_ANY_NUMBER: the first free one */
	int width, height, depth;
	bool dies_with_daemon; /* also when the daemon is killed outright; else the screen and its
				  programs live on and the next daemon on that number attaches */
};

struct xserver_events {
	/* A server is there and accepts: display is ":99". Called for each start. */
	void (*on_ready)(void *arg, const char *display);
	/* It does not start (no Xvfb program, a depth it cannot do); text says why. It may be tried
	   again; on_ready then says that it is well. */
	void (*on_failed)(void *arg, const char *text);
	void *arg;
};

struct xserver *xserver_create(
	struct loop *loop, const struct xserver_options *options, const struct xserver_events *events);

/* Ends the server if it is ours (SIGTERM, after two seconds SIGKILL) and waits for it. */
void xserver_destroy(struct xserver *xserver); /* accepts NULL */

/* The display has been lost: if it was somebody else's server, start one of our own there. */
void xserver_on_display_lost(struct xserver *xserver);

/* Whether the server is one that this process started. */
bool xserver_is_own(const struct xserver *xserver);

#endif
