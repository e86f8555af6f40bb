/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/action.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "display/action_private.h"

/* Canonical verbs first, then their aliases. */
static const struct verb {
	const char *name;
	enum action_type type;
	int button, count;
	bool is_alias;
	bool is_kept; /* stays down over the end of the batch: its vendor sends one action a call */
} verbs[] = {
	{"move", ACTION_MOVE},
	{"click", ACTION_CLICK, 1, 1},
	{"double_click", ACTION_CLICK, 1, 2},
	{"triple_click", ACTION_CLICK, 1, 3},
	{"button_down", ACTION_BUTTON_DOWN, 1},
	{"button_up", ACTION_BUTTON_UP, 1},
	{"drag", ACTION_DRAG, 1},
	{"scroll", ACTION_SCROLL},
	{"key", ACTION_KEY, .count = 1},
	{"key_down", ACTION_KEY_DOWN},
	{"key_up", ACTION_KEY_UP},
	{"hold_key", ACTION_HOLD_KEY},
	{"type", ACTION_TYPE},
	{"paste", ACTION_PASTE},
	{"wait", ACTION_WAIT},
	{"wait_stable", ACTION_WAIT_STABLE},
	{"wait_change", ACTION_WAIT_CHANGE},
	{"screenshot", ACTION_SCREENSHOT},
	{"zoom", ACTION_ZOOM},
	{"cursor_position", ACTION_CURSOR_POSITION},
	{"mouse_move", ACTION_MOVE, .is_alias = true},
	{"mousemove", ACTION_MOVE, .is_alias = true},
	{"left_click", ACTION_CLICK, 1, 1, true},
	{"middle_click", ACTION_CLICK, 2, 1, true},
	{"right_click", ACTION_CLICK, 3, 1, true},
	{"left_mouse_down", ACTION_BUTTON_DOWN, 1, 0, true, true},
	{"left_mouse_up", ACTION_BUTTON_UP, 1, 0, true},
	{"mouse_down", ACTION_BUTTON_DOWN, 1, 0, true},
	{"mouse_up", ACTION_BUTTON_UP, 1, 0, true},
	{"mousedown", ACTION_BUTTON_DOWN, 1, 0, true},
	{"mouseup", ACTION_BUTTON_UP, 1, 0, true},
	{"left_click_drag", ACTION_DRAG, 1, 0, true},
	{"keypress", ACTION_KEY, 0, 1, true},
	{"keydown", ACTION_KEY_DOWN, .is_alias = true},
	{"keyup", ACTION_KEY_UP, .is_alias = true},
};

const char *const *action_verbs(void)
{
	static const char *names[ARRAY_LEN(verbs) + 1];
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (!verbs[i].is_alias)
			names[count++] = verbs[i].name;
	}
	names[count] = NULL;
	return names;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

static void begin_action(struct action *action, const struct verb *verb)
{
	action->type = verb->type;
	action->name = verb->name;
	action->button = verb->button;
	action->count = verb->count;
	action->is_kept = verb->is_kept;
}

/* A member; NULL also for a null, which the vendors' libraries write for what is not there. */
static const json_t *present(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	return json_is_null(value) ? NULL : value;
}

static bool parse_one(const json_t *object, size_t index, const struct action_space *space,
	struct action *action, char *error, size_t error_size)
{
	char where[32];
	snprintf(where, sizeof(where), "actions[%zu]", index);
	struct action_parse parse = {.space = space, .action = action};
	const char *name = NULL;
	json_reader_init(&parse.reader, object, where);
	/* The one that names the verb; "type" is also the verb of typing. */
	const char *discriminator = present(object, "action") != NULL ? "action" : "type";
	if (!json_read_string(&parse.reader, discriminator, &name)) {
		json_reader_fail(&parse.reader, "type", "is missing: what to do, such as \"click\"");
	} else {
		const struct verb *verb = find_verb(name);
		if (verb == NULL) {
			json_reader_fail(&parse.reader, discriminator, "there is no action \"%.60s\"",
				name);
		} else {
			begin_action(action, verb);
			action_read_members(&parse);
		}
	}
	if (json_reader_finish(&parse.reader))
		return true;
	snprintf(error, error_size, "%s", parse.reader.error);
	return false;
}

/* What the vendors wrap actions in, taken off; the thing itself when there is nothing to take off. */
static const json_t *unwrap(const json_t *value)
{
	for (int depth = 0; depth < 4 && json_is_object(value); depth++) {
		const json_t *inner = present(value, "actions");
		if (inner == NULL)
			inner = present(value, "input");
		if (inner == NULL && json_is_object(json_object_get(value, "action")))
			inner = json_object_get(value, "action");
		if (inner == NULL)
			break;
		value = inner;
	}
	return value;
}

static bool parse_into(struct action_list *list, const json_t *value,
	const struct action_space *space, char *error, size_t error_size)
{
	value = unwrap(value);
	if (json_is_array(value)) {
		size_t i;
		json_t *item;
		json_array_foreach(value, i, item)
		{
			if (!parse_into(list, item, space, error, error_size))
				return false;
		}
		return true;
	}
	if (list->count == ACTION_COUNT_MAX) {
		snprintf(error, error_size, "more than %d actions in one batch", ACTION_COUNT_MAX);
		return false;
	}
	list->items = xrealloc(list->items, (list->count + 1) * sizeof(list->items[0]));
	struct action *action = &list->items[list->count++];
	*action = (struct action){0};
	return parse_one(value, list->count - 1, space, action, error, error_size);
}

bool action_list_parse(const json_t *value, const struct action_space *space,
	struct action_list *out, char *error, size_t error_size)
{
	*out = (struct action_list){0};
	if (parse_into(out, value, space, error, error_size) && out->count > 0)
		return true;
	if (out->count == 0)
		snprintf(error, error_size, "actions: there is nothing to do in the list");
	action_list_finish(out);
	return false;
}

void action_list_finish(struct action_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].path);
		free(list->items[i].chords);
		free(list->items[i].text);
	}
	free(list->items);
	*list = (struct action_list){0};
}

/* What the members of a verb may be. */
static json_t *members_schema(const struct verb *verb)
{
	static const struct action_space space = {1, 1, 1, 1};
	struct action action = {0};
	struct action_parse parse = {.space = &space, .action = &action};
	json_reader_describe(&parse.reader);
	begin_action(&action, verb);
	action_read_members(&parse);
	return json_reader_take_schema(&parse.reader);
}

/* Takes out the defaults that are others for another verb of the type. */
static void drop_other_defaults(json_t *schema, const json_t *other)
{
	const char *name;
	json_t *property;
	json_object_foreach(json_object_get(schema, "properties"), name, property)
	{
		const json_t *same = json_object_get(json_object_get(other, "properties"), name);
		if (!json_equal(json_object_get(property, "default"),
			    json_object_get(same, "default")))
			json_object_del(property, "default");
	}
}

/* All verbs of the type, which `first` is the first of; they are named by "type", or by "action". */
static json_t *type_schema(const struct verb *first)
{
	json_t *schema = members_schema(first), *names = json_array();
	for (const struct verb *verb = first; verb < verbs + ARRAY_LEN(verbs); verb++) {
		if (verb->type != first->type)
			continue;
		json_array_append_new(names, json_string(verb->name));
		json_t *other = members_schema(verb);
		drop_other_defaults(schema, other);
		json_decref(other);
	}
	json_schema_add(schema, "type", json_pack("{s:O}", "enum", names), NULL);
	json_schema_add(schema, "action", json_pack("{s:o}", "enum", names), NULL);
	json_schema_require_one(schema, "type|action");
	json_object_set_new(schema, "title", json_string(first->name));
	return schema;
}

json_t *action_schemas(void)
{
	json_t *list = json_array();
	unsigned done = 0;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (!(done & 1u << verbs[i].type))
			json_array_append_new(list, type_schema(&verbs[i]));
		done |= 1u << verbs[i].type;
	}
	return json_pack("{s:{s:o}, s:o, s:o}", "Action", "oneOf", list, "Point",
		json_loads(ACTION_POINT_SCHEMA, 0, NULL), "Keys",
		json_loads(ACTION_KEYS_SCHEMA, 0, NULL));
}
