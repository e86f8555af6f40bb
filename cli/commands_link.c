/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen link: an address that shows the live screen. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"

int command_link(const struct invocation *call)
{
	const char *ttl = invocation_value(call, "ttl");
	struct http_answer answer = {0};
	json_t *body = json_object();
	if (!client_set_text(call, body, "role", call->operands[0]) ||
		(ttl != NULL && !client_set_number(call, body, "ttl_s", ttl))) {
		json_decref(body);
		return EXIT_USAGE;
	}
	int status = client_send(
		call, "POST", "/v1/links", body, CLIENT_SILENCE_MAX_MS, &answer);
	if (status == EXIT_DONE && call->wants_json) {
		status = output_json(answer.body.data, answer.body.len);
	} else if (status == EXIT_DONE) {
		json_t *reply = client_parse(&answer);
		const char *url = json_string_value(json_object_get(reply, "url"));
		status = url != NULL ? output_value(url) : EXIT_ERROR;
		json_decref(reply);
	}
	http_answer_finish(&answer);
	return status;
}
