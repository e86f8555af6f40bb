/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one HTTP/1.1 answer from bytes as they come (RFC 9112): status line, headers, and a body
 * that is Content-Length long, chunked, or goes on until the peer closes. Interim 1xx answers are
 * skipped. No I/O. Not thread safe.
 */
#ifndef CLIENT_ANSWER_READER_H
#define CLIENT_ANSWER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Larger headers and collected bodies are refused (-EMSGSIZE); streamed bodies have no end. */
#define ANSWER_HEAD_MAX (64 * 1024)
#define ANSWER_BODY_MAX ((size_t)1024 * 1024 * 1024)

enum answer_reader_state {
	ANSWER_HEAD,
	ANSWER_BODY, /* `left` more bytes, or until the peer closes */
	ANSWER_CHUNK_SIZE,
	ANSWER_CHUNK_DATA, /* `left` more bytes */
	ANSWER_CHUNK_END,
	ANSWER_TRAILER,
	ANSWER_COMPLETE,
};

struct answer_reader {
	int status;         /* 0 until the status line is here */
	struct buffer body; /* a NUL behind it; stays empty (data NULL) when the body goes to on_body */

	/* Where the body goes instead; returning false stops with -ECANCELED. May be NULL. Errors
	   (status 400 and up) are collected in `body` all the same. */
	bool (*on_body)(void *arg, const void *data, size_t len);
	void *arg;

	/* private */
	enum answer_reader_state state;
	struct buffer head; /* the header lines, each ended by NUL once they are complete */
	struct buffer line; /* chunk size or trailer line so far */
	uint64_t left;
	bool is_until_close;
};

/* Zero-initialise a struct answer_reader (and set on_body) before the first feed. */
void answer_reader_finish(struct answer_reader *reader);

/*
 * Takes the next bytes. Returns 0 when more are needed, 1 when the answer is complete (what follows
 * it is ignored), or a negative errno: -EPROTO for what is not HTTP, -EMSGSIZE, -ENOMEM,
 * -ECANCELED.
 */
int answer_reader_feed(struct answer_reader *reader, const void *data, size_t len);

/* The peer closed. Returns 1 when the answer is complete with that, else -ECONNRESET. */
int answer_reader_feed_end(struct answer_reader *reader);

/* The value of the first header of that name (any case), or NULL. Valid until finish. */
const char *answer_reader_header(const struct answer_reader *reader, const char *name);

#endif
