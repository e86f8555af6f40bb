/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the pure part of the keymap: the search for keys and the planning of slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <X11/X.h>
#include <X11/XF86keysym.h>
#include <X11/keysym.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "display/keymap_slots.h"
#include "display/keymap_table.h"

enum { ONE_LEVEL, TWO_LEVEL, ALPHABETIC, KEYPAD, FOUR_LEVEL, TYPE_COUNT };

#define LEVEL3 Mod5Mask
#define NUM    Mod2Mask

static void add_type(struct keymap_type *type, int kind)
{
	for (unsigned mods = 0; mods < 256; mods++) {
		bool is_shift = (mods & ShiftMask) != 0, is_lock = (mods & LockMask) != 0;
		bool is_num = (mods & NUM) != 0;
		unsigned level = 0;
		if (kind == TWO_LEVEL)
			level = is_shift;
		else if (kind == ALPHABETIC)
			level = is_shift != is_lock;
		else if (kind == KEYPAD)
			level = is_shift != is_num;
		else if (kind == FOUR_LEVEL)
			level = is_shift + ((mods & LEVEL3) != 0 ? 2 : 0);
		type->level_of[mods] = (uint8_t)level;
	}
}

static struct keymap_key *add_key(
	struct keymap_table *table, int code, int type, uint32_t k0, uint32_t k1)
{
	struct keymap_key *key = &table->keys[code];
	key->group_count = 1;
	key->type[0] = (uint8_t)type;
	key->level_count[0] = type == ONE_LEVEL ? 1 : type == FOUR_LEVEL ? 4 : 2;
	key->keysyms[0][0] = k0;
	key->keysyms[0][1] = k1;
	return key;
}

/* A US keyboard in small, with the less/greater key, a keypad key and AltGr. */
static int set_up(void **state)
{
	struct keymap_table *table = xcalloc(1, sizeof(*table));
	table->min_keycode = 8;
	table->max_keycode = 255;
	table->type_count = TYPE_COUNT;
	table->types = xcalloc(TYPE_COUNT, sizeof(table->types[0]));
	for (int kind = 0; kind < TYPE_COUNT; kind++)
		add_type(&table->types[kind], kind);
	add_key(table, 38, ALPHABETIC, XK_a, XK_A);
	add_key(table, 54, ALPHABETIC, XK_c, XK_C);
	add_key(table, 21, TWO_LEVEL, XK_equal, XK_plus);
	add_key(table, 59, TWO_LEVEL, XK_comma, XK_less);
	add_key(table, 94, TWO_LEVEL, XK_less, XK_greater);
	add_key(table, 60, TWO_LEVEL, XK_period, XK_greater);
	struct keymap_key *q = add_key(table, 24, FOUR_LEVEL, XK_q, XK_Q);
	q->keysyms[0][2] = XK_at;
	q->keysyms[0][3] = XK_Greek_OMEGA;
	add_key(table, 79, KEYPAD, XK_KP_Home, XK_KP_7);
	add_key(table, 16, TWO_LEVEL, XK_7, XK_ampersand);
	add_key(table, 50, ONE_LEVEL, XK_Shift_L, 0)->modmap = ShiftMask;
	add_key(table, 37, ONE_LEVEL, XK_Control_L, 0)->modmap = ControlMask;
	add_key(table, 64, ONE_LEVEL, XK_Alt_L, 0)->modmap = Mod1Mask;
	add_key(table, 77, ONE_LEVEL, XK_Num_Lock, 0)->modmap = NUM;
	add_key(table, 92, ONE_LEVEL, XK_ISO_Level3_Shift, 0)->modmap = LEVEL3;
	add_key(table, 108, ONE_LEVEL, XK_ISO_Level3_Shift, 0)->sets_mods = LEVEL3;
	add_key(table, 156, ONE_LEVEL, XF86XK_Launch1, 0);
	add_key(table, 141, ONE_LEVEL, XF86XK_Launch2, 0); /* Chromium's copy, whatever it means */
	add_key(table, 166, ONE_LEVEL, XF86XK_Back, 0);
	add_key(table, 93, ONE_LEVEL, 0, 0);
	keymap_table_index(table);
	*state = table;
	return 0;
}

static int tear_down(void **state)
{
	keymap_table_finish(*state);
	free(*state);
	return 0;
}

static void finds_char(const struct keymap_table *table, uint32_t code_point,
	struct keymap_state state, int keycode, int mods)
{
	struct keymap_stroke stroke = {0};
	bool is_found = keymap_find_char(table, code_point, &state, &stroke);
	assert_int_equal(is_found ? stroke.keycode : 0, keycode);
	if (keycode != 0)
		assert_int_equal(stroke.mods, mods);
}

static void characters_with_their_modifiers(void **state)
{
	const struct keymap_table *table = *state;
	struct keymap_state none = {0};
	finds_char(table, 'a', none, 38, 0);
	finds_char(table, 'A', none, 38, ShiftMask);
	finds_char(table, '@', none, 24, LEVEL3);
	finds_char(table, 0x3a9, none, 24, LEVEL3 | ShiftMask); /* by its old keysym */
	finds_char(table, 0xe9, none, 0, 0);
	assert_int_equal(table->level3_keycode, 108);
}

static void modifiers_held_are_preferred(void **state)
{
	const struct keymap_table *table = *state;
	/* TigerVNC#491: Shift down, then '<': the key 94 would give '>'. */
	finds_char(table, '<', (struct keymap_state){.held = ShiftMask}, 59, ShiftMask);
	finds_char(table, '<', (struct keymap_state){0}, 94, 0);
	finds_char(table, 'a', (struct keymap_state){.held = ShiftMask}, 38, 0);
}

static void locks_are_reckoned_in(void **state)
{
	const struct keymap_table *table = *state;
	struct keymap_state caps = {.locked = LockMask}, num = {.locked = NUM}, none = {0};
	finds_char(table, 'a', caps, 38, ShiftMask);
	finds_char(table, 'A', caps, 38, 0);
	struct keymap_stroke stroke;
	assert_true(keymap_find_keysym(table, XK_KP_7, &none, &stroke));
	assert_int_equal(stroke.mods, ShiftMask);
	assert_true(keymap_find_keysym(table, XK_KP_7, &num, &stroke));
	assert_int_equal(stroke.mods, 0);
	/* The digit is the digit's key, whatever Num Lock says. */
	finds_char(table, '7', num, 16, 0);
}

static void keys_that_act_are_not_typed_with(void **state)
{
	struct keymap_table *table = *state;
	table->keys[38].acts = 1u << 0; /* plain "a" does something now */
	finds_char(table, 'a', (struct keymap_state){0}, 0, 0);
	finds_char(table, 'A', (struct keymap_state){0}, 38, ShiftMask);
}

static void only_the_present_group_is_typed_in(void **state)
{
	struct keymap_table *table = *state;
	struct keymap_key *key = &table->keys[38];
	key->group_count = 2;
	key->type[1] = ALPHABETIC;
	key->level_count[1] = 2;
	key->keysyms[1][0] = XK_Cyrillic_ef;
	key->keysyms[1][1] = XK_Cyrillic_EF;
	keymap_table_index(table);
	struct keymap_state russian = {.group = 1};
	finds_char(table, 'a', russian, 0, 0);
	finds_char(table, 0x444, russian, 38, 0);
	finds_char(table, 0x424, russian, 38, ShiftMask);
	finds_char(table, '7', russian, 16, 0); /* a key with one group wraps */
	finds_char(table, 'a', (struct keymap_state){.group = 2}, 38, 0);
}

static void shortcut_is(const struct keymap_table *table, uint32_t keysym,
	struct keymap_state state, int keycode, int mods)
{
	struct keymap_stroke stroke = {0};
	bool is_found = keymap_find_shortcut(table, keysym, &state, &stroke);
	assert_int_equal(is_found ? stroke.keycode : 0, keycode);
	assert_int_equal(stroke.mods, mods);
}

static void shortcuts_leave_shift_alone(void **state)
{
	struct keymap_table *table = *state;
	struct keymap_state control = {.held = ControlMask};
	shortcut_is(table, XK_a, control, 38, 0);
	shortcut_is(table, XK_A, control, 38, 0);
	control.held |= ShiftMask;
	shortcut_is(table, XK_A, control, 38, ShiftMask);
	shortcut_is(table, XK_a, control, 38, ShiftMask);
	control.held = ControlMask;
	shortcut_is(table, XK_plus, control, 21, ShiftMask); /* reached only so */
}

static void shortcuts_reach_other_groups_and_the_us_place(void **state)
{
	struct keymap_table *table = *state;
	struct keymap_key *key = &table->keys[54];
	key->group_count = 2;
	key->type[1] = ALPHABETIC;
	key->level_count[1] = 2;
	key->keysyms[1][0] = XK_Cyrillic_es;
	key->keysyms[1][1] = XK_Cyrillic_ES;
	add_key(table, 55, ALPHABETIC, XK_Cyrillic_em, XK_Cyrillic_EM); /* the place of v */
	keymap_table_index(table);
	struct keymap_state russian = {.held = ControlMask, .group = 1};
	shortcut_is(table, XK_c, russian, 54, 0);
	shortcut_is(table, XK_v, russian, 55, 0);
	shortcut_is(table, XK_z, russian, 0, 0); /* no such key at all */
}

static void modifiers_have_stand_ins(void **state)
{
	const struct keymap_table *table = *state;
	assert_int_equal(keymap_find_modifier(table, XK_Control_R), 37);
	assert_int_equal(keymap_find_modifier(table, XK_Mode_switch), 108);
	assert_int_equal(keymap_find_modifier(table, XK_Meta_L), 64);
	assert_int_equal(keymap_find_modifier(table, XK_Num_Lock), 77);
	assert_int_equal(keymap_find_modifier(table, XK_Super_L), 0);
}

static void what_may_be_borrowed(void **state)
{
	const struct keymap_table *table = *state;
	assert_true(keymap_key_is_empty(table, 93));
	assert_true(keymap_key_is_empty(table, 200));
	assert_false(keymap_key_is_empty(table, 38));
	assert_true(keymap_key_is_harmless(table, 156));
	assert_false(keymap_key_is_harmless(table, 141));
	assert_false(keymap_key_is_harmless(table, 166));
	assert_false(keymap_key_is_harmless(table, 50));
}

static void slots_plain_levels_first(void **state)
{
	struct keymap_slots slots;
	keymap_slots_init(&slots, (uint8_t[]){93, 97}, 2);
	keymap_slots_begin_batch(&slots);
	assert_int_equal(keymap_slots_claim(&slots, 1001)->level, 0);
	assert_int_equal(keymap_slots_claim(&slots, 1002)->level, 0);
	struct keymap_slot *third = keymap_slots_claim(&slots, 1003);
	assert_int_equal(third->level, 1);
	assert_int_equal(third->keycode, 93);
	assert_ptr_equal(keymap_slots_claim(&slots, 1003), third);
	uint32_t meaning[KEYMAP_SLOT_LEVELS];
	keymap_slots_meaning(&slots, 93, meaning);
	assert_int_equal(meaning[0], 1001);
	assert_int_equal(meaning[1], 1003);
	assert_true(slots.is_dirty[93]);
	keymap_slots_written(&slots);
	assert_false(slots.is_any_dirty);
	assert_non_null(keymap_slots_claim(&slots, 1002));
	assert_false(slots.is_any_dirty);
}

static void slots_in_use_are_not_given_away(void **state)
{
	struct keymap_slots slots;
	keymap_slots_init(&slots, (uint8_t[]){93}, 1);
	keymap_slots_begin_batch(&slots);
	keymap_slots_claim(&slots, 1);
	keymap_slots_claim(&slots, 2);
	assert_null(keymap_slots_claim(&slots, 3));
	keymap_slots_begin_batch(&slots);
	assert_non_null(keymap_slots_use(&slots, 1));
	assert_non_null(keymap_slots_claim(&slots, 3)); /* takes the place of 2 */
	assert_null(keymap_slots_use(&slots, 2));
	assert_non_null(keymap_slots_use(&slots, 1));
}

static void slots_least_recently_used_goes_first(void **state)
{
	struct keymap_slots slots;
	keymap_slots_init(&slots, (uint8_t[]){93, 97}, 2);
	for (uint32_t keysym = 1; keysym <= 4; keysym++) {
		keymap_slots_begin_batch(&slots);
		keymap_slots_claim(&slots, keysym);
	}
	keymap_slots_begin_batch(&slots);
	keymap_slots_use(&slots, 1);
	keymap_slots_begin_batch(&slots);
	keymap_slots_claim(&slots, 5);
	assert_null(keymap_slots_use(&slots, 2));
	assert_non_null(keymap_slots_use(&slots, 1));
}

static void slots_of_held_keys_are_kept(void **state)
{
	struct keymap_slots slots;
	keymap_slots_init(&slots, (uint8_t[]){93}, 1);
	keymap_slots_begin_batch(&slots);
	keymap_slots_claim(&slots, 1);
	keymap_slots_pin(&slots, 93, true);
	keymap_slots_begin_batch(&slots);
	assert_null(keymap_slots_claim(&slots, 2)); /* both levels: one keycode */
	keymap_slots_pin(&slots, 93, false);
	assert_non_null(keymap_slots_claim(&slots, 2));
}

#define with_table(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_table(characters_with_their_modifiers),
		with_table(modifiers_held_are_preferred),
		with_table(locks_are_reckoned_in),
		with_table(keys_that_act_are_not_typed_with),
		with_table(only_the_present_group_is_typed_in),
		with_table(shortcuts_leave_shift_alone),
		with_table(shortcuts_reach_other_groups_and_the_us_place),
		with_table(modifiers_have_stand_ins),
		with_table(what_may_be_borrowed),
		cmocka_unit_test(slots_plain_levels_first),
		cmocka_unit_test(slots_in_use_are_not_given_away),
		cmocka_unit_test(slots_least_recently_used_goes_first),
		cmocka_unit_test(slots_of_held_keys_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
