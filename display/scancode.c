/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/scancode.h"

#include <linux/input-event-codes.h>
#include <stddef.h>

#include "base/alloc.h"

#define X_OFFSET 8

static const struct {
	uint8_t scancode;
	uint8_t evdev;
} table[] = {
	{0x54, KEY_SYSRQ},
	{0x59, KEY_KPEQUAL},
	{0x70, KEY_KATAKANAHIRAGANA},
	{0x73, KEY_RO},
	{0x79, KEY_HENKAN},
	{0x7b, KEY_MUHENKAN},
	{0x7d, KEY_YEN},
	{0x7e, KEY_KPCOMMA},
	{0x90, KEY_PREVIOUSSONG},
	{0x99, KEY_NEXTSONG},
	{0x9c, KEY_KPENTER},
	{0x9d, KEY_RIGHTCTRL},
	{0xa0, KEY_MUTE},
	{0xa1, KEY_CALC},
	{0xa2, KEY_PLAYPAUSE},
	{0xa4, KEY_STOPCD},
	{0xae, KEY_VOLUMEDOWN},
	{0xb0, KEY_VOLUMEUP},
	{0xb2, KEY_HOMEPAGE},
	{0xb5, KEY_KPSLASH},
	{0xb7, KEY_SYSRQ},
	{0xb8, KEY_RIGHTALT},
	{0xc6, KEY_PAUSE},
	{0xc7, KEY_HOME},
	{0xc8, KEY_UP},
	{0xc9, KEY_PAGEUP},
	{0xcb, KEY_LEFT},
	{0xcd, KEY_RIGHT},
	{0xcf, KEY_END},
	{0xd0, KEY_DOWN},
	{0xd1, KEY_PAGEDOWN},
	{0xd2, KEY_INSERT},
	{0xd3, KEY_DELETE},
	{0xdb, KEY_LEFTMETA},
	{0xdc, KEY_RIGHTMETA},
	{0xdd, KEY_COMPOSE},
	{0xe5, KEY_SEARCH},
	{0xe6, KEY_BOOKMARKS},
	{0xe7, KEY_REFRESH},
	{0xe8, KEY_STOP},
	{0xe9, KEY_FORWARD},
	{0xea, KEY_BACK},
	{0xeb, KEY_COMPUTER},
	{0xec, KEY_MAIL},
	{0xed, KEY_MEDIA},
};

uint8_t scancode_to_keycode(uint32_t scancode)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (table[i].scancode == scancode)
			return (uint8_t)(table[i].evdev + X_OFFSET);
	}
	/* The kernel's codes of the main block are the scan codes of the PC/AT keyboard. */
	if (scancode >= KEY_ESC && scancode <= KEY_F12 && scancode != 0x55)
		return (uint8_t)(scancode + X_OFFSET);
	return 0;
}
