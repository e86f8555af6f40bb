/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/http_engine.h"

/* Whether one of the added headers is `name: value`. */
static bool has_added(const struct http_request *request, const char *name, const char *value)
{
	size_t name_len = strlen(name);
	size_t value_len = strlen(value);
	const char *line = (const char *)request->headers.data;
	const char *end = line + request->headers.len;
	while (line < end) {
		size_t len = (size_t)((const char *)memchr(line, '\r', (size_t)(end - line)) - line);
		if (len == name_len + 2 + value_len && strncasecmp(line, name, name_len) == 0 &&
			line[name_len] == ':' && memcmp(line + name_len + 2, value, value_len) == 0)
			return true;
		line += len + 2;
	}
	return false;
}

/* The part of `size` bytes that is asked for; ranges are for GET only (RFC 9110, 14.2). */
static enum http_range find_range(
	const struct http_request *request, uint64_t size, uint64_t *first, uint64_t *last)
{
	if (strcmp(request->head.method, "GET") != 0)
		return HTTP_RANGE_WHOLE;
	const char *condition = http_head_header(&request->head, "if-range");
	if (condition != NULL && !has_added(request, "ETag", condition) &&
		!has_added(request, "Last-Modified", condition))
		return HTTP_RANGE_WHOLE;
	return http_range_parse(http_head_header(&request->head, "range"), size, first, last);
}

static void reply_error(struct http_request *request, int fd, const struct http_fault *fault)
{
	close(fd);
	http_reply_put_error(request->connection, request, fault);
	http_reply_end(request);
}

void http_reply_file(struct http_request *request, const char *content_type, int fd)
{
	static const struct http_fault no_file = {500, "internal", "this is not a file to be sent"};
	static const struct http_fault no_part = {
		416, "bad_request", "the range asked for lies behind the end of the file"};
	struct http_connection *connection = http_reply_begin(request);
	if (connection == NULL) {
		close(fd);
		http_request_release(request);
		return;
	}
	struct stat info;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		reply_error(request, fd, &no_file);
		return;
	}
	char text[80];
	uint64_t size = (uint64_t)info.st_size;
	uint64_t first = 0, last = size - 1;
	enum http_range range = find_range(request, size, &first, &last);
	http_request_add_header(request, "Accept-Ranges", "bytes");
	if (range == HTTP_RANGE_UNSATISFIABLE) {
		snprintf(text, sizeof(text), "bytes */%" PRIu64, size);
		http_request_add_header(request, "Content-Range", text);
		reply_error(request, fd, &no_part);
		return;
	}
	if (range == HTTP_RANGE_PART) {
		snprintf(text, sizeof(text), "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first, last,
			size);
		http_request_add_header(request, "Content-Range", text);
	}
	uint64_t len = last - first + 1;
	http_reply_put_head(connection, request, range == HTTP_RANGE_PART ? 206 : 200,
		content_type, (int64_t)len);
	if (len > 0 && strcmp(request->head.method, "HEAD") != 0)
		http_output_take_file(&connection->out, fd, (off_t)first, len);
	else
		close(fd);
	http_reply_end(request);
}
