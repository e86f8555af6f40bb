/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/mcp/tool.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "client/boxscreen.h"

__attribute__((format(printf, 2, 0))) static void add_text(
	struct tool_call *call, const char *format, va_list args)
{
	char *text = xvasprintf(format, args);
	json_t *item = json_pack("{s:s, s:s}", "type", "text", "text", text);
	free(text);
	json_array_append_new(call->content, item);
}

void tool_text(struct tool_call *call, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(call, format, args);
	va_end(args);
}

void tool_fail(struct tool_call *call, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(call, format, args);
	va_end(args);
	call->is_error = true;
}

void tool_picture(struct tool_call *call, const char *mime, const char *base64)
{
	/* Half a megabyte of letters need not be looked at for whether they are UTF-8. */
	json_array_append_new(call->content,
		json_pack("{s:s, s:o, s:s}", "type", "image", "data", json_string_nocheck(base64),
			"mimeType", mime));
	call->has_picture = true;
}

char *tool_replace_all(const char *text, const char *from, const char *to)
{
	struct buffer out = {0};
	size_t from_len = strlen(from);
	for (const char *at; (at = strstr(text, from)) != NULL; text = at + from_len) {
		buffer_append(&out, text, (size_t)(at - text));
		buffer_append(&out, to, strlen(to));
	}
	buffer_append(&out, text, strlen(text) + 1);
	return (char *)out.data;
}

bool tool_read_finish(struct tool_call *call, struct json_reader *reader)
{
	if (json_reader_finish(reader))
		return true;
	tool_fail(call, "%s. Nothing was done.", reader->error);
	return false;
}

bool tool_sleep(struct tool_call *call, int ms)
{
	struct pollfd polled = {.fd = call->cancel_fd, .events = POLLIN};
	return poll(&polled, 1, ms) == 0;
}

/* The daemon */

/* The daemon's words, with its calls named as the tools that make them. The caller frees them. */
static char *in_tools_words(const struct tool_call *call, const char *message)
{
	static const char *const calls[][2] = {{"GET /v1/status", "status"},
		{"GET /v1/windows", "status"}, {"GET /v1/recordings", "record (list)"}};
	char *words = xstrdup(message);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		char *tool = xasprintf("%s%s", call->options->prefix, calls[i][1]);
		char *reworded = tool_replace_all(words, calls[i][0], tool);
		free(tool);
		free(words);
		words = reworded;
	}
	return words;
}

/* What helps beside the daemon's own words; "" for nothing. The caller frees it. */
static char *advice_for(const struct tool_call *call, const char *code)
{
	const char *prefix = call->options->prefix;
	if (strcmp(code, "locked") == 0)
		return xasprintf(" Wait for the hand back with %stakeover (without a note), or write to the "
				 "person with %ssay.",
			prefix, prefix);
	if (strcmp(code, "screen_unavailable") == 0)
		return xasprintf(" %sstatus tells when it is there.", prefix);
	if (strcmp(code, "timeout") == 0)
		return xasprintf(" Try again; %sstatus tells how the screen stands.", prefix);
	return xstrdup("");
}

static void fail_with_errno(struct tool_call *call, int error)
{
	if (error == -ECANCELED)
		tool_fail(call, "The call was cancelled.");
	else if (error == -ECONNRESET)
		tool_fail(call, "The daemon ended in the middle of the call; what was asked for may be "
				"done in part. Look at the screen before you go on.");
	else
		tool_fail(call, "The box's screen cannot be reached: %s.", boxscreen_strerror(error));
}

/* How much of a batch was done before it failed; 0 for all else. */
static int done_before(const struct boxscreen_answer *answer)
{
	size_t len;
	const char *body = boxscreen_answer_body(answer, &len);
	json_t *reply = json_loadb(body, len, 0, NULL);
	int done = (int)json_integer_value(json_object_get(reply, "done"));
	json_decref(reply);
	return done;
}

bool tool_judge(struct tool_call *call, int ret, const struct boxscreen_answer *answer)
{
	const char *message;
	if (ret < 0) {
		fail_with_errno(call, ret);
		return false;
	}
	const char *code = boxscreen_answer_error(answer, &message);
	if (code == NULL)
		return true;
	char *advice = advice_for(call, code), *words = in_tools_words(call, message);
	if (message[0] != '\0')
		tool_fail(call, "%s: %s.%s", code, words, advice);
	else
		tool_fail(call, "The daemon answered with HTTP status %d.",
			boxscreen_answer_status(answer));
	free(advice);
	free(words);
	int done = done_before(answer);
	if (done > 0)
		tool_text(call, "%d action%s before it %s done.", done, done == 1 ? "" : "s",
			done == 1 ? "was" : "were");
	return false;
}

int tool_send(struct tool_call *call, struct boxscreen_request *request,
	struct boxscreen_answer **answer)
{
	*answer = NULL;
	if (call->boxscreen == NULL)
		return -ENXIO;
	boxscreen_request_set_cancel_fd(request, call->cancel_fd);
	for (int waited_ms = 0;; waited_ms += TOOL_RETRY_MS) {
		int ret = boxscreen_send(call->boxscreen, request, answer);
		bool has_nobody = ret == -ENOENT || ret == -ECONNREFUSED;
		if (!has_nobody || waited_ms >= TOOL_RESTART_MS)
			return ret;
		boxscreen_answer_free(*answer);
		*answer = NULL;
		if (!tool_sleep(call, TOOL_RETRY_MS))
			return -ECANCELED;
	}
}

static json_t *read_reply(struct tool_call *call, const struct boxscreen_answer *answer)
{
	size_t len;
	const char *body = boxscreen_answer_body(answer, &len);
	json_t *reply = len > 0 ? json_loadb(body, len, 0, NULL) : NULL;
	if (len > 0 && !json_is_object(reply)) {
		json_decref(reply);
		reply = NULL;
		tool_fail(call, "The daemon's reply is not the JSON that was expected: daemon and tool "
				"must be of one version.");
	}
	return reply;
}

json_t *tool_ask(struct tool_call *call, const char *method, const char *target, json_t *body,
	int silence_ms)
{
	struct boxscreen_request *request = boxscreen_request_new(method, target);
	struct boxscreen_answer *answer;
	char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
	json_decref(body);
	if (text != NULL)
		boxscreen_request_set_body(request, "application/json", text, strlen(text));
	boxscreen_request_set_silence(request, silence_ms);
	int ret = tool_send(call, request, &answer);
	json_t *reply = tool_judge(call, ret, answer) ? read_reply(call, answer) : NULL;
	boxscreen_answer_free(answer);
	boxscreen_request_free(request);
	free(text);
	return reply;
}

bool tool_check_box(struct tool_call *call)
{
	json_t *id = json_incref(json_object_get(call->arguments, "id"));
	if (!call->options->is_sandbox || id == NULL)
		return true;
	json_object_del(call->arguments, "id");
	json_t *status = tool_ask(call, "GET", "/v1/status", NULL, TOOL_SILENCE_MS);
	const char *box = json_string_value(json_object_get(status, "box_id"));
	const char *wanted = json_string_value(id);
	if (status != NULL && (wanted == NULL || box == NULL || strcmp(box, wanted) != 0))
		tool_fail(call, "id: this is box \"%s\"; for another box use the server that is in it. "
				"Nothing was done.",
			box != NULL ? box : "");
	json_decref(status);
	json_decref(id);
	return !call->is_error;
}
