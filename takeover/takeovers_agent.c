/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's side: takeovers it opens, asks for and gives up, messages and links. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/utf8.h"
#include "takeover/takeovers_private.h"
#include "takeover/viewers.h"

#define PUSH_BODY_MAX 180 /* characters: what phones show of a notification */

json_t *takeovers_record_json(struct takeovers *takeovers, const struct takeover_record *record)
{
	json_t *json = takeover_record_json(record);
	if (record->ended_wall_us != 0)
		return json;
	takeovers_add_end(takeovers, json, takeovers->takeover.ends_us);
	json_object_set_new(json, "extensions_left",
		json_integer(TAKEOVER_EXTENSIONS_MAX - takeovers->takeover.extensions));
	return json;
}

char *takeovers_url(const struct takeovers *takeovers, const char *secret)
{
	return xasprintf("%s/box/%s%st=%s", takeovers->config.public_url, takeovers->config.box_id,
		takeovers->config.has_fragment_links ? "#" : "?", secret);
}

/* The note's beginning, cut between characters. */
static char *push_body(const char *note)
{
	size_t len = strlen(note), at = 0;
	uint32_t character;
	for (int i = 0; i < PUSH_BODY_MAX && at < len; i++)
		at += utf8_decode(note + at, len - at, &character);
	return xasprintf("%.*s%s", (int)at, note, at < len ? "…" : "");
}

static void add_link(
	struct takeovers *takeovers, json_t *json, const char *note, const char *secret)
{
	char *url = takeovers_url(takeovers, secret), *body = push_body(note);
	char *title = xasprintf("%s needs you", takeovers->config.box_id);
	json_object_set_new(json, "url", json_string(url));
	json_object_set_new(json, "push",
		json_pack("{s:s, s:s, s:s, s:O}", "title", title, "body", body, "url", url,
			"expires_at", json_object_get(json, "expires_at")));
	free(title);
	free(body);
	free(url);
}

static void forget_old_records(struct takeovers *takeovers)
{
	struct takeover_record *record, *tmp;
	int count = 0;
	list_for_each_safe (record, tmp, &takeovers->records, link) {
		if (++count > TAKEOVER_RECORDS_MAX)
			takeover_record_destroy(record);
	}
}

static struct takeover_record *add_record(
	struct takeovers *takeovers, const struct takeover_request *request)
{
	struct takeover_record *record = takeover_record_create();
	if (!links_make_id('t', record->id)) {
		takeover_record_destroy(record);
		return NULL;
	}
	record->note = xstrdup(request->note);
	record->instructions =
		request->instructions != NULL ? json_incref(request->instructions) : json_array();
	record->shot = request->shot != NULL ? json_incref(request->shot) : NULL;
	list_prepend(&takeovers->records, &record->link);
	forget_old_records(takeovers);
	return record;
}

json_t *takeovers_open(
	struct takeovers *takeovers, const struct takeover_request *request, bool *is_new)
{
	takeovers_tick(takeovers);
	int64_t now_us = lifetime_now(&takeovers->lifetime);
	struct takeover_record *record = takeovers_current(takeovers);
	char secret[LINK_SECRET_SIZE];
	struct link_info info;
	*is_new = record == NULL;
	if (*is_new)
		record = add_record(takeovers, request);
	int64_t ends_us = *is_new ? now_us + request->timeout_s * INT64_C(1000000)
				  : takeovers->takeover.ends_us;
	if (record == NULL ||
		!links_mint(takeovers->links, VIEWER_CONTROL, ends_us, record->id, secret, &info)) {
		if (*is_new)
			takeover_record_destroy(record);
		return NULL;
	}
	takeovers->is_dirty = true;
	if (*is_new)
		takeover_open(&takeovers->takeover, now_us, request->timeout_s * INT64_C(1000000));
	else if (strcmp(record->note, request->note) != 0)
		json_decref(takeovers_add_message(takeovers, false, request->note));
	json_t *json = takeovers_record_json(takeovers, record);
	add_link(takeovers, json, record->note, secret);
	if (*is_new)
		takeovers_publish(takeovers, "takeover.opened", json_deep_copy(json));
	json_object_set_new(json, "resumed", json_boolean(!*is_new));
	if (!*is_new)
		json_object_set_new(json, "kept",
			takeover_record_kept(
				record, request, takeovers->takeover.window_us / 1000000));
	takeovers_settle(takeovers);
	return json;
}

static struct takeover_record *find_record(const struct takeovers *takeovers, const char *id)
{
	struct takeover_record *record;
	list_for_each (record, &takeovers->records, link) {
		if (strcmp(record->id, id) == 0)
			return record;
	}
	return NULL;
}

json_t *takeovers_json(struct takeovers *takeovers, const char *id)
{
	takeovers_tick(takeovers);
	const struct takeover_record *record =
		id != NULL ? find_record(takeovers, id) : takeovers_current(takeovers);
	return record != NULL ? takeovers_record_json(takeovers, record) : NULL;
}

json_t *takeovers_list_json(struct takeovers *takeovers)
{
	json_t *list = json_array();
	struct takeover_record *record;
	takeovers_tick(takeovers);
	list_for_each (record, &takeovers->records, link)
		json_array_append_new(list, takeovers_record_json(takeovers, record));
	return list;
}

void takeovers_set_unheard(struct takeovers *takeovers, const char *id, bool is_unheard)
{
	struct takeover_record *record = find_record(takeovers, id);
	if (record == NULL || record->is_unheard == is_unheard)
		return;
	record->is_unheard = is_unheard;
	/* Written with the next change or question: callers are in the midst of answering. */
	takeovers->needs_save = true;
}

const json_t *takeovers_shot(struct takeovers *takeovers, const char *id)
{
	const struct takeover_record *record = find_record(takeovers, id);
	return record != NULL ? record->shot : NULL;
}

int takeovers_cancel(struct takeovers *takeovers, const char *id)
{
	takeovers_tick(takeovers);
	const struct takeover_record *record = find_record(takeovers, id);
	if (record == NULL)
		return -ENOENT;
	if (record->ended_wall_us != 0)
		return -EALREADY;
	takeover_cancel(&takeovers->takeover, lifetime_now(&takeovers->lifetime));
	takeovers_settle(takeovers);
	return 0;
}

bool takeovers_is_locked(struct takeovers *takeovers)
{
	takeovers_tick(takeovers);
	return takeovers->takeover.holder != TAKEOVER_NOBODY;
}

int64_t takeovers_locked_since_wall_us(const struct takeovers *takeovers)
{
	return takeovers->held_since_wall_us;
}

json_t *takeovers_control_json(struct takeovers *takeovers)
{
	bool is_locked = takeovers_is_locked(takeovers);
	return json_pack("{s:s, s:b, s:o}", "holder", is_locked ? "person" : "agent", "locked",
		is_locked, "since", json_time(takeovers->held_since_wall_us));
}

json_t *takeovers_add_message(struct takeovers *takeovers, bool is_from_person, const char *text)
{
	json_t *message = messages_add(takeovers->messages, is_from_person, text);
	json_t *told = json_copy(message);
	json_object_set_new(told, "t", json_string(is_from_person ? "note" : "say"));
	viewers_tell(takeovers->viewers, 0, told);
	takeovers_publish(takeovers, "note", json_copy(message));
	return message;
}

json_t *takeovers_say(struct takeovers *takeovers, const char *text)
{
	return takeovers_add_message(takeovers, false, text);
}

json_t *takeovers_notes_json(const struct takeovers *takeovers, int64_t since)
{
	return messages_json(takeovers->messages, since, 0, MESSAGES_KEPT_MAX);
}

bool takeovers_mint(struct takeovers *takeovers, enum viewer_role role, int ttl_s,
	char secret[LINK_SECRET_SIZE], struct link_info *info)
{
	takeovers_tick(takeovers);
	int64_t ends_us = lifetime_now(&takeovers->lifetime) + ttl_s * INT64_C(1000000);
	if (!links_mint(takeovers->links, role, ends_us, "", secret, info))
		return false;
	takeovers->needs_save = true;
	takeovers_settle(takeovers);
	return true;
}

bool takeovers_revoke(struct takeovers *takeovers, const char *link_id)
{
	takeovers_tick(takeovers);
	if (!links_revoke(takeovers->links, link_id))
		return false;
	takeovers->needs_save = true;
	takeovers_settle(takeovers);
	return true;
}
