/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/takeover.h"

#include <string.h>

#include "base/alloc.h"

#define SECOND_US INT64_C(1000000)

/* When a connected person is told how much is left, first to last. */
static const int warnings_s[] = {300, 60};

static const char *const state_names[] = {
	[TAKEOVER_NONE] = "none",
	[TAKEOVER_OPEN] = "open",
	[TAKEOVER_CONNECTED] = "connected",
	[TAKEOVER_AWAY] = "away",
	[TAKEOVER_HANDED_BACK] = "handed_back",
	[TAKEOVER_EXPIRED] = "expired",
	[TAKEOVER_CANCELLED] = "cancelled",
};

const char *takeover_state_name(enum takeover_state state)
{
	return state_names[state];
}

bool takeover_state_parse(const char *text, enum takeover_state *out)
{
	for (size_t i = 0; i < ARRAY_LEN(state_names); i++) {
		if (strcmp(state_names[i], text) == 0) {
			*out = (enum takeover_state)i;
			return true;
		}
	}
	return false;
}

void takeover_init(struct takeover *takeover, int64_t grace_us,
	void (*on_effect)(void *arg, enum takeover_effect effect), void *arg)
{
	*takeover = (struct takeover){
		.grace_us = grace_us, .on_effect = on_effect, .arg = arg, .first_opened_us = -1};
}

static void tell(struct takeover *takeover, enum takeover_effect effect)
{
	takeover->on_effect(takeover->arg, effect);
}

bool takeover_is_alive(const struct takeover *takeover)
{
	return takeover->state == TAKEOVER_OPEN || takeover->state == TAKEOVER_CONNECTED ||
	       takeover->state == TAKEOVER_AWAY;
}

int64_t takeover_held_us(const struct takeover *takeover, int64_t now_us)
{
	bool is_held = takeover_is_alive(takeover) && takeover->holder != TAKEOVER_NOBODY;
	return takeover->held_us + (is_held ? now_us - takeover->held_since_us : 0);
}

/* What of the link's time is left decides which warnings lie behind. */
static void set_end(struct takeover *takeover, int64_t now_us, int64_t ends_us)
{
	takeover->ends_us = ends_us;
	takeover->warned_s = 0;
	for (size_t i = 0; i < ARRAY_LEN(warnings_s); i++) {
		if (ends_us - now_us < warnings_s[i] * SECOND_US)
			takeover->warned_s = warnings_s[i];
	}
	tell(takeover, TAKEOVER_END_MOVED);
}

static void set_state(struct takeover *takeover, enum takeover_state state)
{
	takeover->state = state;
	tell(takeover, TAKEOVER_STATE_CHANGED);
}

/* The first opening gives the person the whole window, however late it was. */
static void note_opening(struct takeover *takeover, int64_t now_us)
{
	if (takeover->first_opened_us >= 0)
		return;
	takeover->first_opened_us = now_us;
	set_end(takeover, now_us, now_us + takeover->window_us);
}

/* The lease goes to the session, or to nobody. The gate moves before anybody hears of it. */
static void set_holder(struct takeover *takeover, int64_t now_us, uint32_t session)
{
	if (takeover->holder != TAKEOVER_NOBODY && takeover_is_alive(takeover))
		takeover->held_us += now_us - takeover->held_since_us;
	takeover->holder = session;
	takeover->held_since_us = now_us;
	takeover->has_socket = false;
	takeover->is_coming = session != TAKEOVER_NOBODY;
	takeover->away_until_us = now_us + TAKEOVER_SOCKET_US;
	tell(takeover, TAKEOVER_HOLDER_CHANGED);
}

static void end(struct takeover *takeover, int64_t now_us, enum takeover_state state)
{
	if (takeover->holder != TAKEOVER_NOBODY)
		set_holder(takeover, now_us, TAKEOVER_NOBODY);
	set_state(takeover, state);
}

void takeover_open(struct takeover *takeover, int64_t now_us, int64_t window_us)
{
	takeover->window_us = window_us;
	takeover->first_opened_us = -1;
	takeover->extensions = 0;
	takeover->held_us = 0;
	takeover->state = TAKEOVER_OPEN;
	set_end(takeover, now_us, now_us + window_us);
	set_state(takeover, TAKEOVER_OPEN);
	if (takeover->holder == TAKEOVER_NOBODY)
		return;
	/* A person has the screen already, by a plain link: this is for them. */
	takeover->held_since_us = now_us;
	note_opening(takeover, now_us);
	set_state(takeover, takeover_is_away(takeover) ? TAKEOVER_AWAY : TAKEOVER_CONNECTED);
}

bool takeover_cancel(struct takeover *takeover, int64_t now_us)
{
	takeover_tick(takeover, now_us);
	if (!takeover_is_alive(takeover))
		return false;
	end(takeover, now_us, TAKEOVER_CANCELLED);
	return true;
}

enum takeover_take takeover_take(
	struct takeover *takeover, int64_t now_us, uint32_t session, int flags)
{
	takeover_tick(takeover, now_us);
	if (takeover->holder == session) {
		if (!takeover->has_socket && takeover->away_until_us < now_us + TAKEOVER_SOCKET_US)
			takeover->away_until_us = now_us + TAKEOVER_SOCKET_US;
		return TAKEOVER_TAKEN;
	}
	if (takeover->holder != TAKEOVER_NOBODY && (flags & TAKEOVER_CONFIRM) == 0)
		return TAKEOVER_HELD;
	set_holder(takeover, now_us, session);
	if (takeover_is_alive(takeover)) {
		if ((flags & TAKEOVER_NO_CLOCK) == 0)
			note_opening(takeover, now_us);
		set_state(takeover, TAKEOVER_CONNECTED);
	}
	return TAKEOVER_TAKEN;
}

void takeover_set_socket(
	struct takeover *takeover, int64_t now_us, uint32_t session, bool has_socket)
{
	if (session == TAKEOVER_NOBODY || takeover->holder != session ||
		takeover->has_socket == has_socket)
		return;
	takeover->has_socket = has_socket;
	takeover->is_coming = false;
	if (!has_socket)
		takeover->away_until_us = now_us + takeover->grace_us;
	enum takeover_state state = has_socket ? TAKEOVER_CONNECTED : TAKEOVER_AWAY;
	if (takeover_is_alive(takeover) && takeover->state != state)
		set_state(takeover, state);
}

bool takeover_hand_back(struct takeover *takeover, int64_t now_us, uint32_t session)
{
	takeover_tick(takeover, now_us);
	if (session == TAKEOVER_NOBODY || takeover->holder != session)
		return false;
	if (takeover_is_alive(takeover))
		end(takeover, now_us, TAKEOVER_HANDED_BACK);
	else
		set_holder(takeover, now_us, TAKEOVER_NOBODY);
	return true;
}

/* The person is gone: the agent has the screen again, and the takeover waits for somebody. */
static void leave(struct takeover *takeover, int64_t now_us)
{
	set_holder(takeover, now_us, TAKEOVER_NOBODY);
	if (!takeover_is_alive(takeover))
		return;
	takeover->state = TAKEOVER_OPEN;
	tell(takeover, TAKEOVER_LEFT);
}

void takeover_end_session(struct takeover *takeover, int64_t now_us, uint32_t session)
{
	if (session != TAKEOVER_NOBODY && takeover->holder == session)
		leave(takeover, now_us);
}

bool takeover_extend(struct takeover *takeover, int64_t now_us, uint32_t session)
{
	takeover_tick(takeover, now_us);
	if (session == TAKEOVER_NOBODY || takeover->holder != session ||
		!takeover_is_alive(takeover) || takeover->extensions >= TAKEOVER_EXTENSIONS_MAX)
		return false;
	takeover->extensions++;
	set_end(takeover, now_us, takeover->ends_us + TAKEOVER_EXTENSION_US);
	return true;
}

static bool lacks_socket(const struct takeover *takeover)
{
	return takeover->holder != TAKEOVER_NOBODY && !takeover->has_socket;
}

bool takeover_is_away(const struct takeover *takeover)
{
	return lacks_socket(takeover) && !takeover->is_coming;
}

/* The warning that comes next, in seconds before the end; 0: none. */
static int next_warning_s(const struct takeover *takeover)
{
	for (size_t i = 0; i < ARRAY_LEN(warnings_s); i++) {
		if (takeover->warned_s == 0 || warnings_s[i] < takeover->warned_s)
			return warnings_s[i];
	}
	return 0;
}

static void warn(struct takeover *takeover, int64_t now_us)
{
	int before_s = takeover->warned_s;
	int next_s;
	while ((next_s = next_warning_s(takeover)) != 0 &&
		now_us >= takeover->ends_us - next_s * SECOND_US)
		takeover->warned_s = next_s;
	if (takeover->warned_s != before_s && takeover->state == TAKEOVER_CONNECTED)
		tell(takeover, TAKEOVER_WARNED);
}

void takeover_tick(struct takeover *takeover, int64_t now_us)
{
	bool is_over = takeover_is_alive(takeover) && now_us >= takeover->ends_us;
	if (is_over)
		end(takeover, now_us, TAKEOVER_EXPIRED);
	else if (lacks_socket(takeover) && now_us >= takeover->away_until_us)
		leave(takeover, now_us);
	if (takeover_is_alive(takeover))
		warn(takeover, now_us);
}

int64_t takeover_next_due(const struct takeover *takeover)
{
	int64_t due_us = INT64_MAX;
	if (lacks_socket(takeover))
		due_us = takeover->away_until_us;
	if (!takeover_is_alive(takeover))
		return due_us;
	int64_t end_us = takeover->ends_us - next_warning_s(takeover) * SECOND_US;
	return end_us < due_us ? end_us : due_us;
}
