/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request that is answered later. While the screen works on it the peer may go away, or the
 * screen may hang (a stopped X server): the call then forgets the request, and whoever comes back
 * with the result finds call_request() NULL. Main thread only.
 */
#ifndef SERVICE_CALL_H
#define SERVICE_CALL_H

#include <stdint.h>

struct call;
struct http_request;
struct service;

/*
 * Takes charge of the request. It is answered 504 `timeout` when call_end has not come within
 * timeout_ms. on_gone(arg) (may be NULL) tells that there is nobody to answer any more (the peer went
 * away, the time is over, the screen was taken), so that work can be cancelled.
 */
struct call *call_begin(struct service *service, struct http_request *request, int timeout_ms,
	void (*on_gone)(void *arg), void *arg);

/*
 * The same for a call that shows the screen: when a person takes the screen meanwhile it is answered
 * 423 `locked` at that moment. When it says nothing until the screen changes, its silence tells.
 */
struct call *call_begin_looking(struct service *service, struct http_request *request,
	int timeout_ms, void (*on_gone)(void *arg), void *arg);

/* Nobody may look any more: answers all calls that were begun looking. */
void calls_refuse_looking(struct service *service);

/* The request to answer, or NULL when there is nobody to answer any more. */
struct http_request *call_request(struct call *call);

/* Frees the call. Answer call_request() right before or after. Accepts NULL. */
void call_end(struct call *call);

#endif
