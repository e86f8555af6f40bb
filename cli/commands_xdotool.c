/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boxscreen xdotool, and this program under the name xdotool. The daemon runs the language; files
 * that a chain names (scripts, type --file) and the environment are the caller's and go along.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/input_file.h"
#include "cli/output.h"

extern char **environ;

/* xdotool's own status for whatever goes wrong. */
#define EXIT_XDOTOOL_ERROR 1

static int add_file(json_t *files, const char *path)
{
	struct buffer text = {0};
	int status = EXIT_DONE;
	if (json_object_get(files, path) == NULL) {
		status = input_file_read(path, &text);
		json_t *value = status == EXIT_DONE
					? json_stringn((const char *)text.data, text.len)
					: NULL;
		if (status == EXIT_DONE && value == NULL) {
			complain("%s: is not valid UTF-8", path);
			status = EXIT_ERROR;
		}
		if (value != NULL)
			json_object_set_new(files, path, value);
	}
	buffer_finish(&text);
	return status;
}

/* "--file PATH", "-file PATH", "--file=PATH": NULL when the words at argv[i] are no such thing. */
static const char *file_option(const struct invocation *call, int i)
{
	const char *word = call->operands[i];
	if (word[0] != '-')
		return NULL;
	word += word[1] == '-' ? 2 : 1;
	if (strncmp(word, "file=", 5) == 0)
		return word + 5;
	if (strcmp(word, "file") == 0 && i + 1 < call->operand_count)
		return call->operands[i + 1];
	return NULL;
}

/* Whether the first word names a script: "-", or a file that is there and no command's name. */
static bool names_script(const char *word)
{
	struct stat st;
	if (strcmp(word, "-") == 0)
		return true;
	return strchr(word, '/') != NULL && stat(word, &st) == 0 && S_ISREG(st.st_mode);
}

static void add_environment(json_t *body)
{
	json_t *list = json_array();
	for (char **entry = environ; *entry != NULL; entry++) {
		json_t *value = json_string(*entry);
		if (value != NULL) /* names and values that are no UTF-8 stay here */
			json_array_append_new(list, value);
	}
	json_object_set_new(body, "environment", list);
}

/* Fills the request; EXIT_DONE or what went wrong (said). */
static int make_body(const struct invocation *call, json_t *body)
{
	json_t *args = json_array(), *files = json_object();
	int first = 0, status = EXIT_DONE;
	json_object_set_new(body, "args", args);
	json_object_set_new(body, "files", files);
	if (call->operand_count > 0 && names_script(call->operands[0])) {
		status = add_file(files, call->operands[0]);
		json_object_set(body, "script", json_object_get(files, call->operands[0]));
		json_object_del(files, call->operands[0]);
		add_environment(body);
		first = 1;
	}
	for (int i = first; i < call->operand_count && status == EXIT_DONE; i++) {
		const char *path = file_option(call, i);
		json_t *word = json_string(call->operands[i]);
		if (word == NULL) {
			complain("\"%s\" is not valid UTF-8", call->operands[i]);
			return EXIT_ERROR;
		}
		json_array_append_new(args, word);
		if (path != NULL)
			status = add_file(files, path);
	}
	return status;
}

static int print_result(const struct http_answer *answer)
{
	json_t *reply = client_parse(answer);
	if (reply == NULL)
		return EXIT_ERROR;
	const json_t *out = json_object_get(reply, "stdout"), *err = json_object_get(reply, "stderr");
	output_data(json_string_value(out), json_string_length(out));
	output_errors(json_string_value(err), json_string_length(err));
	int status = (int)json_integer_value(json_object_get(reply, "exit"));
	json_decref(reply);
	return status;
}

int command_xdotool(const struct invocation *call)
{
	json_t *body = json_object();
	struct http_answer answer = {0};
	int status = make_body(call, body);
	if (status != EXIT_DONE) {
		json_decref(body);
		return EXIT_XDOTOOL_ERROR;
	}
	status = client_send(call, "POST", "/v1/xdotool", body, -1, &answer);
	if (status == EXIT_DONE && call->wants_json)
		status = output_json(answer.body.data, answer.body.len);
	else if (status == EXIT_DONE)
		status = print_result(&answer);
	http_answer_finish(&answer);
	return status;
}
