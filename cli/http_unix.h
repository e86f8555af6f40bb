/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tool's calls, by libboxscreen (client/boxscreen.h), as a command writes them down: a call and
 * its answer are plain structs that live on its stack. Any thread, each call stands alone.
 */
#ifndef CLI_HTTP_UNIX_H
#define CLI_HTTP_UNIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct boxscreen_answer;

struct http_call {
	const char *method;
	const char *target;       /* path and query, percent-encoded */
	const char *content_type; /* of the body; NULL without one */
	const void *body;
	size_t body_len;
	int silence_max_ms; /* how long the peer may say nothing; -1: for ever */
};

struct http_answer {
	int status;         /* 0 until the head is here */
	struct buffer body; /* borrowed from `whole`; empty when it went to on_body */

	/* Where the body goes instead; returning false stops with -ECANCELED. May be NULL. Errors
	   (status 400 and up) are collected in `body` all the same. */
	bool (*on_body)(void *arg, const void *data, size_t len);
	void *arg;

	struct boxscreen_answer *whole; /* NULL until the head is here */
};

/*
 * Makes the call into *answer (zero-initialised, on_body set by the caller where wanted). Returns
 * what boxscreen_send returns. The caller finishes *answer in any case.
 */
int http_unix_call(
	const char *socket_path, const struct http_call *call, struct http_answer *answer);

/* Sets status and body from `whole`, for a command that made the call itself. */
void http_answer_look(struct http_answer *answer);

/* The value of the first header of that name (any case), or NULL. Valid until finish. */
const char *http_answer_header(const struct http_answer *answer, const char *name);

void http_answer_finish(struct http_answer *answer);

#endif
