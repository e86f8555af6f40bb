/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What waits to be sent on one connection: heads and stream bytes, then a body, then a part of a
 * file. A body is sent straight from its block. Zero-initialise with http_output_init. Not thread
 * safe.
 */
#ifndef BASE_HTTP_OUTPUT_H
#define BASE_HTTP_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

struct http_transport;

struct http_output {
	struct buffer bytes;
	size_t bytes_sent;
	const char *body;
	size_t body_len;
	size_t body_sent;
	void *body_block; /* body when it is owned, else NULL */
	int file;         /* owned; -1: none */
	off_t file_offset;
	uint64_t file_left;
};

enum http_send {
	HTTP_SEND_DONE,  /* all has been taken by the kernel */
	HTTP_SEND_AGAIN, /* go on when the socket is writable */
	HTTP_SEND_FAILED,
};

void http_output_init(struct http_output *output);
/* Drops everything that waits. */
void http_output_finish(struct http_output *output);

/* The body: borrowed until http_output_own_body, or taken (free'd when sent). */
void http_output_set_body(struct http_output *output, const void *data, size_t len);
void http_output_take_body(struct http_output *output, void *data, size_t len);
/* Copies what is left of a borrowed body. False when memory is short. */
bool http_output_own_body(struct http_output *output);
/* `file` is taken. */
void http_output_take_file(struct http_output *output, int file, off_t offset, uint64_t len);

bool http_output_is_empty(const struct http_output *output);

/* Sends what can be sent now, up to about a megabyte at a time; adds to *sent. */
enum http_send http_output_flush(
	struct http_output *output, struct http_transport *transport, uint64_t *sent);

#endif
