/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/act_call.h"

#include <stdio.h>

#include "base/buffer.h"
#include "cli/arguments.h"
#include "cli/base64.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/picture_file.h"

/* Typing a long text or waiting takes its time; the daemon answers when it is over. */
#define NO_SILENCE_LIMIT (-1)
#define TARGET           "/v1/act"

bool act_call_looks(const struct invocation *call)
{
	return invocation_value(call, "settle") != NULL ||
	       invocation_value(call, "shot-changed") != NULL;
}

/* The answer as it came, where it is wanted. */
static int show(const struct invocation *call, const struct http_answer *answer, bool prints_reply)
{
	return prints_reply || call->wants_json ? output_json(answer->body.data, answer->body.len)
						: EXIT_DONE;
}

int act_call_send(const struct invocation *call, const void *body, size_t len, bool prints_reply)
{
	struct http_answer answer = {0};
	const struct http_call http = {.method = "POST",
		.target = TARGET,
		.content_type = "application/json",
		.body = body,
		.body_len = len,
		.silence_max_ms = NO_SILENCE_LIMIT};
	int status = client_call(call, &http, &answer);
	if (status == EXIT_DONE)
		status = show(call, &answer, prints_reply);
	http_answer_finish(&answer);
	return status;
}

/* The batch's own `settle` and `shot` stay; what the options say is added. */
static void add_options(const struct invocation *call, json_t *batch)
{
	const char *path = invocation_value(call, "shot-changed");
	if (json_object_get(batch, "settle") == NULL)
		json_object_set_new(batch, "settle", json_object());
	if (path == NULL)
		return;
	json_t *shot = json_object_get(batch, "shot");
	if (!json_is_object(shot)) {
		shot = json_object();
		json_object_set_new(batch, "shot", shot);
	}
	json_object_set_new(shot, "changed_only", json_true());
	const char *format = picture_file_format(path);
	if (format[0] != '\0' && json_object_get(shot, "format") == NULL)
		json_object_set_new(shot, "format", json_string(format));
}

/* Writes the picture of the answer, if there is one, and puts its path where it was. */
static int take_picture(const char *path, json_t *reply)
{
	json_t *shot = json_object_get(reply, "shot");
	const char *base64 = json_string_value(json_object_get(shot, "base64"));
	struct buffer picture = {0};
	if (base64 == NULL)
		return EXIT_DONE;
	int status = EXIT_ERROR;
	if (base64_decode(base64, &picture))
		status = picture_file_write(path, &picture);
	else
		complain("the daemon's reply holds no picture that can be read");
	buffer_finish(&picture);
	json_object_del(shot, "base64");
	json_object_set_new(shot, "path", picture_file_name(path));
	return status;
}

/* "10,20,300,40" of a list of four numbers. */
static bool print_rect(const char *lead, const json_t *rect, const char *tail)
{
	json_int_t x, y, width, height;
	if (json_unpack((json_t *)rect, "[IIII]", &x, &y, &width, &height) != 0)
		return false;
	printf("%s%lld,%lld,%lld,%lld%s", lead, (long long)x, (long long)y, (long long)width,
		(long long)height, tail);
	return true;
}

/* What has changed where, and after how long it was quiet. */
static void print_change(const json_t *reply)
{
	const json_t *settled = json_object_get(reply, "settled_at_ms");
	const json_t *restless = json_object_get(reply, "still_changing");
	if (!json_is_true(json_object_get(reply, "changed")))
		printf("unchanged");
	else if (!print_rect("changed in ", json_object_get(reply, "changed_region"), ""))
		printf("changed");
	if (json_is_integer(settled))
		printf(", quiet after %lld ms\n", (long long)json_integer_value(settled));
	else if (!print_rect(", not quiet yet: ", restless, " goes on changing\n"))
		printf(", not quiet yet: a program is starting\n");
}

/* What was looked for by the options: the picture into its file, and the answer without it. */
static int show_look(
	const struct invocation *call, const struct http_answer *answer, bool prints_reply)
{
	const char *path = invocation_value(call, "shot-changed");
	json_t *reply = client_parse(answer);
	if (reply == NULL)
		return EXIT_ERROR;
	int status = path != NULL ? take_picture(path, reply) : EXIT_DONE;
	if (prints_reply || call->wants_json) {
		int printed = output_object(reply);
		status = status == EXIT_DONE ? printed : status;
	} else {
		print_change(reply);
	}
	json_decref(reply);
	return status;
}

int act_call_send_batch(const struct invocation *call, json_t *batch, bool prints_reply)
{
	const char *path = invocation_value(call, "shot-changed");
	bool looks = act_call_looks(call);
	if (path != NULL && !picture_file_check(call->command->name, path, "")) {
		json_decref(batch);
		return EXIT_USAGE;
	}
	if (looks)
		add_options(call, batch);
	struct http_answer answer = {0};
	int status = client_send(call, "POST", TARGET, batch, NO_SILENCE_LIMIT, &answer);
	if (status == EXIT_DONE)
		status = looks ? show_look(call, &answer, prints_reply)
			       : show(call, &answer, prints_reply);
	http_answer_finish(&answer);
	return status;
}
