/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types: text that arrives exactly, chords, held keys, and single keysyms from viewers, whatever
 * the layout, its group, the locks and what others hold down. Display thread only; nothing blocks.
 *
 * All requests stand in one queue, in the order of the calls, and each is done before the next
 * begins, so that no viewer's key falls into the middle of a text. Each carries the ticket of its
 * source (input_gate.h), which is checked when its turn comes and again before every batch of keys.
 * `done` is called once for every request, from the loop, never from inside the call; it may be
 * NULL.
 *
 * Text is never logged.
 */
#ifndef DISPLAY_TYPIST_H
#define DISPLAY_TYPIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/input_gate.h"
#include "display/keynames.h"

struct injector;
struct typist;
struct xconn;

enum typist_status {
	TYPIST_OK,
	TYPIST_BAD_TEXT,   /* holds what cannot be typed; nothing was typed */
	TYPIST_NO_KEY,     /* no key gives a keysym of the chord; nothing was pressed */
	TYPIST_NOT_HOLDER, /* another source holds the screen (now) */
	TYPIST_CANCELED,
	TYPIST_STUCK,        /* the program under the focus stopped taking its keys */
	TYPIST_PASTE_FAILED, /* the program did not fetch what was to be pasted */
	TYPIST_FAILED,       /* the server refused something */
};

struct typist_result {
	enum typist_status status;
	char message[200]; /* a sentence for people; "" when OK */
	size_t typed;    /* characters that were sent, pasted ones included (\r\n counts as one) */
	size_t pasted;   /* of those, how many went through the clipboard: no key events for them */
	size_t position; /* BAD_TEXT: the offending character, counted from 0 */
};

typedef void (*typist_done)(void *arg, const struct typist_result *result);

struct typist_config {
	int quiet_ms;        /* borrowed keycodes are given back after so long without their use */
	int source_quiet_ms; /* the same after a viewer has gone */
	int stuck_ms;        /* how long a program may take before TYPIST_STUCK */
};
#define TYPIST_CONFIG_DEFAULT                                                                      \
	{                                                                                          \
		.quiet_ms = 10000, .source_quiet_ms = 1500, .stuck_ms = 10000                      \
	}

/* conn, injector and gate stay the caller's and outlive the typist. NULL without XKB or XTEST. */
struct typist *typist_create(struct xconn *conn, struct injector *injector,
	const struct input_gate *gate, const struct typist_config *config);
/* Cancels what waits (done is called), gives the keymap back. Accepts NULL. */
void typist_destroy(struct typist *typist);

/* Whom to tell of what the agent types; borrowed, NULL: nobody. */
struct deeds;
void typist_set_deeds(struct typist *typist, const struct deeds *deeds);

struct typist_text_options {
	bool via_paste; /* all of it through the clipboard */
	int delay_ms;   /* between characters; 0: as fast as the program takes them */
};

/*
 * Types UTF-8 text[0..len), which is copied. Newline (also \r\n and \r) is Return, tab Tab, U+0008
 * BackSpace, U+001B Escape; other control characters, NUL and invalid UTF-8 are BAD_TEXT.
 * Characters that no keysym can bring into some toolkits are pasted. Modifiers that are held are
 * lifted for the time, Caps Lock is neutralised. Returns an id for typist_cancel.
 */
uint64_t typist_type(struct typist *typist, struct input_ticket ticket, const char *text,
	size_t len, const struct typist_text_options *options, typist_done done, void *arg);

struct typist_key_options {
	int repeat;           /* presses; below 1 counts as 1 */
	int delay_ms;         /* between presses */
	int hold_ms;          /* how long it stays down; at most TYPIST_HOLD_MAX_MS */
	bool clear_modifiers; /* lift what others hold, as for text */
	bool shift_capitals;  /* xdotool: a capital presses Shift even beside Ctrl, Alt or Super */
};
#define TYPIST_HOLD_MAX_MS 100000

/*
 * Presses the keys of a chord in their order and releases them in reverse. Shift and AltGr are
 * added or lifted as a character needs, but not beside Ctrl, Alt or Super unless the key is reached
 * only so.
 */
uint64_t typist_key(struct typist *typist, struct input_ticket ticket,
	const struct key_chord *chord, const struct typist_key_options *options, typist_done done,
	void *arg);

/*
 * A keysym goes down or up: a viewer's key event, or an agent's key_down and key_up. What is down
 * belongs to the source. A second down is a repeat; a release finds the key that was pressed, also
 * when its keysym has another case by now; unknown keysyms are ignored. While a viewer holds a key
 * the server's own auto-repeat is off. Lock keys of viewers are swallowed (their keysyms have
 * the right case already) unless typist_pass_locks says otherwise.
 */
uint64_t typist_keysym(struct typist *typist, struct input_ticket ticket, bool is_down,
	uint32_t keysym, typist_done done, void *arg);

/*
 * The same for a key by its PC scan code (scancode.h), for programs that look at keys rather than
 * at what they mean. The key goes down as it is, Shift and AltGr are left alone, locks take effect.
 * Where there is no such key, or its keycode is borrowed, it is typist_keysym with `keysym`.
 */
uint64_t typist_scancode(struct typist *typist, struct input_ticket ticket, bool is_down,
	uint32_t scancode, uint32_t keysym, typist_done done, void *arg);

/* Whether a viewer's Caps Lock and Num Lock reach the screen. Forgotten when the source is dropped.
 */
void typist_pass_locks(struct typist *typist, uint8_t source, bool is_passed);

/* Ends a request: what it holds is let go, done gets TYPIST_CANCELED. Unknown ids are ignored. */
void typist_cancel(struct typist *typist, uint64_t id);

/* A source has gone: its requests are canceled and everything it holds, buttons too, is let go. */
void typist_drop_source(struct typist *typist, uint8_t source);

/*
 * The holder changed: all requests are canceled, everything that anybody holds is let go, the locks are
 * as the agent left them again, and the keymap soon is.
 */
void typist_release_all(struct typist *typist);

/* Whether nothing waits or runs. */
bool typist_is_idle(const struct typist *typist);
/* Whether the keymap is as the user left it. */
bool typist_is_map_given_back(const struct typist *typist);

#endif
