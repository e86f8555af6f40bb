/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_engine.h"

static const char *reason_phrase(int status)
{
	static const struct {
		int status;
		const char *reason;
	} phrases[] = {
		{101, "Switching Protocols"}, {200, "OK"}, {201, "Created"}, {202, "Accepted"},
		{204, "No Content"}, {206, "Partial Content"}, {301, "Moved Permanently"},
		{302, "Found"}, {303, "See Other"}, {304, "Not Modified"},
		{307, "Temporary Redirect"}, {308, "Permanent Redirect"}, {400, "Bad Request"},
		{401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
		{405, "Method Not Allowed"}, {406, "Not Acceptable"}, {408, "Request Timeout"},
		{409, "Conflict"}, {410, "Gone"}, {412, "Precondition Failed"},
		{413, "Content Too Large"}, {415, "Unsupported Media Type"},
		{416, "Range Not Satisfiable"}, {417, "Expectation Failed"},
		{422, "Unprocessable Content"}, {423, "Locked"}, {426, "Upgrade Required"},
		{429, "Too Many Requests"}, {431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"}, {501, "Not Implemented"}, {502, "Bad Gateway"},
		{503, "Service Unavailable"}, {504, "Gateway Timeout"},
		{505, "HTTP Version Not Supported"}, {507, "Insufficient Storage"},
	};
	for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
		if (phrases[i].status == status)
			return phrases[i].reason;
	}
	return "Unknown";
}

static bool has_body(const struct http_request *request, int status)
{
	return status >= 200 && status != 204 && status != 304 &&
	       (request == NULL || strcmp(request->head.method, "HEAD") != 0);
}

void http_reply_put_head(struct http_connection *connection, const struct http_request *request,
	int status, const char *content_type, int64_t body_len)
{
	struct buffer *out = &connection->out.bytes;
	bool is_old = request != NULL && request->head.minor_version == 0;
	if (body_len < 0 && is_old)
		connection->keeps_alive = false; /* only the end of the connection ends it */
	buffer_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, reason_phrase(status),
		http_server_date(connection->server));
	if (content_type != NULL)
		buffer_printf(out, "Content-Type: %s\r\n", content_type);
	if (body_len >= 0 && status >= 200 && status != 204 && status != 304)
		buffer_printf(out, "Content-Length: %" PRId64 "\r\n", body_len);
	else if (body_len < 0 && !is_old)
		buffer_printf(out, "Transfer-Encoding: chunked\r\n");
	if (status == 101)
		buffer_printf(out, "Connection: Upgrade\r\n");
	else if (!connection->keeps_alive)
		buffer_printf(out, "Connection: close\r\n");
	else if (is_old)
		buffer_printf(out, "Connection: keep-alive\r\n");
	if (request == NULL && status == 429)
		buffer_printf(out, "Retry-After: 1\r\n");
	if (request != NULL && request->headers.len > 0)
		buffer_append(out, request->headers.data, request->headers.len);
	else if (connection->listener->error_headers != NULL) /* no handler has seen it */
		buffer_printf(out, "%s", connection->listener->error_headers);
	buffer_append(out, "\r\n", 2);
}

void http_reply_put_error(struct http_connection *connection, const struct http_request *request,
	const struct http_fault *fault)
{
	char *body = xasprintf(
		"{\"error\":\"%s\",\"message\":\"%s\"}\n", fault->code, fault->message);
	size_t len = strlen(body);
	http_reply_put_head(connection, request, fault->status, "application/json", (int64_t)len);
	if (has_body(request, fault->status))
		buffer_append(&connection->out.bytes, body, len);
	free(body);
}

struct http_connection *http_reply_begin(struct http_request *request)
{
	struct http_connection *connection = request->connection;
	if (connection == NULL)
		return NULL;
	assert(connection->request == request && !request->is_answered && !request->is_stream);
	connection->since_us = clock_monotonic_us();
	return connection;
}

void http_reply_end(struct http_request *request)
{
	struct http_connection *connection = request->connection;
	http_connection_set_phase(connection, HTTP_PHASE_SENDING);
	http_connection_flush(connection);
	if (!http_output_own_body(&connection->out))
		connection->has_failed = true;
	connection->request = NULL;
	if (!request->is_in_use)
		http_server_defer(connection->server, connection);
	http_request_release(request);
}

void http_reply(struct http_request *request, int status, const char *content_type,
	const void *data, size_t len)
{
	struct http_connection *connection = http_reply_begin(request);
	if (connection == NULL) {
		http_request_release(request);
		return;
	}
	http_reply_put_head(connection, request, status, content_type, (int64_t)len);
	if (has_body(request, status))
		http_output_set_body(&connection->out, data, len);
	http_reply_end(request);
}

void http_reply_take(struct http_request *request, int status, const char *content_type,
	void *data, size_t len)
{
	struct http_connection *connection = http_reply_begin(request);
	if (connection == NULL) {
		free(data);
		http_request_release(request);
		return;
	}
	http_reply_put_head(connection, request, status, content_type, (int64_t)len);
	if (has_body(request, status) && len > 0)
		http_output_take_body(&connection->out, data, len);
	else
		free(data);
	http_reply_end(request);
}

/* --- streams --------------------------------------------------------------------------------- */

void http_stream_start(struct http_request *request, const char *content_type, size_t queue_max)
{
	struct http_connection *connection = http_reply_begin(request);
	request->is_stream = true;
	if (connection == NULL)
		return;
	request->is_stream_chunked = request->head.minor_version > 0;
	request->queue_max = queue_max;
	http_reply_put_head(connection, request, 200, content_type, -1);
	http_connection_flush(connection);
	if (strcmp(request->head.method, "HEAD") == 0) {
		/* All of the answer is there: the stream ends as if the peer had gone. */
		http_connection_set_phase(connection, HTTP_PHASE_SENDING);
		connection->request = NULL;
		http_request_detach(request);
	}
	if (!request->is_in_use)
		http_server_defer(connection->server, connection);
}

bool http_stream_write(struct http_request *request, const void *data, size_t len)
{
	struct http_connection *connection = request->connection;
	if (connection == NULL || connection->has_failed)
		return false;
	assert(request->is_stream);
	struct http_output *out = &connection->out;
	bool was_empty = http_output_is_empty(out);
	if (out->bytes.len - out->bytes_sent + len > request->queue_max)
		return false;
	if (len == 0)
		return true; /* as a chunk it would end the stream */
	if (request->is_stream_chunked)
		buffer_printf(&out->bytes, "%zx\r\n", len);
	buffer_append(&out->bytes, data, len);
	if (request->is_stream_chunked)
		buffer_append(&out->bytes, "\r\n", 2);
	if (was_empty) {
		connection->since_us = clock_monotonic_us();
		if (!http_connection_flush(connection))
			http_server_defer(connection->server, connection);
	}
	return true;
}

void http_stream_close(struct http_request *request)
{
	struct http_connection *connection = request->connection;
	if (connection == NULL) {
		http_request_release(request);
		return;
	}
	assert(request->is_stream && !request->is_answered);
	if (request->is_stream_chunked)
		buffer_append(&connection->out.bytes, "0\r\n\r\n", 5);
	http_reply_end(request);
}

/* --- upgrades -------------------------------------------------------------------------------- */

bool http_request_upgrade(
	struct http_request *request, struct http_transport *transport, struct buffer *early)
{
	struct http_connection *connection = http_reply_begin(request);
	if (connection == NULL) {
		http_request_release(request);
		return false;
	}
	http_reply_put_head(connection, request, 101, NULL, 0);
	bool is_sent = http_connection_flush(connection);
	if (is_sent) {
		http_watch_remove(connection->server, &connection->watch);
		*transport = connection->transport;
		connection->transport.fd = -1;
		*early = connection->in;
		connection->in = (struct buffer){0};
	}
	/* Handed over or not, the connection is over for us. */
	connection->has_failed = true;
	http_reply_end(request);
	return is_sent;
}
