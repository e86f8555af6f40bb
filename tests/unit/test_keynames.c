/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of key names and of the input gate: no X. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <X11/keysym.h>
#include <cmocka.h>

#include "display/input_gate.h"
#include "display/keynames.h"
#include "display/scancode.h"

static void expect(const char *name, uint32_t wanted)
{
	uint32_t keysym = 0;
	if (!keynames_lookup(name, strlen(name), &keysym))
		fail_msg("%s is unknown", name);
	if (keysym != wanted)
		fail_msg("%s is 0x%x, not 0x%x", name, keysym, wanted);
}

static void expect_unknown(const char *name)
{
	uint32_t keysym;
	if (keynames_lookup(name, strlen(name), &keysym))
		fail_msg("%s is 0x%x", name, keysym);
}

static void names_of_x(void **state)
{
	expect("Return", XK_Return);
	expect("BackSpace", XK_BackSpace);
	expect("Prior", XK_Page_Up);
	expect("eacute", XK_eacute);
	expect("Eacute", XK_Eacute);
	expect("KP_1", XK_KP_1);
	expect("U20AC", 0x010020ac);
	expect("ISO_Left_Tab", XK_ISO_Left_Tab);
	expect("XF86AudioPlay", 0x1008ff14);
	expect("Delete", XK_Delete);
}

static void names_of_browsers_and_vendors_in_any_case(void **state)
{
	expect("enter", XK_Return);
	expect("ENTER", XK_Return);
	expect("Esc", XK_Escape);
	expect("ESC", XK_Escape);
	expect("escape", XK_Escape);
	expect("ArrowDown", XK_Down);
	expect("PageDown", XK_Page_Down);
	expect("PgDown", XK_Page_Down);
	expect("Backspace", XK_BackSpace);
	expect("BACKSPACE", XK_BackSpace);
	expect("backtick", XK_grave);
	expect("CTRL", XK_Control_L);
	expect("cmd", XK_Super_L);
	expect("win", XK_Super_L);
	expect("meta", XK_Super_L);
	expect("option", XK_Alt_L);
	expect("SPACE", XK_space);
	expect("CapsLock", XK_Caps_Lock);
	expect("f5", XK_F5);
	expect("KeyQ", XK_q);
	expect("Digit7", XK_7);
	expect("Numpad7", XK_KP_7);
	expect("AltGraph", XK_ISO_Level3_Shift);
}

static void characters_and_numbers(void **state)
{
	expect("a", XK_a);
	expect("A", XK_A);
	expect("+", XK_plus);
	expect(" ", XK_space);
	expect("\n", XK_Return);
	expect("\xc3\xa9", XK_eacute);
	expect("\xe4\xb8\xad", 0x01004e2d);
	expect("\xf0\x9f\x98\x80", 0x0101f600);
	expect("U+20AC", 0x010020ac);
	expect("u+41", XK_A);
	expect("0x20ac", XK_EuroSign);
	expect("0xFF0D", XK_Return);
}

static void what_is_no_key(void **state)
{
	expect_unknown("");
	expect_unknown("nosuch");
	expect_unknown("0x0");
	expect_unknown("0x20000000");
	expect_unknown("0x");
	expect_unknown("U+D800");
	expect_unknown("U+110000");
	expect_unknown("U+0000");
	expect_unknown("\x01");
	expect_unknown("\xff");
	expect_unknown("ab\xc3\xa9");
	char longest[300];
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	expect_unknown(longest);
}

static void chord_is(const char *text, int count, const uint32_t *wanted)
{
	struct key_chord chord;
	char error[200] = "";
	if (!keynames_parse_chord(text, &chord, error, sizeof(error)))
		fail_msg("%s: %s", text, error);
	assert_int_equal(chord.count, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(chord.keysyms[i], wanted[i]);
}

static void chords(void **state)
{
	chord_is("ctrl+shift+t", 3, (uint32_t[]){XK_Control_L, XK_Shift_L, XK_t});
	chord_is("ctrl+plus", 2, (uint32_t[]){XK_Control_L, XK_plus});
	chord_is("ctrl++", 2, (uint32_t[]){XK_Control_L, XK_plus});
	chord_is("+", 1, (uint32_t[]){XK_plus});
	chord_is("-", 1, (uint32_t[]){XK_minus});
	chord_is("U+20AC", 1, (uint32_t[]){0x010020ac});
	chord_is("ctrl+U+00E9+b", 3, (uint32_t[]){XK_Control_L, XK_eacute, XK_b});
	chord_is("u+a", 2, (uint32_t[]){XK_u, XK_a});
	chord_is("ctrl+-", 2, (uint32_t[]){XK_Control_L, XK_minus});
}

static void chord_fails_with(const char *text, const char *part)
{
	struct key_chord chord;
	char error[200] = "";
	assert_false(keynames_parse_chord(text, &chord, error, sizeof(error)));
	if (strstr(error, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", error, part);
}

static void chord_errors_name_the_part(void **state)
{
	chord_fails_with("", "no key");
	chord_fails_with("ctrl+nosuch", "\"nosuch\"");
	chord_fails_with("ctrl+", "missing");
	chord_fails_with("ctrl-s", "joined with '+'");
	chord_fails_with("a b", "\"a b\"");
	chord_fails_with("a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a", "at most 16");
}

static void characters_of_keysyms(void **state)
{
	assert_int_equal(keysym_to_char(0x6c6), 0x444); /* Cyrillic_ef */
	assert_int_equal(keysym_to_char(XK_KP_7), '7');
	assert_int_equal(keysym_to_char(0x0101f600), 0x1f600);
	assert_int_equal(keysym_to_char(XK_Return), 0);
	assert_int_equal(keysym_to_char(XK_dead_acute), 0);
	assert_int_equal(keysym_to_char(XK_Shift_L), 0);
	assert_int_equal(keysym_to_char(0x1fffffff), 0);
	assert_int_equal(keysym_to_char(0), 0);
	assert_int_equal(keysym_from_char(0x7f), 0);
	assert_int_equal(keysym_from_char(0x85), 0);
	assert_int_equal(keysym_from_char('\r'), XK_Return);
}

static int changes;

static void count_change(void *arg)
{
	changes++;
}

static void gate_lets_only_the_holder_of_this_epoch_through(void **state)
{
	struct input_gate gate;
	input_gate_init(&gate, INPUT_SOURCE_AGENT, count_change, NULL);
	struct input_ticket early = input_gate_now(&gate);
	assert_int_equal(early.source, INPUT_SOURCE_AGENT);
	assert_true(input_gate_admits(&gate, early));
	assert_false(input_gate_admits(&gate, (struct input_ticket){1, early.epoch}));

	changes = 0;
	uint32_t epoch = input_gate_give(&gate, 1);
	assert_int_equal(changes, 1);
	assert_false(input_gate_admits(&gate, early));
	assert_true(input_gate_admits(&gate, (struct input_ticket){1, epoch}));
	struct input_ticket meanwhile = input_gate_agent(&gate);
	assert_false(input_gate_admits(&gate, meanwhile));

	/* Given back: what the agent had sent before stays dead. */
	input_gate_give(&gate, INPUT_SOURCE_AGENT);
	assert_false(input_gate_admits(&gate, early));
	assert_false(input_gate_admits(&gate, meanwhile));
	assert_true(input_gate_admits(&gate, input_gate_now(&gate)));
	assert_true(input_gate_admits(&gate, input_gate_agent(&gate)));

	/* The same holder anew is a new epoch too. */
	struct input_ticket before = input_gate_now(&gate);
	input_gate_give(&gate, INPUT_SOURCE_AGENT);
	assert_false(input_gate_admits(&gate, before));

	epoch = input_gate_give(&gate, INPUT_SOURCE_NONE);
	assert_false(input_gate_admits(&gate, (struct input_ticket){INPUT_SOURCE_NONE, epoch}));
	assert_false(input_gate_admits(&gate, (struct input_ticket){0, epoch}));
}

static void scancodes(void **state)
{
	assert_int_equal(scancode_to_keycode(0x1e), 38);  /* a */
	assert_int_equal(scancode_to_keycode(0x01), 9);   /* Escape */
	assert_int_equal(scancode_to_keycode(0x56), 94);  /* less and greater */
	assert_int_equal(scancode_to_keycode(0x58), 96);  /* F12 */
	assert_int_equal(scancode_to_keycode(0xb8), 108); /* AltGr */
	assert_int_equal(scancode_to_keycode(0xc8), 111); /* Up */
	assert_int_equal(scancode_to_keycode(0xdb), 133); /* Super_L */
	assert_int_equal(scancode_to_keycode(0x00), 0);
	assert_int_equal(scancode_to_keycode(0xff), 0);
	assert_int_equal(scancode_to_keycode(0x11e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_x),
		cmocka_unit_test(names_of_browsers_and_vendors_in_any_case),
		cmocka_unit_test(characters_and_numbers),
		cmocka_unit_test(what_is_no_key),
		cmocka_unit_test(chords),
		cmocka_unit_test(chord_errors_name_the_part),
		cmocka_unit_test(characters_of_keysyms),
		cmocka_unit_test(scancodes),
		cmocka_unit_test(gate_lets_only_the_holder_of_this_epoch_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
