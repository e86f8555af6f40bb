/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PC scan codes, as QEMU's extended key event carries them, to keycodes. Pure, any thread. */
#ifndef DISPLAY_SCANCODE_H
#define DISPLAY_SCANCODE_H

#include <stdint.h>

/*
 * The keycode (evdev + 8, as all X servers of today number keys) of an XT scan code of set 1; codes
 * with the prefix e0 have bit 7 set instead, as in the RFB extension. 0 when there is no such key.
 */
uint8_t scancode_to_keycode(uint32_t scancode);

#endif
