/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/mcp/rpc.h"

#include <string.h>

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

static void fail(struct rpc_message *out, enum rpc_code code, const char *fault)
{
	out->kind = RPC_FAULTY;
	out->code = code;
	out->fault = fault;
}

void rpc_read(json_t *message, struct rpc_message *out)
{
	json_t *id = json_object_get(message, "id");
	const json_t *params = json_object_get(message, "params");
	const char *version = json_string_value(json_object_get(message, "jsonrpc"));
	*out = (struct rpc_message){.id = is_id(id) ? id : NULL};
	out->method = json_string_value(json_object_get(message, "method"));
	if (!json_is_object(message)) {
		fail(out, RPC_INVALID_REQUEST, "a message must be a JSON object");
	} else if (version == NULL || strcmp(version, "2.0") != 0) {
		fail(out, RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
	} else if (out->method == NULL && (json_object_get(message, "result") != NULL ||
						  json_object_get(message, "error") != NULL)) {
		out->kind = RPC_RESPONSE;
	} else if (out->method == NULL) {
		fail(out, RPC_INVALID_REQUEST, "method must be a string");
	} else if (id != NULL && !is_id(id)) {
		fail(out, RPC_INVALID_REQUEST, "id must be a string or a whole number");
	} else if (id != NULL && params != NULL && !json_is_object(params)) {
		fail(out, RPC_INVALID_PARAMS, "params must be an object");
	} else {
		out->kind = id != NULL ? RPC_REQUEST : RPC_NOTIFICATION;
		out->params = json_is_object(params) ? params : NULL;
	}
}

/* The text between two quotes ends behind the second; NULL: not here. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			return at + 1;
	}
	return NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* The value that begins at `at`, an id if it is one; what the line's end may have cut is none. */
static json_t *read_id(const char *at, const char *end)
{
	const char *after = at;
	if (at < end && *at == '"')
		after = skip_string(at, end);
	else
		while (after < end && strchr(",} \t\r", *after) == NULL)
			after++;
	json_t *id = after != NULL && after < end
			     ? json_loadb(at, (size_t)(after - at), JSON_DECODE_ANY, NULL)
			     : NULL;
	if (is_id(id))
		return id;
	json_decref(id);
	return NULL;
}

/* Where the value begins, if `name` up to `after` is the name of a member "id"; else NULL. */
static const char *value_of_id(const char *name, const char *after, const char *end)
{
	const char *colon = after != NULL ? skip_blanks(after, end) : end;
	if (colon >= end || *colon != ':' || after - name != 4 || memcmp(name, "\"id\"", 4) != 0)
		return NULL;
	return skip_blanks(colon + 1, end);
}

json_t *rpc_find_id(const char *line, size_t len)
{
	const char *end = line + len, *value = NULL;
	int depth = 0;
	for (const char *at = skip_blanks(line, end); at != NULL && at < end;) {
		/* Nonsense, or a list, whose messages have ids of their own. */
		if (depth == 0 && *at != '{')
			return NULL;
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
		if (depth == 0)
			break;
		const char *after = *at == '"' ? skip_string(at, end) : at + 1;
		const char *found = *at == '"' && depth == 1 ? value_of_id(at, after, end) : NULL;
		if (found != NULL && value != NULL)
			return NULL;
		if (found != NULL)
			value = found;
		at = after;
	}
	return value != NULL ? read_id(value, end) : NULL;
}

bool rpc_id_equals(const json_t *a, const json_t *b)
{
	return a != NULL && b != NULL && json_equal(a, b);
}

static json_t *message_new(json_t *id)
{
	json_t *message = json_pack("{s:s}", "jsonrpc", "2.0");
	if (id != NULL)
		json_object_set(message, "id", id);
	return message;
}

json_t *rpc_result(json_t *id, json_t *result)
{
	json_t *message = message_new(id);
	json_object_set_new(message, "result", result);
	return message;
}

json_t *rpc_error(json_t *id, enum rpc_code code, const char *text, json_t *data)
{
	json_t *message = message_new(id);
	json_t *error = json_pack("{s:i, s:s}", "code", (int)code, "message", text);
	if (data != NULL)
		json_object_set_new(error, "data", data);
	json_object_set_new(message, "error", error);
	return message;
}

json_t *rpc_notification(const char *method, json_t *params)
{
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params);
}

/* The end of a line has come. */
static void finish_line(struct rpc_lines *lines)
{
	bool is_skipped = lines->is_skipping;
	size_t len = lines->line.len;
	buffer_append(&lines->line, "", 1);
	lines->is_skipping = false;
	lines->line.len = 0;
	if (!is_skipped)
		lines->on_line(lines->arg, (const char *)lines->line.data, len, true);
}

void rpc_lines_feed(struct rpc_lines *lines, const char *data, size_t len)
{
	while (len > 0) {
		const char *newline = memchr(data, '\n', len);
		size_t used = newline != NULL ? (size_t)(newline - data) : len;
		if (!lines->is_skipping && lines->line.len + used > RPC_LINE_MAX) {
			lines->is_skipping = true;
			lines->on_line(
				lines->arg, (const char *)lines->line.data, lines->line.len, false);
			buffer_finish(&lines->line);
			lines->line = (struct buffer){0};
		}
		if (!lines->is_skipping)
			buffer_append(&lines->line, data, used);
		if (newline != NULL) {
			finish_line(lines);
			used++;
		}
		data += used;
		len -= used;
	}
}

void rpc_lines_finish(struct rpc_lines *lines)
{
	buffer_finish(&lines->line);
}
