/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks from outside whether a local X client has read what the server sent it: the queues, both
 * ways, of its X sockets (unix sock_diag) and whether its main thread sleeps (/proc). Needs the
 * client's pid in our pid namespace and the right to read its /proc/pid/fd (same user or root). Any
 * thread, one user at a time; each call takes some tens of microseconds.
 */
#ifndef DISPLAY_SOCKET_LOOK_H
#define DISPLAY_SOCKET_LOOK_H

#include <stdbool.h>
#include <sys/types.h>

struct socket_look;

enum socket_look_result {
	/* All queues are empty, and program and server have slept since the look before: nothing is on
	   its way between the two. */
	SOCKET_LOOK_IDLE,
	SOCKET_LOOK_ASLEEP,  /* the same of the program; the server was at work or cannot be seen */
	SOCKET_LOOK_RUNNING, /* all queues empty, the program at work now or since the look before */
	SOCKET_LOOK_BEHIND,  /* bytes wait to be read, by it or by the server; or it is stopped */
	SOCKET_LOOK_UNKNOWN, /* cannot be seen (any more) */
};

/* NULL when the kernel has no sock_diag for unix sockets. */
struct socket_look *socket_look_create(void);
void socket_look_destroy(struct socket_look *look); /* accepts NULL */

/* Watches the server's main thread as well from now on; 0: it cannot be seen. */
void socket_look_set_server(struct socket_look *look, pid_t pid);
/* How often the server's main thread has gone to sleep; 0 when it cannot be seen. */
unsigned long long socket_look_server_sleeps(const struct socket_look *look);

/*
 * Looks at this process from now on: finds its sockets that are connected to an X server's
 * (…/.X11-unix/X…). False when there are none or they cannot be seen.
 */
bool socket_look_aim(struct socket_look *look, pid_t pid);

enum socket_look_result socket_look_now(struct socket_look *look);

#endif
