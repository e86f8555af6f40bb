/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/modifier_lift.h"

#include <X11/XKBlib.h>
#include <X11/keysym.h>
#include <string.h>

#include "display/injector.h"
#include "display/keymap.h"
#include "display/xconn.h"

/*
 * A lone Alt or Super going up looks like a tap on the menu key (Firefox then gives its menu bar
 * the keys): a Control in between says that it was none.
 */
static void mask_menu_tap(struct injector *injector, const struct keymap *keymap)
{
	uint8_t control = keymap_find_modifier(keymap_get_table(keymap), XK_Control_L);
	if (control != 0 && !injector_is_key_held(injector, control))
		injector_tap(injector, control);
}

static void note_lifted(struct modifier_lift *lift, uint8_t keycode)
{
	for (int i = 0; i < lift->count; i++) {
		if (lift->keycodes[i] == keycode)
			return; /* pressed again since */
	}
	lift->keycodes[lift->count++] = keycode;
}

/* Returns whether there were any. */
static bool lift_keys(
	struct modifier_lift *lift, struct injector *injector, const struct keymap *keymap)
{
	const struct keymap_table *table = keymap_get_table(keymap);
	uint8_t menu_mods = table->alt_mask | table->super_mask;
	bool is_masked = false, is_any = false;
	for (int code = 8; code < 256; code++) {
		uint8_t mods = keymap_key_mods(table, (uint8_t)code) & (uint8_t)~table->num_mask;
		if ((lift->down[code / 8] & 1 << (code % 8)) == 0 || mods == 0 ||
			mods == LockMask || lift->count == MODIFIER_LIFT_KEYS)
			continue;
		if ((mods & menu_mods) != 0 && !is_masked) {
			mask_menu_tap(injector, keymap);
			is_masked = true;
		}
		lift->menu_mods |= mods & menu_mods;
		note_lifted(lift, (uint8_t)code);
		is_any = true;
		lift->down[code / 8] &= (uint8_t) ~(1 << (code % 8));
		injector_lift(injector, (uint8_t)code);
	}
	return is_any;
}

bool modifier_lift_begin(struct modifier_lift *lift, struct xconn *conn, struct injector *injector,
	const struct keymap *keymap)
{
	struct keymap_state state;
	memset(lift, 0, sizeof(*lift));
	if (!keymap_read_state(keymap, &state))
		return false;
	lift->is_active = true;
	XQueryKeymap(conn->dpy, (char *)lift->down);
	if (conn->is_broken)
		return false;
	lift_keys(lift, injector, keymap);
	/* The server's first key through XTEST makes programs read the map anew, whereupon Qt 5
	   forgets the group (keymap_tell_group); so that key must be one before the text. */
	uint8_t shift = keymap_get_table(keymap)->shift_keycode;
	bool is_told = state.group != 0 && shift != 0 && lift->count == 0;
	if (is_told)
		injector_tap(injector, shift);
	if (state.held != 0 && lift->count == 0)
		XkbLatchModifiers(conn->dpy, XkbUseCoreKbd, 0xff, 0);
	lift->unlocked = state.locked & (uint8_t)~keymap_get_table(keymap)->num_mask;
	injector_unlock(injector, lift->unlocked);
	return lift->count > 0 || lift->unlocked != 0 || state.held != 0 || is_told;
}

bool modifier_lift_again(struct modifier_lift *lift, struct xconn *conn, struct injector *injector,
	const struct keymap *keymap, const struct keymap_state *state)
{
	uint8_t locks = state->locked & (uint8_t)~keymap_get_table(keymap)->num_mask;
	if (!lift->is_active || (state->held == 0 && locks == 0))
		return false;
	XQueryKeymap(conn->dpy, (char *)lift->down);
	if (conn->is_broken)
		return false;
	bool is_lifted = lift_keys(lift, injector, keymap);
	if (state->held != 0 && !is_lifted)
		XkbLatchModifiers(conn->dpy, XkbUseCoreKbd, 0xff, 0);
	injector_unlock(injector, locks);
	return is_lifted || locks != 0;
}

void modifier_lift_end(struct modifier_lift *lift, struct xconn *conn, struct injector *injector,
	const struct keymap *keymap)
{
	if (!lift->is_active || conn->is_broken)
		return;
	lift->is_active = false;
	for (int i = lift->count - 1; i >= 0; i--)
		injector_put_back(injector, lift->keycodes[i]);
	if (lift->menu_mods != 0)
		mask_menu_tap(injector, keymap);
	injector_lock_again(injector);
}

void modifier_lift_free_key(struct modifier_lift *lift, struct injector *injector, uint8_t keycode)
{
	uint8_t bit = (uint8_t)(1 << (keycode % 8));
	if ((lift->down[keycode / 8] & bit) == 0)
		return;
	lift->down[keycode / 8] &= (uint8_t)~bit;
	injector_force_up(injector, keycode);
}
