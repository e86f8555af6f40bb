/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection: reading requests, handing each to its handler, sending, ending. One request at a
 * time: what a peer pipelines stays in the socket until the answer before it is sent, so neither
 * order nor memory is a concern.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_engine.h"
#include "base/http_tls.h"

#define READ_SIZE      16384
#define BODY_READ_SIZE ((size_t)256 * 1024)

/* How long a peer may go on sending what nobody will read (a body that was refused). */
#define LINGER_US INT64_C(2000000)

#define SEND_TIMEOUT_S 30

static void on_event(struct http_watch *watch, uint32_t events);

void http_connection_set_phase(struct http_connection *connection, enum http_phase phase)
{
	if ((phase == HTTP_PHASE_IDLE) != (connection->phase == HTTP_PHASE_IDLE)) {
		list_remove(&connection->idle_link);
		if (phase == HTTP_PHASE_IDLE)
			list_append(&connection->listener->idle, &connection->idle_link);
	}
	connection->listener->answering_count += phase == HTTP_PHASE_ANSWER;
	connection->listener->answering_count -= connection->phase == HTTP_PHASE_ANSWER;
	connection->phase = phase;
}

/* --- deadline and readiness ------------------------------------------------------------------- */

static int64_t find_due(const struct http_connection *connection)
{
	const struct http_limits *limits = &connection->listener->limits;
	int send_s = limits->send_timeout_s > 0 ? limits->send_timeout_s : SEND_TIMEOUT_S;
	switch (connection->phase) {
	case HTTP_PHASE_IDLE:
		/* TLS may still be in its handshake, which is part of the first request. */
		if (connection->transport.state != NULL && connection->sent == 0)
			return connection->since_us + limits->request_timeout_s * INT64_C(1000000);
		return connection->since_us + limits->idle_timeout_s * INT64_C(1000000);
	case HTTP_PHASE_HEAD:
	case HTTP_PHASE_BODY:
		return connection->since_us + limits->request_timeout_s * INT64_C(1000000);
	case HTTP_PHASE_ANSWER:
		if (http_output_is_empty(&connection->out))
			return HTTP_NEVER_US;
		return connection->since_us + send_s * INT64_C(1000000);
	case HTTP_PHASE_SENDING:
		return connection->since_us + send_s * INT64_C(1000000);
	case HTTP_PHASE_LINGER:
		return connection->since_us + LINGER_US;
	}
	return HTTP_NEVER_US;
}

static bool is_reading(const struct http_connection *connection)
{
	return connection->phase <= HTTP_PHASE_BODY || connection->phase == HTTP_PHASE_LINGER;
}

/* EPOLLHUP and EPOLLERR are always watched for. */
static uint32_t find_events(const struct http_connection *connection)
{
	uint32_t events = 0;
	if (is_reading(connection))
		events |= EPOLLIN;
	if (connection->phase == HTTP_PHASE_ANSWER && !connection->is_half_closed)
		events |= EPOLLRDHUP;
	if (!http_output_is_empty(&connection->out))
		events |= EPOLLOUT;
	return events;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Answers what went wrong and closes after that. */
static void refuse(struct http_connection *connection, const struct http_fault *fault)
{
	connection->keeps_alive = false;
	connection->lingers = true;
	http_reply_put_error(connection, connection->request, fault);
	if (connection->request != NULL)
		http_request_free(connection->request);
	connection->request = NULL;
	connection->in.len = 0;
	connection->since_us = clock_monotonic_us();
	http_connection_set_phase(connection, HTTP_PHASE_SENDING);
}

void http_connection_turn_away(struct http_connection *connection, const struct http_fault *fault)
{
	connection->is_turned_away = true;
	connection->listener->turned_away_count++;
	refuse(connection, fault);
	http_connection_run(connection);
}

static bool check_body_size(struct http_connection *connection, uint64_t size)
{
	static const struct http_fault too_large = {
		413, "too_large", "the body of the request is larger than is taken here"};
	if (size <= connection->listener->limits.body_max)
		return true;
	refuse(connection, &too_large);
	return false;
}

/* The head is here: what becomes of the request as far as that says. */
static void begin_request(struct http_connection *connection)
{
	static const struct http_fault no_host = {
		400, "bad_request", "an HTTP/1.1 request must have a Host header"};
	struct http_request *request = connection->request;
	connection->keeps_alive = request->head.wants_keep_alive;
	/* On the Unix socket a host means nothing, and requests typed by hand have none. */
	if (request->head.minor_version > 0 && !connection->listener->is_unix &&
		http_head_header(&request->head, "host") == NULL) {
		refuse(connection, &no_host);
		return;
	}
	if (!request->head.is_chunked && !check_body_size(connection, request->head.content_length))
		return;
	memset(&connection->chunked, 0, sizeof(connection->chunked));
	http_connection_set_phase(connection, HTTP_PHASE_BODY);
	bool has_body = request->head.is_chunked || request->head.content_length > 0;
	if (request->head.expects_continue && has_body && connection->in.len == 0) {
		static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
		buffer_append(&connection->out.bytes, text, sizeof(text) - 1);
		http_connection_flush(connection);
	}
}

/* Reads on in the head. Returns false when more must come first. */
static bool read_head(struct http_connection *connection)
{
	static const struct http_fault too_large = {
		431, "too_large", "the request line and headers are longer than is taken here"};
	struct buffer *in = &connection->in;
	if (connection->phase == HTTP_PHASE_IDLE) {
		buffer_consume(in, http_head_skip_empty_lines((char *)in->data, in->len));
		if (in->len == 0)
			return false;
		connection->head_scanned = 0;
		connection->since_us = clock_monotonic_us();
		http_connection_set_phase(connection, HTTP_PHASE_HEAD);
	}
	struct http_fault fault;
	enum http_scan scan = http_head_scan(
		(char *)in->data, in->len, &connection->head_scanned, &fault);
	if (scan != HTTP_SCAN_FAULT &&
		connection->head_scanned > (size_t)connection->listener->limits.header_max) {
		refuse(connection, &too_large);
		return true;
	}
	if (scan == HTTP_SCAN_MORE)
		return false;
	struct http_head head;
	if (scan == HTTP_SCAN_FAULT ||
		!http_head_parse(&head, (char *)in->data, connection->head_scanned, &fault)) {
		refuse(connection, &fault);
		return true;
	}
	buffer_consume(in, connection->head_scanned);
	connection->request = http_request_create(connection);
	connection->request->head = head;
	begin_request(connection);
	return true;
}

/* Appends to the body; memory for it is asked for as it comes, and may be refused. */
static bool append_body(struct http_connection *connection, const void *data, size_t len)
{
	static const struct http_fault no_memory = {
		503, "internal", "there is not enough memory for the body of the request"};
	struct buffer *body = &connection->request->body;
	uint8_t *place = buffer_try_reserve(body, len);
	if (place == NULL) {
		refuse(connection, &no_memory);
		return false;
	}
	memcpy(place, data, len);
	body->len += len;
	return true;
}

/* Returns whether the body is all here; when it was refused, the phase says so. */
static bool read_chunks(struct http_connection *connection)
{
	struct buffer *in = &connection->in;
	size_t used = 0;
	for (;;) {
		struct http_fault fault;
		const char *data = (char *)in->data + used;
		size_t step, piece;
		enum http_chunk chunk = http_chunked_feed(
			&connection->chunked, data, in->len - used, &step, &piece, &fault);
		used += step;
		if (chunk == HTTP_CHUNK_FAULT) {
			refuse(connection, &fault);
			return false;
		}
		if (chunk != HTTP_CHUNK_DATA) {
			buffer_consume(in, used);
			return chunk == HTTP_CHUNK_DONE;
		}
		if (!check_body_size(connection, connection->request->body.len + piece +
							 connection->chunked.left) ||
			!append_body(connection, data + step - piece, piece))
			return false;
	}
}

static bool read_plain_body(struct http_connection *connection)
{
	struct http_request *request = connection->request;
	size_t left = (size_t)request->head.content_length - request->body.len;
	size_t here = connection->in.len < left ? connection->in.len : left;
	if (here > 0) {
		if (!append_body(connection, connection->in.data, here))
			return false;
		buffer_consume(&connection->in, here);
	}
	return here == left;
}

static void hand_over(struct http_connection *connection)
{
	struct http_request *request = connection->request;
	struct http_listener *listener = connection->listener;
	http_connection_set_phase(connection, HTTP_PHASE_ANSWER);
	request->is_in_use = true;
	listener->handler(listener->arg, request);
	request->is_in_use = false;
	if (request->is_answered)
		http_request_free(request);
}

/* Reads on in the body and gives the whole request to the handler. False: more must come first. */
static bool read_body(struct http_connection *connection)
{
	bool is_whole = connection->request->head.is_chunked ? read_chunks(connection)
							     : read_plain_body(connection);
	if (is_whole)
		hand_over(connection);
	return connection->phase != HTTP_PHASE_BODY;
}

/* The peer has finished sending. */
static void read_end(struct http_connection *connection)
{
	static const struct http_fault cut = {
		400, "bad_request", "the request ended before it was complete"};
	connection->is_half_closed = true;
	if (connection->phase == HTTP_PHASE_HEAD || connection->phase == HTTP_PHASE_BODY)
		refuse(connection, &cut);
	else
		connection->has_failed = true; /* between requests: simply the end */
}

static void read_some(struct http_connection *connection)
{
	struct buffer *target = &connection->in;
	size_t len = READ_SIZE;
	struct http_request *request = connection->request;
	if (connection->phase == HTTP_PHASE_BODY && !request->head.is_chunked) {
		/* Straight to where it belongs; never into what follows the body. */
		uint64_t left = request->head.content_length - request->body.len;
		target = &request->body;
		len = left < BODY_READ_SIZE ? (size_t)left : BODY_READ_SIZE;
	}
	uint8_t *place = buffer_try_reserve(target, len);
	if (place == NULL) {
		connection->has_failed = true;
		return;
	}
	ssize_t count = connection->transport.ops->read(&connection->transport, place, len);
	if (count > 0)
		target->len += (size_t)count;
	else if (count == 0)
		read_end(connection);
	else if (count != -EAGAIN)
		connection->has_failed = true;
}

/* --- sending ---------------------------------------------------------------------------------- */

bool http_connection_flush(struct http_connection *connection)
{
	if (connection->has_failed)
		return false;
	uint64_t before = connection->sent;
	enum http_send result =
		http_output_flush(&connection->out, &connection->transport, &connection->sent);
	if (connection->sent != before && connection->phase >= HTTP_PHASE_ANSWER)
		connection->since_us = clock_monotonic_us();
	if (result == HTTP_SEND_FAILED)
		connection->has_failed = true;
	return result == HTTP_SEND_DONE;
}

/* An answer is wholly sent: on to the next request, or to the end. */
static void finish_answer(struct http_connection *connection)
{
	connection->since_us = clock_monotonic_us();
	if (connection->keeps_alive) {
		if (connection->in.len == 0)
			buffer_finish(&connection->in); /* many idle connections, little memory */
		http_connection_set_phase(connection, HTTP_PHASE_IDLE);
		return;
	}
	if (!connection->lingers || connection->is_half_closed) {
		connection->has_failed = true;
		return;
	}
	/*
	 * Closing with unread bytes in the socket would reset the connection and could take the
	 * answer away from a peer that is still sending.
	 */
	connection->transport.ops->shut_down(&connection->transport);
	http_connection_set_phase(connection, HTTP_PHASE_LINGER);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Goes through the phases until something must come from outside. */
static void advance(struct http_connection *connection)
{
	while (!connection->has_failed) {
		switch (connection->phase) {
		case HTTP_PHASE_IDLE:
		case HTTP_PHASE_HEAD:
			if (!read_head(connection))
				return;
			break;
		case HTTP_PHASE_BODY:
			if (!read_body(connection))
				return;
			break;
		case HTTP_PHASE_ANSWER:
			return;
		case HTTP_PHASE_SENDING:
			if (!http_connection_flush(connection))
				return;
			finish_answer(connection);
			break;
		case HTTP_PHASE_LINGER:
			connection->in.len = 0;
			return;
		}
	}
}

void http_connection_run(struct http_connection *connection)
{
	advance(connection);
	while (connection->transport.has_more && !connection->has_failed && is_reading(connection)) {
		read_some(connection);
		advance(connection);
	}
	if (connection->has_failed) {
		http_connection_close(connection);
		return;
	}
	http_watch_set(connection->server, &connection->watch, find_events(connection));
	connection->due_us = find_due(connection);
	http_server_note_due(connection->server, connection->due_us);
}

/* The peer does not send any more, or is not there any more, while its answer is pending. */
static void note_peer_end(struct http_connection *connection)
{
	/* On a Unix socket the two differ: EPOLLHUP has been looked at before. */
	if (connection->listener->is_unix)
		connection->is_half_closed = true;
	else
		connection->has_failed = true;
}

static void on_event(struct http_watch *watch, uint32_t events)
{
	struct http_connection *connection = container_of(watch, struct http_connection, watch);
	if (connection->is_closed)
		return;
	bool is_broken = (events & (EPOLLHUP | EPOLLERR)) != 0;
	if (is_reading(connection)) {
		/* What a peer sent before it went is still a request; reading finds the end. */
		if ((events & EPOLLIN) != 0 || is_broken)
			read_some(connection);
	} else if (is_broken) {
		connection->has_failed = true;
	} else if ((events & EPOLLRDHUP) != 0 && connection->phase == HTTP_PHASE_ANSWER) {
		note_peer_end(connection);
	}
	if ((events & EPOLLOUT) != 0)
		http_connection_flush(connection);
	http_connection_run(connection);
}

void http_connection_expire(struct http_connection *connection)
{
	static const struct http_fault late = {
		408, "timeout", "the request did not arrive in time"};
	if (connection->phase == HTTP_PHASE_HEAD || connection->phase == HTTP_PHASE_BODY)
		refuse(connection, &late);
	else
		connection->has_failed = true;
	http_connection_run(connection);
}

struct http_connection *http_connection_create(
	struct http_listener *listener, int fd, const char *peer)
{
	struct http_connection *connection = xcalloc(1, sizeof(*connection));
	connection->server = listener->server;
	connection->listener = listener;
	connection->transport = (struct http_transport){.ops = &http_transport_plain, .fd = fd};
	connection->watch = (struct http_watch){.fd = fd, .fn = on_event};
	list_init(&connection->deferred_link);
	list_append(&listener->connections, &connection->link);
	list_append(&listener->idle, &connection->idle_link);
	listener->connection_count++;
	http_output_init(&connection->out);
	strncpy(connection->peer, peer, sizeof(connection->peer) - 1);
	connection->since_us = clock_monotonic_us();
	bool is_wrapped = listener->tls == NULL || http_tls_wrap(listener->tls, &connection->transport);
	if (!is_wrapped || !http_watch_add(connection->server, &connection->watch, EPOLLIN)) {
		http_connection_close(connection);
		return NULL;
	}
	connection->due_us = find_due(connection);
	http_server_note_due(connection->server, connection->due_us);
	return connection;
}

void http_connection_close(struct http_connection *connection)
{
	if (connection->is_closed)
		return;
	connection->is_closed = true;
	if (connection->transport.fd >= 0)
		connection->transport.ops->close(&connection->transport);
	list_remove(&connection->idle_link);
	list_remove(&connection->deferred_link);
	list_remove(&connection->link);
	list_append(&connection->server->dead, &connection->link);
	connection->listener->connection_count--;
	connection->listener->answering_count -= connection->phase == HTTP_PHASE_ANSWER;
	connection->listener->turned_away_count -= connection->is_turned_away;

	struct http_request *request = connection->request;
	bool was_handed_over = connection->phase == HTTP_PHASE_ANSWER;
	connection->request = NULL;
	if (request != NULL && was_handed_over)
		http_request_lose(request);
	else if (request != NULL)
		http_request_free(request);
}

void http_connection_free(struct http_connection *connection)
{
	list_remove(&connection->link);
	buffer_finish(&connection->in);
	http_output_finish(&connection->out);
	free(connection);
}
