/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

struct messages {
	json_t *list; /* oldest first */
	int64_t last_id;
	int64_t notes_begin_us; /* of the span in which notes are counted */
	int notes;
};

struct messages *messages_create(void)
{
	struct messages *messages = xcalloc(1, sizeof(*messages));
	messages->list = json_array();
	return messages;
}

void messages_destroy(struct messages *messages)
{
	if (messages == NULL)
		return;
	json_decref(messages->list);
	free(messages);
}

bool messages_text_is_good(const char *text)
{
	return text[0] != '\0' && utf8_count(text, strlen(text)) <= MESSAGE_LENGTH_MAX;
}

bool messages_admit_note(struct messages *messages, int64_t now_us)
{
	if (messages->notes == 0 || now_us - messages->notes_begin_us > 10000000) {
		messages->notes_begin_us = now_us;
		messages->notes = 0;
	}
	return ++messages->notes <= MESSAGES_NOTES_MAX;
}

json_t *messages_add(struct messages *messages, bool is_from_person, const char *text)
{
	json_t *message = json_pack("{s:I, s:o, s:s, s:s}", "id", (json_int_t)++messages->last_id,
		"time", json_time(clock_wall_us()), "from", is_from_person ? "person" : "agent", "text",
		text);
	json_array_append(messages->list, message);
	if (json_array_size(messages->list) > MESSAGES_KEPT_MAX)
		json_array_remove(messages->list, 0);
	return message;
}

json_t *messages_json(
	const struct messages *messages, int64_t since, int64_t notes_since, int max)
{
	size_t count = json_array_size(messages->list);
	json_t *list = json_array();
	for (size_t i = count > (size_t)max ? count - (size_t)max : 0; i < count; i++) {
		json_t *message = json_array_get(messages->list, i);
		const char *from = json_string_value(json_object_get(message, "from"));
		int64_t above = strcmp(from, "person") == 0 && notes_since > since ? notes_since : since;
		if (json_integer_value(json_object_get(message, "id")) > above)
			json_array_append(list, message);
	}
	return list;
}

int64_t messages_last_id(const struct messages *messages)
{
	return messages->last_id;
}
