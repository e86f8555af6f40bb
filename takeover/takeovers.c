/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/takeovers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/loop.h"
#include "display/privacy.h"
#include "takeover/takeovers_private.h"
#include "takeover/viewers.h"
#define LOG_MODULE "takeover"
#include "base/log.h"

/*
 * The loop's timers run on a clock that stands still while a virtual machine is frozen. So nothing
 * sleeps longer than this while a page is open whose time may be over: it is pinged as often.
 */
#define LOOK_MS PEER_PING_MS

/* What could not be kept is tried again so soon. */
#define SAVE_AGAIN_US 1000000

struct takeover_record *takeovers_current(const struct takeovers *takeovers)
{
	if (!takeover_is_alive(&takeovers->takeover) || list_is_empty(&takeovers->records))
		return NULL;
	return container_of(takeovers->records.next, struct takeover_record, link);
}

void takeovers_publish(struct takeovers *takeovers, const char *name, json_t *data)
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

void takeovers_add_end(struct takeovers *takeovers, json_t *json, int64_t ends_us)
{
	int64_t left_us = ends_us - lifetime_now(&takeovers->lifetime);
	json_object_set_new(json, "expires_at", json_time(takeovers_wall_us(takeovers, ends_us)));
	json_object_set_new(json, "expires_in_s", json_integer(left_us / 1000000));
}

/* The lock, the gate and the privacy of the screen */

/* Privacy comes before the person can act, and goes after they no longer can. */
static void move_lock(struct takeovers *takeovers, uint32_t old, uint32_t holder)
{
	bool is_private = holder != TAKEOVER_NOBODY && takeovers->config.has_privacy;
	takeovers->are_watchers_allowed = false;
	if (is_private) {
		viewers_freeze_figures(takeovers->viewers, true);
		privacy_set(takeovers->config.privacy, true);
		viewers_cover(takeovers->viewers, true);
	}
	viewers_give(takeovers->viewers, holder);
	if (!is_private) {
		viewers_cover(takeovers->viewers, false);
		privacy_set(takeovers->config.privacy, false);
		viewers_freeze_figures(takeovers->viewers, false);
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
	takeovers_publish(takeovers, is_locked ? "control.locked" : "control.unlocked",
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
	takeovers_publish(takeovers, name, takeovers_record_json(takeovers, record));
	free(name);
}

static void on_left(struct takeovers *takeovers)
{
	struct takeover_record *record = takeovers_current(takeovers);
	record->state = TAKEOVER_OPEN;
	record->left_wall_us = clock_wall_us();
	record->version++;
	log_info("%s: the person has left", record->id);
	takeovers_publish(takeovers, "takeover.left", takeovers_record_json(takeovers, record));
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
	json_t *json = takeovers_record_json(takeovers, takeovers_current(takeovers));
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
	if (takeovers->save_error < 0 &&
		clock_monotonic_us() - takeovers->save_tried_us >= SAVE_AGAIN_US)
		takeovers->needs_save = true;
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
	takeovers->needs_save = true; /* the file has its place from now on, however full the disk gets */
	takeovers_settle(takeovers);
}

int takeovers_save_error(struct takeovers *takeovers)
{
	takeovers_tick(takeovers); /* it may be kept by now */
	return takeovers->save_error;
}

void takeovers_detach(struct takeovers *takeovers)
{
	if (takeovers == NULL)
		return;
	if (takeovers->is_dirty || takeovers->needs_save || takeovers->save_error < 0)
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
