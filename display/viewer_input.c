/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/viewer_input.h"

#include <X11/XKBlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/selection_owner.h"
#include "display/typist.h"
#include "display/xconn.h"

struct viewer_input {
	const struct hand *hand;
	struct selection_owner *selections;
	unsigned buttons[INPUT_SOURCE_MAX + 1]; /* what each source holds */
};

struct viewer_input *viewer_input_create(
	const struct hand *hand, struct selection_owner *selections)
{
	struct viewer_input *input = xcalloc(1, sizeof(*input));
	input->hand = hand;
	input->selections = selections;
	return input;
}

void viewer_input_destroy(struct viewer_input *input)
{
	free(input);
}

static void point(struct viewer_input *input, const struct viewer_event *event)
{
	struct injector *injector = input->hand->injector;
	unsigned *held = &input->buttons[event->ticket.source];
	unsigned changed = *held ^ event->buttons;
	injector_move(injector, event->x, event->y);
	for (int button = 1; button <= INJECTOR_BUTTON_MAX; button++) {
		unsigned bit = 1u << (button - 1);
		if ((changed & bit) != 0)
			injector_button(injector, event->ticket.source, button,
				(event->buttons & bit) != 0);
	}
	*held = event->buttons;
}

/* Both selections: terminals paste one, everything else the other. */
static void set_clipboard(struct viewer_input *input, const struct viewer_event *event)
{
	for (int is_primary = 0; is_primary <= 1; is_primary++)
		selection_owner_set(
			input->selections, is_primary, false, event->text, event->text_len);
}

static void let_go(struct viewer_input *input, uint8_t source)
{
	input->buttons[source] = 0;
	if (input->hand->typist != NULL)
		typist_drop_source(input->hand->typist, source);
	else if (input->hand->injector != NULL)
		injector_release_source(input->hand->injector, source);
}

/*
 * A place on the keyboard, by what it gives unshifted: so it stands in the typist's queue like every
 * other key, and its release finds its press.
 */
static void press_place(const struct hand *hand, const struct viewer_event *event)
{
	KeySym keysym = XkbKeycodeToKeysym(hand->conn->dpy, (KeyCode)event->key, 0, 0);
	if (keysym != NoSymbol)
		typist_keysym(hand->typist, event->ticket, event->is_down, (uint32_t)keysym, NULL, NULL);
}

static void refuse_text(const struct viewer_event *event, enum typist_status status)
{
	const struct typist_result result = {.status = status};
	if (event->kind == VIEWER_TEXT)
		event->on_typed(event->on_typed_arg, &result);
}

static void type_text(const struct hand *hand, const struct viewer_event *event)
{
	const struct typist_text_options options = {0};
	typist_type(hand->typist, event->ticket, event->text, event->text_len, &options,
		event->on_typed, event->on_typed_arg);
}

/* Events that need the gate and a server that takes input. */
static void act(struct viewer_input *input, const struct viewer_event *event)
{
	const struct hand *hand = input->hand;
	if (hand->typist == NULL || !input_gate_admits(hand->gate, event->ticket)) {
		refuse_text(event, TYPIST_NOT_HOLDER);
		return;
	}
	switch (event->kind) {
	case VIEWER_KEYSYM:
		typist_keysym(hand->typist, event->ticket, event->is_down, event->key, NULL, NULL);
		break;
	case VIEWER_KEYCODE:
		press_place(hand, event);
		break;
	case VIEWER_POINTER:
		point(input, event);
		break;
	case VIEWER_CLIPBOARD:
		set_clipboard(input, event);
		break;
	case VIEWER_TEXT:
		type_text(hand, event);
		break;
	case VIEWER_LOCKS:
	case VIEWER_GONE:
		break;
	}
}

void viewer_input_run(struct viewer_input *input, struct viewer_event *event)
{
	if (event->kind == VIEWER_GONE)
		let_go(input, event->ticket.source);
	else if (event->kind == VIEWER_LOCKS && input->hand->typist != NULL)
		typist_pass_locks(input->hand->typist, event->ticket.source, event->is_down);
	else
		act(input, event);
	if (event->text != NULL)
		explicit_bzero(event->text, event->text_len);
	free(event->text);
}

void viewer_input_refuse(struct viewer_event *event)
{
	refuse_text(event, TYPIST_FAILED);
	free(event->text);
}

void viewer_input_forget(struct viewer_input *input)
{
	for (int i = 0; i <= INPUT_SOURCE_MAX; i++)
		input->buttons[i] = 0;
}
