/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small blocking HTTP/1.1 client over a Unix stream socket: one connection, one request, one
 * answer. A library would bring megabytes of code and milliseconds of start time with it. Any
 * thread, each call stands alone.
 */
#ifndef CLI_HTTP_UNIX_H
#define CLI_HTTP_UNIX_H

#include <stddef.h>
#include <stdint.h>

#include "cli/http_answer.h"

struct http_call {
	const char *method;
	const char *target;       /* path and query, percent-encoded */
	const char *headers;      /* further header lines, each with its "\r\n"; may be NULL */
	const char *content_type; /* of the body; NULL without one */
	const void *body;
	size_t body_len;
	int silence_max_ms; /* how long the peer may say nothing; -1: for ever */
};

/*
 * Sends the call to the socket and reads the answer into *answer (zero-initialised, on_body set by
 * the caller where wanted). Returns 0 once the answer is complete, whatever its status, or a
 * negative errno: what connect(2) says (-ENOENT, -ECONNREFUSED, -EACCES), -ENAMETOOLONG for a
 * path that no socket can have, -ETIMEDOUT, -ECONNRESET when the peer closed too early, and what
 * http_answer_feed returns. The caller finishes *answer in any case.
 */
int http_unix_call(
	const char *socket_path, const struct http_call *call, struct http_answer *answer);

/* Appends `text` percent-encoded: the unreserved characters of RFC 3986 and commas stay. */
void http_encode(struct buffer *out, const char *text);

#endif
