/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a Server-Sent Events stream (WHATWG HTML, 9.2.6) from bytes as they come. No I/O. Not
 * thread safe.
 */
#ifndef CLIENT_SSE_READER_H
#define CLIENT_SSE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct sse_event {
	const char *id;   /* its own or that of the last event which had one, else "" */
	const char *type; /* "message" where the stream does not say */
	const char *data; /* lines joined by '\n' */
};

struct sse_reader {
	/* Called for each event; what it points at is gone when it returns. */
	void (*on_event)(void *arg, const struct sse_event *event);
	void *arg;

	/* private */
	struct buffer line, id, type, data; /* of the event that is being read */
	bool has_data;
};

/* Zero-initialise a reader and set on_event. */
void sse_reader_finish(struct sse_reader *reader);

/* Takes the next bytes. Returns false when a line is longer than 1 MiB: not an event stream. */
bool sse_reader_feed(struct sse_reader *reader, const void *data, size_t len);

/* The id that events have until one brings its own: that of the last one of an earlier stream. */
void sse_reader_resume(struct sse_reader *reader, const char *last_id);

#endif
