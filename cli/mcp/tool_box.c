/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen_status and screen_clipboard. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "cli/mcp/picture.h"
#include "cli/mcp/tool.h"
#include "cli/replies.h"
#include "client/boxscreen.h"

/* More of a clipboard's text than this would only fill the model's memory. */
#define CLIPBOARD_TEXT_MAX 65536

/* Status */

static json_t *window_facts(const struct space *space, const json_t *window)
{
	static const char *const members[] = {"id", "title", "class", "active", NULL};
	json_t *facts = reply_members(window, members);
	json_object_set_new(facts, "area",
		space_rect(space, json_number_value(json_object_get(window, "x")),
			json_number_value(json_object_get(window, "y")),
			json_number_value(json_object_get(window, "width")),
			json_number_value(json_object_get(window, "height"))));
	return facts;
}

/* The windows that are to be seen, the topmost first; NULL while they are not to be had (locked). */
static json_t *ask_windows(struct tool_call *call, const struct space *space)
{
	struct boxscreen_request *request = boxscreen_request_new("GET", "/v1/windows");
	struct boxscreen_answer *answer;
	int ret = tool_send(call, request, &answer);
	json_t *windows = NULL;
	if (ret == 0 && boxscreen_answer_status(answer) == 200) {
		size_t len;
		const char *body = boxscreen_answer_body(answer, &len);
		json_t *reply = json_loadb(body, len, 0, NULL);
		const json_t *list = json_object_get(reply, "windows");
		windows = json_array();
		for (size_t i = json_array_size(list); i > 0; i--) {
			const json_t *window = json_array_get(list, i - 1);
			if (json_is_true(json_object_get(window, "visible")))
				json_array_append_new(windows, window_facts(space, window));
		}
		json_decref(reply);
	}
	boxscreen_answer_free(answer);
	boxscreen_request_free(request);
	return windows;
}

static void say_screen(struct tool_call *call, const json_t *status, const struct space *space)
{
	const json_t *screen = json_object_get(status, "screen");
	if (space == NULL)
		tool_text(call, "Box %s: the screen is not there: %s", reply_text(status, "box_id"),
			reply_text(screen, "message"));
	else
		tool_text(call, "Box %s: the screen %s is ready, %dx%d. Coordinates: 0..%d, 0..%d.",
			reply_text(status, "box_id"), reply_text(status, "display"),
			space->screen_width, space->screen_height, space->width - 1,
			space->height - 1);
}

static void say_control(struct tool_call *call, const json_t *status)
{
	const json_t *control = json_object_get(status, "control");
	const json_t *takeover = json_object_get(status, "takeover"), *recording;
	char *words = reply_takeover_words(takeover);
	size_t i;
	if (json_is_true(json_object_get(control, "locked")))
		tool_text(call, "A person has the screen since %s: you can neither act nor look.",
			reply_text(control, "since"));
	if (words != NULL)
		tool_text(call, "Takeover \"%s\": %s. %stakeover without a note waits for it.",
			reply_text(takeover, "note"), words, call->options->prefix);
	json_array_foreach(json_object_get(status, "recording"), i, recording)
		tool_text(call, "Recording %s: %s, %s", reply_text(recording, "id"),
			reply_text(recording, "state"), reply_text(recording, "path"));
	free(words);
}

static void say_windows(struct tool_call *call, const json_t *windows)
{
	size_t i;
	json_t *window;
	json_array_foreach(windows, i, window)
	{
		char *area = json_dumps(json_object_get(window, "area"), JSON_COMPACT);
		tool_text(call, "Window %lld \"%s\"%s: %s",
			(long long)json_integer_value(json_object_get(window, "id")),
			reply_text(window, "title"),
			json_is_true(json_object_get(window, "active")) ? " (active)" : "", area);
		free(area);
	}
}

void tool_status(struct tool_call *call)
{
	struct json_reader reader;
	struct space space;
	json_reader_init(&reader, call->arguments, "");
	if (!tool_read_finish(call, &reader))
		return;
	json_t *status = tool_ask(call, "GET", "/v1/status", NULL, TOOL_SILENCE_MS);
	if (status == NULL)
		return;
	bool is_ready = space_of_status(call, status, &space);
	json_t *windows = is_ready ? ask_windows(call, &space) : NULL;
	say_screen(call, status, is_ready ? &space : NULL);
	say_control(call, status);
	say_windows(call, windows);
	json_object_set_new(status, "coordinates",
		is_ready ? json_pack("{s:i, s:i}", "width", space.width, "height", space.height)
			 : json_null());
	json_object_set_new(status, "windows", windows != NULL ? windows : json_null());
	call->structured = status;
}

/* Clipboard */

static void put(struct tool_call *call, const char *target, const char *text)
{
	struct boxscreen_request *request = boxscreen_request_new("PUT", target);
	struct boxscreen_answer *answer;
	boxscreen_request_set_body(request, "text/plain; charset=utf-8", text, strlen(text));
	int ret = tool_send(call, request, &answer);
	if (tool_judge(call, ret, answer)) {
		tool_text(call, "The text is on the clipboard.");
		call->structured = json_pack("{s:I}", "bytes", (json_int_t)strlen(text));
	}
	boxscreen_answer_free(answer);
	boxscreen_request_free(request);
}

/* How much of the text to show: whole characters. */
static size_t shown_length(const char *text, size_t len)
{
	if (len <= CLIPBOARD_TEXT_MAX)
		return len;
	len = CLIPBOARD_TEXT_MAX;
	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static void get(struct tool_call *call, const char *target)
{
	struct boxscreen_request *request = boxscreen_request_new("GET", target);
	struct boxscreen_answer *answer;
	int ret = tool_send(call, request, &answer);
	if (tool_judge(call, ret, answer)) {
		size_t len;
		const char *body = boxscreen_answer_body(answer, &len);
		size_t shown_len = shown_length(body, len);
		char *text = utf8_sanitize(body, shown_len);
		tool_text(call, "%s", len > 0 ? text : "The clipboard holds no text.");
		if (shown_len < len)
			tool_text(call, "The first %zu of %zu bytes.", shown_len, len);
		call->structured = json_pack("{s:s, s:I}", "text", text, "bytes", (json_int_t)len);
		free(text);
	}
	boxscreen_answer_free(answer);
	boxscreen_request_free(request);
}

void tool_clipboard(struct tool_call *call)
{
	struct json_reader reader;
	static const char *const selections[] = {"clipboard", "primary", NULL};
	const char *text = NULL;
	int selection = 0;
	json_reader_init(&reader, call->arguments, "");
	json_read_string(&reader, "text", &text);
	json_read_choice(&reader, "selection", selections, &selection);
	if (!tool_read_finish(call, &reader))
		return;
	char *target = xasprintf("/v1/clipboard?selection=%s", selections[selection]);
	if (text != NULL)
		put(call, target, text);
	else
		get(call, target);
	free(target);
}
