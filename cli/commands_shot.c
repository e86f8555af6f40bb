/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boxscreen shot: GET /v1/shot with the options as they were given; the daemon judges them. The
 * picture goes to standard output or to a file, whole or not at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/picture_file.h"

/* Checks where the picture shall go, before the daemon is asked for it. */
static bool check_output(const struct invocation *call, const char *path)
{
	if (path == NULL && call->wants_json) {
		complain("shot: --json wants --output FILE, since the reply itself is a picture");
		return false;
	}
	if (path == NULL && isatty(STDOUT_FILENO)) {
		complain("shot: a picture does not go to a terminal: use --output FILE or a pipe");
		return false;
	}
	return path == NULL || invocation_value(call, "format") != NULL ||
	       picture_file_check("shot", path, ", or give --format");
}

static char *make_target(const struct invocation *call, const char *path)
{
	struct buffer target = {0};
	buffer_printf(&target, "/v1/shot");
	client_append_query(&target, call);
	const char *format = path != NULL ? picture_file_format(path) : "";
	if (invocation_value(call, "format") == NULL && format[0] != '\0')
		buffer_printf(&target, "%cformat=%s",
			memchr(target.data, '?', target.len) != NULL ? '&' : '?', format);
	buffer_append(&target, "", 1);
	return (char *)target.data;
}

/* Whoever waits knows better when to give up: the daemon's own time-out, and some more. */
static int silence_max_ms(const struct invocation *call)
{
	const char *timeout = invocation_value(call, "timeout-ms");
	long wait_ms = timeout != NULL ? strtol(timeout, NULL, 10) : 0;
	if (wait_ms < 0 || wait_ms > 24L * 3600 * 1000)
		wait_ms = 0;
	return CLIENT_SILENCE_MAX_MS + (int)wait_ms;
}

/* With --json: what the headers say, and where the picture is. */
static int print_facts(const char *path, const struct http_answer *answer)
{
	static const struct {
		const char *header, *name;
	} facts[] = {
		{"content-type", "content_type"},
		{"x-screen-size", "screen_size"},
		{"x-shot-origin", "origin"},
		{"x-shot-scale", "scale"},
		{"x-shot-clipped-from", "clipped_from"},
		{"x-frame-time", "frame_time"},
		{"x-frame-changed", "frame_changed"},
		{"x-wait-end", "wait_end"},
		{"x-wait-changed", "wait_changed"},
		{"etag", "etag"},
	};
	json_t *reply = json_pack("{s:o,s:I}", "path", picture_file_name(path), "bytes", (json_int_t)answer->body.len);
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		const char *value = http_answer_header(answer, facts[i].header);
		if (value != NULL)
			json_object_set_new(reply, facts[i].name, json_string(value));
	}
	int status = output_object(reply);
	json_decref(reply);
	return status;
}

/*
 * A wait that the time-out ended: still the picture that was asked for where a stable screen was
 * waited for (something blinks), but not where a change was.
 */
static int judge_wait(const struct invocation *call, const struct http_answer *answer)
{
	const char *end = http_answer_header(answer, "x-wait-end");
	if (end == NULL || strcmp(end, "timeout") != 0)
		return EXIT_DONE;
	bool wants_change = strcmp(invocation_value(call, "wait"), "change") == 0;
	complain("shot: %s within the time-out; the picture shows the screen as it was then",
		wants_change ? "nothing changed" : "the screen did not become still");
	return wants_change ? EXIT_TIMED_OUT : EXIT_DONE;
}

static int deliver(
	const struct invocation *call, const char *path, const struct http_answer *answer)
{
	int status;
	if (path == NULL)
		status = client_print(answer->body.data, answer->body.len, false);
	else
		status = picture_file_write(path, &answer->body);
	if (status == EXIT_DONE && call->wants_json)
		status = print_facts(path, answer);
	return status == EXIT_DONE ? judge_wait(call, answer) : status;
}

int command_shot(const struct invocation *call)
{
	const char *path = invocation_value(call, "output");
	if (path != NULL && strcmp(path, "-") == 0)
		path = NULL;
	if (!check_output(call, path))
		return EXIT_USAGE;
	char *target = make_target(call, path);
	const struct http_call http = {
		.method = "GET",
		.target = target,
		.silence_max_ms = silence_max_ms(call),
	};
	struct http_answer answer = {0};
	int status = client_call(call, &http, &answer);
	if (status == EXIT_DONE)
		status = deliver(call, path, &answer);
	http_answer_finish(&answer);
	free(target);
	return status;
}
