/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen_act and screen_type: actions, rest, and a picture when something has changed. */
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/mcp/picture.h"
#include "cli/mcp/tool.h"
#include "cli/replies.h"

/* Typing a long text and waiting take their time; the daemon answers when it is over. */
#define NO_SILENCE_LIMIT (-1)

/* In the order of their names in read_wish. */
enum picture_wish { PICTURE_IF_CHANGED, PICTURE_CHANGED_PART, PICTURE_ALWAYS, PICTURE_NONE };

struct act_wish {
	enum picture_wish picture;
	int quiet_ms, timeout_ms;
};

/* Of the two times the one that was not given makes room for the other. */
static void read_times(struct json_reader *reader, struct act_wish *wish)
{
	bool has_quiet = json_read_int(reader, "quiet_ms", 10, 60000, &wish->quiet_ms);
	bool has_timeout = json_read_int(reader, "timeout_ms", 10, 120000, &wish->timeout_ms);
	if (has_quiet && has_timeout && wish->timeout_ms < wish->quiet_ms)
		json_reader_fail(reader, "timeout_ms", "must not be shorter than quiet_ms (%d)",
			wish->quiet_ms);
	else if (has_quiet && !has_timeout)
		wish->timeout_ms += wish->quiet_ms;
	else if (wish->timeout_ms < wish->quiet_ms)
		wish->quiet_ms = wish->timeout_ms; /* less time than that: less rest will do */
}

static void read_wish(struct json_reader *reader, struct act_wish *wish)
{
	static const char *const names[] = {"if_changed", "changed_part", "always", "none", NULL};
	int picture = PICTURE_IF_CHANGED;
	*wish = (struct act_wish){.quiet_ms = 150, .timeout_ms = 5000};
	json_read_choice(reader, "picture", names, &picture);
	wish->picture = (enum picture_wish)picture;
	read_times(reader, wish);
}

/* actions: taken. */
static json_t *body_of(const struct tool_call *call, const struct space *space,
	const struct act_wish *wish, json_t *actions)
{
	json_t *body = json_pack("{s:o, s:{s:i, s:i}, s:{s:i, s:i}}", "actions", actions, "settle",
		"quiet_ms", wish->quiet_ms, "timeout_ms", wish->timeout_ms, "space", "width",
		space->width, "height", space->height);
	if (wish->picture == PICTURE_NONE)
		return body;
	json_t *shot = json_pack("{s:i}", "max_side", call->options->max_side);
	if (wish->picture == PICTURE_CHANGED_PART)
		json_object_set_new(shot, "changed_only", json_true());
	json_object_set_new(body, "shot", shot);
	return body;
}

/* An area of the screen ([x, y, w, h] or null) in the model's coordinates. */
static json_t *area_at(const struct space *space, const json_t *reply, const char *name)
{
	const json_t *area = json_object_get(reply, name);
	return json_array_size(area) == 4
		       ? space_rect(space, json_number_value(json_array_get(area, 0)),
				 json_number_value(json_array_get(area, 1)),
				 json_number_value(json_array_get(area, 2)),
				 json_number_value(json_array_get(area, 3)))
		       : json_null();
}

static char *words_of(const json_t *value)
{
	char *text = json_is_array(value) ? json_dumps(value, JSON_COMPACT) : NULL;
	char *words = text != NULL ? xasprintf(" (area %s)", text) : xstrdup("");
	free(text);
	return words;
}

static void say_what_changed(struct tool_call *call, const json_t *facts)
{
	int done = (int)json_integer_value(json_object_get(facts, "done"));
	const json_t *settled = json_object_get(facts, "settled_at_ms");
	char *changed = words_of(json_object_get(facts, "changed_area"));
	char *still = words_of(json_object_get(facts, "still_changing"));
	const char *verdict = json_is_true(json_object_get(facts, "changed"))
				      ? "The screen changed"
				      : "Nothing on the screen changed";
	if (json_is_integer(settled))
		tool_text(call, "%d action%s done. %s%s; it was at rest after %lld ms.", done,
			done == 1 ? "" : "s", verdict, changed,
			(long long)json_integer_value(settled));
	else
		tool_text(call, "%d action%s done. %s%s; it was not at rest in time%s.", done,
			done == 1 ? "" : "s", verdict, changed, still);
	free(changed);
	free(still);
}

/* Pictures that the actions themselves took go into the result; what else they tell stays. */
static json_t *take_results(struct tool_call *call, const struct space *space, json_t *reply)
{
	json_t *results = json_deep_copy(json_object_get(reply, "results")), *result;
	size_t i;
	json_array_foreach(results, i, result)
	{
		json_t *picture = json_object_get(result, "picture");
		if (picture == NULL)
			continue;
		tool_text(call, "Picture of actions[%zu] (%s):", i, reply_text(result, "action"));
		json_object_set_new(result, "picture", picture_add(call, space, picture));
	}
	return results != NULL ? results : json_array();
}

static void add_final_picture(struct tool_call *call, struct space *space,
	const struct act_wish *wish, const json_t *reply, json_t *facts)
{
	const json_t *shot = json_object_get(reply, "shot");
	json_t *picture = NULL;
	if (json_is_object(shot))
		picture = picture_add(call, space, shot);
	else if (wish->picture == PICTURE_ALWAYS)
		picture = picture_take(call, space, NULL);
	if (picture != NULL)
		json_object_set_new(facts, "picture", picture);
}

static void deliver(
	struct tool_call *call, struct space *space, const struct act_wish *wish, json_t *reply)
{
	/* All that is told from here on is for the next call: in the coordinates of the screen as it is. */
	if (json_is_true(json_object_get(reply, "changed")))
		space_follow(call, space);
	json_t *settled = json_object_get(reply, "settled_at_ms");
	json_t *facts = json_pack("{s:O, s:O, s:o, s:O}", "done", json_object_get(reply, "done"),
		"changed", json_object_get(reply, "changed"), "changed_area",
		area_at(space, reply, "changed_region"), "settled_at_ms", settled);
	if (!json_is_integer(settled))
		json_object_set_new(facts, "still_changing", area_at(space, reply, "still_changing"));
	say_what_changed(call, facts);
	json_object_set_new(facts, "results", take_results(call, space, reply));
	add_final_picture(call, space, wish, reply, facts);
	call->structured = facts;
}

/* Runs the actions, which are taken. */
static void act(struct tool_call *call, const struct act_wish *wish, json_t *actions)
{
	struct space space;
	if (!space_ask(call, &space)) {
		json_decref(actions);
		return;
	}
	json_t *reply = tool_ask(
		call, "POST", "/v1/act", body_of(call, &space, wish, actions), NO_SILENCE_LIMIT);
	if (reply != NULL)
		deliver(call, &space, wish, reply);
	json_decref(reply);
}

void tool_act(struct tool_call *call)
{
	struct json_reader reader;
	struct act_wish wish;
	const json_t *actions = NULL;
	json_reader_init(&reader, call->arguments, "");
	if (!json_read_any(&reader, "actions", &actions) || !json_is_array(actions) ||
		json_array_size(actions) == 0)
		json_reader_fail(&reader, "actions",
			"must be a list of actions, such as [{\"type\":\"click\",\"x\":10,\"y\":20}]");
	read_wish(&reader, &wish);
	if (tool_read_finish(call, &reader))
		act(call, &wish, json_incref((json_t *)(uintptr_t)actions));
}

void tool_type(struct tool_call *call)
{
	struct json_reader reader;
	struct act_wish wish;
	const char *text = NULL;
	bool presses_enter = false, pastes = false;
	json_reader_init(&reader, call->arguments, "");
	if (!json_read_string(&reader, "text", &text) || text[0] == '\0')
		json_reader_fail(&reader, "text", "is missing: what is to be typed");
	json_read_bool(&reader, "enter", &presses_enter);
	json_read_bool(&reader, "paste", &pastes);
	read_wish(&reader, &wish);
	if (!tool_read_finish(call, &reader))
		return;
	json_t *type = json_pack("{s:s, s:s}", "type", "type", "text", text);
	if (pastes)
		json_object_set_new(type, "via", json_string("paste"));
	json_t *actions = json_pack("[o]", type);
	if (presses_enter)
		json_array_append_new(actions, json_pack("{s:s, s:s}", "type", "key", "keys", "Return"));
	act(call, &wish, actions);
}
