/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTTP/1.1 exchange over a Unix stream socket: a connection, a request, an answer; blocking. A
 * library for HTTP would bring megabytes of code and milliseconds of start time with it. Any
 * thread, each exchange stands alone.
 */
#ifndef CLIENT_EXCHANGE_H
#define CLIENT_EXCHANGE_H

#include <stddef.h>

#include "client/answer_reader.h"

struct exchange {
	const char *method;
	const char *target;       /* path and query, percent-encoded */
	const char *headers;      /* further header lines, each with its "\r\n"; may be NULL */
	const char *content_type; /* of the body; NULL without one */
	const void *body;
	size_t body_len;
	int silence_max_ms; /* how long the peer may say nothing; -1: for ever */
	int cancel_fd;      /* once it is readable, the exchange ends; -1: nothing ends it */
};

/*
 * Sends the request and reads the answer into *answer (zero-initialised, on_body set by the caller
 * where wanted). Returns 0 once the answer is complete, whatever its status, or a negative errno:
 * what connect(2) says (-ENOENT, -ECONNREFUSED, -EACCES), -ENAMETOOLONG for a path that no socket
 * can have, -ETIMEDOUT, -ECONNRESET when the peer closed too early, -ECANCELED by cancel_fd, and
 * what answer_reader_feed returns. The caller finishes *answer in any case.
 */
int exchange_run(
	const char *socket_path, const struct exchange *exchange, struct answer_reader *answer);

#endif
