/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/takeover_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "takeover/takeovers.h"

static const char *const outcomes[] = {"done", "could_not", "other"};

struct takeover_record *takeover_record_create(void)
{
	struct takeover_record *record = xcalloc(1, sizeof(*record));
	list_init(&record->link);
	record->created_wall_us = clock_wall_us();
	return record;
}

void takeover_record_destroy(struct takeover_record *record)
{
	if (record == NULL)
		return;
	list_remove(&record->link);
	json_decref(record->instructions);
	json_decref(record->shot);
	free(record->note);
	free(record->message);
	free(record);
}

const char *takeover_outcome_parse(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
		if (strcmp(outcomes[i], text) == 0)
			return outcomes[i];
	}
	return NULL;
}

json_t *takeover_record_json(const struct takeover_record *record)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:O, s:o, s:o, s:o, s:I}", "id", record->id,
		"state", takeover_state_name(record->state), "note", record->note, "instructions",
		record->instructions, "created_at", json_time(record->created_wall_us), "opened_at",
		json_time(record->opened_wall_us), "left_at", json_time(record->left_wall_us),
		"version", (json_int_t)record->version);
	if (record->ended_wall_us != 0) {
		json_object_set_new(json, "ended_at", json_time(record->ended_wall_us));
		json_object_set_new(json, "held_s", json_integer(record->held_s));
		json_object_set_new(json, "unheard", json_boolean(record->is_unheard));
	}
	if (record->outcome != NULL) {
		json_object_set_new(json, "outcome", json_string(record->outcome));
		json_object_set_new(json, "message",
			json_string(record->message != NULL ? record->message : ""));
	}
	return json;
}

static bool is_other(const json_t *asked, const json_t *kept)
{
	return asked == NULL ? kept != NULL : kept == NULL || !json_equal(asked, kept);
}

json_t *takeover_record_kept(const struct takeover_record *record,
	const struct takeover_request *request, int64_t window_s)
{
	json_t *names = json_array();
	if (strcmp(request->note, record->note) != 0)
		json_array_append_new(names, json_string("note"));
	if (request->instructions != NULL && is_other(request->instructions, record->instructions))
		json_array_append_new(names, json_string("instructions"));
	if (request->has_timeout && request->timeout_s != window_s)
		json_array_append_new(names, json_string("timeout_s"));
	if (request->has_shot && is_other(request->shot, record->shot))
		json_array_append_new(names, json_string("shot"));
	return names;
}

json_t *takeover_record_save(const struct takeover_record *record)
{
	return json_pack("{s:s, s:s, s:s, s:O, s:O?, s:I, s:I, s:I, s:I, s:s?, s:s?, s:I, s:I, s:b}",
		"id", record->id, "state", takeover_state_name(record->state), "note", record->note,
		"instructions", record->instructions, "shot", record->shot, "created",
		(json_int_t)record->created_wall_us, "opened", (json_int_t)record->opened_wall_us,
		"left", (json_int_t)record->left_wall_us, "ended",
		(json_int_t)record->ended_wall_us, "outcome", record->outcome, "message",
		record->message, "held_s", (json_int_t)record->held_s, "version",
		(json_int_t)record->version, "unheard", record->is_unheard);
}

static int64_t number_of(const json_t *saved, const char *name)
{
	return json_integer_value(json_object_get(saved, name));
}

struct takeover_record *takeover_record_load(const json_t *saved)
{
	const char *id = json_string_value(json_object_get(saved, "id"));
	const char *state = json_string_value(json_object_get(saved, "state"));
	const char *note = json_string_value(json_object_get(saved, "note"));
	const char *outcome = json_string_value(json_object_get(saved, "outcome"));
	const char *message = json_string_value(json_object_get(saved, "message"));
	json_t *instructions = json_object_get(saved, "instructions");
	json_t *shot = json_object_get(saved, "shot");
	enum takeover_state parsed;
	if (id == NULL || strlen(id) >= LINK_ID_SIZE || note == NULL ||
		!json_is_array(instructions) || state == NULL ||
		!takeover_state_parse(state, &parsed))
		return NULL;
	struct takeover_record *record = takeover_record_create();
	strcpy(record->id, id);
	record->state = parsed;
	record->note = xstrdup(note);
	record->instructions = json_incref(instructions);
	record->shot = json_is_object(shot) ? json_incref(shot) : NULL;
	record->outcome = outcome != NULL ? takeover_outcome_parse(outcome) : NULL;
	record->message = message != NULL ? xstrdup(message) : NULL;
	record->created_wall_us = number_of(saved, "created");
	record->opened_wall_us = number_of(saved, "opened");
	record->left_wall_us = number_of(saved, "left");
	record->ended_wall_us = number_of(saved, "ended");
	record->held_s = number_of(saved, "held_s");
	record->version = (uint64_t)number_of(saved, "version");
	record->is_unheard = json_is_true(json_object_get(saved, "unheard"));
	return record;
}
