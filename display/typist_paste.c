/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/typist_paste.h"

#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "display/family_load.h"
#include "display/selection_owner.h"
#include "display/typist_private.h"
#include "display/xconn.h"

/*
 * Programs fetch the text within 1-8 ms of the chord. A browser page that is behind in drawing,
 * though, comes to it seconds later, and Chromium refuses a paste that it comes to more than 5 s
 * after the key (its limit for acting on a user's gesture; seen once in six long texts under load)
 * without asking us. So the page must have caught up before the chord, and a second chord is
 * pressed only when nobody has asked and nothing is at work any more: else both would be served,
 * and the text be there twice.
 */
#define CHORD_PATIENCE_MS 6000
#define CHORDS_MAX        3
/* Calm is: three looks in a row at which none wants a processor and 20 ms of it were used between.
 */
#define CALM_LOOK_MS 60
#define CALM_LOOKS   3
#define CALM_LOAD_US 20000
/* For a program that always works (a page with a film). */
#define CALM_LIMIT_US 20000000
/* So few characters no page is long busy with. */
#define CALM_FREE_CHARS 64

/* No further request for so long means that the program has all it wants (Chromium asks twice). */
#define CALM_MS 30

/* All fields are owned by the display thread. */
struct paster {
	struct typist *typist;
	struct selection_owner *owner;
	bool is_active;
	int chords_left;
	struct buffer text;
	size_t calm_at; /* characters typed when the program was last seen calm */
	pid_t pid;      /* of the program, -1 when unknown */
	int calm_looks;
	int64_t last_used_us, calm_limit_us;
	void (*after_calm)(struct typist *typist);
	size_t count;
	void (*done)(struct typist *typist, size_t count);
};

bool paste_is_needed(uint32_t code_point)
{
	/* GTK 3, and Chromium through it, cut keysyms to 16 bits, where these turn into dead keys,
	   Multi_key and a Greek accent; xterm and Qt split the Arabic ligatures. */
	return code_point == 0x07ae || (code_point >= 0xfe50 && code_point <= 0xfe8c) ||
	       code_point == 0xff20 || code_point == 0xfef5 || code_point == 0xfef7 ||
	       code_point == 0xfef9 || code_point == 0xfefb;
}

struct paster *paster_create(struct typist *typist)
{
	struct paster *paster = xcalloc(1, sizeof(*paster));
	paster->typist = typist;
	paster->owner = selection_owner_create(typist->conn);
	return paster;
}

void paster_destroy(struct paster *paster)
{
	if (paster == NULL)
		return;
	selection_owner_destroy(paster->owner);
	buffer_finish(&paster->text);
	free(paster);
}

static void finish(struct typist *typist)
{
	struct paster *paster = typist->paster;
	long long since_us = clock_monotonic_us() - selection_owner_last_served_us(paster->owner);
	if (since_us < CALM_MS * 1000) {
		typist_after_ms(typist, CALM_MS, finish);
		return;
	}
	paster->is_active = false;
	selection_owner_give_back(paster->owner);
	paster->done(typist, paster->count);
}

static void after_served(struct typist *typist)
{
	typist_after_barrier(typist, finish);
}

static void on_served(void *arg)
{
	struct paster *paster = arg;
	typist_after_ms(paster->typist, 0, after_served);
}

/*
 * Shift+Insert: terminals, GTK, Qt, Chromium, Firefox and Emacs all paste on it, some from PRIMARY
 * and some from CLIPBOARD. Ctrl+V is another thing in terminals and Emacs.
 */
static bool press_chord(struct paster *paster)
{
	struct typist *typist = paster->typist;
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	struct keymap_state state = typist->text_state;
	struct keymap_stroke stroke;
	state.held = ShiftMask;
	if (table->shift_keycode == 0 || !keymap_find_shortcut(table, XK_Insert, &state, &stroke))
		return false;
	modifier_lift_free_key(&typist->lift, typist->injector, stroke.keycode);
	injector_assist_key(typist->injector, table->shift_keycode, true);
	injector_tap(typist->injector, stroke.keycode);
	injector_assist_key(typist->injector, table->shift_keycode, false);
	XFlush(typist->conn->dpy);
	return true;
}

static void look_for_calm(struct typist *typist)
{
	struct paster *paster = typist->paster;
	struct family_load load;
	bool is_seen = family_load_look(paster->pid, &load);
	bool is_calm =
		is_seen && !load.is_runnable && load.used_us - paster->last_used_us <= CALM_LOAD_US;
	paster->last_used_us = load.used_us;
	paster->calm_looks = is_calm ? paster->calm_looks + 1 : 0;
	if (paster->calm_looks >= CALM_LOOKS || !is_seen ||
		clock_monotonic_us() > paster->calm_limit_us) {
		paster->calm_at = typist->running->position;
		paster->after_calm(typist);
		return;
	}
	typist_after_ms(typist, CALM_LOOK_MS, look_for_calm);
}

static void await_calm(struct paster *paster, void (*next)(struct typist *typist))
{
	struct typist *typist = paster->typist;
	paster->after_calm = next;
	paster->calm_looks = 0;
	paster->last_used_us = 0; /* the first look only sets it */
	paster->calm_limit_us = clock_monotonic_us() + CALM_LIMIT_US;
	paster->pid = barrier_window_pid(typist->barrier, barrier_focus_window(typist->conn));
	look_for_calm(typist);
}

static void press_or_give_up(struct typist *typist);

static void press_again(struct typist *typist)
{
	await_calm(typist->paster, press_or_give_up);
}

static void press_or_give_up(struct typist *typist)
{
	struct paster *paster = typist->paster;
	if (!typist_may_act(typist))
		return;
	if (paster->chords_left-- == 0)
		typist_finish_op(typist, TYPIST_PASTE_FAILED,
			"the program under the focus did not fetch the text that was to be pasted; "
			"%zu characters were typed",
			typist->running->result.typed);
	else if (press_chord(paster))
		typist_after_ms(typist, CHORD_PATIENCE_MS, press_again);
	else
		typist_finish_op(typist, TYPIST_PASTE_FAILED,
			"this keyboard has no Shift and Insert to paste with");
}

static void on_ready(void *arg, bool is_owned)
{
	struct paster *paster = arg;
	struct typist *typist = paster->typist;
	if (!typist_may_act(typist))
		return;
	if (!is_owned) {
		typist_finish_op(typist, TYPIST_PASTE_FAILED,
			"the clipboard could not be taken for pasting");
		return;
	}
	Window target = barrier_focus_window(typist->conn);
	selection_owner_watch(paster->owner, target, on_served, paster);
	paster->chords_left = CHORDS_MAX;
	press_or_give_up(typist);
}

static void take_selections(struct typist *typist)
{
	struct paster *paster = typist->paster;
	selection_owner_take(
		paster->owner, (const char *)paster->text.data, paster->text.len, on_ready, paster);
}

void paster_paste(struct paster *paster, const uint32_t *chars, size_t count,
	void (*done)(struct typist *typist, size_t count))
{
	paster->text.len = 0;
	for (size_t i = 0; i < count; i++) {
		char bytes[4];
		buffer_append(&paster->text, bytes, utf8_encode(chars[i], bytes));
	}
	paster->is_active = true;
	paster->count = count;
	paster->done = done;
	size_t position = paster->typist->running->position;
	if (position < paster->calm_at)
		paster->calm_at = 0; /* another text */
	if (position - paster->calm_at > CALM_FREE_CHARS)
		await_calm(paster, take_selections);
	else
		take_selections(paster->typist);
}

void paster_abandon(struct paster *paster)
{
	if (!paster->is_active)
		return;
	paster->is_active = false;
	selection_owner_give_back(paster->owner);
}
