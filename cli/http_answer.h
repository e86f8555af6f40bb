/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one HTTP/1.1 answer from bytes as they come (RFC 9112): status line, headers, and a body
 * that is Content-Length long, chunked, or goes on until the peer closes. Interim 1xx answers are
 * skipped. No I/O. Not thread safe.
 */
#ifndef CLI_HTTP_ANSWER_H
#define CLI_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Larger headers and collected bodies are refused (-EMSGSIZE); streamed bodies have no end. */
#define HTTP_ANSWER_HEAD_MAX (64 * 1024)
#define HTTP_ANSWER_BODY_MAX ((size_t)1024 * 1024 * 1024)

enum http_answer_state {
	HTTP_ANSWER_HEAD,
	HTTP_ANSWER_BODY, /* `left` more bytes, or until the peer closes */
	HTTP_ANSWER_CHUNK_SIZE,
	HTTP_ANSWER_CHUNK_DATA, /* `left` more bytes */
	HTTP_ANSWER_CHUNK_END,
	HTTP_ANSWER_TRAILER,
	HTTP_ANSWER_COMPLETE,
};

struct http_answer {
	int status;         /* 0 until the status line is here */
	struct buffer body; /* stays empty when the body goes to on_body */

	/* Where the body goes instead; returning false stops with -ECANCELED. May be NULL. Errors
	   (status 400 and up) are collected in `body` all the same. */
	bool (*on_body)(void *arg, const void *data, size_t len);
	void *arg;

	/* private */
	enum http_answer_state state;
	struct buffer head; /* the header lines, each ended by NUL once they are complete */
	struct buffer line; /* chunk size or trailer line so far */
	uint64_t left;
	bool is_until_close;
};

/* Zero-initialise a struct http_answer (and set on_body) before the first feed. */
void http_answer_finish(struct http_answer *answer);

/*
 * Takes the next bytes. Returns 0 when more are needed, 1 when the answer is complete (what follows
 * it is ignored), or a negative errno: -EPROTO for what is not HTTP, -EMSGSIZE, -ECANCELED.
 */
int http_answer_feed(struct http_answer *answer, const void *data, size_t len);

/* The peer closed. Returns 1 when the answer is complete with that, else -ECONNRESET. */
int http_answer_feed_end(struct http_answer *answer);

/* The value of the first header of that name (any case), or NULL. Valid until finish. */
const char *http_answer_header(const struct http_answer *answer, const char *name);

#endif
