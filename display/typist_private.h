/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by typist.c (queue), typist_text.c, typist_keys.c and typist_paste.c; nobody else. */
#ifndef DISPLAY_TYPIST_PRIVATE_H
#define DISPLAY_TYPIST_PRIVATE_H

#include "base/list.h"
#include "display/barrier.h"
#include "display/injector.h"
#include "display/keymap.h"
#include "display/modifier_lift.h"
#include "display/typist.h"

struct loop_timer;
struct paster;

enum typist_kind {
	TYPIST_TEXT,
	TYPIST_CHORD,
	TYPIST_KEYSYM,
	TYPIST_GIVE_BACK, /* our own: nobody needed the borrowed keycodes for a while */
};

struct typist_op {
	struct list link;
	uint64_t id;
	enum typist_kind kind;
	struct input_ticket ticket;
	typist_done done;
	void *done_arg;
	struct typist_result result;
	int map_changes_left; /* a guard against somebody who changes the map all the time */

	/* text */
	uint32_t *chars; /* owned */
	size_t count, position;
	size_t planned_end; /* up to here every character has a key in the map as written */
	size_t sent_since_barrier;
	bool needs_barrier; /* modifiers were lifted */
	unsigned map_changes_seen; /* keymap_foreign_changes() at the first key since the barrier */
	Window focus; /* at the last batch of keys; None: nobody had it */
	struct typist_text_options text_options;

	/* chord */
	struct key_chord chord;
	struct typist_key_options key_options;
	int presses_left;

	/* keysym */
	uint32_t keysym;
	uint8_t keycode; /* of a scan code, 0 without */
	bool is_down;
};

/* How Shift and AltGr were changed around a press. */
struct arrangement {
	uint8_t lifted[MODIFIER_LIFT_KEYS];
	int lifted_count;
	uint8_t pressed[2];
	int pressed_count;
};

/* A key that somebody holds through typist_keysym, or by KEYCODE_RECORD | keycode. */
#define KEYCODE_RECORD 0x80000000u
struct held_keysym {
	uint8_t source;
	uint8_t keycode;
	uint32_t keysym;
};
#define HELD_KEYSYMS_MAX 128

/* All fields are owned by the display thread. */
struct typist {
	const struct deeds *deeds; /* NULL: nobody is told */
	struct xconn *conn;
	struct injector *injector;
	const struct input_gate *gate;
	struct typist_config config;
	struct keymap *keymap;
	struct barrier *barrier;
	struct paster *paster;

	struct list queue;         /* of typist_op */
	struct typist_op *running; /* not in the queue */
	uint64_t last_id;
	struct loop_timer *dispatch_timer, *wait_timer, *quiet_timer;
	void (*next)(struct typist *typist); /* what follows the barrier or wait */
	void (*after_map_change)(struct typist *typist);
	bool is_soft_barrier;  /* its running out of time is no failure */
	int64_t focus_limit_us;     /* until when the focus may take to follow a click */
	unsigned seen_presses; /* injector_press_count() that has been waited for */

	struct modifier_lift lift;
	uint8_t text_mods; /* Shift and AltGr that the text holds now */
	struct keymap_state text_state;

	uint8_t chord_codes[KEY_CHORD_MAX]; /* pressed by the running chord, in order */
	int chord_count;
	struct arrangement chord_arrangement;

	struct held_keysym held[HELD_KEYSYMS_MAX];
	int held_count;
	bool passes_locks[INPUT_SOURCE_MAX + 1];
	struct {
		bool is_kept; /* a person has, or had, the screen since the agent */
		uint8_t modifiers, group;
	} agents_locks;
};

/* Ends the running request with this status; a sentence may be given by format. */
void typist_finish_op(struct typist *typist, enum typist_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Whether the running request may still act; else it has been ended. */
bool typist_may_act(struct typist *typist);

/* Each calls next(typist) later, unless the request is ended before. */
void typist_after_barrier(struct typist *typist, void (*next)(struct typist *typist));
/* At most limit_ms, and running out of it is all right. */
void typist_after_soft_barrier(
	struct typist *typist, int limit_ms, void (*next)(struct typist *typist));
void typist_after_ms(struct typist *typist, int delay_ms, void (*next)(struct typist *typist));
/* Barrier, one map change with all dirty slots, barrier. */
void typist_change_map(struct typist *typist, void (*next)(struct typist *typist));
/* The borrowed keycodes were used just now. */
void typist_note_slot_use(struct typist *typist);

/* Bring about what the kind needs; and let go of what a request that is ended early has changed. */
void typist_text_start(struct typist *typist);
void typist_text_abandon(struct typist *typist);
/* Decodes and checks; fills op->result when the text is refused. */
void typist_text_parse(struct typist_op *op, const char *text, size_t len);

void typist_chord_start(struct typist *typist);
void typist_chord_abandon(struct typist *typist);
void typist_keysym_start(struct typist *typist);
void typist_forget_source(struct typist *typist, uint8_t source);

/* The key at which a claimed slot is reached under these locks. */
struct keymap_stroke typist_slot_stroke(
	const struct keymap_slot *slot, const struct keymap_state *state);

#endif
