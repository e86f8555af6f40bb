/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A viewer on a plain socket (native viewers). Main thread only. */
#ifndef TAKEOVER_STREAM_LINK_H
#define TAKEOVER_STREAM_LINK_H

#include "takeover/peer_link.h"

struct loop;

/* fd, which is taken, is a connected non-blocking stream socket. */
struct peer_link *stream_link_create(struct loop *loop, int fd);

#endif
