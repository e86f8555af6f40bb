/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/typist_paste.h"

#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "display/family_load.h"
#include "display/selection_owner.h"
#include "display/typist_private.h"
#include "display/xconn.h"

/*
 * Programs fetch the text within 1-8 ms of the chord. A browser page that is behind in drawing,
 * though, comes to it seconds later, and Chromium refuses a paste that it comes to more than 5 s
 * after the key (its limit for acting on a user's gesture; seen once in six long texts under load)
 * without asking us. So the program must have caught up before the chord, which is pressed once: a
 * second one for a program that only was slow (stopped, swapped out) puts the text there twice.
 */
#define FETCH_LIMIT_MS 10000
/*
 * A chord that nobody answered to may still lie in the program's queue. Until it has come past it,
 * and Chromium's limit above, it gets nothing from us; so long when it cannot be asked.
 */
#define LATE_FETCH_MS 6000
#define REFUSE_MS     30000
/* Calm is: three looks in a row at which none wants a processor and 20 ms of it were used between.
 */
#define CALM_LOOK_MS 60
#define CALM_LOOKS   3
#define CALM_LOAD_US 20000
/* For a program that always works (a page with a film). */
#define CALM_LIMIT_US 20000000
/* So few characters no page is long busy with. */
#define CALM_FREE_CHARS 64

/*
 * No further request for so long means that the program has all it wants (Chromium asks twice), unless
 * it waits for a processor meanwhile: on a busy machine the second one came after the text had been
 * given back, and a whole paste was empty. A page that always works is not waited for longer.
 */
#define CALM_MS         30
#define BUSY_FETCH_US   2000000

/* All fields are owned by the display thread. */
struct paster {
	struct typist *typist;
	struct selection_owner *owner;
	bool is_active;
	bool is_chord_out; /* pressed, and not yet known to be done with */
	Window target;     /* where the focus was at the chord */
	struct buffer text;

	Window refused;           /* whose program gets nothing until refuse_timer; None: nobody's */
	struct barrier *catch_up; /* of that program */
	struct loop_timer *refuse_timer;

	size_t calm_at; /* characters typed when the program was last seen calm */
	bool is_calm_needed;
	pid_t pid; /* of the program, -1 when unknown */
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

static void end_refusal(void *arg)
{
	struct paster *paster = arg;
	barrier_cancel(paster->catch_up);
	loop_timer_disarm(paster->refuse_timer);
	paster->refused = None;
	selection_owner_refuse(paster->owner, None);
}

static void on_caught_up(void *arg, enum barrier_outcome outcome)
{
	struct paster *paster = arg;
	if (outcome == BARRIER_TIMED_OUT)
		barrier_begin_on(
			paster->catch_up, paster->refused, REFUSE_MS, on_caught_up, paster);
	else
		loop_timer_arm(paster->refuse_timer,
			outcome == BARRIER_PASSED ? LATE_FETCH_MS : REFUSE_MS);
}

static void begin_refusal(struct paster *paster)
{
	end_refusal(paster);
	paster->is_chord_out = false;
	paster->is_calm_needed = true;
	paster->refused = paster->target;
	selection_owner_refuse(paster->owner, paster->refused);
	barrier_begin_on(paster->catch_up, paster->refused, REFUSE_MS, on_caught_up, paster);
}

struct paster *paster_create(struct typist *typist)
{
	struct paster *paster = xcalloc(1, sizeof(*paster));
	paster->typist = typist;
	paster->catch_up = barrier_create(typist->conn);
	paster->refuse_timer = loop_timer_create(typist->conn->loop, end_refusal, paster);
	paster->owner = selection_owner_create(typist->conn);
	return paster;
}

void paster_destroy(struct paster *paster)
{
	if (paster == NULL)
		return;
	selection_owner_destroy(paster->owner);
	barrier_destroy(paster->catch_up);
	loop_timer_destroy(paster->refuse_timer);
	buffer_finish(&paster->text);
	free(paster);
}

/* Whether the program may ask once more. */
static bool is_fetching(const struct paster *paster)
{
	int64_t since_us = clock_monotonic_us() - selection_owner_last_served_us(paster->owner);
	struct family_load load;
	if (since_us < CALM_MS * 1000)
		return true;
	return since_us < BUSY_FETCH_US &&
	       family_load_look(barrier_window_pid(paster->typist->barrier, paster->target), &load) &&
	       load.is_runnable;
}

static void finish(struct typist *typist)
{
	struct paster *paster = typist->paster;
	if (is_fetching(paster)) {
		typist_after_ms(typist, CALM_MS, finish);
		return;
	}
	paster->is_active = false;
	paster->is_chord_out = false;
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
		paster->is_calm_needed = false;
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

static void give_up(struct typist *typist)
{
	typist_finish_op(typist, TYPIST_PASTE_FAILED,
		"the program under the focus did not fetch the text that was to be pasted; "
		"%zu characters were typed",
		typist->running->result.typed);
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
	paster->target = barrier_focus_window(typist->conn);
	selection_owner_watch(paster->owner, paster->target, on_served, paster);
	paster->is_chord_out = press_chord(paster);
	if (paster->is_chord_out)
		typist_after_ms(typist, FETCH_LIMIT_MS, give_up);
	else
		typist_finish_op(typist, TYPIST_PASTE_FAILED,
			"this keyboard has no Shift and Insert to paste with");
}

/* The program has taken all earlier keys, an earlier chord as well. */
static void take_selections(struct typist *typist)
{
	struct paster *paster = typist->paster;
	if (selection_is_same_client(paster->refused, barrier_focus_window(typist->conn)))
		end_refusal(paster);
	selection_owner_take(
		paster->owner, (const char *)paster->text.data, paster->text.len, on_ready, paster);
}

/* Before the selections are taken: the program may own one and has to tell what it holds. */
static void take_when_caught_up(struct typist *typist)
{
	typist_after_barrier(typist, take_selections);
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
	if (paster->is_calm_needed || position - paster->calm_at > CALM_FREE_CHARS)
		await_calm(paster, take_when_caught_up);
	else
		take_when_caught_up(paster->typist);
}

void paster_abandon(struct paster *paster)
{
	if (!paster->is_active)
		return;
	paster->is_active = false;
	if (paster->is_chord_out)
		begin_refusal(paster);
	selection_owner_give_back(paster->owner);
}
