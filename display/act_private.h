/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What act_runner.c (batches, keys, waits), act_pointer.c (clicks, moves, drags) and act_settle.c (what
   came of them) share. */
#ifndef DISPLAY_ACT_PRIVATE_H
#define DISPLAY_ACT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "display/act_runner.h"
#include "display/drag_path.h"
#include "display/frame_feed.h"
#include "display/input_gate.h"

struct barrier;
struct frame;
struct loop_timer;

#define HELD_MAX 32

/* A button or key that the batch pressed by itself and has not released. */
struct held {
	bool is_button;
	uint32_t code; /* button number or keysym */
};

struct run {
	struct list link;
	struct act_runner *runner;
	uint64_t id;
	struct action_list list;
	struct act_options options;
	act_done done;
	void *arg;
	struct act_report report;
	struct input_ticket ticket;
	bool is_started;
	struct held held[HELD_MAX];
	int held_count;

	/* the action under way */
	int step;                  /* clicks, chords or path points done */
	struct drag_path path;
	int typist_pending;        /* requests whose `done` has not come */
	bool is_modified;          /* the modifiers are down */
	uint64_t frame_id;         /* 0: none */
	void (*after_typing)(struct run *run);

	/* changes since the batch began */
	struct frame *before;      /* own reference; NULL while nobody wants to know */
	struct frame_watch watch;
	int64_t start_us;
	int64_t synced_us;         /* when the server last answered, between actions */
};

struct act_runner {
	struct hand *hand;
	struct list runs; /* the first is under way */
	struct loop_timer *timer;
	void (*on_timer)(struct run *run);
	uint64_t next_frame_id;
	struct barrier *barrier;
	/* the newest click of an action: when, and where if that action said so */
	int64_t clicked_us;
	bool has_clicked_point;
	struct action_point clicked_point;
};

static inline struct run *act_current(struct act_runner *runner)
{
	return container_of(runner->runs.next, struct run, link);
}

static inline struct action *act_action(struct run *run)
{
	return &run->list.items[run->report.done_count];
}

/* The action under way is done: the next one follows. */
void act_action_done(struct run *run);
/* Hands the report over and frees the run. */
void act_finish(struct run *run);
/* Ends the batch with a failure; the run is gone. */
void act_fail(struct run *run, enum act_status status, const char *message);
/* The same because a frame was answered with this error. */
void act_fail_reading(struct run *run, int error);
/* Whether the batch may still act; ends it otherwise. */
bool act_may_act(struct run *run);
/* Calls then(run) from the loop unless the batch ends before. */
void act_after_ms(struct run *run, int64_t ms, void (*then)(struct run *run));
/* Remembers (or forgets) what the batch itself has pressed, to be let go at its end. */
void act_note_held(struct run *run, bool is_button, uint32_t code, bool is_down);
/* Presses (in order) or releases (reversed) the action's modifiers, then goes on with `then`. */
void act_send_modifiers(struct run *run, bool is_down, void (*then)(struct run *run));
/* Asks for a frame; `done` gets the run. */
void act_request_frame(
	struct run *run, const struct frame_options *options, frame_request_done done);

/* act_settle.c: before the first action, when the batch's effect is asked for: remembers how the screen
   looks and watches it. False when it cannot be read. */
bool act_watch_changes(struct run *run);
void act_unwatch(struct run *run);
/* Behind the last action: waits for quiet and takes the picture, as far as asked for, and finishes. */
void act_settle(struct run *run);

/* act_pointer.c: does a pointer action, its modifiers being down. */
void act_pointer(struct run *run);
/* Where the pointer is; false when the server has gone. */
bool act_read_pointer(struct run *run, struct action_point *out);

#endif
