/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen link: an address that shows the live screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"

/* What the server says against a number too large or no number is better than we could here. */
static char *make_body(const struct invocation *call)
{
	const char *ttl = invocation_value(call, "ttl");
	json_t *body = json_pack("{s:s}", "role", call->operands[0]);
	if (ttl != NULL) {
		char *end;
		long seconds = strtol(ttl, &end, 10);
		bool is_number = end != ttl && *end == '\0';
		json_object_set_new(
			body, "ttl_s", is_number ? json_integer(seconds) : json_string(ttl));
	}
	char *text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	return text;
}

int command_link(const struct invocation *call)
{
	struct http_answer answer = {0};
	char *body = make_body(call);
	const struct http_call http = {.method = "POST",
		.target = "/v1/links",
		.content_type = "application/json",
		.body = body,
		.body_len = strlen(body),
		.silence_max_ms = CLIENT_SILENCE_MAX_MS};
	int status = client_call(call, &http, &answer);
	if (status == EXIT_DONE && call->wants_json) {
		status = output_json(answer.body.data, answer.body.len);
	} else if (status == EXIT_DONE) {
		json_t *reply = client_parse(&answer);
		const char *url = json_string_value(json_object_get(reply, "url"));
		status = url != NULL ? output_value(url) : EXIT_ERROR;
		json_decref(reply);
	}
	http_answer_finish(&answer);
	free(body);
	return status;
}
