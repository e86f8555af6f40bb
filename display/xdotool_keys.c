/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key, keydown, keyup, type; and what the other commands need of keys. */
#include <X11/XKBlib.h>
#include <X11/keysym.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/window_ops.h"
#include "display/xdotool_private.h"

/* One key of a sequence. */
struct key {
	bool is_keycode;
	uint32_t code;
};

struct sequence {
	struct key keys[KEY_CHORD_MAX];
	int count;
	bool has_keycode;
};

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

/* Two digits or more that name no keysym are a keycode. */
static bool lookup_keycode(const char *name, size_t len, struct key *out)
{
	char text[4];
	long code;
	if (len < 1 || len >= sizeof(text) || strspn(name, "0123456789") < len)
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	code = strtol(text, NULL, 10);
	*out = (struct key){true, (uint32_t)code};
	return code >= 8 && code <= 255;
}

static bool lookup_key(const char *name, size_t len, struct key *out)
{
	if (is_word(name, len, "meta")) { /* browsers mean another key by this name */
		*out = (struct key){false, XK_Meta_L};
		return true;
	}
	out->is_keycode = false;
	return keynames_lookup(name, len, &out->code) || lookup_keycode(name, len, out);
}

/* Returns NULL, or what is wrong with the sequence; the caller frees it. */
static char *parse_sequence(const char *text, struct sequence *out)
{
	const char *rest = text;
	*out = (struct sequence){0};
	for (;;) {
		size_t len = keynames_length(rest);
		if (out->count == KEY_CHORD_MAX)
			return xasprintf("'%s': at most %d keys go together", text, KEY_CHORD_MAX);
		if (len == 0 || !lookup_key(rest, len, &out->keys[out->count])) {
			/* The words of keynames.h, which know common mistakes. */
			struct key_chord chord;
			char error[200];
			char *part = xstrndup(rest, len);
			if (keynames_parse_chord(part, &chord, error, sizeof(error)))
				error[0] = '\0';
			free(part);
			return xasprintf("Invalid key sequence '%s': %s; nothing was sent", text, error);
		}
		out->has_keycode |= out->keys[out->count++].is_keycode;
		if (rest[len] == '\0')
			return NULL;
		if (rest[len] != '+')
			return xasprintf("Invalid key sequence '%s'; nothing was sent", text);
		rest += len + 1;
	}
}

char *xdotool_check_keys(const struct xdotool_command *command)
{
	for (size_t i = 0; i < command->word_count; i++) {
		struct sequence sequence;
		char *error = parse_sequence(command->words[i], &sequence);
		if (error != NULL)
			return error;
	}
	return NULL;
}

/* What is held down */

void xdotool_note_pressed(
	struct xdotool_run *run, enum xdotool_pressed_kind kind, uint32_t code, bool is_down)
{
	for (size_t i = 0; i < run->pressed_count; i++) {
		if (run->pressed[i].kind != kind || run->pressed[i].code != code)
			continue;
		if (is_down)
			return;
		run->pressed_count--;
		memmove(&run->pressed[i], &run->pressed[i + 1],
			(run->pressed_count - i) * sizeof(run->pressed[0]));
		return;
	}
	if (!is_down)
		return;
	run->pressed = xrealloc(
		run->pressed, (run->pressed_count + 1) * sizeof(run->pressed[0]));
	run->pressed[run->pressed_count++] = (struct xdotool_pressed){kind, code};
}

void xdotool_press_button(struct xdotool_run *run, int button, bool is_down)
{
	xdotool_note_pressed(run, XDOTOOL_BUTTON, (uint32_t)button, is_down);
	injector_button(run->hand->injector, run->ticket.source, button, is_down);
}

void xdotool_press_keycode(struct xdotool_run *run, uint8_t keycode, bool is_down)
{
	xdotool_note_pressed(run, XDOTOOL_KEYCODE, keycode, is_down);
	injector_key(run->hand->injector, run->ticket.source, keycode, is_down);
}

void xdotool_release_pressed(struct xdotool_run *run)
{
	while (run->pressed_count > 0) {
		const struct xdotool_pressed *pressed = &run->pressed[--run->pressed_count];
		if (pressed->kind == XDOTOOL_BUTTON)
			injector_button(run->hand->injector, run->ticket.source,
				(int)pressed->code, false);
		else if (pressed->kind == XDOTOOL_KEYCODE)
			injector_key(run->hand->injector, run->ticket.source,
				(uint8_t)pressed->code, false);
		else
			typist_keysym(run->hand->typist, run->ticket, false, pressed->code, NULL,
				NULL);
	}
}

/* Modifiers out of the way */

static bool is_lock(Display *dpy, KeyCode keycode)
{
	KeySym keysym = XkbKeycodeToKeysym(dpy, keycode, 0, 0);
	return keysym == XK_Caps_Lock || keysym == XK_Num_Lock || keysym == XK_Shift_Lock ||
	       keysym == XK_Scroll_Lock;
}

void xdotool_lift_modifiers(struct xdotool_run *run)
{
	Display *dpy = run->conn->dpy;
	char down[32];
	if (!xdotool_has_option(run->command, XDOTOOL_CLEAR_MODIFIERS) || run->conn->is_broken)
		return;
	XModifierKeymap *map = XGetModifierMapping(dpy);
	XQueryKeymap(dpy, down);
	for (int i = 0; map != NULL && i < 8 * map->max_keypermod; i++) {
		KeyCode keycode = map->modifiermap[i];
		if (keycode == 0 || (down[keycode / 8] & 1 << (keycode % 8)) == 0 ||
			is_lock(dpy, keycode) || run->lifted_count == XDOTOOL_LIFT_MAX)
			continue;
		injector_lift(run->hand->injector, keycode);
		down[keycode / 8] &= (char)~(1 << (keycode % 8));
		run->lifted[run->lifted_count++] = keycode;
	}
	if (map != NULL)
		XFreeModifiermap(map);
}

void xdotool_put_back_modifiers(struct xdotool_run *run)
{
	while (run->lifted_count > 0)
		injector_put_back(run->hand->injector, run->lifted[--run->lifted_count]);
}

/* The focus for --window */

static Window focus_now(struct xdotool_run *run)
{
	Window focus = None;
	int revert_to;
	if (!run->conn->is_broken)
		XGetInputFocus(run->conn->dpy, &focus, &revert_to);
	return focus;
}

/* Whether keys sent now reach the window. */
static bool has_focus(struct xdotool_run *run, Window focus, Window window)
{
	return focus != None && focus != PointerRoot &&
	       (window_is_inside(run->conn, focus, window) ||
		       (focus != run->conn->root && window_is_inside(run->conn, window, focus)));
}

/*
 * Keys for a window go to the focus by XTEST, since most programs ignore events that are sent to
 * them; so a window without the focus is given it for the time. The keys arrive behind its FocusIn.
 */
static bool take_focus(struct xdotool_run *run)
{
	Window focus = focus_now(run);
	if (run->window == None || has_focus(run, focus, run->window))
		return true;
	Window client = window_client(run->conn, run->window);
	if (client == None || !window_is_inside(run->conn, run->window, client))
		client = run->window; /* inside of a frame otherwise */
	int result = window_focus(run->conn, client);
	if (result != 0) {
		xdotool_fail(run, "window %lu %s: it cannot be given keys", run->window,
			window_error(result));
		return false;
	}
	run->focus_before = focus;
	run->focus_taken = client;
	return true;
}

void xdotool_give_back_focus(struct xdotool_run *run)
{
	Window taken = run->focus_taken;
	run->focus_taken = None;
	if (taken == None || run->conn->is_broken ||
		!window_is_inside(run->conn, focus_now(run), taken))
		return;
	xconn_trap(run->conn);
	XSetInputFocus(run->conn->dpy, run->focus_before, RevertToParent, CurrentTime);
	xconn_untrap(run->conn);
}

/* Strokes: keys that go down and up one by one */

static void stroke_next(struct xdotool_run *run);

static void add_stroke(struct xdotool_run *run, int kind, struct key key)
{
	run->strokes[run->stroke_count].kind = kind;
	run->strokes[run->stroke_count].is_keycode = key.is_keycode;
	run->strokes[run->stroke_count++].code = key.code;
}

static void stroke_next(struct xdotool_run *run)
{
	if (run->stroke_index == run->stroke_count) {
		run->after_strokes(run);
		return;
	}
	const struct xdotool_stroke *stroke = &run->strokes[run->stroke_index++];
	bool is_down = stroke->kind == XDOTOOL_DOWN;
	if (stroke->kind == XDOTOOL_PAUSE) {
		xdotool_after_ms(run, stroke->code, stroke_next);
	} else if (stroke->is_keycode) {
		xdotool_press_keycode(run, (uint8_t)stroke->code, is_down);
		stroke_next(run);
	} else {
		xdotool_note_pressed(run, XDOTOOL_KEYSYM, stroke->code, is_down);
		run->next = stroke_next;
		run->typist_id = typist_keysym(run->hand->typist, run->ticket, is_down,
			stroke->code, xdotool_on_typed, run);
	}
}

static void play_strokes(struct xdotool_run *run, xdotool_step after)
{
	run->stroke_index = 0;
	run->after_strokes = after;
	stroke_next(run);
}

/* key, keydown, keyup: all words, as often as wanted */

static void word_start(struct xdotool_run *run);

static int delay_ms(const struct xdotool_run *run)
{
	long delay = xdotool_option_number(run->command, XDOTOOL_DELAY, 0);
	return delay > TYPIST_HOLD_MAX_MS ? TYPIST_HOLD_MAX_MS : (int)delay;
}

static void keys_finish(struct xdotool_run *run)
{
	xdotool_put_back_modifiers(run);
	xdotool_give_back_focus(run);
	xdotool_succeed(run);
}

static void word_next(struct xdotool_run *run)
{
	run->word_index++;
	if (run->word_index < run->command->word_count) {
		word_start(run);
		return;
	}
	run->word_index = 0;
	if (--run->repeats_left <= 0) {
		keys_finish(run);
		return;
	}
	long pause_ms = xdotool_option_number(run->command, XDOTOOL_REPEAT_DELAY, 0);
	if (pause_ms > 0)
		xdotool_after_ms(run, pause_ms, word_start);
	else
		word_start(run);
}

/* The second half of the delay, behind the keys. */
static void word_pause(struct xdotool_run *run)
{
	int pause_ms = delay_ms(run) - delay_ms(run) / 2;
	if (pause_ms > 0)
		xdotool_after_ms(run, pause_ms, word_next);
	else
		word_next(run);
}

static void type_chord(struct xdotool_run *run, const struct sequence *sequence)
{
	struct key_chord chord = {.count = sequence->count};
	struct typist_key_options options = {
		.hold_ms = delay_ms(run) / 2,
		.clear_modifiers = xdotool_has_option(run->command, XDOTOOL_CLEAR_MODIFIERS),
		.shift_capitals = true,
	};
	for (int i = 0; i < sequence->count; i++)
		chord.keysyms[i] = sequence->keys[i].code;
	run->next = word_pause;
	run->typist_id = typist_key(
		run->hand->typist, run->ticket, &chord, &options, xdotool_on_typed, run);
}

static void word_start(struct xdotool_run *run)
{
	struct sequence sequence;
	const char *name = run->command->spec->name;
	free(parse_sequence(run->command->words[run->word_index], &sequence)); /* known to be good */
	bool is_down = strcmp(name, "keyup") != 0, is_up = strcmp(name, "keydown") != 0;
	if (is_down && is_up && !sequence.has_keycode) {
		type_chord(run, &sequence);
		return;
	}
	run->stroke_count = 0;
	if (is_down && is_up)
		xdotool_lift_modifiers(run);
	for (int i = 0; is_down && i < sequence.count; i++)
		add_stroke(run, XDOTOOL_DOWN, sequence.keys[i]);
	add_stroke(run, XDOTOOL_PAUSE, (struct key){false, (uint32_t)delay_ms(run) / 2});
	/* A chord comes up as it went down, reversed; keyup lets go in the order it is told. */
	for (int i = 0; is_up && i < sequence.count; i++)
		add_stroke(run, XDOTOOL_UP, sequence.keys[is_down ? sequence.count - 1 - i : i]);
	play_strokes(run, word_pause);
}

static bool has_typist(struct xdotool_run *run)
{
	if (run->hand->typist == NULL)
		xdotool_fail(run, "the X server lacks XKB or XTEST: there are no keys to press");
	return run->hand->typist != NULL;
}

static void keys_start(struct xdotool_run *run)
{
	if (!has_typist(run) || !take_focus(run))
		return;
	run->word_index = 0;
	run->repeats_left = (int)xdotool_option_number(run->command, XDOTOOL_REPEAT, 1);
	word_start(run);
}

void xdotool_do_key(struct xdotool_run *run)
{
	keys_start(run);
}

void xdotool_do_keydown(struct xdotool_run *run)
{
	xdotool_lift_modifiers(run);
	keys_start(run);
}

void xdotool_do_keyup(struct xdotool_run *run)
{
	xdotool_lift_modifiers(run);
	keys_start(run);
}

/* type */

char *xdotool_check_type(const struct xdotool_command *command)
{
	for (size_t i = 0; i < command->word_count; i++) {
		if (!utf8_is_valid(command->words[i], strlen(command->words[i])))
			return xstrdup("invalid multi-byte sequence: the text is no UTF-8; "
				       "nothing was typed");
	}
	return NULL;
}

/* What stands in the files, then the words, with nothing between. */
static bool gather_text(struct xdotool_run *run, struct buffer *out)
{
	const struct xdotool_command *command = run->command;
	for (size_t i = 0; i < command->given_count; i++) {
		if (command->given[i].option != XDOTOOL_FILE)
			continue;
		const struct xdotool_file *file = xdotool_find_file(run, command->given[i].value);
		if (file == NULL) {
			xdotool_fail(run, "Failed opening '%s': the caller reads the file and sends "
					  "it along, and has not",
				command->given[i].value);
			return false;
		}
		buffer_append(out, file->text, file->len);
	}
	for (size_t i = 0; i < command->word_count; i++)
		buffer_append(out, command->words[i], strlen(command->words[i]));
	return true;
}

void xdotool_do_type(struct xdotool_run *run)
{
	struct buffer text = {0};
	struct typist_text_options options = {.delay_ms = delay_ms(run)};
	if (!has_typist(run) || !take_focus(run))
		return;
	if (gather_text(run, &text)) {
		run->next = keys_finish;
		run->typist_id = typist_type(run->hand->typist, run->ticket, (char *)text.data,
			text.len, &options, xdotool_on_typed, run);
	}
	buffer_finish(&text);
}
