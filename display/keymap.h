/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's keymap: read into a keymap_table, reread when anybody changes it, and the keycodes
 * borrowed to give characters a key that the layout has not. Display thread only.
 *
 * What the borrowed keycodes meant before is kept in a property of the root window
 * (_BOXSCREEN_BORROWED_KEYS), written before the first change: it lives exactly as long as the
 * keymap that we changed, on whatever display that was, so that a start after a crash gives back
 * what was borrowed and a restarted server is left alone.
 *
 * A keycode may change its meaning only when the program under the focus has taken all earlier key
 * events; seeing to that (display/barrier.h) is the caller's business.
 */
#ifndef DISPLAY_KEYMAP_H
#define DISPLAY_KEYMAP_H

#include <stdbool.h>

#include "display/keymap_slots.h"
#include "display/keymap_table.h"

struct keymap;
struct xconn;

/* Gives back what a dead predecessor borrowed. NULL when the server has no XKB. */
struct keymap *keymap_create(struct xconn *conn);
/* Gives back what is borrowed. Accepts NULL. */
void keymap_destroy(struct keymap *keymap);

/*
 * Rereads the map when the server said that it changed. Slots that somebody else overwrote are
 * forgotten then, and so is what was claimed but not yet written; pointers to slots become invalid.
 * Cheap when nothing happened. False when the connection broke.
 */
bool keymap_refresh(struct keymap *keymap);

/*
 * How often, as of the last refresh, somebody else has given keys another meaning. Keys that were on
 * their way to a program then may have been taken with the new meaning.
 */
unsigned keymap_foreign_changes(const struct keymap *keymap);

/* As of the last refresh. Borrowed. */
const struct keymap_table *keymap_get_table(const struct keymap *keymap);
struct keymap_slots *keymap_get_slots(struct keymap *keymap);

/* Modifiers, locks and group now (one round trip). False when the connection broke. */
bool keymap_read_state(const struct keymap *keymap, struct keymap_state *out);

/*
 * Writes all dirty slots with one request and waits until the server has done it. When somebody
 * else changed the map meanwhile nothing is written and the plan is gone: look for the keysyms
 * again.
 */
bool keymap_write_slots(struct keymap *keymap);

/*
 * Qt 5 forgets a locked group when it reads the map anew, and learns of it only from the next change
 * of modifiers; its first key would be taken by the first group. So, in another group than the first,
 * a modifier that no key has is locked and let go. Returns whether that was done. keymap_write_slots
 * does it by itself.
 */
bool keymap_tell_group(const struct keymap *keymap);

/* Every borrowed keycode means again what it meant before. */
void keymap_give_back(struct keymap *keymap);
bool keymap_is_borrowing(const struct keymap *keymap);

#endif
