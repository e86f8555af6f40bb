/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/deeds.h"
#include "display/typist.h"

#include <stdarg.h>
#include <stdio.h>
#include <X11/XKBlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "display/scancode.h"
#include "display/typist_paste.h"
#include "display/typist_private.h"
#include "display/window_ops.h"
#include "display/xconn.h"
#define LOG_MODULE "typist"
#include "base/log.h"

#define MAP_CHANGE_TRIES 8 /* in a row, without a character typed between */
/*
 * Keys without a pause, each asked for when the one before is done, would go on here for as long as
 * there are any: after so long pictures, other callers, and that the caller has gone have their turn.
 */
#define TURN_US 2000
/* How long a window manager, and then the program, may take to act on a click before keys follow.
 */
#define CLICK_WAIT_MS 3000
/* How long the focus may then take to follow a click, and how often it is looked at. */
#define FOCUS_WAIT_US 300000
#define FOCUS_LOOK_MS 10

static void dispatch(void *arg);
static void on_wait(void *arg);
static void on_quiet(void *arg);
static void on_barrier(void *arg, enum barrier_outcome outcome);

struct typist *typist_create(struct xconn *conn, struct injector *injector,
	const struct input_gate *gate, const struct typist_config *config)
{
	if (!conn->has_xtest)
		return NULL;
	struct keymap *keymap = keymap_create(conn);
	if (keymap == NULL)
		return NULL;
	struct typist *typist = xcalloc(1, sizeof(*typist));
	typist->conn = conn;
	typist->injector = injector;
	typist->gate = gate;
	typist->config = *config;
	typist->keymap = keymap;
	typist->barrier = barrier_create(conn);
	typist->paster = paster_create(typist);
	typist->dispatch_timer = loop_timer_create(conn->loop, dispatch, typist);
	typist->wait_timer = loop_timer_create(conn->loop, on_wait, typist);
	typist->quiet_timer = loop_timer_create(conn->loop, on_quiet, typist);
	list_init(&typist->queue);
	return typist;
}

static void report(struct typist_op *op)
{
	if (op->done != NULL)
		op->done(op->done_arg, &op->result);
	free(op->chars);
	free(op);
}

static void abandon_running(struct typist *typist)
{
	barrier_cancel(typist->barrier);
	loop_timer_disarm(typist->wait_timer);
	if (typist->running->kind == TYPIST_TEXT)
		typist_text_abandon(typist);
	else if (typist->running->kind == TYPIST_CHORD)
		typist_chord_abandon(typist);
}

void typist_finish_op(struct typist *typist, enum typist_status status, const char *format, ...)
{
	struct typist_op *op = typist->running;
	abandon_running(typist);
	typist->running = NULL;
	op->result.status = status;
	va_list args;
	va_start(args, format);
	vsnprintf(op->result.message, sizeof(op->result.message), format, args);
	va_end(args);
	if (!typist->conn->is_broken)
		loop_timer_arm(typist->dispatch_timer, 0);
	report(op);
}

static void cancel(struct typist *typist, struct typist_op *op)
{
	if (op == typist->running) {
		typist_finish_op(typist, TYPIST_CANCELED, "canceled");
		return;
	}
	list_remove(&op->link);
	op->result.status = TYPIST_CANCELED;
	snprintf(op->result.message, sizeof(op->result.message), "canceled");
	report(op);
}

/* By source, or all with INPUT_SOURCE_NONE. A callback may append while we go; those stay. */
static void cancel_matching(struct typist *typist, uint8_t source)
{
	uint64_t last_id = typist->last_id;
	struct typist_op *op, *tmp;
	list_for_each_safe (op, tmp, &typist->queue, link) {
		if (op->id <= last_id && op->kind != TYPIST_GIVE_BACK &&
			(source == INPUT_SOURCE_NONE || op->ticket.source == source))
			cancel(typist, op);
	}
	op = typist->running;
	if (op != NULL && op->kind != TYPIST_GIVE_BACK &&
		(source == INPUT_SOURCE_NONE || op->ticket.source == source))
		cancel(typist, op);
}

void typist_destroy(struct typist *typist)
{
	if (typist == NULL)
		return;
	cancel_matching(typist, INPUT_SOURCE_NONE);
	if (typist->running != NULL) {
		barrier_cancel(typist->barrier);
		free(typist->running);
	}
	struct typist_op *op, *tmp;
	list_for_each_safe (op, tmp, &typist->queue, link)
		free(op);
	if (!typist->conn->is_broken && keymap_is_borrowing(typist->keymap))
		barrier_wait(typist->barrier);
	keymap_destroy(typist->keymap);
	paster_destroy(typist->paster);
	barrier_destroy(typist->barrier);
	loop_timer_destroy(typist->dispatch_timer);
	loop_timer_destroy(typist->wait_timer);
	loop_timer_destroy(typist->quiet_timer);
	free(typist);
}

bool typist_may_act(struct typist *typist)
{
	if (input_gate_admits(typist->gate, typist->running->ticket))
		return true;
	typist_finish_op(typist, TYPIST_NOT_HOLDER, "somebody else holds the screen now");
	return false;
}

static void give_back_now(struct typist *typist)
{
	keymap_give_back(typist->keymap);
	struct typist_op *op = typist->running;
	typist->running = NULL;
	free(op);
	loop_timer_arm(typist->dispatch_timer, 0);
}

/* The running request, the focus being where it belongs. */
static void begin(struct typist *typist)
{
	struct typist_op *op = typist->running;
	if (!typist_may_act(typist))
		return;
	if (!keymap_refresh(typist->keymap)) {
		typist_finish_op(typist, TYPIST_FAILED, "the display has gone");
		return;
	}
	if (op->kind == TYPIST_TEXT)
		typist_text_start(typist);
	else if (op->kind == TYPIST_CHORD)
		typist_chord_start(typist);
	else
		typist_keysym_start(typist);
}

/* Whether the focus is in the program under the pointer, or that is none to have it. */
static bool focus_is_under_pointer(struct xconn *conn)
{
	Window client = window_client(conn, barrier_pointer_window(conn));
	XWindowAttributes attributes;
	if (client == None)
		return true;
	xconn_trap(conn);
	Status is_read = XGetWindowAttributes(conn->dpy, client, &attributes);
	if (xconn_untrap(conn) != 0 || !is_read || attributes.override_redirect)
		return true;
	return window_is_inside(conn, barrier_focus_window(conn), client);
}

/*
 * That manager and program seem to be at rest is not proof: the server may have taken their requests
 * in without having carried them out (seen under load). So the focus itself is looked at too, for
 * a moment: some clicks do not move it.
 */
static void wait_for_focus(struct typist *typist)
{
	if (clock_monotonic_us() < typist->focus_limit_us && !typist->conn->is_broken &&
		!focus_is_under_pointer(typist->conn))
		typist_after_ms(typist, FOCUS_LOOK_MS, wait_for_focus);
	else
		begin(typist);
}

static void look_at_focus(struct typist *typist)
{
	typist->focus_limit_us = clock_monotonic_us();
	if (window_manager_runs(typist->conn))
		typist->focus_limit_us += FOCUS_WAIT_US;
	wait_for_focus(typist);
}

static void wait_for_clicked_program(struct typist *typist)
{
	typist->next = look_at_focus;
	barrier_begin_on(typist->barrier, barrier_pointer_window(typist->conn), CLICK_WAIT_MS,
		on_barrier, typist);
}

/*
 * A click before this may be about to move the focus, and keys go where the focus is when the
 * server gets them: first the window manager shall have acted on the click, then the program that
 * was clicked. (Seen with openbox busy with a map change: text after a click went to the window
 * before.)
 */
static void wait_for_click(struct typist *typist)
{
	typist->seen_presses = injector_press_count(typist->injector);
	typist->is_soft_barrier = true;
	typist->next = wait_for_clicked_program;
	barrier_begin_on(typist->barrier, window_manager_check(typist->conn), CLICK_WAIT_MS,
		on_barrier, typist);
}

static void start(struct typist *typist, struct typist_op *op)
{
	typist->running = op;
	if (op->kind == TYPIST_GIVE_BACK) {
		typist_after_soft_barrier(typist, typist->config.stuck_ms, give_back_now);
		return;
	}
	if (op->result.status != TYPIST_OK) {
		typist->running = NULL; /* refused at the call: nothing was begun */
		report(op);
		return;
	}
	if (typist->seen_presses != injector_press_count(typist->injector))
		wait_for_click(typist);
	else
		begin(typist);
}

static void dispatch(void *arg)
{
	struct typist *typist = arg;
	int64_t end_us = clock_monotonic_us() + TURN_US;
	while (typist->running == NULL && !list_is_empty(&typist->queue) &&
		!typist->conn->is_broken) {
		if (clock_monotonic_us() > end_us) {
			loop_timer_arm(typist->dispatch_timer, 0);
			return;
		}
		struct typist_op *op = container_of(typist->queue.next, struct typist_op, link);
		list_remove(&op->link);
		start(typist, op);
	}
}

static struct typist_op *enqueue(struct typist *typist, enum typist_kind kind,
	struct input_ticket ticket, typist_done done, void *arg)
{
	struct typist_op *op = xcalloc(1, sizeof(*op));
	op->id = ++typist->last_id;
	op->kind = kind;
	op->ticket = ticket;
	op->done = done;
	op->done_arg = arg;
	op->map_changes_left = MAP_CHANGE_TRIES;
	list_append(&typist->queue, &op->link);
	if (typist->running == NULL)
		loop_timer_arm(typist->dispatch_timer, 0);
	return op;
}

void typist_set_deeds(struct typist *typist, const struct deeds *deeds)
{
	typist->deeds = deeds;
}

uint64_t typist_type(struct typist *typist, struct input_ticket ticket, const char *text,
	size_t len, const struct typist_text_options *options, typist_done done, void *arg)
{
	struct typist_op *op = enqueue(typist, TYPIST_TEXT, ticket, done, arg);
	if (options != NULL)
		op->text_options = *options;
	typist_text_parse(op, text, len);
	if (ticket.source == INPUT_SOURCE_AGENT)
		deeds_tell_text(typist->deeds, text, len);
	return op->id;
}

uint64_t typist_key(struct typist *typist, struct input_ticket ticket,
	const struct key_chord *chord, const struct typist_key_options *options, typist_done done,
	void *arg)
{
	struct typist_op *op = enqueue(typist, TYPIST_CHORD, ticket, done, arg);
	op->chord = *chord;
	if (options != NULL)
		op->key_options = *options;
	if (op->key_options.hold_ms > TYPIST_HOLD_MAX_MS)
		op->key_options.hold_ms = TYPIST_HOLD_MAX_MS;
	op->presses_left = op->key_options.repeat < 1 ? 1 : op->key_options.repeat;
	if (ticket.source == INPUT_SOURCE_AGENT)
		deeds_tell_chord(typist->deeds, chord);
	return op->id;
}

uint64_t typist_keysym(struct typist *typist, struct input_ticket ticket, bool is_down,
	uint32_t keysym, typist_done done, void *arg)
{
	uint32_t code_point = keysym_to_char(keysym);
	if (is_down && code_point != 0 && paste_is_needed(code_point)) {
		char text[4];
		size_t len = utf8_encode(code_point, text);
		return typist_type(typist, ticket, text, len, NULL, done, arg);
	}
	struct typist_op *op = enqueue(typist, TYPIST_KEYSYM, ticket, done, arg);
	op->keysym = keysym;
	op->is_down = is_down;
	const struct key_chord chord = {.keysyms = {keysym}, .count = 1};
	if (ticket.source == INPUT_SOURCE_AGENT && is_down)
		deeds_tell_chord(typist->deeds, &chord);
	return op->id;
}

uint64_t typist_scancode(struct typist *typist, struct input_ticket ticket, bool is_down,
	uint32_t scancode, uint32_t keysym, typist_done done, void *arg)
{
	struct typist_op *op = enqueue(typist, TYPIST_KEYSYM, ticket, done, arg);
	op->keysym = keysym;
	op->keycode = scancode_to_keycode(scancode);
	op->is_down = is_down;
	return op->id;
}

void typist_cancel(struct typist *typist, uint64_t id)
{
	if (typist->running != NULL && typist->running->id == id) {
		if (typist->running->kind != TYPIST_GIVE_BACK)
			cancel(typist, typist->running);
		return;
	}
	struct typist_op *op, *tmp;
	list_for_each_safe (op, tmp, &typist->queue, link) {
		if (op->id == id && op->kind != TYPIST_GIVE_BACK) {
			cancel(typist, op);
			return;
		}
	}
}

void typist_pass_locks(struct typist *typist, uint8_t source, bool is_passed)
{
	if (source <= INPUT_SOURCE_MAX)
		typist->passes_locks[source] = is_passed;
}

void typist_drop_source(struct typist *typist, uint8_t source)
{
	cancel_matching(typist, source);
	typist_forget_source(typist, source);
	injector_release_source(typist->injector, source);
	typist_pass_locks(typist, source, false);
	if (source != INPUT_SOURCE_AGENT && keymap_is_borrowing(typist->keymap))
		loop_timer_arm(typist->quiet_timer, typist->config.source_quiet_ms);
}

/* The locks and the group that the agent left are put back whenever a person stops, or goes on to another. */
static void restore_locks(struct typist *typist)
{
	struct xconn *conn = typist->conn;
	bool is_agent = input_gate_now(typist->gate).source == INPUT_SOURCE_AGENT;
	XkbStateRec state;
	if (conn->is_broken || XkbGetState(conn->dpy, XkbUseCoreKbd, &state) != Success)
		return;
	if (!typist->agents_locks.is_kept) {
		typist->agents_locks.modifiers = state.locked_mods;
		typist->agents_locks.group = (uint8_t)state.locked_group;
	} else {
		if (state.locked_mods != typist->agents_locks.modifiers)
			XkbLockModifiers(conn->dpy, XkbUseCoreKbd, 0xff, typist->agents_locks.modifiers);
		if (state.locked_group != typist->agents_locks.group)
			XkbLockGroup(conn->dpy, XkbUseCoreKbd, typist->agents_locks.group);
		XFlush(conn->dpy);
	}
	typist->agents_locks.is_kept = !is_agent;
}

void typist_release_all(struct typist *typist)
{
	cancel_matching(typist, INPUT_SOURCE_NONE);
	for (int source = 0; source <= INPUT_SOURCE_MAX; source++)
		typist_forget_source(typist, (uint8_t)source);
	injector_release_all(typist->injector);
	restore_locks(typist);
	if (keymap_is_borrowing(typist->keymap))
		loop_timer_arm(typist->quiet_timer, typist->config.source_quiet_ms);
}

bool typist_is_idle(const struct typist *typist)
{
	return typist->running == NULL && list_is_empty(&typist->queue);
}

bool typist_is_map_given_back(const struct typist *typist)
{
	return !keymap_is_borrowing(typist->keymap);
}

/* Waiting */

static void on_wait(void *arg)
{
	struct typist *typist = arg;
	typist->next(typist);
}

void typist_after_ms(struct typist *typist, int delay_ms, void (*next)(struct typist *typist))
{
	typist->next = next;
	loop_timer_arm(typist->wait_timer, delay_ms);
}

static void on_barrier(void *arg, enum barrier_outcome outcome)
{
	struct typist *typist = arg;
	if (outcome == BARRIER_TIMED_OUT && !typist->is_soft_barrier) {
		const struct typist_op *op = typist->running;
		typist_finish_op(typist, TYPIST_STUCK,
			"the program under the focus has not taken its keys for %d s; %zu "
			"characters were sent",
			typist->config.stuck_ms / 1000, op->result.typed);
		return;
	}
	typist->next(typist);
}

void typist_after_barrier(struct typist *typist, void (*next)(struct typist *typist))
{
	typist->next = next;
	typist->is_soft_barrier = false;
	barrier_begin(typist->barrier, typist->config.stuck_ms, on_barrier, typist);
}

void typist_after_soft_barrier(
	struct typist *typist, int limit_ms, void (*next)(struct typist *typist))
{
	typist->next = next;
	typist->is_soft_barrier = true;
	barrier_begin(typist->barrier, limit_ms, on_barrier, typist);
}

static void write_map(struct typist *typist)
{
	if (!typist_may_act(typist))
		return;
	if (!keymap_write_slots(typist->keymap)) {
		typist_finish_op(typist, TYPIST_FAILED, "the keymap could not be changed");
		return;
	}
	typist_note_slot_use(typist);
	/* Chromium loses the first key when it comes together with the new map and a modifier was
	   lifted just before. */
	typist_after_barrier(typist, typist->after_map_change);
}

void typist_change_map(struct typist *typist, void (*next)(struct typist *typist))
{
	if (typist->running->map_changes_left-- == 0) {
		typist_finish_op(typist, TYPIST_FAILED,
			"somebody else keeps changing the keymap; the text cannot be typed");
		return;
	}
	typist->after_map_change = next;
	typist_after_barrier(typist, write_map);
}

void typist_note_slot_use(struct typist *typist)
{
	loop_timer_arm(typist->quiet_timer, typist->config.quiet_ms);
}

static bool is_slot_key_held(const struct typist *typist)
{
	const struct keymap_slots *slots = keymap_get_slots(typist->keymap);
	for (int i = 0; i < slots->count; i++) {
		if (slots->slots[i].is_pinned)
			return true;
	}
	return false;
}

static void on_quiet(void *arg)
{
	struct typist *typist = arg;
	if (!keymap_is_borrowing(typist->keymap))
		return;
	if (!typist_is_idle(typist) || is_slot_key_held(typist)) {
		typist_note_slot_use(typist);
		return;
	}
	struct input_ticket nobody = {.source = INPUT_SOURCE_NONE};
	enqueue(typist, TYPIST_GIVE_BACK, nobody, NULL, NULL);
}
