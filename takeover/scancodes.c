/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/scancodes.h"

#include <linux/input-event-codes.h>
#include <stddef.h>

/* X servers with evdev keycodes (all of today's): the kernel's code + 8. */
#define X_OFFSET 8

static const struct {
	uint8_t scancode;
	uint8_t key;
} others[] = {
	/* without 0xe0 */
	{0x70, KEY_KATAKANAHIRAGANA}, {0x73, KEY_RO}, {0x79, KEY_HENKAN}, {0x7b, KEY_MUHENKAN},
	{0x7d, KEY_YEN}, {0x7e, KEY_KPCOMMA}, {0x59, KEY_KPEQUAL}, {0x54, KEY_SYSRQ},
	/* with 0xe0 */
	{0x9c, KEY_KPENTER}, {0x9d, KEY_RIGHTCTRL}, {0xb5, KEY_KPSLASH}, {0xb7, KEY_SYSRQ},
	{0xb8, KEY_RIGHTALT}, {0xc6, KEY_PAUSE}, {0xc7, KEY_HOME}, {0xc8, KEY_UP},
	{0xc9, KEY_PAGEUP}, {0xcb, KEY_LEFT}, {0xcd, KEY_RIGHT}, {0xcf, KEY_END}, {0xd0, KEY_DOWN},
	{0xd1, KEY_PAGEDOWN}, {0xd2, KEY_INSERT}, {0xd3, KEY_DELETE}, {0xdb, KEY_LEFTMETA},
	{0xdc, KEY_RIGHTMETA}, {0xdd, KEY_COMPOSE},
};

uint8_t scancode_to_keycode(uint32_t scancode)
{
	/* The kernel numbered its keys after scan code set 1: up to F12 they are the same. */
	if (scancode >= KEY_ESC && scancode <= KEY_KPDOT)
		return (uint8_t)(scancode + X_OFFSET);
	if (scancode == KEY_102ND || scancode == KEY_F11 || scancode == KEY_F12)
		return (uint8_t)(scancode + X_OFFSET);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].scancode == scancode)
			return (uint8_t)(others[i].key + X_OFFSET);
	}
	return 0;
}
