/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/reply.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/utf8.h"

static const struct {
	int status;
	const char *name, *meaning;
} codes[] = {
	[REPLY_BAD_REQUEST] = {400, "bad_request",
		"a value is wrong, a member or query parameter is unknown (it is named)"},
	[REPLY_NOT_FOUND] = {404, "not_found", "no such call, window, link"},
	[REPLY_METHOD_NOT_ALLOWED] = {405, "method_not_allowed", "the call exists with another method"},
	[REPLY_CONFLICT] = {409, "conflict", "not possible in the present state"},
	[REPLY_GONE] = {410, "gone", "was there, is no more"},
	[REPLY_TOO_LARGE] = {413, "too_large", "body over 16 MiB"},
	[REPLY_LOCKED] = {423, "locked", "a person holds the screen"},
	[REPLY_TOO_MANY] = {429, "too_many", "too many of something"},
	[REPLY_INTERNAL] = {500, "internal", "a fault of the daemon or its machine"},
	[REPLY_SCREEN_UNAVAILABLE] = {503, "screen_unavailable", "no X server (yet); the message says why"},
	[REPLY_TIMEOUT] = {504, "timeout", "the screen did not answer"},
	[REPLY_NO_SPACE] = {507, "no_space", "the disk is full"},
};

void reply_json(struct http_request *request, int status, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);
	json_decref(value);
	if (text == NULL)
		text = xstrdup("{}");
	size_t len = strlen(text);
	text = xrealloc(text, len + 2);
	text[len++] = '\n';
	http_reply_take(request, status, "application/json", text, len);
}

json_t *reply_error_json(enum reply_code code, const char *message)
{
	/* It may quote what the caller sent, in whatever encoding. */
	char *clean = utf8_sanitize(message, strlen(message));
	json_t *object = json_pack("{s:s, s:s}", "error", codes[code].name, "message", clean);
	free(clean);
	return object;
}

int reply_status(enum reply_code code)
{
	return codes[code].status;
}

const char *reply_name(enum reply_code code)
{
	return codes[code].name;
}

const char *reply_meaning(enum reply_code code)
{
	return codes[code].meaning;
}

void reply_error(struct http_request *request, enum reply_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *message = xvasprintf(format, args);
	va_end(args);
	reply_json(request, codes[code].status, reply_error_json(code, message));
	free(message);
}

void reply_no_screen(struct http_request *request, const char *fault)
{
	if (fault != NULL)
		reply_error(request, REPLY_SCREEN_UNAVAILABLE, "there is no screen: %s", fault);
	else
		reply_error(request, REPLY_SCREEN_UNAVAILABLE,
			"the display is not ready: its X server is not up (yet, or it ended); GET "
			"/v1/status shows when it is, or start the daemon with --xvfb");
}

json_t *reply_read_body(struct http_request *request)
{
	char error[256];
	size_t len;
	const char *body = http_request_body(request, &len);
	json_t *object = json_parse_body(body, len, error, sizeof(error));
	if (object == NULL)
		reply_error(request, REPLY_BAD_REQUEST, "%s", error);
	return object;
}

bool reply_finish_reading(struct http_request *request, struct json_reader *reader)
{
	if (json_reader_finish(reader))
		return true;
	reply_error(request, REPLY_BAD_REQUEST, "%s", reader->error);
	return false;
}

bool reply_takes_empty_body(struct http_request *request)
{
	struct json_reader reader;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return false;
	json_reader_init(&reader, body, "");
	bool is_good = reply_finish_reading(request, &reader);
	json_decref(body);
	return is_good;
}
