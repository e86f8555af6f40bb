/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/http_encode.h"
#include "client/boxscreen.h"

/* Appends to a text that ends in NUL, and keeps it so. */
static void append_text(struct buffer *text, const char *more)
{
	if (text->len > 0)
		text->len--;
	buffer_append(text, more, strlen(more) + 1);
}

/* Control characters would end the line that they stand in (RFC 9110, 5.5). */
static bool is_one_line(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
		if ((*p < 0x20 && *p != '\t') || *p == 0x7f)
			return false;
	}
	return true;
}

static bool is_token(const char *text)
{
	return text[0] != '\0' &&
	       text[strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

/* HEAD is not among them: its answer has the length of a body that does not come. */
static bool is_method(const char *text)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "DELETE"};
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(text, methods[i]) == 0)
			return true;
	}
	return false;
}

/* Visible ASCII, from the root on (RFC 9112, 3.2.1). */
static bool is_target(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
		if (*p <= 0x20 || *p >= 0x7f || *p == '#')
			return false;
	}
	return text[0] == '/';
}

struct boxscreen_request *boxscreen_request_new(const char *method, const char *target)
{
	struct boxscreen_request *request = xcalloc(1, sizeof(*request));
	request->method = xstrdup(method);
	request->cancel_fd = -1;
	append_text(&request->target, target);
	append_text(&request->headers, "");
	request->is_wrong = !is_method(method) || !is_target(target);
	return request;
}

void boxscreen_request_free(struct boxscreen_request *request)
{
	if (request == NULL)
		return;
	free(request->method);
	buffer_finish(&request->target);
	buffer_finish(&request->headers);
	free(request->media_type);
	free(request->body);
	free(request->last_id);
	free(request);
}

void boxscreen_request_add_query(
	struct boxscreen_request *request, const char *name, const char *value)
{
	bool is_first = strchr((const char *)request->target.data, '?') == NULL;
	request->target.len--;
	buffer_append(&request->target, is_first ? "?" : "&", 1);
	http_encode(&request->target, name);
	buffer_append(&request->target, "=", 1);
	http_encode(&request->target, value);
	buffer_append(&request->target, "", 1);
}

void boxscreen_request_add_header(
	struct boxscreen_request *request, const char *name, const char *value)
{
	if (!is_token(name) || !is_one_line(value)) {
		request->is_wrong = true;
		return;
	}
	if (strcasecmp(name, "last-event-id") == 0) {
		free(request->last_id);
		request->last_id = xstrdup(value);
	}
	append_text(&request->headers, name);
	append_text(&request->headers, ": ");
	append_text(&request->headers, value);
	append_text(&request->headers, "\r\n");
}

void boxscreen_request_set_body(
	struct boxscreen_request *request, const char *media_type, const void *data, size_t len)
{
	free(request->media_type);
	free(request->body);
	request->media_type = xstrdup(media_type);
	request->body = xmemdup(data, len);
	request->body_len = len;
	request->is_wrong |= !is_one_line(media_type);
}

void boxscreen_request_set_silence(struct boxscreen_request *request, int silence_max_ms)
{
	request->silence_max_ms = silence_max_ms;
	request->has_silence = true;
}

void boxscreen_request_set_cancel_fd(struct boxscreen_request *request, int fd)
{
	request->cancel_fd = fd;
}

void boxscreen_request_set_on_body(struct boxscreen_request *request,
	int (*on_body)(void *arg, const void *data, size_t len), void *arg)
{
	request->on_body = on_body;
	request->on_body_arg = arg;
}

void boxscreen_request_set_on_event(struct boxscreen_request *request,
	int (*on_event)(void *arg, const struct boxscreen_event *event), void *arg)
{
	request->on_event = on_event;
	request->on_event_arg = arg;
}
