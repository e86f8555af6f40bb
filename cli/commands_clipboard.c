/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen clipboard get and set: what is there goes out and in as it is. */
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/input_file.h"
#include "cli/output.h"

int command_clipboard_get(const struct invocation *call)
{
	struct buffer target = {0};
	buffer_printf(&target, "/v1/clipboard");
	client_append_query(&target, call);
	buffer_append(&target, "", 1);
	struct http_answer answer = {0};
	int status = client_get(call, (const char *)target.data, &answer);
	if (status == EXIT_DONE)
		status = output_data(answer.body.data, answer.body.len);
	http_answer_finish(&answer);
	buffer_finish(&target);
	return status;
}

static const char *content_type_of(const struct buffer *data)
{
	static const char png_magic[] = "\x89PNG\r\n\x1a\n";
	size_t len = sizeof(png_magic) - 1;
	return data->len >= len && memcmp(data->data, png_magic, len) == 0
		       ? "image/png"
		       : "text/plain; charset=utf-8";
}

int command_clipboard_set(const struct invocation *call)
{
	struct buffer target = {0}, data = {0};
	struct http_answer answer = {0};
	int status = EXIT_DONE;
	if (call->operand_count > 0)
		buffer_append(&data, call->operands[0], strlen(call->operands[0]));
	else
		status = input_file_read("-", &data);
	if (status == EXIT_DONE) {
		buffer_printf(&target, "/v1/clipboard");
		client_append_query(&target, call);
		buffer_append(&target, "", 1);
		const struct http_call http = {.method = "PUT",
			.target = (const char *)target.data,
			.content_type = content_type_of(&data),
			.body = data.data,
			.body_len = data.len,
			.silence_max_ms = CLIENT_SILENCE_MAX_MS};
		status = client_call(call, &http, &answer);
	}
	http_answer_finish(&answer);
	buffer_finish(&target);
	buffer_finish(&data);
	return status;
}
