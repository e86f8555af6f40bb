/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys, buttons and motion through XTEST (many programs ignore XSendEvent). Knows which source
 * holds what: a key goes down with its first holder and up with its last, and everything of one
 * source can be let go at once. Display thread only. Requests are buffered; the loop flushes before
 * it sleeps.
 *
 * What is down when the process dies stays down in the server. A property on the root window
 * (_BOXSCREEN_HELD) is there from the first press to a proper end; injector_create, when it finds
 * it, lets go of what a predecessor left. The property dies with the server, as the keys do.
 */
#ifndef DISPLAY_INJECTOR_H
#define DISPLAY_INJECTOR_H

#include <stdbool.h>
#include <stdint.h>

struct xconn;
struct injector;

#define INJECTOR_BUTTON_MAX 9

/* What the agent leaves down is let go after so long; a hold that is meant is at most 100 s. */
#define INJECTOR_AGENT_HOLD_MAX_MS 101000

/* conn stays the caller's and must outlive the injector. */
struct injector *injector_create(struct xconn *conn);
/* Releases everything that is held (unless the connection is broken). Accepts NULL. */
void injector_destroy(struct injector *injector);

/*
 * Presses or releases a key for a source (input_gate.h). A press by a source that holds the key
 * already and a release by one that does not are ignored.
 */
void injector_key(struct injector *injector, uint8_t source, uint8_t keycode, bool is_down);
/* Up and down again: how a held key repeats. Ignored when the source does not hold it. */
void injector_repeat_key(struct injector *injector, uint8_t source, uint8_t keycode);
/* Down and up in one go, so that no auto-repeat can start. The key must not be down. */
void injector_tap(struct injector *injector, uint8_t keycode);
/* The same for buttons 1 to INJECTOR_BUTTON_MAX; other numbers are ignored. */
void injector_button(struct injector *injector, uint8_t source, int button, bool is_down);

/* How many button presses there have been: a click since may be about to move the focus. */
unsigned injector_press_count(const struct injector *injector);

/* Whom to tell of the agent's presses; borrowed, NULL: nobody. */
struct deeds;
void injector_set_deeds(struct injector *injector, const struct deeds *deeds);

/*
 * Moves the pointer; root coordinates in pixels. Clamped to the screen (the lower ends here, the
 * upper ones by the server, which knows its size at that moment).
 */
void injector_move(struct injector *injector, int x_root, int y_root);
void injector_move_by(struct injector *injector, int dx, int dy);

/* Wheel steps: positive is right and down. At most 1,000 a direction. */
void injector_wheel(struct injector *injector, int steps_x, int steps_y);

/*
 * Takes a key up in the server, or puts it back down, while its holders go on holding it: for a
 * moment in which their modifier would be in the way. A key may also be lifted that nobody here
 * holds (another program's). Put back does nothing when the holders have let go since, the other
 * program too. A lifted key that is down again (its holder pressed it anew) may be lifted again.
 */
void injector_lift(struct injector *injector, uint8_t keycode);
void injector_put_back(struct injector *injector, uint8_t keycode);

/*
 * Lets a key up that is down and in the way of typing it, for good: its holders' releases then do
 * nothing, and a press of it works again at once.
 */
void injector_force_up(struct injector *injector, uint8_t keycode);

/* Presses or releases a key of our own accord, held by no source, and remembers it for a crash. */
void injector_assist_key(struct injector *injector, uint8_t keycode, bool is_down);

/* Switches locks (LockMask …) off for a moment and on again; a crash between is made good. */
void injector_unlock(struct injector *injector, uint8_t locks);
void injector_lock_again(struct injector *injector);

/* Lets go of everything the source holds, latest first; what others hold stays down. */
void injector_release_source(struct injector *injector, uint8_t source);
void injector_release_all(struct injector *injector);

bool injector_source_holds_key(const struct injector *injector, uint8_t source, uint8_t keycode);
/* Whether the source holds any button. */
bool injector_source_holds_button(const struct injector *injector, uint8_t source);
/* Whether any source holds it (lifted or not). */
bool injector_is_key_held(const struct injector *injector, uint8_t keycode);
bool injector_is_anything_held(const struct injector *injector);

/*
 * Whether the server may repeat held keys by itself. Off while a viewer holds one: viewers repeat
 * on their own, and a lost release must not flood. What it was before comes back with true.
 */
void injector_allow_auto_repeat(struct injector *injector, bool is_allowed);

#endif
