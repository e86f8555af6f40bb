/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen click, move, drag, scroll, key, type and act: each is one POST /v1/act. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/input_file.h"

/* Typing a long text or waiting takes its time; the daemon answers when it is over. */
#define NO_SILENCE_LIMIT (-1)

static int post_act(const struct invocation *call, const void *body, size_t len, bool prints_reply)
{
	struct http_answer answer = {0};
	const struct http_call http = {.method = "POST",
		.target = "/v1/act",
		.content_type = "application/json",
		.body = body,
		.body_len = len,
		.silence_max_ms = NO_SILENCE_LIMIT};
	int status = client_call(call, &http, &answer);
	if (status == EXIT_DONE && (prints_reply || call->wants_json))
		status = client_print(answer.body.data, answer.body.len, true);
	http_answer_finish(&answer);
	return status;
}

/* Tells what --settle found: whether the screen changed, and after how long it was quiet. */
static void print_settled(const json_t *reply)
{
	const json_t *settled = json_object_get(reply, "settled_at_ms");
	printf("%s", json_is_true(json_object_get(reply, "changed")) ? "changed" : "unchanged");
	if (json_is_integer(settled))
		printf(", quiet after %lld ms\n", (long long)json_integer_value(settled));
	else
		printf(", not quiet yet\n");
}

static int post_settling(const struct invocation *call, const char *body)
{
	struct http_answer answer = {0};
	const struct http_call http = {.method = "POST",
		.target = "/v1/act",
		.content_type = "application/json",
		.body = body,
		.body_len = strlen(body),
		.silence_max_ms = NO_SILENCE_LIMIT};
	int status = client_call(call, &http, &answer);
	json_t *reply = status == EXIT_DONE ? client_parse(&answer) : NULL;
	if (status == EXIT_DONE && reply == NULL)
		status = EXIT_ERROR;
	else if (status == EXIT_DONE)
		print_settled(reply);
	json_decref(reply);
	http_answer_finish(&answer);
	return status;
}

/* Runs one action, which is taken. */
static int run_action(const struct invocation *call, json_t *action)
{
	json_t *batch = json_pack("{s:[o]}", "actions", action);
	bool settles = invocation_value(call, "settle") != NULL;
	if (settles)
		json_object_set_new(batch, "settle", json_object());
	char *body = json_dumps(batch, JSON_COMPACT);
	json_decref(batch);
	if (body == NULL) {
		complain("%s: what is given is not valid UTF-8", call->command->name);
		return EXIT_USAGE;
	}
	int status = settles && !call->wants_json ? post_settling(call, body)
						  : post_act(call, body, strlen(body), false);
	free(body);
	return status;
}

static bool parse_number(const struct invocation *call, const char *text, double *out)
{
	char *end;
	errno = 0;
	*out = strtod(text, &end);
	if (end != text && *end == '\0' && errno == 0)
		return true;
	complain("%s: \"%s\" is no number", call->command->name, text);
	return false;
}

/* Adds "x" and "y" from two operands. */
static bool add_point(const struct invocation *call, json_t *action, const char *x, const char *y)
{
	double values[2];
	if (!parse_number(call, x, &values[0]) || !parse_number(call, y, &values[1]))
		return false;
	json_object_set_new(action, "x", json_real(values[0]));
	json_object_set_new(action, "y", json_real(values[1]));
	return true;
}

/* A whole number of the option, when it is given. */
static bool add_count(
	const struct invocation *call, json_t *action, const char *option, const char *member)
{
	const char *text = invocation_value(call, option);
	double value;
	if (text == NULL)
		return true;
	if (!parse_number(call, text, &value))
		return false;
	json_object_set_new(action, member, json_integer((json_int_t)value));
	return true;
}

static void add_text(const struct invocation *call, json_t *action, const char *option)
{
	const char *text = invocation_value(call, option);
	if (text != NULL)
		json_object_set_new(action, option, json_string(text));
}

/* Runs the action when it could be made; it is taken. */
static int finish(const struct invocation *call, json_t *action, bool is_good)
{
	if (is_good)
		return run_action(call, action);
	json_decref(action);
	return EXIT_USAGE;
}

int command_click(const struct invocation *call)
{
	json_t *action = json_pack("{s:s}", "type", "click");
	bool is_good = true;
	if (call->operand_count == 1) {
		complain("click: give X and Y, or neither");
		is_good = false;
	} else if (call->operand_count == 2) {
		is_good = add_point(call, action, call->operands[0], call->operands[1]);
	}
	add_text(call, action, "button");
	add_text(call, action, "modifiers");
	return finish(call, action, is_good && add_count(call, action, "count", "count"));
}

int command_move(const struct invocation *call)
{
	json_t *action = json_pack("{s:s}", "type", "move");
	return finish(
		call, action, add_point(call, action, call->operands[0], call->operands[1]));
}

int command_drag(const struct invocation *call)
{
	json_t *path = json_array();
	json_t *action = json_pack("{s:s, s:o}", "type", "drag", "path", path);
	bool is_good = call->operand_count % 2 == 0;
	if (!is_good)
		complain("drag: points are pairs of X and Y; there is one number too many");
	for (int i = 0; is_good && i < call->operand_count; i += 2) {
		double x, y;
		is_good = parse_number(call, call->operands[i], &x) &&
			  parse_number(call, call->operands[i + 1], &y);
		if (is_good)
			json_array_append_new(path, json_pack("[ff]", x, y));
	}
	add_text(call, action, "button");
	add_text(call, action, "modifiers");
	return finish(call, action, is_good);
}

int command_scroll(const struct invocation *call)
{
	json_t *action = json_pack("{s:s, s:s}", "type", "scroll", "direction", call->operands[0]);
	const char *at = invocation_value(call, "at");
	bool is_good = true;
	if (call->operand_count > 1) {
		double steps;
		is_good = parse_number(call, call->operands[1], &steps);
		if (is_good)
			json_object_set_new(action, "amount", json_integer((json_int_t)steps));
	}
	if (at != NULL && is_good) {
		char *x = xstrdup(at);
		char *comma = strchr(x, ',');
		if (comma != NULL)
			*comma = '\0';
		else
			complain("scroll: --at wants X,Y");
		is_good = comma != NULL && add_point(call, action, x, comma + 1);
		free(x);
	}
	add_text(call, action, "modifiers");
	return finish(call, action, is_good);
}

/* All operands with blanks between them. */
static char *join_operands(const struct invocation *call)
{
	struct buffer text = {0};
	for (int i = 0; i < call->operand_count; i++)
		buffer_printf(&text, "%s%s", i > 0 ? " " : "", call->operands[i]);
	buffer_append(&text, "", 1);
	return (char *)text.data;
}

int command_key(const struct invocation *call)
{
	char *keys = join_operands(call);
	json_t *action = json_pack("{s:s}", "type", "key");
	json_object_set_new(action, "keys", json_string(keys));
	free(keys);
	return finish(call, action, add_count(call, action, "count", "count"));
}

int command_type(const struct invocation *call)
{
	const char *path = invocation_value(call, "file");
	struct buffer text = {0};
	if ((path == NULL) == (call->operand_count == 0)) {
		complain("type: give either TEXT or --file");
		return EXIT_USAGE;
	}
	if (path != NULL) {
		int status = input_file_read(path, &text);
		if (status != EXIT_DONE) {
			buffer_finish(&text);
			return status;
		}
	} else {
		char *joined = join_operands(call);
		buffer_append(&text, joined, strlen(joined));
		free(joined);
	}
	json_t *action = json_pack("{s:s}", "type", "type");
	json_t *value = json_stringn((const char *)text.data, text.len);
	buffer_finish(&text);
	if (value == NULL) {
		complain("type: the text is not valid UTF-8");
		json_decref(action);
		return EXIT_USAGE;
	}
	json_object_set_new(action, "text", value);
	if (invocation_value(call, "paste") != NULL)
		json_object_set_new(action, "via", json_string("paste"));
	return finish(call, action, add_count(call, action, "delay-ms", "delay_ms"));
}

int command_act(const struct invocation *call)
{
	struct buffer body = {0};
	int status = input_file_read(call->operands[0], &body);
	if (status == EXIT_DONE)
		status = post_act(call, body.data, body.len, true);
	buffer_finish(&body);
	return status;
}
