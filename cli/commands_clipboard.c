/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen clipboard get: the text goes out as it is. */
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"

int command_clipboard_get(const struct invocation *call)
{
	struct buffer target = {0};
	buffer_printf(&target, "/v1/clipboard");
	client_append_query(&target, call);
	buffer_append(&target, "", 1);
	struct http_answer answer = {0};
	int status = client_get(call, (const char *)target.data, &answer);
	if (status == EXIT_DONE)
		status = client_print(answer.body.data, answer.body.len,
			answer.body.len > 0 && isatty(STDOUT_FILENO));
	http_answer_finish(&answer);
	buffer_finish(&target);
	return status;
}
