/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a struct boxscreen_request is inside of the library. */
#ifndef CLIENT_REQUEST_H
#define CLIENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct boxscreen_event;

struct boxscreen_request {
	char *method;
	struct buffer target;  /* a text with its NUL */
	struct buffer headers; /* lines that end in "\r\n", and a NUL */
	char *media_type;      /* of the body; NULL without one */
	void *body;
	size_t body_len;
	int (*on_body)(void *arg, const void *data, size_t len);
	void *on_body_arg;
	int (*on_event)(void *arg, const struct boxscreen_event *event); /* goes before on_body */
	void *on_event_arg;
	char *last_id; /* of the header Last-Event-ID; NULL without */
	int silence_max_ms;
	bool has_silence; /* else the client's */
	int cancel_fd;    /* -1: none */
	bool is_wrong;    /* something would break the request's lines */
};

#endif
