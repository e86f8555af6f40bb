/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of docs/page-api.md under /box/ID. Main thread only. */
#ifndef TAKEOVER_PAGE_CALLS_H
#define TAKEOVER_PAGE_CALLS_H

#include <stdbool.h>

struct http_request;
struct loop;
struct page_guard;
struct takeovers;
struct viewers;

/* What the calls need; all borrowed. */
struct page_calls {
	struct loop *loop;
	struct takeovers *takeovers;
	struct viewers *viewers;
	struct page_guard *guard;
};

/* Answers the call of that name ("session"), whose host is known to be ours. False: there is none.
 */
bool page_calls_handle(
	const struct page_calls *calls, struct http_request *request, const char *name);

/* Answers {"error","message"}. */
void page_refuse(struct http_request *request, int status, const char *code, const char *message);
/* Answers 405; `allowed`: the methods there are, as the Allow header has them. */
void page_refuse_method(struct http_request *request, const char *allowed);

#endif
