/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/keymap_table.h"

#include <X11/X.h>
#include <X11/XF86keysym.h>
#include <X11/extensions/XKB.h>
#include <X11/keysym.h>
#include <stdlib.h>
#include <string.h>
#include <xkbcommon/xkbcommon.h>

#include "base/alloc.h"
#include "display/keynames.h"

void keymap_table_finish(struct keymap_table *table)
{
	free(table->types);
	table->types = NULL;
	table->type_count = 0;
}

static void note_modifier(struct keymap_table *table, uint8_t code)
{
	const struct keymap_key *key = &table->keys[code];
	uint8_t mods = key->modmap | key->sets_mods;
	uint32_t keysym = key->keysyms[0][0];
	if (keysym == XK_Shift_L || (keysym == XK_Shift_R && table->shift_keycode == 0)) {
		table->shift_keycode = code;
	} else if (keysym == XK_ISO_Level3_Shift && mods != 0) {
		/* The key people know as AltGr rather than evdev's spare one, where there are both.
		 */
		if (table->level3_keycode == 0 || key->modmap == 0)
			table->level3_keycode = code;
		table->level3_mask |= mods;
	} else if (keysym == XK_Num_Lock) {
		table->num_mask |= key->modmap;
	} else if (keysym == XK_Alt_L || keysym == XK_Alt_R) {
		table->alt_mask |= key->modmap;
	} else if (keysym == XK_Super_L || keysym == XK_Super_R) {
		table->super_mask |= key->modmap;
	}
}

void keymap_table_index(struct keymap_table *table)
{
	table->shift_keycode = table->level3_keycode = 0;
	table->level3_mask = table->num_mask = table->alt_mask = table->super_mask = 0;
	for (int code = table->min_keycode; code <= table->max_keycode; code++) {
		struct keymap_key *key = &table->keys[code];
		for (int group = 0; group < key->group_count; group++) {
			for (int level = 0; level < key->level_count[group]; level++)
				key->chars[group][level] =
					keysym_to_char(key->keysyms[group][level]);
		}
		if (key->group_count > 0)
			note_modifier(table, (uint8_t)code);
	}
	table->level3_mask &= (uint8_t) ~(ShiftMask | LockMask | ControlMask);
}

int keymap_key_group(const struct keymap_key *key, int group)
{
	int count = key->group_count;
	if (count == 0)
		return -1;
	if (group >= 0 && group < count)
		return group;
	switch (key->group_info & 0xc0) {
	case XkbClampIntoRange:
		return group < 0 ? 0 : count - 1;
	case XkbRedirectIntoRange: {
		int redirect = (key->group_info & 0x30) >> 4;
		return redirect < count ? redirect : 0;
	}
	default:
		return ((group % count) + count) % count;
	}
}

struct query {
	const struct keymap_table *table;
	const struct keymap_state *state;
	uint32_t keysym;     /* matched when not 0 */
	uint32_t code_point; /* matched when not 0 */
	uint32_t other_case; /* also matched when not 0 */
};

static bool level_matches(
	const struct query *query, const struct keymap_key *key, int group, int level)
{
	uint32_t keysym = key->keysyms[group][level];
	if (keysym == 0 || key->acts >> (group * KEYMAP_LEVELS + level) & 1)
		return false;
	if (query->keysym != 0 && keysym == query->keysym)
		return true;
	if (query->other_case != 0 && keysym == query->other_case)
		return true;
	return query->code_point != 0 && key->chars[group][level] == query->code_point;
}

static int bits(unsigned mask)
{
	return __builtin_popcount(mask);
}

/*
 * Tries the four stands of Shift and AltGr on one key. Returns the cost of the cheapest that gives
 * what is asked for, or -1; the cost orders by change of modifiers, then keypad.
 */
static int try_key(const struct query *query, int code, struct keymap_stroke *out)
{
	const struct keymap_table *table = query->table;
	const struct keymap_key *key = &table->keys[code];
	int group = keymap_key_group(key, query->state->group);
	if (group < 0 || key->modmap != 0 || key->sets_mods != 0 || key->has_behavior)
		return -1;
	const struct keymap_type *type = &table->types[key->type[group]];
	uint8_t movable = ShiftMask | table->level3_mask;
	uint8_t held = query->state->held;
	uint8_t fixed = (uint8_t)((held & ~movable) | query->state->locked);
	const uint8_t stands[] = {0, ShiftMask, table->level3_mask, movable};
	int best = -1;
	for (int i = 0; i < 4; i++) {
		uint8_t mods = stands[i];
		if (((mods & ShiftMask) != 0 && table->shift_keycode == 0) ||
			(i >= 2 && table->level3_keycode == 0))
			continue;
		int level = type->level_of[(uint8_t)(fixed | mods)];
		if (level >= key->level_count[group] || !level_matches(query, key, group, level))
			continue;
		int cost = bits((mods ^ held) & movable) * 4 + bits(mods);
		if (keysym_is_keypad(key->keysyms[group][0]))
			cost += 64;
		if (best < 0 || cost < best) {
			best = cost;
			*out = (struct keymap_stroke){(uint8_t)code, mods};
		}
	}
	return best;
}

static bool find(const struct query *query, struct keymap_stroke *out)
{
	int best = -1;
	for (int code = query->table->min_keycode; code <= query->table->max_keycode; code++) {
		struct keymap_stroke stroke;
		int cost = try_key(query, code, &stroke);
		if (cost >= 0 && (best < 0 || cost < best)) {
			best = cost;
			*out = stroke;
		}
	}
	return best >= 0;
}

bool keymap_find_keysym(const struct keymap_table *table, uint32_t keysym,
	const struct keymap_state *state, struct keymap_stroke *out)
{
	struct query query = {.table = table, .state = state, .keysym = keysym};
	return keysym != 0 && find(&query, out);
}

bool keymap_find_char(const struct keymap_table *table, uint32_t code_point,
	const struct keymap_state *state, struct keymap_stroke *out)
{
	struct query query = {.table = table, .state = state, .code_point = code_point};
	return code_point != 0 && find(&query, out);
}

static const char us_rows[4][2][16] = {
	{"`1234567890-=", "~!@#$%^&*()_+"},
	{"qwertyuiop[]", "QWERTYUIOP{}"},
	{"asdfghjkl;'", "ASDFGHJKL:\""},
	{"zxcvbnm,./", "ZXCVBNM<>?"},
};

/* The evdev keycode at a character's place on a US keyboard, 0 when it has none. */
static uint8_t us_place(uint32_t code_point)
{
	static const uint8_t first[] = {9, 24, 38, 52}; /* the first row begins with grave */
	if (code_point == '\\' || code_point == '|')
		return 51;
	if (code_point == ' ')
		return 65;
	if (code_point == '`' || code_point == '~')
		return 49;
	if (code_point <= ' ' || code_point >= 0x7f)
		return 0;
	for (int row = 0; row < 4; row++) {
		for (int shift = 0; shift < 2; shift++) {
			const char *at = strchr(us_rows[row][shift], (int)code_point);
			if (at != NULL)
				return (uint8_t)(first[row] + (at - us_rows[row][shift]));
		}
	}
	return 0;
}

/* As if nothing but Shift and AltGr were held (Ctrl+Alt+F1 is another level), then in any group. */
static bool find_elsewhere(const struct query *query, struct keymap_stroke *out)
{
	uint8_t movable = ShiftMask | query->table->level3_mask;
	for (int group = -1; group < KEYMAP_GROUPS; group++) {
		struct keymap_state state = *query->state;
		state.held &= movable;
		if (group >= 0)
			state.group = (uint8_t)group;
		struct query elsewhere = *query;
		elsewhere.state = &state;
		if (find(&elsewhere, out)) {
			out->mods = query->state->held & movable;
			return true;
		}
	}
	return false;
}

bool keymap_find_shortcut(const struct keymap_table *table, uint32_t keysym,
	const struct keymap_state *state, struct keymap_stroke *out)
{
	uint32_t upper = xkb_keysym_to_upper(keysym), lower = xkb_keysym_to_lower(keysym);
	struct query query = {.table = table, .state = state, .keysym = keysym};
	query.other_case = upper != lower ? (keysym == upper ? lower : upper) : 0;
	query.code_point = keysym_is_keypad(keysym) ? 0 : keysym_to_char(keysym);
	if (find(&query, out)) {
		/* Nothing is lifted for it: Shift+1 is that key with Shift, not another character.
		 */
		out->mods |= state->held & (ShiftMask | table->level3_mask);
		return true;
	}
	if (find_elsewhere(&query, out))
		return true;
	uint8_t place = us_place(keysym_to_char(keysym));
	if (place == 0 || keymap_key_is_empty(table, place) || table->keys[place].modmap != 0)
		return false;
	*out = (struct keymap_stroke){place, state->held & (ShiftMask | table->level3_mask)};
	return true;
}

static uint8_t find_first_level(const struct keymap_table *table, uint32_t keysym, bool want_mods)
{
	for (int code = table->min_keycode; code <= table->max_keycode; code++) {
		const struct keymap_key *key = &table->keys[code];
		if (want_mods && keymap_key_mods(table, (uint8_t)code) == 0)
			continue;
		for (int group = 0; group < key->group_count; group++) {
			if (key->level_count[group] > 0 && key->keysyms[group][0] == keysym)
				return (uint8_t)code;
		}
	}
	return 0;
}

/* Who stands in for a modifier that the layout does not have. */
static uint32_t stand_in(uint32_t keysym)
{
	switch (keysym) {
	case XK_Shift_R:
		return XK_Shift_L;
	case XK_Control_R:
		return XK_Control_L;
	case XK_Alt_R:
	case XK_Meta_L:
		return XK_Alt_L;
	case XK_Meta_R:
		return XK_Meta_L;
	case XK_Super_R:
	case XK_Hyper_L:
		return XK_Super_L;
	case XK_Hyper_R:
		return XK_Hyper_L;
	case XK_Mode_switch:
		return XK_ISO_Level3_Shift;
	default:
		return 0;
	}
}

uint8_t keymap_find_modifier(const struct keymap_table *table, uint32_t keysym)
{
	for (; keysym != 0; keysym = stand_in(keysym)) {
		if ((keysym == XK_ISO_Level3_Shift || keysym == XK_Mode_switch) &&
			table->level3_keycode != 0)
			return table->level3_keycode;
		uint8_t code = find_first_level(table, keysym, true);
		if (code == 0)
			code = find_first_level(table, keysym, false);
		if (code != 0)
			return code;
	}
	return 0;
}

uint8_t keymap_key_mods(const struct keymap_table *table, uint8_t keycode)
{
	return table->keys[keycode].modmap | table->keys[keycode].sets_mods;
}

bool keymap_key_is_empty(const struct keymap_table *table, uint8_t keycode)
{
	const struct keymap_key *key = &table->keys[keycode];
	if (key->modmap != 0 || key->acts != 0 || key->has_behavior)
		return false;
	for (int group = 0; group < key->group_count; group++) {
		for (int level = 0; level < key->level_count[group]; level++) {
			if (key->keysyms[group][level] != 0)
				return false;
		}
	}
	return true;
}

/*
 * Keys whose symbols nothing we know of acts on while they mean a letter. Left out on purpose:
 * those for which browsers look at the hardware code behind (copy, paste, cut, back, forward, home,
 * reload, search, mail, WWW, close, play and its like, volume, power, sleep, brightness of the
 * screen).
 */
static const uint32_t harmless[] = {
	XF86XK_LaunchA,
	XF86XK_LaunchB,
	XF86XK_Launch1,
	XF86XK_Launch2,
	XF86XK_Launch3,
	XF86XK_Launch4,
	XF86XK_Launch5,
	XF86XK_Launch6,
	XF86XK_Launch7,
	XF86XK_Launch8,
	XF86XK_Launch9,
	XF86XK_Open,
	XF86XK_MenuKB,
	XF86XK_Calculator,
	XF86XK_Explorer,
	XF86XK_Send,
	XF86XK_Xfer,
	XF86XK_DOS,
	XF86XK_ScreenSaver,
	XF86XK_RotateWindows,
	XF86XK_TaskPane,
	XF86XK_Favorites,
	XF86XK_MyComputer,
	XF86XK_Phone,
	XF86XK_Tools,
	XF86XK_ScrollUp,
	XF86XK_ScrollDown,
	XF86XK_New,
	XF86XK_TouchpadToggle,
	XF86XK_TouchpadOn,
	XF86XK_TouchpadOff,
	XF86XK_WebCam,
	XF86XK_AudioPreset,
	XF86XK_Messenger,
	XF86XK_Go,
	XF86XK_Finance,
	XF86XK_Game,
	XF86XK_Shop,
	XF86XK_Display,
	XF86XK_KbdLightOnOff,
	XF86XK_KbdBrightnessDown,
	XF86XK_KbdBrightnessUp,
	XF86XK_Reply,
	XF86XK_MailForward,
	XF86XK_Save,
	XF86XK_Documents,
	XF86XK_Battery,
	XF86XK_Bluetooth,
	XF86XK_WLAN,
	XF86XK_UWB,
	XF86XK_Next_VMode,
	XF86XK_Prev_VMode,
	XF86XK_WWAN,
	XF86XK_RFKill,
};

/* evdev's copy, paste, cut and reload: Chromium acts on the keycode, whatever it means. */
static const uint8_t never[] = {141, 143, 145, 181};

bool keymap_key_is_harmless(const struct keymap_table *table, uint8_t keycode)
{
	const struct keymap_key *key = &table->keys[keycode];
	if (memchr(never, keycode, sizeof(never)) != NULL || key->modmap != 0 || key->acts != 0 ||
		key->has_behavior || key->group_count != 1 || key->level_count[0] != 1)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++) {
		if (harmless[i] == key->keysyms[0][0])
			return true;
	}
	return false;
}
