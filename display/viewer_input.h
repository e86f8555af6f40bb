/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What viewers do to the screen, as values that cross threads: keys, pointer, text for the
 * clipboard. On the display thread every event passes the gate and then goes to the typist and the
 * injector as the agent's do; what a source holds is known by its number and let go when it leaves.
 */
#ifndef DISPLAY_VIEWER_INPUT_H
#define DISPLAY_VIEWER_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/input_gate.h"

struct hand;
struct selection_owner;
struct typist_result;
struct viewer_input;

enum viewer_event_kind {
	VIEWER_KEYSYM,
	VIEWER_KEYCODE,   /* an X keycode, for keys that have no keysym */
	VIEWER_POINTER,
	VIEWER_CLIPBOARD,
	VIEWER_TEXT,      /* typed exactly (typist_type) */
	VIEWER_LOCKS,     /* whether its Caps and Num Lock reach the screen */
	VIEWER_GONE,      /* let go of everything the source holds; passes the gate always */
};

struct viewer_event {
	enum viewer_event_kind kind;
	struct input_ticket ticket;
	bool is_down;        /* KEYSYM, KEYCODE; LOCKS: passed on */
	uint32_t key;        /* KEYSYM, KEYCODE */
	int x, y;            /* POINTER: root coordinates */
	unsigned buttons;    /* POINTER: bit n is button n + 1, 1 to 9; 4 to 7 are the wheel */
	char *text;          /* CLIPBOARD, TEXT: UTF-8, taken */
	size_t text_len;
	/* TEXT: called once, on the display thread, if the event was taken at all. */
	void (*on_typed)(void *arg, const struct typist_result *result);
	void *on_typed_arg;
};

/* Display thread only. Both are the connection's and outlive it; `selections` owns what viewers paste. */
struct viewer_input *viewer_input_create(
	const struct hand *hand, struct selection_owner *selections);
void viewer_input_destroy(struct viewer_input *input); /* accepts NULL */

/* Carries the event out; its text is taken. */
void viewer_input_run(struct viewer_input *input, struct viewer_event *event);

/* An event that comes while there is no screen: its text is freed, a TEXT is answered. */
void viewer_input_refuse(struct viewer_event *event);

/* Everything that anybody held was let go: the holder has changed. */
void viewer_input_forget(struct viewer_input *input);

#endif
