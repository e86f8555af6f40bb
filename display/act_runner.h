/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs batches of actions: one batch at a time, its actions in order, stopping at the first that
 * fails. Whatever a batch holds down at its end is let go (but for downs marked kept); after a
 * failure everything the agent holds is. Display thread only; nothing blocks.
 */
#ifndef DISPLAY_ACT_RUNNER_H
#define DISPLAY_ACT_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/action.h"
#include "display/frame_request.h"
#include "display/input_gate.h"

struct act_runner;
struct hand;

enum act_status {
	ACT_OK,
	ACT_LOCKED,     /* another source holds the screen (now) */
	ACT_NO_SCREEN,
	ACT_NO_INPUT,   /* the server has no XTEST or XKB */
	ACT_REFUSED,    /* this action cannot be done (no such key, nothing there) */
	ACT_STUCK,      /* the program under the focus does not take its keys */
	ACT_FAILED,
	ACT_CANCELED,
};

struct act_options {
	bool has_settle;
	int settle_quiet_ms, settle_timeout_ms;
	bool has_shot;
	struct frame_options shot; /* its wait is done before the picture is taken */
};

struct act_result {
	size_t typed, pasted;      /* type, paste: characters */
	bool has_point;            /* cursor_position */
	struct action_point point;
	enum frame_wait_end end;   /* wait_stable, wait_change */
	bool has_frame;            /* screenshot, zoom */
	struct frame_reply frame;
};

/* What came of a batch. The receiver takes it over: act_report_finish. */
struct act_report {
	enum act_status status;
	char message[256];          /* why not, for people; "" when OK */
	size_t done_count;          /* actions done; with a fault also the index of the one that failed */
	struct act_result *results; /* of the done ones */
	/* With has_settle or has_shot. What has gone back to what it was is no change. */
	struct rect changed;        /* holds all that differs from before the batch; may be empty */
	int64_t changed_at_ms;      /* first change seen, also of what went back; -1: none */
	int64_t settled_at_ms;      /* when it was quiet; -1: not asked for, or the time was over */
	struct rect still_changing; /* the time was over: what kept it from being quiet */
	bool has_shot;
	struct frame_reply shot;
	struct rect shot_changed;   /* like `changed`, of shot.area alone */
};
void act_report_finish(struct act_report *report);

/* Called once for every batch, never from inside act_runner_start. */
typedef void (*act_done)(void *arg, struct act_report *report);

/* The hand stays the caller's and outlives the runner. */
struct act_runner *act_runner_create(struct hand *hand);
/* Batches that are not done end with ACT_NO_SCREEN. Accepts NULL. */
void act_runner_destroy(struct act_runner *runner);

/*
 * Queues a batch. `list` is taken. `id` is the caller's, for cancelling. `ticket` (input_gate_agent):
 * of the moment the batch was asked for; it is refused when the screen has had another holder since.
 */
void act_runner_start(struct act_runner *runner, uint64_t id, struct action_list *list,
	const struct act_options *options, struct input_ticket ticket, act_done done, void *arg);

/* Ends a batch with ACT_CANCELED and lets go of all the agent holds; unknown ids are ignored. */
void act_runner_cancel(struct act_runner *runner, uint64_t id);

/* The holder of the screen changed: all batches end with ACT_LOCKED. */
void act_runner_lock_out(struct act_runner *runner);

#endif
