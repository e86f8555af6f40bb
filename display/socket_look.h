/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks from outside whether a local X client has read what the server sent it: the queues, both
 * ways, of its X sockets (unix sock_diag) and the state of its main thread (/proc). Needs the
 * client's pid in our pid namespace and the right to read its /proc/pid/fd (same user or root). Any
 * thread, one user at a time; each call takes some tens of microseconds.
 */
#ifndef DISPLAY_SOCKET_LOOK_H
#define DISPLAY_SOCKET_LOOK_H

#include <stdbool.h>
#include <sys/types.h>

struct socket_look;

enum socket_look_result {
	SOCKET_LOOK_IDLE,    /* all queues empty, main thread asleep */
	SOCKET_LOOK_RUNNING, /* all queues empty, main thread at work */
	SOCKET_LOOK_BEHIND,  /* bytes wait to be read, by it or by the server; or it is stopped */
	SOCKET_LOOK_UNKNOWN, /* cannot be seen (any more) */
};

/* NULL when the kernel has no sock_diag for unix sockets. */
struct socket_look *socket_look_create(void);
void socket_look_destroy(struct socket_look *look); /* accepts NULL */

/*
 * Looks at this process from now on: finds its sockets that are connected to an X server's
 * (…/.X11-unix/X…). False when there are none or they cannot be seen.
 */
bool socket_look_aim(struct socket_look *look, pid_t pid);

enum socket_look_result socket_look_now(struct socket_look *look);

#endif
