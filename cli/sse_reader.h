/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a Server-Sent Events stream (WHATWG HTML, 9.2.6) from bytes as they come. No I/O. Not
 * thread safe.
 */
#ifndef CLI_SSE_READER_H
#define CLI_SSE_READER_H

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
	struct buffer last_id;              /* of the last complete event */
	bool has_data;
};

/* Zero-initialise a reader and set on_event. Finish frees; feeding may go on afterwards. */
void sse_reader_finish(struct sse_reader *reader);

/* Takes the next bytes. Returns false when a line is longer than 1 MiB: not an event stream. */
bool sse_reader_feed(struct sse_reader *reader, const void *data, size_t len);

/* Drops the event that was not complete when the connection broke, its id too. */
void sse_reader_restart(struct sse_reader *reader);

/* The id of the last complete event, for Last-Event-ID; "" for none. Valid until the next feed. */
const char *sse_reader_last_id(const struct sse_reader *reader);

#endif
