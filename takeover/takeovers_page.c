/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the page asks for: by HTTP (page_calls.c) or by the WebSocket's JSON messages. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "takeover/takeovers_private.h"
#include "takeover/viewers.h"

#define STATE_MESSAGES_MAX 100

bool takeovers_open_session(
	struct takeovers *takeovers, struct link_info *info, char secret[LINK_SECRET_SIZE])
{
	takeovers_tick(takeovers);
	if (!links_open_session(takeovers->links, info, secret))
		return false;
	takeovers->needs_save = true;
	takeovers_settle(takeovers);
	return true;
}

json_t *takeovers_state_json(
	struct takeovers *takeovers, uint32_t session, enum viewer_role role, bool with_messages)
{
	const struct takeover *takeover = &takeovers->takeover;
	bool is_held = takeover->holder != TAKEOVER_NOBODY;
	bool is_holder = is_held && takeover->holder == session;
	struct link_info info;
	json_t *current = takeovers_json(takeovers, NULL);
	json_t *state = json_pack("{s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:b, s:o}", "screen",
		viewers_has_screen(takeovers->viewers) ? "ready" : "waiting", "role",
		viewer_role_name(role), "holder",
		!is_held    ? "agent"
		: is_holder ? "you"
			    : "other",
		"server_time", json_time(clock_wall_us()), "held_since",
		is_held ? json_time(takeovers->held_since_wall_us) : json_null(), "is_away",
		takeover_is_away(takeover), "is_private",
		is_held && !is_holder && takeovers->config.has_privacy &&
			!takeovers->are_watchers_allowed,
		"watchers_allowed",
		takeovers->are_watchers_allowed || !takeovers->config.has_privacy, "takeover",
		current != NULL ? current : json_null());
	if (links_find_session(takeovers->links, session, &info))
		takeovers_add_end(takeovers, state, info.ends_us);
	/* What people wrote is for those who may take part, and not for the next person. */
	if (with_messages)
		json_object_set_new(state, "messages",
			messages_json(takeovers->messages, 0,
				role == VIEWER_CONTROL ? takeovers->notes_since : INT64_MAX,
				STATE_MESSAGES_MAX));
	return state;
}

static const char *refuse_stranger(const char **why)
{
	*why = "you do not hold the screen; take over first";
	return "not_holder";
}

const char *takeovers_take(struct takeovers *takeovers, const struct link_info *session,
	bool confirm, const char **why)
{
	takeovers_tick(takeovers);
	if (session->role != VIEWER_CONTROL) {
		*why = "this link is for watching; ask for one that may control";
		return "view_only";
	}
	int64_t now_us = lifetime_now(&takeovers->lifetime);
	enum takeover_take result = takeover_take(
		&takeovers->takeover, now_us, session->session, confirm ? TAKEOVER_CONFIRM : 0);
	if (result == TAKEOVER_TAKEN && viewers_has_socket(takeovers->viewers, session->session))
		takeover_set_socket(&takeovers->takeover, now_us, session->session, true);
	takeovers_settle(takeovers);
	*why = "another person holds the screen; confirm to take it from them";
	return result == TAKEOVER_TAKEN ? NULL : "held";
}

const char *takeovers_hand_back(struct takeovers *takeovers, uint32_t session, const char *outcome,
	const char *message, const char **why, json_t **reply)
{
	takeovers_tick(takeovers);
	int64_t now_us = lifetime_now(&takeovers->lifetime);
	struct takeover_record *record = takeovers_current(takeovers);
	int64_t held_us = record != NULL ? takeover_held_us(&takeovers->takeover, now_us)
					 : now_us - takeovers->takeover.held_since_us;
	takeovers->outcome = outcome;
	takeovers->message = message;
	bool is_done = takeover_hand_back(&takeovers->takeover, now_us, session);
	takeovers->outcome = takeovers->message = NULL;
	takeovers_settle(takeovers);
	if (!is_done)
		return refuse_stranger(why);
	*reply = json_pack("{s:s, s:s, s:I}", "state", "handed_back", "outcome", outcome, "held_s",
		(json_int_t)((held_us + 500000) / 1000000));
	return NULL;
}

const char *takeovers_extend(
	struct takeovers *takeovers, uint32_t session, const char **why, json_t **reply)
{
	takeovers_tick(takeovers);
	bool is_holder = session != TAKEOVER_NOBODY && takeovers->takeover.holder == session;
	bool is_done =
		takeover_extend(&takeovers->takeover, lifetime_now(&takeovers->lifetime), session);
	takeovers_settle(takeovers);
	if (!is_holder)
		return refuse_stranger(why);
	if (!is_done) {
		*why = takeovers_current(takeovers) == NULL
			       ? "there is no takeover to extend"
			       : "it was extended three times, which is as often as can be";
		return "conflict";
	}
	json_t *json = takeovers_json(takeovers, NULL);
	*reply = json_pack("{s:O, s:O, s:O}", "expires_at", json_object_get(json, "expires_at"),
		"expires_in_s", json_object_get(json, "expires_in_s"), "extensions_left",
		json_object_get(json, "extensions_left"));
	json_decref(json);
	return NULL;
}

const char *takeovers_allow_watchers(
	struct takeovers *takeovers, uint32_t session, bool is_allowed, const char **why)
{
	takeovers_tick(takeovers);
	if (session == TAKEOVER_NOBODY || takeovers->takeover.holder != session)
		return refuse_stranger(why);
	takeovers->are_watchers_allowed = is_allowed;
	viewers_cover(takeovers->viewers, takeovers->config.has_privacy && !is_allowed);
	viewers_tell_state(takeovers->viewers);
	return NULL;
}

int64_t takeovers_note(struct takeovers *takeovers, const char *text)
{
	if (!messages_admit_note(takeovers->messages, clock_monotonic_us()))
		return 0;
	json_t *message = takeovers_add_message(takeovers, true, text);
	int64_t id = json_integer_value(json_object_get(message, "id"));
	json_decref(message);
	return id;
}

bool takeovers_share(struct takeovers *takeovers, const struct link_info *session,
	char secret[LINK_SECRET_SIZE], struct link_info *info)
{
	takeovers_tick(takeovers);
	bool is_made = links_share(takeovers->links, session, secret, info);
	takeovers->needs_save |= is_made;
	takeovers_settle(takeovers);
	return is_made;
}

/* The WebSocket's messages. They have no answer of their own, so a fault is told as one. */

struct page_message {
	struct takeovers *takeovers;
	struct link_info session;
	struct json_reader reader;
};

void takeovers_read_hand_back(
	struct json_reader *reader, const char **outcome, const char **message)
{
	const char *name = "done";
	*message = NULL;
	json_read_string(reader, "outcome", &name);
	json_read_string(reader, "message", message);
	*outcome = takeover_outcome_parse(name);
	if (*outcome == NULL)
		json_reader_fail(reader, "outcome", "must be done, could_not or other");
	if (*message != NULL && (*message)[0] != '\0' && !messages_text_is_good(*message))
		json_reader_fail(reader, "message", "may have up to %d characters",
			MESSAGE_LENGTH_MAX);
}

static const char *on_hand_back(struct page_message *call, const char **why)
{
	const char *outcome, *message;
	json_t *reply = NULL;
	takeovers_read_hand_back(&call->reader, &outcome, &message);
	*why = call->reader.error;
	if (!json_reader_finish(&call->reader))
		return "bad_request";
	const char *fault = takeovers_hand_back(
		call->takeovers, call->session.session, outcome, message, why, &reply);
	json_decref(reply);
	return fault;
}

static const char *on_extend(struct page_message *call, const char **why)
{
	json_t *reply = NULL;
	*why = call->reader.error;
	if (!json_reader_finish(&call->reader))
		return "bad_request";
	const char *fault = takeovers_extend(call->takeovers, call->session.session, why, &reply);
	json_decref(reply);
	return fault;
}

static const char *on_note(struct page_message *call, const char **why)
{
	const char *text = "";
	json_read_string(&call->reader, "text", &text);
	if (!messages_text_is_good(text))
		json_reader_fail(
			&call->reader, "text", "must have 1 to %d characters", MESSAGE_LENGTH_MAX);
	*why = call->reader.error;
	if (!json_reader_finish(&call->reader))
		return "bad_request";
	if (call->session.role != VIEWER_CONTROL) {
		*why = "this link is for watching";
		return "view_only";
	}
	if (takeovers_note(call->takeovers, text) != 0)
		return NULL;
	*why = "too many notes at once; wait a little";
	return "too_many";
}

static const char *on_watchers(struct page_message *call, const char **why)
{
	bool is_allowed = false;
	if (!json_read_bool(&call->reader, "allow", &is_allowed))
		json_reader_fail(&call->reader, "allow", "is missing: true or false");
	*why = call->reader.error;
	if (!json_reader_finish(&call->reader))
		return "bad_request";
	return takeovers_allow_watchers(call->takeovers, call->session.session, is_allowed, why);
}

void takeovers_message(void *arg, uint32_t session, const char *kind, const json_t *message)
{
	static const struct {
		const char *kind;
		const char *(*handle)(struct page_message *call, const char **why);
	} kinds[] = {
		{"hand_back", on_hand_back},
		{"extend", on_extend},
		{"note", on_note},
		{"watchers", on_watchers},
	};
	struct page_message call = {.takeovers = arg};
	const char *fault = "bad_request", *why = "there is no such message";
	const char *known = "message", *ignored;
	if (!links_find_session(call.takeovers->links, session, &call.session))
		return; /* a native viewer, or one whose socket is about to be closed */
	if (!links_admit_change(call.takeovers->links, session)) {
		viewers_tell(call.takeovers->viewers, session,
			json_pack("{s:s, s:s, s:s, s:s}", "t", "error", "for", "message", "error",
				"too_many", "message", "too much at once; wait a little"));
		return;
	}
	json_reader_init(&call.reader, message, "");
	json_read_string(&call.reader, "t", &ignored);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i].kind, kind) != 0)
			continue;
		known = kinds[i].kind;
		fault = kinds[i].handle(&call, &why);
	}
	if (fault != NULL)
		viewers_tell(call.takeovers->viewers, session,
			json_pack("{s:s, s:s, s:s, s:s}", "t", "error", "for", known, "error",
				fault, "message", why));
}
