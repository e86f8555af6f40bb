/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes modifiers out of the way while text is typed: keys that somebody holds are let up, Caps
 * Lock (and any other lock but Num Lock) is switched off; afterwards all is as it was, except for
 * keys whose holder let go meanwhile. Display thread only.
 */
#ifndef DISPLAY_MODIFIER_LIFT_H
#define DISPLAY_MODIFIER_LIFT_H

#include <stdbool.h>
#include <stdint.h>

struct injector;
struct keymap;
struct keymap_state;
struct xconn;

#define MODIFIER_LIFT_KEYS 16

/* Zero-initialise. */
struct modifier_lift {
	uint8_t keycodes[MODIFIER_LIFT_KEYS];
	int count;
	uint8_t unlocked;  /* locks that were switched off */
	uint8_t menu_mods; /* Alt and Super, as this keymap has them */
	uint8_t down[32];  /* all other keys that are down, as XQueryKeymap tells them */
	bool is_active;
};

/* Returns whether anything was changed; the program should then take that in before the text. */
bool modifier_lift_begin(struct modifier_lift *lift, struct xconn *conn, struct injector *injector,
	const struct keymap *keymap);
/*
 * The same for what was pressed or locked since, `state` being the present one. To be asked before
 * every batch of keys. Cheap when there is nothing.
 */
bool modifier_lift_again(struct modifier_lift *lift, struct xconn *conn, struct injector *injector,
	const struct keymap *keymap, const struct keymap_state *state);
/* Puts all back; does nothing when none is active. */
void modifier_lift_end(struct modifier_lift *lift, struct xconn *conn, struct injector *injector,
	const struct keymap *keymap);

/* Lets the key up when it is one that was down at the beginning. */
void modifier_lift_free_key(struct modifier_lift *lift, struct injector *injector, uint8_t keycode);

#endif
