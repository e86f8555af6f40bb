/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the server's keymap says, as plain data, and the questions put to it: which key, with which
 * modifiers, gives this keysym or character in this group. Pure, any thread; display/keymap.h fills
 * it from the server.
 *
 * Modifier masks are the eight real ones of X (ShiftMask …). Effects of locks are reckoned in, so
 * that KP_7 is found with Shift when Num Lock is off and without when it is on, and "a" with Shift
 * when Caps Lock is on.
 */
#ifndef DISPLAY_KEYMAP_TABLE_H
#define DISPLAY_KEYMAP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define KEYMAP_GROUPS 4
#define KEYMAP_LEVELS 8

struct keymap_type {
	uint8_t mods;          /* what the type looks at at all */
	uint8_t level_of[256]; /* by real modifier mask */
};

struct keymap_key {
	uint8_t group_count; /* 0: the key has no meaning */
	uint8_t group_info;  /* how groups out of range are brought back (XkbOutOfRangeGroupInfo) */
	uint8_t level_count[KEYMAP_GROUPS];
	uint8_t type[KEYMAP_GROUPS];
	uint8_t modmap;    /* modifiers the key is bound to */
	uint8_t sets_mods; /* modifiers its action sets while it is held (AltGr may have no modmap)
			    */
	bool has_behavior;
	uint32_t acts; /* bit group * KEYMAP_LEVELS + level: an action hangs there */
	uint32_t keysyms[KEYMAP_GROUPS][KEYMAP_LEVELS];
	uint32_t chars[KEYMAP_GROUPS][KEYMAP_LEVELS]; /* keysym_to_char of each */
};

struct keymap_table {
	uint8_t min_keycode, max_keycode;
	struct keymap_key keys[256];
	struct keymap_type *types; /* owned */
	int type_count;
	/* Found by keymap_table_index; 0 where there is none. */
	uint8_t shift_keycode, level3_keycode;
	uint8_t level3_mask, num_mask, alt_mask, super_mask;
};

/* The modifiers and the group at the moment of a press. */
struct keymap_state {
	uint8_t held;   /* physically held or latched */
	uint8_t locked; /* Caps Lock, Num Lock */
	uint8_t group;  /* effective group, as the server tells it */
};

/* A key press that has been worked out: the key and how Shift and AltGr must stand. */
struct keymap_stroke {
	uint8_t keycode;
	uint8_t mods; /* the subset of (Shift | level 3) that must be down at the press */
};

void keymap_table_finish(struct keymap_table *table);

/* Fills the fields that follow from the keys: call it after filling keys and types. */
void keymap_table_index(struct keymap_table *table);

/* The group in which this key is looked up when `group` is in effect; -1 for a key without any. */
int keymap_key_group(const struct keymap_key *key, int group);

/*
 * The key for a keysym, or for a character (whatever keysym the layout spells it with), in the
 * group of `state`. Never one that is a modifier or does something besides (an action, a lock);
 * prefers the modifiers held now, then the least change of them, the keypad last. False when the
 * layout has none.
 */
bool keymap_find_keysym(const struct keymap_table *table, uint32_t keysym,
	const struct keymap_state *state, struct keymap_stroke *out);
bool keymap_find_char(const struct keymap_table *table, uint32_t code_point,
	const struct keymap_state *state, struct keymap_stroke *out);

/*
 * The key for a shortcut such as Ctrl+keysym: the one that has the keysym (in either case) in the
 * present group with the modifiers as held, or with Shift or AltGr added when only so; else in any
 * other group; else the key at the character's US place. Shift and AltGr that are held stay in
 * out->mods: nothing is lifted for a shortcut.
 */
bool keymap_find_shortcut(const struct keymap_table *table, uint32_t keysym,
	const struct keymap_state *state, struct keymap_stroke *out);

/* The key that is this modifier (Shift_R, Control_L, ISO_Level3_Shift, Num_Lock …), or 0. */
uint8_t keymap_find_modifier(const struct keymap_table *table, uint32_t keysym);

/* The modifiers a key sets while it is held. */
uint8_t keymap_key_mods(const struct keymap_table *table, uint8_t keycode);

/* Whether the keycode means nothing at all now: free to be given a meaning. */
bool keymap_key_is_empty(const struct keymap_table *table, uint8_t keycode);
/* Whether its meaning may be borrowed for a while: a media or launch key that no program acts on.
 */
bool keymap_key_is_harmless(const struct keymap_table *table, uint8_t keycode);

#endif
