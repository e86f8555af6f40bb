/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of keys to keysyms and back: X keysym names, the aliases of xdotool, the names of browsers
 * and of the computer-use vendors in any case, single characters, U+20AC, 0x20ac, and chords joined
 * with '+'. Also the one place that knows how characters and keysyms correspond. Pure, any thread.
 */
#ifndef DISPLAY_KEYNAMES_H
#define DISPLAY_KEYNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_CHORD_MAX 16

struct key_chord {
	uint32_t keysyms[KEY_CHORD_MAX]; /* in the order in which they go down */
	int count;                       /* at least 1 */
};

/*
 * The keysym of one key name name[0..len). In order of preference: a single character, an X keysym
 * name as spelt, an alias in any case, an X keysym name in any case, U+XXXX, a keysym number 0x….
 * "meta" is the key that browsers call Meta, Super_L (xdotool's language means Meta_L by it).
 * Returns false when there is no such key.
 */
bool keynames_lookup(const char *name, size_t len, uint32_t *keysym);

/*
 * How long the name at the beginning of a chord is: up to the next '+' or the end, a '+' alone being a
 * key and the one in U+20AC no separator; 0 where a name is missing.
 */
size_t keynames_length(const char *text);

/*
 * Parses "ctrl+shift+t". A key '+' may be written last as itself ("ctrl++", "+") or as "plus".
 * On failure returns false with a sentence in error[error_size] that names the offending part.
 */
bool keynames_parse_chord(const char *text, struct key_chord *out, char *error, size_t error_size);

/*
 * The keysym that types a character: the control characters that are keys (backspace, tab, newline,
 * carriage return, escape), Latin-1 as itself, all others 0x01000000 + code point. 0 for what no
 * key can send (other control characters, surrogates, beyond U+10FFFF).
 */
uint32_t keysym_from_char(uint32_t code_point);

/*
 * The character a keysym stands for, old keysyms (Cyrillic_ef) and the keypad's (KP_7) included;
 * 0 for keys that type none: function keys, modifiers, dead keys, Return, Tab.
 */
uint32_t keysym_to_char(uint32_t keysym);

bool keysym_is_keypad(uint32_t keysym);
/* Shift_L … Hyper_R, ISO_Level3_Shift, Mode_switch: keys that are held, not the locks. */
bool keysym_is_modifier(uint32_t keysym);

#endif
