/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chords and single keysyms. The rules for what a keysym means beside held modifiers are those that
 * viewers need: the keysym decides the text, shortcuts keep their keys.
 */
#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <string.h>
#include <xkbcommon/xkbcommon.h>

#include "display/typist_private.h"
#include "display/xconn.h"
#define LOG_MODULE "typist"
#include "base/log.h"

enum resolution {
	RESOLVED,
	RESOLVED_MODIFIER, /* a modifier or lock key: Shift and AltGr stay as they are */
	NEEDS_SLOT,
	NO_KEY,
};

static bool is_lock_key(uint32_t keysym)
{
	return keysym == XK_Caps_Lock || keysym == XK_Num_Lock || keysym == XK_Shift_Lock ||
	       keysym == XK_Scroll_Lock || keysym == XK_ISO_Level3_Lock;
}

static bool is_dead_key(uint32_t keysym)
{
	return keysym >= XK_dead_grave && keysym <= XK_dead_greek;
}

/* 0x01000000 + Latin-1 is the plain keysym, control characters are their keys. */
static uint32_t canonical(uint32_t keysym)
{
	if (keysym >= 0x01000000 && keysym < 0x01000100)
		return keysym_from_char(keysym & 0xff);
	return keysym;
}

static bool is_shortcut_state(const struct typist *typist, uint8_t held)
{
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	return (held & (ControlMask | table->alt_mask | table->super_mask)) != 0;
}

/*
 * Tab and ISO_Left_Tab stand on one key, and are no two characters: nobody who holds Shift means a
 * plain Tab. Viewers on X say ISO_Left_Tab then, those of other systems Tab; Shift stays for both.
 */
static bool keeps_shift(const struct typist *typist, uint32_t keysym, uint8_t held)
{
	return keysym == XK_Tab || is_shortcut_state(typist, held);
}

static enum resolution resolve(struct typist *typist, uint32_t keysym,
	const struct keymap_state *state, bool is_shortcut, struct keymap_stroke *out)
{
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	if (keysym_is_modifier(keysym) || is_lock_key(keysym)) {
		*out = (struct keymap_stroke){keymap_find_modifier(table, keysym), 0};
		return out->keycode != 0 ? RESOLVED_MODIFIER : NO_KEY;
	}
	uint32_t code_point = keysym_to_char(keysym);
	if ((is_shortcut && keymap_find_shortcut(table, keysym, state, out)) ||
		keymap_find_keysym(table, keysym, state, out) ||
		keymap_find_char(table, code_point, state, out))
		return RESOLVED;
	if (code_point != 0)
		keysym = keysym_from_char(code_point);
	else if (!is_dead_key(keysym))
		return NO_KEY;
	struct keymap_slots *slots = keymap_get_slots(typist->keymap);
	const struct keymap_slot *slot =
		slots->is_any_dirty ? NULL : keymap_slots_use(slots, keysym);
	if (slot == NULL)
		return NEEDS_SLOT;
	*out = typist_slot_stroke(slot, state);
	return RESOLVED;
}

static bool claim(struct typist *typist, uint32_t keysym)
{
	uint32_t code_point = keysym_to_char(keysym);
	return keymap_slots_claim(keymap_get_slots(typist->keymap),
		       code_point != 0 ? keysym_from_char(code_point) : keysym) != NULL;
}

/* Shift and AltGr as a stroke needs them */

static void lift_extra(struct typist *typist, uint8_t extra, struct arrangement *out)
{
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	uint8_t down[32];
	XQueryKeymap(typist->conn->dpy, (char *)down);
	for (int code = 8; code < 256; code++) {
		if ((down[code / 8] & 1 << (code % 8)) == 0 ||
			(keymap_key_mods(table, (uint8_t)code) & extra) == 0 ||
			out->lifted_count == MODIFIER_LIFT_KEYS)
			continue;
		injector_lift(typist->injector, (uint8_t)code);
		out->lifted[out->lifted_count++] = (uint8_t)code;
	}
}

static void arrange(struct typist *typist, uint8_t wanted, uint8_t held, struct arrangement *out)
{
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	uint8_t movable = ShiftMask | table->level3_mask;
	memset(out, 0, sizeof(*out));
	if (held & movable & ~wanted)
		lift_extra(typist, held & movable & (uint8_t)~wanted, out);
	uint8_t missing = wanted & (uint8_t)~held;
	if (missing & ShiftMask)
		out->pressed[out->pressed_count++] = table->shift_keycode;
	if (missing & table->level3_mask)
		out->pressed[out->pressed_count++] = table->level3_keycode;
	for (int i = 0; i < out->pressed_count; i++)
		injector_assist_key(typist->injector, out->pressed[i], true);
}

static void rearrange_back(struct typist *typist, struct arrangement *arrangement)
{
	while (arrangement->pressed_count > 0)
		injector_assist_key(typist->injector,
			arrangement->pressed[--arrangement->pressed_count], false);
	while (arrangement->lifted_count > 0)
		injector_put_back(
			typist->injector, arrangement->lifted[--arrangement->lifted_count]);
}

/* What a source holds */

static int find_record(const struct typist *typist, uint8_t source, uint32_t keysym)
{
	for (int i = 0; i < typist->held_count; i++) {
		if (typist->held[i].source == source && typist->held[i].keysym == keysym)
			return i;
	}
	return -1;
}

static void remove_record(struct typist *typist, int index)
{
	uint8_t keycode = typist->held[index].keycode;
	typist->held_count--;
	memmove(&typist->held[index], &typist->held[index + 1],
		(size_t)(typist->held_count - index) * sizeof(typist->held[0]));
	for (int i = 0; i < typist->held_count; i++) {
		if (typist->held[i].keycode == keycode)
			return;
	}
	keymap_slots_pin(keymap_get_slots(typist->keymap), keycode, false);
}

/* Viewers repeat by themselves; the server does it for the agent's held keys. */
static void update_auto_repeat(struct typist *typist)
{
	bool is_viewer_holding = false;
	for (int i = 0; i < typist->held_count; i++) {
		if (typist->held[i].source != INPUT_SOURCE_AGENT &&
			!keysym_is_modifier(typist->held[i].keysym))
			is_viewer_holding = true;
	}
	injector_allow_auto_repeat(typist->injector, !is_viewer_holding);
}

static void release_record(struct typist *typist, int index)
{
	struct held_keysym held = typist->held[index];
	remove_record(typist, index);
	injector_key(typist->injector, held.source, held.keycode, false);
}

void typist_forget_source(struct typist *typist, uint8_t source)
{
	for (int i = typist->held_count - 1; i >= 0; i--) {
		if (typist->held[i].source == source)
			release_record(typist, i);
	}
	if (!typist->conn->is_broken)
		update_auto_repeat(typist);
}

/*
 * The press a release belongs to: the same keysym, or one that another stand of the modifiers makes
 * of the same key ("A" down, Shift up, "a" up).
 */
static int find_record_for_release(const struct typist *typist, uint8_t source, uint32_t keysym)
{
	int index = find_record(typist, source, keysym);
	if (index >= 0)
		return index;
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	for (int i = 0; i < typist->held_count; i++) {
		if (typist->held[i].source != source)
			continue;
		if (xkb_keysym_to_lower(typist->held[i].keysym) == xkb_keysym_to_lower(keysym))
			return i;
		const struct keymap_key *key = &table->keys[typist->held[i].keycode];
		for (int group = 0; group < key->group_count; group++) {
			for (int level = 0; level < key->level_count[group]; level++) {
				if (key->keysyms[group][level] == keysym)
					return i;
			}
		}
	}
	return -1;
}

/* Keysym requests */

static void press(struct typist *typist, const struct typist_op *op, uint32_t keysym,
	const struct keymap_stroke *stroke, const struct keymap_state *state, bool is_modifier)
{
	if (typist->held_count == HELD_KEYSYMS_MAX)
		return;
	struct injector *injector = typist->injector;
	uint8_t source = op->ticket.source;
	struct arrangement arrangement = {0};
	if (!is_modifier) {
		/* Down already under another keysym or by somebody else: it must go up to be
		   typed. */
		for (int i = typist->held_count - 1; i >= 0; i--) {
			if (typist->held[i].keycode == stroke->keycode)
				remove_record(typist, i);
		}
		if (injector_is_key_held(injector, stroke->keycode))
			injector_force_up(injector, stroke->keycode);
		arrange(typist, stroke->mods, state->held, &arrangement);
	}
	typist->held[typist->held_count++] = (struct held_keysym){source, stroke->keycode, keysym};
	keymap_slots_pin(keymap_get_slots(typist->keymap), stroke->keycode, true);
	update_auto_repeat(typist);
	injector_key(injector, source, stroke->keycode, true);
	rearrange_back(typist, &arrangement);
}

/* Claims for this keysym and those that wait behind it, so that a burst needs few map changes. */
static bool claim_ahead(struct typist *typist, uint32_t keysym, const struct keymap_state *state)
{
	keymap_slots_begin_batch(keymap_get_slots(typist->keymap));
	if (!claim(typist, keysym))
		return false;
	const struct typist_op *op;
	list_for_each (op, &typist->queue, link) {
		struct keymap_stroke stroke;
		if (op->kind != TYPIST_KEYSYM)
			break;
		if (!op->is_down)
			continue;
		uint32_t next = canonical(op->keysym);
		if (resolve(typist, next, state, false, &stroke) == NEEDS_SLOT &&
			!claim(typist, next))
			break;
	}
	return true;
}

static void keysym_finish(struct typist *typist)
{
	if (!typist->conn->is_broken)
		XFlush(typist->conn->dpy);
	typist_finish_op(typist, TYPIST_OK, "%s", "");
}

/* Keys whose meaning is ours, or that mean nothing, do not count. */
static bool has_own_meaning(const struct typist *typist, uint8_t keycode)
{
	return keycode != 0 && !keymap_key_is_empty(keymap_get_table(typist->keymap), keycode);
}

static void keycode_down(struct typist *typist)
{
	struct typist_op *op = typist->running;
	uint32_t name = KEYCODE_RECORD | op->keycode;
	const struct keymap_key *key = &keymap_get_table(typist->keymap)->keys[op->keycode];
	bool is_repeat = find_record(typist, op->ticket.source, name) >= 0;
	bool is_plain = key->modmap == 0 && key->sets_mods == 0;
	struct keymap_stroke stroke = {op->keycode, 0};
	if (is_repeat && is_plain)
		injector_repeat_key(typist->injector, op->ticket.source, op->keycode);
	else if (!is_repeat)
		press(typist, op, name, &stroke, NULL, true);
	keysym_finish(typist);
}

static void keycode_up(struct typist *typist, int index)
{
	release_record(typist, index);
	update_auto_repeat(typist);
	keysym_finish(typist);
}

static void keysym_down(struct typist *typist)
{
	struct typist_op *op = typist->running;
	uint8_t source = op->ticket.source;
	uint32_t keysym = canonical(op->keysym);
	struct keymap_state state;
	struct keymap_stroke stroke;
	if (!typist_may_act(typist))
		return;
	int index = find_record(typist, source, keysym);
	if (!keymap_refresh(typist->keymap) || !keymap_read_state(typist->keymap, &state)) {
		typist_finish_op(typist, TYPIST_FAILED, "the display has gone");
		return;
	}
	enum resolution resolution =
		resolve(typist, keysym, &state, keeps_shift(typist, keysym, state.held), &stroke);
	if (resolution == NEEDS_SLOT) {
		if (claim_ahead(typist, keysym, &state)) {
			typist_change_map(typist, keysym_down);
			return;
		}
		log_warn("a viewer's key was dropped: every borrowed keycode is held down");
	}
	bool is_modifier = resolution == RESOLVED_MODIFIER;
	if (resolution == RESOLVED || is_modifier) {
		if (index < 0 || !is_modifier)
			press(typist, op, keysym, &stroke, &state, is_modifier);
		if (keymap_is_borrowing(typist->keymap))
			typist_note_slot_use(typist);
	}
	if (resolution == NO_KEY && source == INPUT_SOURCE_AGENT) {
		typist_finish_op(
			typist, TYPIST_NO_KEY, "no key of this keyboard gives keysym 0x%x", keysym);
		return;
	}
	keysym_finish(typist);
}

void typist_keysym_start(struct typist *typist)
{
	struct typist_op *op = typist->running;
	uint8_t source = op->ticket.source;
	uint32_t keysym = canonical(op->keysym);
	int by_keycode = find_record(typist, source, KEYCODE_RECORD | op->keycode);
	if (op->is_down && has_own_meaning(typist, op->keycode)) {
		keycode_down(typist);
		return;
	}
	if (!op->is_down && op->keycode != 0 && by_keycode >= 0) {
		keycode_up(typist, by_keycode);
		return;
	}
	if (keysym == 0 || (is_lock_key(keysym) && source != INPUT_SOURCE_AGENT &&
				   !typist->passes_locks[source])) {
		keysym_finish(typist);
	} else if (op->is_down) {
		keysym_down(typist);
	} else {
		int index = find_record_for_release(typist, source, keysym);
		if (index >= 0)
			release_record(typist, index);
		update_auto_repeat(typist);
		keysym_finish(typist);
	}
}

/* Chords */

static void chord_press(struct typist *typist);

static void chord_let_go(struct typist *typist)
{
	uint8_t source = typist->running->ticket.source;
	bool is_arranged = typist->chord_arrangement.pressed_count > 0 ||
			   typist->chord_arrangement.lifted_count > 0;
	while (typist->chord_count > 0) {
		uint8_t code = typist->chord_codes[--typist->chord_count];
		injector_key(typist->injector, source, code, false);
		if (is_arranged) /* right after the last key, the one that needed it */
			rearrange_back(typist, &typist->chord_arrangement);
		is_arranged = false;
	}
	rearrange_back(typist, &typist->chord_arrangement);
}

static void chord_next(struct typist *typist)
{
	struct typist_op *op = typist->running;
	chord_let_go(typist);
	XFlush(typist->conn->dpy);
	if (--op->presses_left == 0)
		typist_finish_op(typist, TYPIST_OK, "%s", "");
	else
		typist_after_ms(typist, op->key_options.delay_ms, chord_press);
}

static bool is_plain_shortcut(
	const struct typist *typist, const struct typist_op *op, uint32_t keysym, uint8_t held)
{
	if (op->key_options.shift_capitals && xkb_keysym_to_lower(keysym) != keysym)
		return false;
	/* Who says "shift+a" means the keys; who says "A" means the character. */
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	return (held & (ShiftMask | table->level3_mask)) != 0 || is_shortcut_state(typist, held);
}

/* The modifiers that the chord itself will hold by its last key. */
static uint8_t chord_mods(const struct typist *typist, const struct typist_op *op)
{
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	uint8_t mods = 0;
	for (int i = 0; i < op->chord.count; i++) {
		uint32_t keysym = op->chord.keysyms[i];
		if (keysym_is_modifier(keysym))
			mods |= keymap_key_mods(table, keymap_find_modifier(table, keysym));
	}
	return mods;
}

/*
 * Whether every keysym has a key, before any is pressed. Claims slots for those that need one; ends
 * the request when there is no way.
 */
static bool chord_check(struct typist *typist, struct keymap_state state)
{
	struct typist_op *op = typist->running;
	state.held |= chord_mods(typist, op);
	keymap_slots_begin_batch(keymap_get_slots(typist->keymap));
	for (int i = 0; i < op->chord.count; i++) {
		struct keymap_stroke stroke;
		uint32_t keysym = canonical(op->chord.keysyms[i]);
		bool is_shortcut = is_plain_shortcut(typist, op, keysym, state.held);
		enum resolution found = resolve(typist, keysym, &state, is_shortcut, &stroke);
		if (found == NO_KEY || (found == NEEDS_SLOT && !claim(typist, keysym))) {
			char name[64] = "";
			xkb_keysym_get_name(keysym, name, sizeof(name));
			typist_finish_op(typist, TYPIST_NO_KEY,
				"no key of this keyboard gives \"%s\"; nothing was pressed", name);
			return false;
		}
	}
	return true;
}

static void chord_down(struct typist *typist, uint32_t keysym)
{
	struct typist_op *op = typist->running;
	struct keymap_state state;
	struct keymap_stroke stroke;
	if (!keymap_read_state(typist->keymap, &state))
		return;
	bool is_shortcut = is_plain_shortcut(typist, op, keysym, state.held);
	enum resolution resolution = resolve(typist, keysym, &state, is_shortcut, &stroke);
	if (resolution != RESOLVED && resolution != RESOLVED_MODIFIER)
		return; /* somebody changed the map since the check */
	if (resolution == RESOLVED) {
		rearrange_back(typist, &typist->chord_arrangement);
		if (keymap_read_state(typist->keymap, &state))
			arrange(typist, stroke.mods, state.held, &typist->chord_arrangement);
		if (injector_is_key_held(typist->injector, stroke.keycode))
			injector_force_up(typist->injector, stroke.keycode);
	}
	injector_key(typist->injector, op->ticket.source, stroke.keycode, true);
	typist->chord_codes[typist->chord_count++] = stroke.keycode;
}

static void chord_press(struct typist *typist)
{
	struct typist_op *op = typist->running;
	struct keymap_state state;
	if (!typist_may_act(typist))
		return;
	if (!keymap_refresh(typist->keymap) || !keymap_read_state(typist->keymap, &state)) {
		typist_finish_op(typist, TYPIST_FAILED, "the display has gone");
		return;
	}
	if (!chord_check(typist, state))
		return;
	if (keymap_get_slots(typist->keymap)->is_any_dirty) {
		typist_change_map(typist, chord_press);
		return;
	}
	for (int i = 0; i < op->chord.count; i++)
		chord_down(typist, canonical(op->chord.keysyms[i]));
	XFlush(typist->conn->dpy);
	if (keymap_is_borrowing(typist->keymap))
		typist_note_slot_use(typist);
	if (op->key_options.hold_ms > 0)
		typist_after_ms(typist, op->key_options.hold_ms, chord_next);
	else
		chord_next(typist);
}

void typist_chord_start(struct typist *typist)
{
	bool is_changed = false;
	if (typist->running->key_options.clear_modifiers)
		is_changed = modifier_lift_begin(
			&typist->lift, typist->conn, typist->injector, typist->keymap);
	if (is_changed)
		typist_after_soft_barrier(typist, typist->config.stuck_ms, chord_press);
	else
		chord_press(typist);
}

void typist_chord_abandon(struct typist *typist)
{
	chord_let_go(typist);
	modifier_lift_end(&typist->lift, typist->conn, typist->injector, typist->keymap);
	if (!typist->conn->is_broken)
		XFlush(typist->conn->dpy);
}
