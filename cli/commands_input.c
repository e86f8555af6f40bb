/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen click, move, drag, scroll, key, type and act: each is one POST /v1/act. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/act_call.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/input_file.h"

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

/* The option's value, when it is given. */
static bool add_text(const struct invocation *call, json_t *action, const char *option)
{
	const char *text = invocation_value(call, option);
	return text == NULL || client_set_text(call, action, option, text);
}

/* Runs the action when it could be made; it is taken. */
static int finish(const struct invocation *call, json_t *action, bool is_good)
{
	if (is_good)
		return act_call_send_batch(call, json_pack("{s:[o]}", "actions", action), false);
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
	is_good = is_good && add_text(call, action, "button") && add_text(call, action, "modifiers") &&
		  add_count(call, action, "count", "count");
	return finish(call, action, is_good);
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
	is_good = is_good && add_text(call, action, "button") && add_text(call, action, "modifiers");
	return finish(call, action, is_good);
}

int command_scroll(const struct invocation *call)
{
	json_t *action = json_pack("{s:s}", "type", "scroll");
	const char *at = invocation_value(call, "at");
	bool is_good = client_set_text(call, action, "direction", call->operands[0]);
	if (is_good && call->operand_count > 1) {
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
	return finish(call, action, is_good && add_text(call, action, "modifiers"));
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
	bool is_good = client_set_text(call, action, "keys", keys) &&
		       add_count(call, action, "count", "count");
	free(keys);
	return finish(call, action, is_good);
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

/* The file's batch as an object to which options can be added; NULL after saying what is wrong. */
static json_t *parse_batch(const struct invocation *call, const struct buffer *body)
{
	json_error_t error;
	json_t *given = json_loadb((const char *)body->data, body->len, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(given) && !json_is_array(given)) {
		complain("act: %s: %s", call->operands[0],
			given != NULL ? "holds neither a batch nor a list of actions" : error.text);
		json_decref(given);
		return NULL;
	}
	/* A vendor's block may have "actions" too, beside its "type". */
	if (json_object_get(given, "actions") != NULL && json_object_get(given, "type") == NULL)
		return given;
	return json_pack("{s:o}", "actions", given);
}

int command_act(const struct invocation *call)
{
	struct buffer body = {0};
	int status = input_file_read(call->operands[0], &body);
	if (status == EXIT_DONE && !act_call_looks(call)) {
		status = act_call_send(call, body.data, body.len, true);
	} else if (status == EXIT_DONE) {
		json_t *batch = parse_batch(call, &body);
		status = batch != NULL ? act_call_send_batch(call, batch, true) : EXIT_USAGE;
	}
	buffer_finish(&body);
	return status;
}
