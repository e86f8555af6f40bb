/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PC scan codes (set 1), as QEMU's extended key event carries them, to X keycodes. Pure. */
#ifndef TAKEOVER_SCANCODES_H
#define TAKEOVER_SCANCODES_H

#include <stdint.h>

/* scancode: 0x01 to 0x7f, with 0x80 set for those that follow 0xe0. 0 when no key is known. */
uint8_t scancode_to_keycode(uint32_t scancode);

#endif
