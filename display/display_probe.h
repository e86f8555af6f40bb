/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is there an X server, seen from outside: sockets and lock files. No Xlib; any thread. */
#ifndef DISPLAY_DISPLAY_PROBE_H
#define DISPLAY_DISPLAY_PROBE_H

#include <stdbool.h>

/*
 * The number in ":99" or ":99.0"; -1 for anything else (a display on another host, or no display
 * name at all).
 */
int display_number(const char *display);

/*
 * Whether somebody accepts connections on a local display, by one connect() to its Unix socket
 * (abstract or in /tmp/.X11-unix). True without a look for displays on other hosts.
 */
bool display_probe(const char *display);

/*
 * Removes the lock file and the socket that a dead server left behind. The caller has seen that
 * nobody accepts there. Returns 0 when the number is free now; -EBUSY when the lock belongs to a
 * live process that is an X server (it may still be starting); else a negative errno.
 */
int display_remove_stale(int number);

#endif
