/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/typist_paste.h"

#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "display/selection_owner.h"
#include "display/typist_private.h"
#include "display/xconn.h"

/*
 * Programs fetch the text within 1-8 ms of the chord, but a browser page that is busy drawing comes
 * to it seconds later. Only one that has not asked by then gets the other chord: a chord that is still
 * on its way would be served as well, and the text be there twice.
 */
#define FIRST_CHORD_MS  4000
#define SECOND_CHORD_MS 6000
/* No further request for so long means that the program has all it wants (Chromium asks twice). */
#define CALM_MS 30

enum chord { SHIFT_INSERT, CTRL_V };

/* All fields are owned by the display thread. */
struct paster {
	struct typist *typist;
	struct selection_owner *owner;
	bool is_active;
	enum chord chord;
	Window target;
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
	free(paster);
}

static void finish(struct typist *typist)
{
	struct paster *paster = typist->paster;
	long long since_us =
		clock_monotonic_us() - selection_owner_last_served_us(paster->owner);
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

static void press_chord(struct paster *paster, uint32_t modifier, uint32_t keysym)
{
	struct typist *typist = paster->typist;
	const struct keymap_table *table = keymap_get_table(typist->keymap);
	struct keymap_state state = typist->text_state;
	struct keymap_stroke stroke;
	uint8_t code = keymap_find_modifier(table, modifier);
	state.held = keymap_key_mods(table, code);
	if (code == 0 || !keymap_find_shortcut(table, keysym, &state, &stroke))
		return; /* no such key: the time for the answer runs out */
	injector_assist_key(typist->injector, code, true);
	injector_tap(typist->injector, stroke.keycode);
	injector_assist_key(typist->injector, code, false);
	XFlush(typist->conn->dpy);
}

static void on_not_served(struct typist *typist)
{
	struct paster *paster = typist->paster;
	if (!typist_may_act(typist))
		return;
	if (paster->chord == CTRL_V) {
		typist_finish_op(typist, TYPIST_PASTE_FAILED,
			"the program under the focus did not fetch the text that was to be pasted; "
			"%zu characters were typed",
			typist->running->result.typed);
		return;
	}
	paster->chord = CTRL_V;
	press_chord(paster, XK_Control_L, XK_v);
	typist_after_ms(typist, SECOND_CHORD_MS, on_not_served);
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
	paster->chord = SHIFT_INSERT;
	press_chord(paster, XK_Shift_L, XK_Insert);
	typist_after_ms(typist, FIRST_CHORD_MS, on_not_served);
}

void paster_paste(struct paster *paster, const uint32_t *chars, size_t count,
	void (*done)(struct typist *typist, size_t count))
{
	struct buffer text = {0};
	for (size_t i = 0; i < count; i++) {
		char bytes[4];
		buffer_append(&text, bytes, utf8_encode(chars[i], bytes));
	}
	paster->is_active = true;
	paster->count = count;
	paster->done = done;
	selection_owner_take(
		paster->owner, (const char *)text.data, text.len, on_ready, paster);
	buffer_finish(&text);
}

void paster_abandon(struct paster *paster)
{
	if (!paster->is_active)
		return;
	paster->is_active = false;
	selection_owner_give_back(paster->owner);
}
