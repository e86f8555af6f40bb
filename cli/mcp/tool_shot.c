/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen_shot: a picture for the model, and where it is wanted a link to it for people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/http_encode.h"
#include "cli/mcp/picture.h"
#include "cli/mcp/tool.h"
#include "cli/replies.h"

#define SAVE_SILENCE_MS 160000
/* The daemon's. */
#define QUIET_DEFAULT_MS 150

struct shot_wish {
	bool has_region, has_grid, has_cursor, has_link;
	double region[4]; /* in the model's coordinates */
	char *window;     /* an id, or "active" */
	const char *wait; /* "stable", "change" or NULL */
	int timeout_ms;
	const char *record; /* "start", "stop" or NULL */
};

static void read_region(struct json_reader *reader, struct shot_wish *wish)
{
	const json_t *list = NULL;
	wish->has_region = json_read_any(reader, "region", &list);
	if (!wish->has_region)
		return;
	bool is_good = json_array_size(list) == 4;
	for (size_t i = 0; is_good && i < 4; i++) {
		const json_t *number = json_array_get(list, i);
		wish->region[i] = json_number_value(number);
		is_good = json_is_number(number) && wish->region[i] >= 0 && wish->region[i] < 65536;
	}
	if (!is_good || wish->region[2] < 1 || wish->region[3] < 1)
		json_reader_fail(reader, "region", "must be [x, y, width, height] in coordinates of the "
						   "whole screen's picture");
}

static void read_window(struct json_reader *reader, struct shot_wish *wish)
{
	const json_t *value = NULL;
	if (!json_read_any(reader, "window", &value))
		return;
	if (json_is_integer(value))
		wish->window = xasprintf("%lld", (long long)json_integer_value(value));
	else if (json_is_string(value))
		wish->window = xstrdup(json_string_value(value));
	else
		json_reader_fail(reader, "window", "must be a window's id, or \"active\"");
	if (wish->has_region)
		json_reader_fail(reader, "window", "cannot go with region: give one of them");
}

/* The name that was chosen; NULL: none. */
static const char *read_choice(
	struct json_reader *reader, const char *name, const char *const *choices)
{
	int choice = -1;
	return json_read_choice(reader, name, choices, &choice) ? choices[choice] : NULL;
}

static bool read_wish(struct tool_call *call, struct shot_wish *wish)
{
	static const char *const waits[] = {"stable", "change", NULL};
	static const char *const records[] = {"start", "stop", NULL};
	struct json_reader reader;
	json_reader_init(&reader, call->arguments, "");
	wish->timeout_ms = 5000;
	wish->has_link = call->options->is_sandbox;
	read_region(&reader, wish);
	read_window(&reader, wish);
	json_read_bool(&reader, "grid", &wish->has_grid);
	json_read_bool(&reader, "cursor", &wish->has_cursor);
	json_read_bool(&reader, "link", &wish->has_link);
	wish->wait = read_choice(&reader, "wait", waits);
	if (json_read_int(&reader, "timeout_ms", 10, 120000, &wish->timeout_ms) && wish->wait == NULL)
		json_reader_fail(&reader, "timeout_ms", "is for wait: give that too");
	if (call->options->is_sandbox)
		wish->record = read_choice(&reader, "record", records);
	return tool_read_finish(call, &reader);
}

/* The wish as the daemon takes it, in screen pixels. */
static json_t *options_of(
	const struct tool_call *call, const struct shot_wish *wish, const struct space *space)
{
	double scale_x = (double)space->screen_width / space->width;
	double scale_y = (double)space->screen_height / space->height;
	json_t *options = json_pack("{s:i}", "max_side", call->options->max_side);
	if (wish->has_region) {
		int x = (int)floor(wish->region[0] * scale_x), y = (int)floor(wish->region[1] * scale_y);
		int right = (int)ceil((wish->region[0] + wish->region[2]) * scale_x);
		int bottom = (int)ceil((wish->region[1] + wish->region[3]) * scale_y);
		char *text = xasprintf("%d,%d,%d,%d", x, y, right - x, bottom - y);
		json_object_set_new(options, "region", json_string(text));
		free(text);
	}
	if (wish->window != NULL)
		json_object_set_new(options, "window", json_string(wish->window));
	if (wish->has_grid)
		json_object_set_new(options, "annotate", json_string("grid"));
	if (wish->has_cursor)
		json_object_set_new(options, "cursor", json_integer(1));
	if (wish->wait != NULL) {
		json_object_set_new(options, "wait", json_string(wish->wait));
		json_object_set_new(options, "timeout_ms", json_integer(wish->timeout_ms));
		if (wish->timeout_ms < QUIET_DEFAULT_MS) /* less time: less rest will do */
			json_object_set_new(options, "quiet_ms", json_integer(wish->timeout_ms));
	}
	return options;
}

/* "&a=b" of all options but max_side, which picture_take adds. */
static char *query_of(const json_t *options)
{
	struct buffer query = {0};
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)options, name, value)
	{
		if (strcmp(name, "max_side") == 0)
			continue;
		buffer_printf(&query, "&%s=", name);
		if (json_is_integer(value))
			buffer_printf(&query, "%lld", (long long)json_integer_value(value));
		else
			http_encode(&query, json_string_value(value));
	}
	buffer_append(&query, "", 1);
	return (char *)query.data;
}

/* The daemon keeps a copy, to which the link is. */
static json_t *take_with_link(struct tool_call *call, struct space *space, json_t *options)
{
	static const char *const members[] = {"url", "expires_at", "wait_end", NULL};
	json_object_set_new(options, "inline", json_true());
	json_t *reply = tool_ask(call, "POST", "/v1/shots", json_incref(options), SAVE_SILENCE_MS);
	if (reply == NULL)
		return NULL;
	if (json_object_get(options, "wait") != NULL)
		space_follow(call, space); /* it may have taken another size meanwhile */
	json_t *facts = picture_add(call, space, reply);
	json_object_update_new(facts, reply_members(reply, members));
	tool_text(call, "For people, until %s: %s", reply_text(reply, "expires_at"),
		reply_text(reply, "url"));
	json_decref(reply);
	return facts;
}

static void say_wait_end(struct tool_call *call, const struct shot_wish *wish, const json_t *facts)
{
	if (strcmp(reply_text(facts, "wait_end"), "timeout") != 0)
		return;
	tool_text(call, strcmp(wish->wait, "change") == 0
				? "Nothing changed within %d ms; the picture is of then."
				: "The screen was still changing after %d ms; the picture is of then.",
		wish->timeout_ms);
}

static json_t *take(struct tool_call *call, const struct shot_wish *wish)
{
	struct space space;
	if (!space_ask(call, &space))
		return NULL;
	json_t *options = options_of(call, wish, &space);
	json_t *facts;
	if (wish->has_link) {
		facts = take_with_link(call, &space, options);
	} else {
		char *query = query_of(options);
		facts = picture_take(call, &space, query);
		free(query);
	}
	if (facts != NULL && wish->wait != NULL)
		say_wait_end(call, wish, facts);
	if (facts != NULL && wish->has_grid && space.width != space.screen_width)
		tool_text(call, "The grid's numbers are pixels of the screen, which is larger than the "
				"picture: coordinates are those times %.5g.",
			(double)space.width / space.screen_width);
	json_decref(options);
	return facts;
}

void tool_shot(struct tool_call *call)
{
	struct shot_wish wish = {0};
	json_t *recording = NULL;
	if (!read_wish(call, &wish) ||
		(wish.record != NULL && !tool_record_for_shot(call, wish.record, &recording))) {
		free(wish.window);
		return;
	}
	call->structured = take(call, &wish);
	/* The recording has begun or ended whatever became of the picture. */
	if (recording != NULL && call->structured == NULL)
		call->structured = json_object();
	if (recording != NULL) {
		call->is_error = false;
		json_object_set_new(call->structured, "recording", recording);
	}
	free(wish.window);
}
