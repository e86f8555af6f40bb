/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen_record, and the recording that sandbox_shot begins and ends. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/http_encode.h"
#include "cli/mcp/tool.h"
#include "cli/replies.h"

/* Finishing a long recording takes the daemon a while. */
#define FINISH_SILENCE_MS 120000

struct record_wish {
	const char *action; /* NULL: none that there is */
	const char *id, *name, *text, *quality;
	bool shows_clicks;
};

static bool is(const struct record_wish *wish, const char *action)
{
	return wish->action != NULL && strcmp(wish->action, action) == 0;
}

static bool read_wish(struct tool_call *call, struct record_wish *wish)
{
	static const char *const actions[] = {"start", "stop", "pause", "resume", "mark", "list", NULL};
	struct json_reader reader;
	int action = -1;
	json_reader_init(&reader, call->arguments, "");
	if (json_read_choice(&reader, "action", actions, &action))
		wish->action = actions[action];
	else
		json_reader_fail(&reader, "action", "is missing: start, stop, pause, resume, mark or list");
	if (json_read_string(&reader, "recording", &wish->id) && (is(wish, "start") || is(wish, "list")))
		json_reader_fail(&reader, "recording", "is for stop, pause, resume and mark");
	else if (wish->id != NULL && (wish->id[0] == '\0' || strchr(wish->id, '/') != NULL))
		json_reader_fail(&reader, "recording", "must be an id that start returned");
	if (json_read_string(&reader, "name", &wish->name) && !is(wish, "start"))
		json_reader_fail(&reader, "name", "is for start");
	if (json_read_string(&reader, "quality", &wish->quality) && !is(wish, "start"))
		json_reader_fail(&reader, "quality", "is for start");
	if (json_read_bool(&reader, "show_clicks", &wish->shows_clicks) && !is(wish, "start"))
		json_reader_fail(&reader, "show_clicks", "is for start");
	if (json_read_string(&reader, "text", &wish->text) != is(wish, "mark"))
		json_reader_fail(&reader, "text", "goes with mark, which wants it: the chapter's title");
	return tool_read_finish(call, &reader);
}

/* What matters of a recording; the rest is in the daemon's own reply. */
static json_t *facts_of(const json_t *recording)
{
	static const char *const members[] = {"id", "name", "state", "error", "path", "duration_ms",
		"bytes", "url", "expires_at", NULL};
	return reply_members(recording, members);
}

static void say(struct tool_call *call, const json_t *recording)
{
	const char *url = reply_text(recording, "url"), *state = reply_text(recording, "state");
	double seconds = json_number_value(json_object_get(recording, "duration_ms")) / 1000;
	if (url[0] != '\0')
		tool_text(call, "Recording %s: %s, %.1f s, %s\nThe mp4, until %s: %s",
			reply_text(recording, "id"), state, seconds, reply_text(recording, "path"),
			reply_text(recording, "expires_at"), url);
	else
		tool_text(call, "Recording %s: %s, %.1f s, %s", reply_text(recording, "id"), state,
			seconds, reply_text(recording, "path"));
}

/* The id that was named, or that of the only one that runs. NULL: an error. The caller frees it. */
static char *choose(struct tool_call *call, const char *wanted)
{
	size_t count;
	if (wanted != NULL)
		return xstrdup(wanted);
	json_t *reply = tool_ask(call, "GET", "/v1/recordings", NULL, TOOL_SILENCE_MS);
	if (reply == NULL)
		return NULL;
	const json_t *recording = reply_active_recording(reply, &count);
	char *id = count == 1 ? xstrdup(reply_text(recording, "id")) : NULL;
	if (count == 0)
		tool_fail(call, "Nothing is being recorded. Start a recording first.");
	else if (count > 1)
		tool_fail(call, "%zu recordings are running: say which by its id (%srecord with action "
				"\"list\" tells them).",
			count, call->options->prefix);
	json_decref(reply);
	return id;
}

/* Begins one. options: taken. NULL: an error. */
static json_t *start(struct tool_call *call, json_t *options)
{
	json_t *reply = tool_ask(call, "POST", "/v1/recordings", options, TOOL_SILENCE_MS);
	if (reply != NULL)
		tool_text(call, "Recording %s has begun: %s", reply_text(reply, "id"),
			reply_text(reply, "path"));
	return reply;
}

/* What the daemon answers to `change` of the recording; NULL: an error. body: taken. */
static json_t *change(struct tool_call *call, const char *wanted, const char *what, json_t *body)
{
	char *id = choose(call, wanted);
	if (id == NULL) {
		json_decref(body);
		return NULL;
	}
	struct buffer target = {0};
	buffer_printf(&target, "/v1/recordings/");
	http_encode(&target, id);
	buffer_printf(&target, "/%s", what);
	buffer_append(&target, "", 1);
	json_t *reply = tool_ask(call, "POST", (const char *)target.data, body, FINISH_SILENCE_MS);
	buffer_finish(&target);
	free(id);
	return reply;
}

static void list(struct tool_call *call)
{
	json_t *reply = tool_ask(call, "GET", "/v1/recordings", NULL, TOOL_SILENCE_MS), *recording;
	json_t *facts = json_array();
	size_t i;
	json_array_foreach(json_object_get(reply, "recordings"), i, recording)
	{
		say(call, recording);
		json_array_append_new(facts, facts_of(recording));
	}
	if (reply != NULL && json_array_size(facts) == 0)
		tool_text(call, "There are no recordings.");
	call->structured = json_pack("{s:o}", "recordings", facts);
	json_decref(reply);
}

static json_t *start_options(const struct record_wish *wish)
{
	json_t *options = json_object();
	if (wish->name != NULL)
		json_object_set_new(options, "name", json_string(wish->name));
	if (wish->quality != NULL)
		json_object_set_new(options, "quality", json_string(wish->quality));
	if (wish->shows_clicks)
		json_object_set_new(options, "show_clicks", json_true());
	return options;
}

void tool_record(struct tool_call *call)
{
	struct record_wish wish = {0};
	json_t *reply;
	if (!read_wish(call, &wish))
		return;
	if (is(&wish, "list")) {
		list(call);
		return;
	}
	if (is(&wish, "start")) {
		reply = start(call, start_options(&wish));
	} else if (is(&wish, "mark")) {
		reply = change(call, wish.id, "marks", json_pack("{s:s}", "text", wish.text));
		if (reply != NULL)
			tool_text(call, "A chapter begins here: %s", wish.text);
	} else {
		reply = change(call, wish.id, wish.action, NULL);
		if (reply != NULL)
			say(call, reply);
	}
	if (reply != NULL)
		call->structured = json_pack("{s:o}", "recording", facts_of(reply));
	json_decref(reply);
}

bool tool_record_for_shot(struct tool_call *call, const char *what, json_t **out)
{
	bool is_start = strcmp(what, "start") == 0;
	json_t *reply = is_start ? start(call, json_object()) : change(call, NULL, "stop", NULL);
	if (reply == NULL)
		return false;
	if (!is_start)
		say(call, reply);
	*out = facts_of(reply);
	json_decref(reply);
	return true;
}
