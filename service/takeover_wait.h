/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers that wait for a takeover: a long poll each. One that sees the hand back gets a fresh
 * picture with it. Main thread only.
 */
#ifndef SERVICE_TAKEOVER_WAIT_H
#define SERVICE_TAKEOVER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct http_request;
struct service;
struct takeover_waits;

struct takeover_waits *takeover_waits_create(struct service *service);
/* After the HTTP server has ended, and the screen and the pool. Accepts NULL. */
void takeover_waits_destroy(struct takeover_waits *waits);

struct takeover_wait_options {
	const char *id; /* of a takeover that there is; copied */
	int wait_s;     /* 0: answer at once */
	int64_t since;  /* answer as soon as the version is another; -1: only when it has ended */
	bool wants_shot;
};
/* Takes charge of the request. */
void takeover_waits_add(struct takeover_waits *waits, struct http_request *request,
	const struct takeover_wait_options *options);

/* Something has changed: answers those who waited for it. */
void takeover_waits_look(struct takeover_waits *waits);

#endif
