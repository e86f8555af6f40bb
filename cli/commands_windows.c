/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen windows: one line per window, bottom of the stack first as the daemon tells them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/replies.h"

static long long int_at(const json_t *window, const char *name)
{
	return (long long)json_number_value(json_object_get(window, name));
}

static void print_window(const json_t *window)
{
	char *area = xasprintf("%lldx%lld%+lld%+lld", int_at(window, "width"),
		int_at(window, "height"), int_at(window, "x"), int_at(window, "y"));
	bool is_active = json_is_true(json_object_get(window, "active"));
	output_line("%c %-10lld %-20s %-16s %s", is_active ? '*' : ' ', int_at(window, "id"), area,
		reply_text(window, "class"), reply_text(window, "title"));
	free(area);
}

int command_windows(const struct invocation *call)
{
	struct http_answer answer = {0};
	int status = client_get(call, "/v1/windows", &answer);
	if (status == EXIT_DONE && call->wants_json) {
		status = output_json(answer.body.data, answer.body.len);
	} else if (status == EXIT_DONE) {
		json_t *reply = client_parse(&answer);
		status = reply != NULL ? EXIT_DONE : EXIT_ERROR;
		size_t index;
		json_t *window;
		json_array_foreach (json_object_get(reply, "windows"), index, window)
			print_window(window);
		json_decref(reply);
	}
	http_answer_finish(&answer);
	return status;
}
