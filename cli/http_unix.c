/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/http_unix.h"

#include <stdint.h>

#include "client/boxscreen.h"

static int give_body(void *arg, const void *data, size_t len)
{
	const struct http_answer *answer = arg;
	return answer->on_body(answer->arg, data, len) ? 0 : -1;
}

static struct boxscreen_request *make_request(
	const struct http_call *call, struct http_answer *answer)
{
	struct boxscreen_request *request = boxscreen_request_new(call->method, call->target);
	boxscreen_request_set_silence(request, call->silence_max_ms);
	if (call->content_type != NULL)
		boxscreen_request_set_body(request, call->content_type, call->body, call->body_len);
	if (answer->on_body != NULL)
		boxscreen_request_set_on_body(request, give_body, answer);
	return request;
}

int http_unix_call(
	const char *socket_path, const struct http_call *call, struct http_answer *answer)
{
	struct boxscreen *boxscreen;
	int ret = boxscreen_open(socket_path, &boxscreen);
	if (ret < 0)
		return ret;
	struct boxscreen_request *request = make_request(call, answer);
	ret = boxscreen_send(boxscreen, request, &answer->whole);
	boxscreen_request_free(request);
	boxscreen_close(boxscreen);
	http_answer_look(answer);
	return ret;
}

void http_answer_look(struct http_answer *answer)
{
	if (answer->whole == NULL)
		return;
	answer->status = boxscreen_answer_status(answer->whole);
	answer->body.data =
		(uint8_t *)(uintptr_t)boxscreen_answer_body(answer->whole, &answer->body.len);
}

const char *http_answer_header(const struct http_answer *answer, const char *name)
{
	return answer->whole != NULL ? boxscreen_answer_header(answer->whole, name) : NULL;
}

void http_answer_finish(struct http_answer *answer)
{
	boxscreen_answer_free(answer->whole);
	answer->whole = NULL;
	answer->body = (struct buffer){0};
}
