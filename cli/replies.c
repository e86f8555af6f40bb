/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replies.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

const char *reply_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text != NULL ? text : "";
}

json_t *reply_members(const json_t *object, const char *const *names)
{
	json_t *members = json_object();
	for (; *names != NULL; names++) {
		json_t *value = json_object_get(object, *names);
		if (value != NULL && !json_is_null(value))
			json_object_set(members, *names, value);
	}
	return members;
}

char *reply_takeover_words(const json_t *takeover)
{
	const char *state = reply_text(takeover, "state");
	const char *expires = reply_text(takeover, "expires_at");
	if (strcmp(state, "connected") == 0)
		return xstrdup("a person has the screen");
	if (strcmp(state, "away") == 0)
		return xstrdup("the person's connection is lost; waiting for them to come back");
	if (strcmp(state, "open") != 0)
		return NULL;
	if (json_is_string(json_object_get(takeover, "left_at")))
		return xasprintf("the person has left without handing back; the link is good until %s",
			expires);
	return xasprintf("waiting for somebody to open the link (good until %s)", expires);
}

const json_t *reply_active_recording(const json_t *reply, size_t *count)
{
	const json_t *first = NULL;
	size_t index;
	json_t *recording;
	*count = 0;
	json_array_foreach(json_object_get(reply, "recordings"), index, recording)
	{
		const char *state = reply_text(recording, "state");
		if (strcmp(state, "recording") != 0 && strcmp(state, "paused") != 0)
			continue;
		if ((*count)++ == 0)
			first = recording;
	}
	return first;
}

bool reply_may_come_later(int error)
{
	return error == -ECONNRESET || error == -ECONNREFUSED || error == -ENOENT ||
	       error == -ETIMEDOUT;
}
