/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/takeovers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "display/privacy.h"
#include "takeover/takeovers_private.h"
#include "takeover/viewers.h"
#define LOG_MODULE "takeover"
#include "base/log.h"

/*
 * The loop's timers run on a clock that stands still while a virtual machine is frozen. So nothing
 * sleeps longer than this while a page is open whose time may be over: it is pinged as often.
 */
#define LOOK_MS       PEER_PING_MS
#define PUSH_BODY_MAX 180 /* characters: what phones show of a notification */

struct takeover_record *takeovers_current(const struct takeovers *takeovers)
{
	if (!takeover_is_alive(&takeovers->takeover) || list_is_empty(&takeovers->records))
		return NULL;
	return container_of(takeovers->records.next, struct takeover_record, link);
}

static void publish(struct takeovers *takeovers, const char *name, json_t *data)
{
	takeovers->events.on_event(takeovers->events.arg, name, data);
}

struct links *takeovers_links(struct takeovers *takeovers)
{
	return takeovers->links;
}

int64_t takeovers_wall_us(struct takeovers *takeovers, int64_t ends_us)
{
	return clock_wall_us() + ends_us - lifetime_now(&takeovers->lifetime);
}

/* What is told of a takeover: its record and what the clocks say. */
static json_t *record_json(struct takeovers *takeovers, const struct takeover_record *record)
{
	json_t *json = takeover_record_json(record);
	if (record->ended_wall_us != 0)
		return json;
	char expires[CLOCK_RFC3339_SIZE];
	int64_t left_us = takeovers->takeover.ends_us - lifetime_now(&takeovers->lifetime);
	clock_format_rfc3339(clock_wall_us() + left_us, expires);
	json_object_set_new(json, "expires_at", json_string(expires));
	json_object_set_new(json, "expires_in_s", json_integer(left_us / 1000000));
	json_object_set_new(json, "extensions_left",
		json_integer(TAKEOVER_EXTENSIONS_MAX - takeovers->takeover.extensions));
	return json;
}

/* The lock, the gate and the privacy of the screen */

/* Privacy comes before the person can act, and goes after they no longer can. */
static void move_lock(struct takeovers *takeovers, uint32_t old, uint32_t holder)
{
	bool is_private = holder != TAKEOVER_NOBODY && takeovers->config.has_privacy;
	takeovers->are_watchers_allowed = false;
	if (is_private) {
		privacy_set(takeovers->config.privacy, true);
		viewers_cover(takeovers->viewers, true);
	}
	viewers_give(takeovers->viewers, holder);
	if (!is_private) {
		viewers_cover(takeovers->viewers, false);
		privacy_set(takeovers->config.privacy, false);
	}
	bool is_page = old != TAKEOVER_NOBODY && (old & VIEWER_SESSION_NATIVE) == 0;
	if (is_page && holder != TAKEOVER_NOBODY)
		viewers_close_session(takeovers->viewers, old, PEER_CLOSE_TAKEN_OVER,
			"somebody else has taken over");
}

static void on_holder_changed(struct takeovers *takeovers)
{
	uint32_t old = takeovers->told_holder, holder = takeovers->takeover.holder;
	bool was_locked = old != TAKEOVER_NOBODY, is_locked = holder != TAKEOVER_NOBODY;
	takeovers->told_holder = holder;
	takeovers->held_since_wall_us = clock_wall_us(); /* told to those who are refused now */
	move_lock(takeovers, old, holder);
	if (was_locked == is_locked)
		return;
	publish(takeovers, is_locked ? "control.locked" : "control.unlocked",
		json_pack("{s:s}", "holder", is_locked ? "person" : "agent"));
}

/* The end of a takeover is the end of its links, and of the sockets that they opened. */
static void finish(struct takeovers *takeovers, struct takeover_record *record, int64_t now_us)
{
	record->ended_wall_us = clock_wall_us();
	record->held_s = (takeover_held_us(&takeovers->takeover, now_us) + 500000) / 1000000;
	if (record->state == TAKEOVER_HANDED_BACK) {
		record->outcome = takeovers->outcome;
		record->message = takeovers->message != NULL ? xstrdup(takeovers->message) : NULL;
	}
	json_t *ended = json_pack("{s:s, s:s, s:I}", "t", "ended", "state",
		takeover_state_name(record->state), "held_s", (json_int_t)record->held_s);
	if (record->outcome != NULL)
		json_object_set_new(ended, "outcome", json_string(record->outcome));
	viewers_tell(takeovers->viewers, 0, ended);
	takeovers->notes_since = messages_last_id(takeovers->messages);
	links_end_takeover(takeovers->links, record->id);
}

static void on_state_changed(struct takeovers *takeovers)
{
	if (list_is_empty(&takeovers->records))
		return;
	struct takeover_record *record =
		container_of(takeovers->records.next, struct takeover_record, link);
	enum takeover_state state = takeovers->takeover.state;
	record->state = state;
	record->version++;
	if (takeovers->takeover.first_opened_us >= 0 && record->opened_wall_us == 0)
		record->opened_wall_us = clock_wall_us();
	if (!takeover_is_alive(&takeovers->takeover))
		finish(takeovers, record, lifetime_now(&takeovers->lifetime));
	if (state == TAKEOVER_OPEN)
		return; /* told by whoever opened it, with its link */
	char *name = xasprintf("takeover.%s", takeover_state_name(state));
	log_info("%s is %s", record->id, takeover_state_name(state));
	publish(takeovers, name, record_json(takeovers, record));
	free(name);
}

static void on_left(struct takeovers *takeovers)
{
	struct takeover_record *record = takeovers_current(takeovers);
	record->state = TAKEOVER_OPEN;
	record->left_wall_us = clock_wall_us();
	record->version++;
	log_info("%s: the person has left", record->id);
	publish(takeovers, "takeover.left", record_json(takeovers, record));
}

static void on_end_moved(struct takeovers *takeovers)
{
	struct takeover_record *record = takeovers_current(takeovers);
	if (record == NULL)
		return; /* it is just being opened */
	record->version++;
	links_move_takeover(takeovers->links, record->id, takeovers->takeover.ends_us);
}

static void on_warned(struct takeovers *takeovers)
{
	json_t *json = record_json(takeovers, takeovers_current(takeovers));
	viewers_tell(takeovers->viewers, takeovers->takeover.holder,
		json_pack("{s:s, s:i, s:O, s:O}", "t", "countdown", "left_s",
			takeovers->takeover.warned_s, "expires_at",
			json_object_get(json, "expires_at"), "extensions_left",
			json_object_get(json, "extensions_left")));
	json_decref(json);
}

static void on_effect(void *arg, enum takeover_effect effect)
{
	struct takeovers *takeovers = arg;
	takeovers->is_dirty = true;
	switch (effect) {
	case TAKEOVER_HOLDER_CHANGED:
		on_holder_changed(takeovers);
		break;
	case TAKEOVER_STATE_CHANGED:
		on_state_changed(takeovers);
		break;
	case TAKEOVER_LEFT:
		on_left(takeovers);
		break;
	case TAKEOVER_END_MOVED:
		on_end_moved(takeovers);
		break;
	case TAKEOVER_WARNED:
		on_warned(takeovers);
		break;
	}
}

/* Links tell */

static void on_session_end(void *arg, uint32_t session)
{
	struct takeovers *takeovers = arg;
	takeovers->needs_save = true;
	takeover_end_session(&takeovers->takeover, lifetime_now(&takeovers->lifetime), session);
	bool is_handed_back = takeovers->outcome != NULL;
	viewers_close_session(takeovers->viewers, session,
		is_handed_back ? PEER_CLOSE_HANDED_BACK : PEER_CLOSE_NOT_VALID,
		is_handed_back ? "the screen was handed back" : "this link is not valid any more");
}

static bool is_session_busy(void *arg, uint32_t session)
{
	struct takeovers *takeovers = arg;
	return takeovers->takeover.holder == session ||
	       viewers_has_socket(takeovers->viewers, session);
}

static void arm_timer(struct takeovers *takeovers)
{
	int64_t due_us = takeover_next_due(&takeovers->takeover);
	int64_t links_us = links_tick(takeovers->links);
	if (links_us < due_us)
		due_us = links_us;
	if (due_us == INT64_MAX) {
		loop_timer_disarm(takeovers->timer);
		return;
	}
	int64_t delay_ms = (due_us - lifetime_now(&takeovers->lifetime)) / 1000 + 1;
	if (delay_ms > LOOK_MS && viewers_have_pages(takeovers->viewers))
		delay_ms = LOOK_MS;
	loop_timer_arm(takeovers->timer, delay_ms > 0 ? delay_ms : 0);
}

/* Viewers tell */

static bool on_claim(void *arg, uint32_t session)
{
	struct takeovers *takeovers = arg;
	int64_t now_us = lifetime_now(&takeovers->lifetime);
	/* Native viewers take from each other; from a person at the page they do not. */
	bool is_native = (takeovers->takeover.holder & VIEWER_SESSION_NATIVE) != 0;
	int flags = TAKEOVER_NO_CLOCK | (is_native ? TAKEOVER_CONFIRM : 0);
	bool is_taken =
		takeover_take(&takeovers->takeover, now_us, session, flags) == TAKEOVER_TAKEN;
	if (is_taken)
		takeover_set_socket(&takeovers->takeover, now_us, session, true);
	takeovers_settle(takeovers);
	return is_taken;
}

static void on_input(void *arg)
{
	takeovers_tick(arg);
}

static void on_socket(void *arg, uint32_t session, bool is_there)
{
	struct takeovers *takeovers = arg;
	int64_t now_us = lifetime_now(&takeovers->lifetime);
	/* A native viewer cannot hand back: it does by leaving. */
	if (!is_there && (session & VIEWER_SESSION_NATIVE) != 0)
		takeover_end_session(&takeovers->takeover, now_us, session);
	else
		takeover_set_socket(&takeovers->takeover, now_us, session, is_there);
	if (is_there)
		arm_timer(takeovers);
	/* Sockets also go in the midst of something else, and when the daemon ends. */
	if (takeovers->is_dirty && takeovers->timer != NULL)
		loop_timer_arm(takeovers->timer, 0);
}

static json_t *on_state_json(void *arg, uint32_t session, enum viewer_role role)
{
	json_t *state = takeovers_state_json(arg, session, role, false);
	json_object_set_new(state, "t", json_string("state"));
	return state;
}

void takeovers_listen(struct takeovers *takeovers, struct viewers_events *out)
{
	out->on_claim = on_claim;
	out->on_input = on_input;
	out->on_socket = on_socket;
	out->state_json = on_state_json;
	out->on_message = takeovers_message;
	out->arg = takeovers;
}

/* The whole */

void takeovers_tick(struct takeovers *takeovers)
{
	/* Asked for the state while the last change is being told. */
	if (takeovers->is_settling)
		return;
	takeover_tick(&takeovers->takeover, lifetime_now(&takeovers->lifetime));
	links_tick(takeovers->links);
	if (takeovers->is_dirty || takeovers->needs_save)
		takeovers_settle(takeovers);
}

static void on_timer(void *arg)
{
	struct takeovers *takeovers = arg;
	takeovers_tick(takeovers);
	arm_timer(takeovers);
}

/* Later, from the loop: whoever waits asks for the state, and may be in the midst of asking now. */
static void on_change_timer(void *arg)
{
	struct takeovers *takeovers = arg;
	takeovers->events.on_change(takeovers->events.arg);
}

static void settle_once(struct takeovers *takeovers)
{
	bool is_told = takeovers->is_dirty;
	takeovers->is_dirty = takeovers->needs_save = false;
	takeovers_save(takeovers);
	if (!is_told)
		return;
	viewers_tell_state(takeovers->viewers);
	if (takeovers->change_timer != NULL)
		loop_timer_arm(takeovers->change_timer, 0);
}

void takeovers_settle(struct takeovers *takeovers)
{
	if (takeovers->is_settling)
		return; /* what is new now is settled below, by the one who is at it */
	takeovers->is_settling = true;
	while (takeovers->is_dirty || takeovers->needs_save)
		settle_once(takeovers);
	takeovers->is_settling = false;
	arm_timer(takeovers);
}

struct takeovers *takeovers_create(
	const struct takeovers_config *config, const struct takeovers_events *events)
{
	struct takeovers *takeovers = xcalloc(1, sizeof(*takeovers));
	takeovers->config = *config;
	takeovers->events = *events;
	lifetime_init(&takeovers->lifetime, 0, clock_wall_us(), clock_boottime_us());
	const struct links_events links_events = {on_session_end, is_session_busy, takeovers};
	takeovers->links = links_create(&takeovers->lifetime, &links_events);
	takeovers->messages = messages_create();
	takeovers->timer = loop_timer_create(config->loop, on_timer, takeovers);
	takeovers->change_timer = loop_timer_create(config->loop, on_change_timer, takeovers);
	takeovers->held_since_wall_us = clock_wall_us();
	list_init(&takeovers->records);
	takeover_init(
		&takeovers->takeover, config->grace_s * INT64_C(1000000), on_effect, takeovers);
	return takeovers;
}

void takeovers_attach(struct takeovers *takeovers, struct viewers *viewers)
{
	takeovers->viewers = viewers;
	takeovers_load(takeovers);
	/* The person of before is away until their page has found its way back. */
	takeovers->told_holder = takeovers->takeover.holder;
	move_lock(takeovers, TAKEOVER_NOBODY, takeovers->takeover.holder);
	takeovers_tick(takeovers);
	takeovers_settle(takeovers);
}

void takeovers_detach(struct takeovers *takeovers)
{
	if (takeovers == NULL)
		return;
	if (takeovers->is_dirty || takeovers->needs_save)
		takeovers_save(takeovers);
	loop_timer_destroy(takeovers->timer);
	loop_timer_destroy(takeovers->change_timer);
	takeovers->timer = takeovers->change_timer = NULL;
}

void takeovers_destroy(struct takeovers *takeovers)
{
	if (takeovers == NULL)
		return;
	struct takeover_record *record, *tmp;
	list_for_each_safe (record, tmp, &takeovers->records, link)
		takeover_record_destroy(record);
	if (takeovers->timer != NULL)
		loop_timer_destroy(takeovers->timer);
	if (takeovers->change_timer != NULL)
		loop_timer_destroy(takeovers->change_timer);
	messages_destroy(takeovers->messages);
	links_destroy(takeovers->links);
	free(takeovers);
}

/* The agent's side */

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
	json_t *json = record_json(takeovers, record);
	add_link(takeovers, json, record->note, secret);
	if (*is_new)
		publish(takeovers, "takeover.opened", json_deep_copy(json));
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
	return record != NULL ? record_json(takeovers, record) : NULL;
}

json_t *takeovers_list_json(struct takeovers *takeovers)
{
	json_t *list = json_array();
	struct takeover_record *record;
	takeovers_tick(takeovers);
	list_for_each (record, &takeovers->records, link)
		json_array_append_new(list, record_json(takeovers, record));
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
	char since[CLOCK_RFC3339_SIZE];
	bool is_locked = takeovers_is_locked(takeovers);
	clock_format_rfc3339(takeovers->held_since_wall_us, since);
	return json_pack("{s:s, s:b, s:s}", "holder", is_locked ? "person" : "agent", "locked",
		is_locked, "since", since);
}

json_t *takeovers_add_message(struct takeovers *takeovers, bool is_from_person, const char *text)
{
	json_t *message = messages_add(takeovers->messages, is_from_person, text);
	json_t *told = json_copy(message);
	json_object_set_new(told, "t", json_string(is_from_person ? "note" : "say"));
	viewers_tell(takeovers->viewers, 0, told);
	publish(takeovers, "note", json_copy(message));
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
