/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where native VNC viewers connect: a Unix socket of mode 0600 (its owner is the check), or a loopback
 * port with VNC's password, which is too weak for any other address. Main thread only.
 */
#ifndef TAKEOVER_RFB_LISTENER_H
#define TAKEOVER_RFB_LISTENER_H

#include <stdbool.h>

#include "takeover/viewers.h"

struct loop;
struct rfb_listener;

/* Whether text is a path (with a '/'), or ADDRESS:PORT of the loopback. If not, *advice says why. */
bool rfb_listener_check(const char *text, const char **advice);

/*
 * Listens at `where`. password: for TCP; NULL for a Unix socket. A socket file that nobody listens on
 * is replaced. NULL, with a logged reason, when it cannot.
 */
struct rfb_listener *rfb_listener_create(struct loop *loop, const char *where,
	enum viewer_role role, const char *password, struct viewers *viewers);
void rfb_listener_destroy(struct rfb_listener *listener); /* accepts NULL */

#endif
