/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_encode.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "client/boxscreen.h"

static const struct {
	const char *code;
	int status;
} error_codes[] = {
	/* The only requests there are come from the command line, so a bad one is bad usage. */
	{"bad_request", EXIT_USAGE},
	{"timeout", EXIT_TIMED_OUT},
	{"locked", EXIT_LOCKED},
	{"screen_unavailable", EXIT_UNAVAILABLE},
};

static int status_of_code(const char *code)
{
	for (size_t i = 0; i < ARRAY_LEN(error_codes); i++) {
		if (strcmp(code, error_codes[i].code) == 0)
			return error_codes[i].status;
	}
	return EXIT_ERROR;
}

/* An error reply: {"error":…,"message":…}. */
static int fail_with_reply(const struct invocation *call, const struct http_answer *answer)
{
	const char *message, *code = boxscreen_answer_error(answer->whole, &message);
	if (call->wants_json && strcmp(code, "unknown") != 0)
		output_json(answer->body.data, answer->body.len);
	if (message[0] != '\0')
		complain("%s", message);
	else
		complain("the daemon answered with HTTP status %d", answer->status);
	return status_of_code(code);
}

static void complain_errno(const struct invocation *call, int error)
{
	const char *path = call->socket_path;
	switch (-error) {
	case ENOENT:
	case ECONNREFUSED:
		complain("no boxscreend answers on %s: start one, or name its socket with --socket or "
			 "$BOXSCREEN_SOCKET",
			path);
		break;
	default:
		complain("%s: %s", path, boxscreen_strerror(error));
	}
}

static int status_of_errno(int error)
{
	switch (-error) {
	case ETIMEDOUT:
		return EXIT_TIMED_OUT;
	case EPROTO:
	case EMSGSIZE:
		return EXIT_ERROR;
	default:
		return EXIT_UNAVAILABLE;
	}
}

int client_judge(const struct invocation *call, int ret, const struct http_answer *answer)
{
	if (ret < 0) {
		complain_errno(call, ret);
		return status_of_errno(ret);
	}
	return answer->status >= 400 ? fail_with_reply(call, answer) : EXIT_DONE;
}

int client_call(
	const struct invocation *call, const struct http_call *http, struct http_answer *answer)
{
	return client_judge(call, http_unix_call(call->socket_path, http, answer), answer);
}

int client_get(const struct invocation *call, const char *target, struct http_answer *answer)
{
	const struct http_call http = {
		.method = "GET",
		.target = target,
		.silence_max_ms = CLIENT_SILENCE_MAX_MS,
	};
	return client_call(call, &http, answer);
}

int client_send(const struct invocation *call, const char *method, const char *target, json_t *body,
	int silence_max_ms, struct http_answer *answer)
{
	char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
	json_decref(body);
	const struct http_call http = {
		.method = method,
		.target = target,
		.content_type = text != NULL ? "application/json" : NULL,
		.body = text,
		.body_len = text != NULL ? strlen(text) : 0,
		.silence_max_ms = silence_max_ms,
	};
	int status = client_call(call, &http, answer);
	free(text);
	return status;
}

bool client_set_text(
	const struct invocation *call, json_t *body, const char *member, const char *text)
{
	if (json_object_set_new(body, member, json_string(text)) == 0)
		return true;
	complain("%s: \"%s\" is not valid UTF-8", call->command->name, text);
	return false;
}

bool client_set_number(
	const struct invocation *call, json_t *body, const char *member, const char *text)
{
	char *end;
	long long number = strtoll(text, &end, 10);
	if (end == text || *end != '\0')
		return client_set_text(call, body, member, text);
	json_object_set_new(body, member, json_integer(number));
	return true;
}

json_t *client_parse(const struct http_answer *answer)
{
	json_t *reply = json_loadb((const char *)answer->body.data, answer->body.len, 0, NULL);
	if (json_is_object(reply))
		return reply;
	json_decref(reply);
	complain("the daemon's reply is not the JSON that was expected: are daemon and tool of one "
		 "version?");
	return NULL;
}

char *client_target(const char *before, const char *id, const char *after)
{
	struct buffer target = {0};
	buffer_printf(&target, "%s", before);
	http_encode(&target, id);
	buffer_printf(&target, "%s", after);
	buffer_append(&target, "", 1);
	return (char *)target.data;
}

void client_append_query(struct buffer *target, const struct invocation *call)
{
	const struct option *options = call->command->options;
	char separator = '?';
	for (int i = 0; options != NULL && options[i].name != NULL; i++) {
		if (!(options[i].flags & OPTION_QUERY) || call->values[i] == NULL)
			continue;
		buffer_printf(target, "%c", separator);
		for (const char *p = options[i].name; *p != '\0'; p++)
			buffer_append(target, *p == '-' ? "_" : p, 1);
		buffer_append(target, "=", 1);
		http_encode(target, call->values[i]);
		separator = '&';
	}
}

int client_print(const void *data, size_t len, bool ends_line)
{
	bool is_written = len == 0 || fwrite(data, 1, len, stdout) == len;
	if (ends_line && (len == 0 || ((const char *)data)[len - 1] != '\n'))
		is_written &= fputc('\n', stdout) != EOF;
	if (fflush(stdout) == 0 && is_written)
		return EXIT_DONE;
	complain("standard output: %s", strerror(errno));
	return EXIT_ERROR;
}
