/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may talk to the listener: by which name it is called (a name that leads here although it is
 * not ours is a rebinding attack) and which pages call it. And who guesses: wrong secrets are
 * answered alike, and late when they come too often. Main thread only.
 */
#ifndef TAKEOVER_PAGE_GUARD_H
#define TAKEOVER_PAGE_GUARD_H

#include <stdbool.h>

struct http_request;
struct loop;
struct page_guard;

/*
 * All borrowed. has_tls: the listener itself speaks it. allowed_origins ends with NULL; NULL: none
 * beside our own.
 */
struct page_guard *page_guard_create(struct loop *loop, const char *public_url,
	const char *listen_address, bool has_tls, const char *const *allowed_origins);
/* Before the HTTP server ends. Accepts NULL. */
void page_guard_destroy(struct page_guard *guard);

/* Whether the Host header names us. */
bool page_guard_knows_host(const struct page_guard *guard, const struct http_request *request);

/*
 * Whether the Origin is ours or allowed. Without one: only who shows a secret in this very request
 * (a native tool) gets through; has_secret says whether it does.
 */
bool page_guard_admits_origin(
	const struct page_guard *guard, const struct http_request *request, bool has_secret);

/* The request's Origin when it is one of allowed_origins (not our own), else NULL. */
const char *page_guard_allowed_origin(
	const struct page_guard *guard, const struct http_request *request);

/* Answers 401 not_valid, at once or late; 429 when too many such answers wait. */
void page_guard_refuse_secret(struct page_guard *guard, struct http_request *request);

/* The same for what has no answer: how many ms to wait. */
int page_guard_note_guess(struct page_guard *guard, const struct http_request *request);

#endif
