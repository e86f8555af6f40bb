/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text: a stretch at a time that the keymap can carry, in chunks that the program has to take in.
 */
#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "display/selection_owner.h"
#include "display/typist_paste.h"
#include "display/typist_private.h"
#include "display/window_ops.h"
#include "display/xconn.h"

/* After so many the program must have taken all, so that cancelling and errors are prompt. */
#define CHUNK_MAX 256
/* With a delay: after so long, so that what goes wrong on the way can be told of few characters. */
#define SLOW_CHUNK_MS 250
/* A map change looks no further ahead than this; there are far fewer slots anyway. */
#define LOOKAHEAD_MAX 16384
/* How long the answer waits for the program to take the last chunk. */
#define LAST_BARRIER_MS 300

static void text_next(struct typist *typist);

static void refuse(struct typist_op *op, size_t position, const char *what)
{
	op->result.status = TYPIST_BAD_TEXT;
	op->result.position = position;
	snprintf(op->result.message, sizeof(op->result.message),
		"character %zu (counted from 0) is %s, which cannot be typed; nothing was typed",
		position, what);
}

void typist_text_parse(struct typist_op *op, const char *text, size_t len)
{
	op->chars = xcalloc(len + 1, sizeof(op->chars[0]));
	size_t at = 0;
	while (at < len) {
		uint32_t code_point;
		size_t size = utf8_decode(text + at, len - at, &code_point);
		if (size == 0) {
			refuse(op, op->count, "no valid UTF-8");
			return;
		}
		if (code_point == '\r' && at + 1 < len && text[at + 1] == '\n')
			size++;
		if (keysym_from_char(code_point) == 0) {
			char name[16];
			snprintf(name, sizeof(name), "U+%04X", code_point);
			refuse(op, op->count, name);
			return;
		}
		op->chars[op->count++] = code_point == '\r' ? '\n' : code_point;
		at += size;
	}
}

struct keymap_stroke typist_slot_stroke(
	const struct keymap_slot *slot, const struct keymap_state *state)
{
	/* Slots are of the type ALPHABETIC, whose second level is either of Shift and Caps Lock. */
	bool is_caps = (state->locked & LockMask) != 0;
	bool is_shift = (slot->level == 1) != is_caps;
	return (struct keymap_stroke){slot->keycode, is_shift ? ShiftMask : 0};
}

/* The key for a character, if the map as it is has one; marks its slot as used. */
static bool resolve(struct typist *typist, uint32_t code_point, struct keymap_stroke *out)
{
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	if (code_point < 0x20)
		return keymap_find_keysym(
			table, keysym_from_char(code_point), &typist->text_state, out);
	if (keymap_find_char(table, code_point, &typist->text_state, out))
		return true;
	const struct keymap_slot *slot =
		keymap_slots_use(keymap_get_slots(typist->keymap), keysym_from_char(code_point));
	if (slot == NULL)
		return false;
	*out = typist_slot_stroke(slot, &typist->text_state);
	return true;
}

/*
 * Claims slots for what comes, as far as they reach, and sets planned_end there. The slots may be
 * dirty afterwards.
 */
static void plan(struct typist *typist, struct typist_op *op)
{
	struct keymap_slots *slots = keymap_get_slots(typist->keymap);
	keymap_slots_begin_batch(slots);
	size_t end = op->position;
	size_t limit = op->count - end > LOOKAHEAD_MAX ? end + LOOKAHEAD_MAX : op->count;
	for (; end < limit; end++) {
		struct keymap_stroke stroke;
		uint32_t code_point = op->chars[end];
		if (paste_is_needed(code_point))
			break;
		if (!resolve(typist, code_point, &stroke) &&
			keymap_slots_claim(slots, keysym_from_char(code_point)) == NULL)
			break;
	}
	op->planned_end = end;
}

static void hold_mods(struct typist *typist, uint8_t mods)
{
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	uint8_t change = typist->text_mods ^ mods;
	if (change & ShiftMask)
		injector_assist_key(
			typist->injector, table->shift_keycode, (mods & ShiftMask) != 0);
	if (change & table->level3_mask)
		injector_assist_key(
			typist->injector, table->level3_keycode, (mods & table->level3_mask) != 0);
	typist->text_mods = mods;
}

/* How many characters may be on their way. */
static size_t chunk_max(const struct typist_op *op)
{
	int delay_ms = op->text_options.delay_ms;
	if (delay_ms <= 0)
		return CHUNK_MAX;
	return delay_ms < SLOW_CHUNK_MS ? (size_t)(SLOW_CHUNK_MS / delay_ms) : 1;
}

static void type_chunk(struct typist *typist, struct typist_op *op)
{
	size_t limit = op->text_options.delay_ms > 0 ? 1 : CHUNK_MAX;
	size_t sent = 0;
	if (op->sent_since_barrier == 0)
		op->map_changes_seen = keymap_foreign_changes(typist->keymap);
	while (op->position < op->planned_end && sent < limit) {
		struct keymap_stroke stroke;
		if (!resolve(typist, op->chars[op->position], &stroke)) {
			op->planned_end = op->position; /* somebody changed the map */
			break;
		}
		hold_mods(typist, stroke.mods);
		modifier_lift_free_key(&typist->lift, typist->injector, stroke.keycode);
		injector_tap(typist->injector, stroke.keycode);
		op->position++;
		sent++;
	}
	hold_mods(typist, 0);
	XFlush(typist->conn->dpy);
	op->result.typed = op->position;
	op->sent_since_barrier += sent;
	if (sent > 0)
		op->map_changes_left = 8;
	if (keymap_is_borrowing(typist->keymap))
		typist_note_slot_use(typist);
}

/*
 * Whether the keys since the last barrier were taken with the meaning that they were pressed for;
 * else the request has been ended. A program looks a key up when it comes to it.
 */
static bool check_map(struct typist *typist)
{
	struct typist_op *op = typist->running;
	if (!keymap_refresh(typist->keymap)) {
		typist_finish_op(typist, TYPIST_FAILED, "the display has gone");
		return false;
	}
	if (op->sent_since_barrier == 0 ||
		keymap_foreign_changes(typist->keymap) == op->map_changes_seen)
		return true;
	typist_finish_op(typist, TYPIST_FAILED,
		"somebody else changed the keymap while keys were on their way: the last %zu of "
		"the %zu characters that were sent may be wrong",
		op->sent_since_barrier, op->result.typed);
	return false;
}

/*
 * Whether the keys still go where the text began, or where the program or a person has moved the
 * focus since; not where it fell because the window under it died. Else the request has been ended.
 */
static bool check_focus(struct typist *typist)
{
	struct typist_op *op = typist->running;
	Window focus = barrier_focus_window(typist->conn);
	if (op->focus != None && focus != op->focus &&
		!selection_is_same_client(op->focus, focus) &&
		!window_exists(typist->conn, op->focus)) {
		typist_finish_op(typist, TYPIST_FAILED,
			"the window under the focus has gone; %zu characters were sent",
			op->result.typed);
		return false;
	}
	op->focus = focus;
	return true;
}

static void text_finish(struct typist *typist)
{
	if (check_map(typist))
		typist_finish_op(typist, TYPIST_OK, "%s", "");
}

static void after_barrier(struct typist *typist)
{
	if (!check_map(typist))
		return;
	typist->running->sent_since_barrier = 0;
	typist->running->needs_barrier = false;
	text_next(typist);
}

static void after_paste(struct typist *typist, size_t count)
{
	struct typist_op *op = typist->running;
	op->position += count;
	op->result.typed = op->position;
	op->result.pasted += count;
	text_next(typist);
}

static void paste_some(struct typist *typist, struct typist_op *op)
{
	size_t count = 1;
	while (op->position + count < op->count &&
		(op->text_options.via_paste || paste_is_needed(op->chars[op->position + count])))
		count++;
	paster_paste(typist->paster, op->chars + op->position, count, after_paste);
}

static bool refresh(struct typist *typist)
{
	if (!typist_may_act(typist) || !check_map(typist))
		return false;
	struct keymap_state state;
	if (!keymap_read_state(typist->keymap, &state)) {
		typist_finish_op(typist, TYPIST_FAILED, "the display has gone");
		return false;
	}
	if (modifier_lift_again(
		    &typist->lift, typist->conn, typist->injector, typist->keymap, &state))
		typist->running->needs_barrier = true;
	typist->text_state = (struct keymap_state){
		.locked = state.locked & keymap_get_table(typist->keymap)->num_mask,
		.group = state.group};
	return check_focus(typist); /* last: the shorter before the keys, the fewer windows die in between */
}

static void text_next(struct typist *typist)
{
	struct typist_op *op = typist->running;
	if (op->position == op->count) {
		typist_after_soft_barrier(typist, LAST_BARRIER_MS, text_finish);
		return;
	}
	if (!refresh(typist))
		return;
	if (op->text_options.via_paste || paste_is_needed(op->chars[op->position])) {
		if (op->sent_since_barrier > 0 || op->needs_barrier)
			typist_after_barrier(typist, after_barrier);
		else
			paste_some(typist, op);
		return;
	}
	if (op->position >= op->planned_end)
		plan(typist, op);
	if (keymap_get_slots(typist->keymap)->is_any_dirty) {
		op->needs_barrier = true;
		op->planned_end = op->position; /* plan anew over what was written */
		typist_change_map(typist, after_barrier);
	} else if (op->planned_end == op->position) {
		typist_finish_op(typist, TYPIST_FAILED,
			"no keycode is free to type U+%04X with; %zu characters were typed",
			op->chars[op->position], op->position);
	} else if (op->needs_barrier || op->sent_since_barrier >= chunk_max(op)) {
		typist_after_barrier(typist, after_barrier);
	} else {
		type_chunk(typist, op);
		if (op->text_options.delay_ms > 0)
			typist_after_ms(typist, op->text_options.delay_ms, text_next);
		else
			text_next(typist);
	}
}

void typist_text_start(struct typist *typist)
{
	typist->running->needs_barrier =
		modifier_lift_begin(&typist->lift, typist->conn, typist->injector, typist->keymap);
	typist->text_mods = 0;
	typist->running->focus = barrier_focus_window(typist->conn);
	text_next(typist);
}

void typist_text_abandon(struct typist *typist)
{
	paster_abandon(typist->paster);
	hold_mods(typist, 0);
	modifier_lift_end(&typist->lift, typist->conn, typist->injector, typist->keymap);
	if (!typist->conn->is_broken)
		XFlush(typist->conn->dpy);
}
