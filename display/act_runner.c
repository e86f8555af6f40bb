/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/act_private.h"

#include <X11/Xlib.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/loop.h"
#include "display/barrier.h"
#include "display/drag_path.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/input_gate.h"
#include "display/typist.h"
#include "display/xconn.h"

/* Between actions the server is asked to answer at least so often. */
#define SYNC_INTERVAL_US 50000

static void step_action(struct run *run);
static void resume(void *arg);
static void end_actions(struct run *run);

void act_report_finish(struct act_report *report)
{
	for (size_t i = 0; report->results != NULL && i < report->done_count; i++) {
		if (report->results[i].has_frame)
			frame_reply_finish(&report->results[i].frame);
	}
	free(report->results);
	report->results = NULL;
	if (report->has_shot)
		frame_reply_finish(&report->shot);
	report->has_shot = false;
}

static void start_next_soon(struct act_runner *runner);

void act_finish(struct run *run)
{
	struct act_runner *runner = run->runner;
	act_unwatch(run);
	list_remove(&run->link);
	loop_timer_disarm(runner->timer);
	run->done(run->arg, &run->report);
	action_list_finish(&run->list);
	drag_path_finish(&run->path);
	free(run);
	start_next_soon(runner);
}

/* What is under way is given up; everything the agent holds is let go. */
static void drop_work(struct run *run)
{
	struct hand *hand = run->runner->hand;
	run->after_typing = NULL;
	loop_timer_disarm(run->runner->timer);
	barrier_cancel(run->runner->barrier);
	if (run->frame_id != 0)
		frame_request_drop(hand->requests, run->frame_id);
	run->frame_id = 0;
	if (hand->typist != NULL && run->is_started)
		typist_drop_source(hand->typist, INPUT_SOURCE_AGENT);
}

void act_fail(struct run *run, enum act_status status, const char *message)
{
	run->report.status = status;
	snprintf(run->report.message, sizeof(run->report.message), "%s", message);
	drop_work(run);
	act_finish(run);
}

void act_fail_reading(struct run *run, int error)
{
	act_fail(run, error == -ENOTCONN ? ACT_NO_SCREEN : ACT_FAILED, "the screen cannot be read");
}

void act_after_ms(struct run *run, int64_t ms, void (*then)(struct run *run))
{
	run->runner->on_timer = then;
	loop_timer_arm(run->runner->timer, ms);
}

static void on_timer(void *arg)
{
	struct act_runner *runner = arg;
	if (!list_is_empty(&runner->runs) && runner->on_timer != NULL) {
		void (*then)(struct run *run) = runner->on_timer;
		runner->on_timer = NULL;
		then(act_current(runner));
	}
}

/* Whether the batch may still act; ends it otherwise. */
bool act_may_act(struct run *run)
{
	if (input_gate_admits(run->runner->hand->gate, run->ticket))
		return true;
	act_fail(run, ACT_LOCKED, "a person has taken the screen over");
	return false;
}

void act_action_done(struct run *run)
{
	run->report.done_count++;
	run->step = 0;
	drag_path_finish(&run->path);
	step_action(run);
}

static enum act_status status_of_typist(enum typist_status status)
{
	switch (status) {
	case TYPIST_BAD_TEXT:
	case TYPIST_NO_KEY:
		return ACT_REFUSED;
	case TYPIST_NOT_HOLDER:
		return ACT_LOCKED;
	case TYPIST_STUCK:
	case TYPIST_PASTE_FAILED:
		return ACT_STUCK;
	default:
		return ACT_FAILED;
	}
}

/* The typist calls this for each request; the run may be gone (its requests were canceled then). */
static void on_typed(void *arg, const struct typist_result *result)
{
	struct act_runner *runner = arg;
	if (list_is_empty(&runner->runs) || result->status == TYPIST_CANCELED)
		return;
	struct run *run = act_current(runner);
	if (run->typist_pending == 0)
		return;
	run->typist_pending--;
	if (result->status != TYPIST_OK) {
		act_fail(run, status_of_typist(result->status), result->message);
		return;
	}
	struct act_result *out = &run->report.results[run->report.done_count];
	out->typed += result->typed;
	out->pasted += result->pasted;
	if (run->typist_pending == 0 && run->after_typing != NULL) {
		void (*then)(struct run *run) = run->after_typing;
		run->after_typing = NULL;
		then(run);
	}
}

void act_note_held(struct run *run, bool is_button, uint32_t code, bool is_down)
{
	for (int i = 0; i < run->held_count; i++) {
		if (run->held[i].is_button == is_button && run->held[i].code == code)
			run->held[i--] = run->held[--run->held_count];
	}
	if (is_down && run->held_count < HELD_MAX)
		run->held[run->held_count++] = (struct held){is_button, code};
}

static void send_keysym(struct run *run, uint32_t keysym, bool is_down)
{
	run->typist_pending++;
	typist_keysym(run->runner->hand->typist, run->ticket, is_down, keysym, on_typed, run->runner);
}

/* Presses (in order) or releases (reversed) the action's modifiers, then goes on with `then`. */
void act_send_modifiers(struct run *run, bool is_down, void (*then)(struct run *run))
{
	const struct key_chord *chord = &act_action(run)->modifiers;
	run->is_modified = is_down;
	run->after_typing = then;
	for (int i = 0; i < chord->count; i++)
		send_keysym(run, chord->keysyms[is_down ? i : chord->count - 1 - i], is_down);
}

static void press_chord(struct run *run)
{
	struct action *action = act_action(run);
	if ((size_t)run->step == action->chord_count) {
		act_action_done(run);
		return;
	}
	const struct typist_key_options options = {
		.repeat = action->count, .hold_ms = action->duration_ms};
	run->after_typing = press_chord;
	run->typist_pending++;
	typist_key(run->runner->hand->typist, run->ticket, &action->chords[run->step++], &options,
		on_typed, run->runner);
}

static void do_key_edge(struct run *run, bool is_down)
{
	struct action *action = act_action(run);
	run->after_typing = act_action_done;
	for (size_t i = 0; i < action->chord_count; i++) {
		const struct key_chord *chord = &action->chords[i];
		for (int k = 0; k < chord->count; k++) {
			uint32_t keysym = chord->keysyms[is_down ? k : chord->count - 1 - k];
			act_note_held(run, false, keysym, is_down && !action->is_kept);
			send_keysym(run, keysym, is_down);
		}
	}
}

static void do_type(struct run *run)
{
	struct action *action = act_action(run);
	const struct typist_text_options options = {
		.via_paste = action->via_paste, .delay_ms = action->delay_ms};
	run->after_typing = act_action_done;
	run->typist_pending++;
	typist_type(run->runner->hand->typist, run->ticket, action->text, action->text_len, &options,
		on_typed, run->runner);
}

void act_request_frame(
	struct run *run, const struct frame_options *options, frame_request_done done)
{
	struct act_runner *runner = run->runner;
	/* Ids with the top bit set: apart from those of the screen's own requests. */
	uint64_t id = ++runner->next_frame_id | (uint64_t)1 << 63;
	run->frame_id = id;
	frame_request_start(runner->hand->requests, runner->hand->loop, id, options, done, run);
}

static void on_action_frame(void *arg, struct frame_reply *reply)
{
	struct run *run = arg;
	struct act_result *out = &run->report.results[run->report.done_count];
	enum action_type type = act_action(run)->type;
	run->frame_id = 0;
	if (reply->error != 0) {
		act_fail_reading(run, reply->error);
		return;
	}
	out->end = reply->end;
	if (type == ACTION_SCREENSHOT || type == ACTION_ZOOM) {
		out->has_frame = true;
		out->frame = *reply;
	} else {
		frame_reply_finish(reply);
	}
	act_action_done(run);
}

static void do_frame(struct run *run)
{
	struct action *action = act_action(run);
	struct frame_options options = {
		.quiet_ms = action->quiet_ms, .timeout_ms = action->timeout_ms};
	if (action->type == ACTION_WAIT_STABLE)
		options.wait = FRAME_WAIT_STABLE;
	else if (action->type == ACTION_WAIT_CHANGE)
		options.wait = FRAME_WAIT_CHANGE;
	if (action->type == ACTION_ZOOM) {
		options.area = FRAME_AREA_REGION;
		options.region = action->region;
	}
	act_request_frame(run, &options, on_action_frame);
}

static void do_cursor_position(struct run *run)
{
	struct act_result *out = &run->report.results[run->report.done_count];
	out->has_point = act_read_pointer(run, &out->point);
	if (out->has_point)
		act_action_done(run);
	else
		act_fail(run, ACT_NO_SCREEN, "the X server has gone");
}

static void do_action(struct run *run)
{
	struct action *action = act_action(run);
	switch (action->type) {
	case ACTION_MOVE:
	case ACTION_CLICK:
	case ACTION_BUTTON_DOWN:
	case ACTION_BUTTON_UP:
	case ACTION_DRAG:
	case ACTION_SCROLL:
		if (action->modifiers.count > 0)
			act_send_modifiers(run, true, act_pointer);
		else
			act_pointer(run);
		break;
	case ACTION_KEY:
	case ACTION_HOLD_KEY:
		press_chord(run);
		break;
	case ACTION_KEY_DOWN:
	case ACTION_KEY_UP:
		do_key_edge(run, action->type == ACTION_KEY_DOWN);
		break;
	case ACTION_TYPE:
	case ACTION_PASTE:
		do_type(run);
		break;
	case ACTION_WAIT:
		act_after_ms(run, action->duration_ms, act_action_done);
		break;
	case ACTION_WAIT_STABLE:
	case ACTION_WAIT_CHANGE:
	case ACTION_SCREENSHOT:
	case ACTION_ZOOM:
		do_frame(run);
		break;
	case ACTION_CURSOR_POSITION:
		do_cursor_position(run);
		break;
	}
}

/* Begins the next action. Long runs of actions that are done at once go through the loop now and
   then, so that neither the stack grows nor others wait. */
static void step_action(struct run *run)
{
	enum { ACTIONS_PER_TURN = 16 };
	if (run->report.done_count == run->list.count) {
		end_actions(run);
		return;
	}
	if (!act_may_act(run))
		return;
	/* Nothing is left lying in the connection to a server that has stopped meanwhile. */
	if (clock_monotonic_us() - run->synced_us > SYNC_INTERVAL_US) {
		bool was_slow = xconn_was_slow(run->runner->hand->conn);
		run->synced_us = clock_monotonic_us();
		if (was_slow) {
			loop_post(run->runner->hand->loop, resume, run->runner);
			return;
		}
	}
	if (run->report.done_count % ACTIONS_PER_TURN == ACTIONS_PER_TURN - 1)
		act_after_ms(run, 0, do_action);
	else
		do_action(run);
}

/* After the posts that came while the server did not answer: the batch may be gone. */
static void resume(void *arg)
{
	struct act_runner *runner = arg;
	if (!list_is_empty(&runner->runs) && act_current(runner)->is_started)
		step_action(act_current(runner));
}

/* All actions are done: what the batch still holds goes up, latest first. */
static void end_actions(struct run *run)
{
	while (run->held_count > 0) {
		struct held held = run->held[--run->held_count];
		if (held.is_button)
			injector_button(run->runner->hand->injector, INPUT_SOURCE_AGENT,
				(int)held.code, false);
		else
			send_keysym(run, held.code, false);
	}
	/* A reply means that the server has it all. */
	if (!run->runner->hand->conn->is_broken)
		XSync(run->runner->hand->conn->dpy, False);
	if (run->typist_pending > 0)
		run->after_typing = act_settle;
	else
		act_settle(run);
}

static void start(struct run *run)
{
	struct hand *hand = run->runner->hand;
	run->start_us = clock_monotonic_us();
	if (!input_gate_admits(hand->gate, run->ticket)) {
		act_fail(run, ACT_LOCKED, "a person holds the screen, or has held it since");
		return;
	}
	run->is_started = true;
	if (hand->typist == NULL)
		act_fail(run, ACT_NO_INPUT,
			"input is not possible: the X server lacks the XTEST or XKEYBOARD extension");
	else if (!act_watch_changes(run))
		act_fail(run, ACT_NO_SCREEN, "the X server has gone");
	else
		step_action(run);
}

static void start_next_soon(struct act_runner *runner)
{
	if (list_is_empty(&runner->runs))
		return;
	runner->on_timer = start;
	loop_timer_arm(runner->timer, 0);
}

struct act_runner *act_runner_create(struct hand *hand)
{
	struct act_runner *runner = xcalloc(1, sizeof(*runner));
	runner->hand = hand;
	list_init(&runner->runs);
	runner->timer = loop_timer_create(hand->loop, on_timer, runner);
	runner->barrier = barrier_create(hand->conn);
	return runner;
}

static void end_all(struct act_runner *runner, enum act_status status, const char *message)
{
	struct list runs;
	list_init(&runs);
	/* Apart first: the end of one must not start the next. */
	while (!list_is_empty(&runner->runs)) {
		struct list *first = runner->runs.next;
		list_remove(first);
		list_append(&runs, first);
	}
	struct run *run, *tmp;
	list_for_each_safe(run, tmp, &runs, link)
		act_fail(run, status, message);
}

void act_runner_destroy(struct act_runner *runner)
{
	if (runner == NULL)
		return;
	end_all(runner, ACT_NO_SCREEN, "the X server has gone");
	barrier_destroy(runner->barrier);
	loop_timer_destroy(runner->timer);
	free(runner);
}

void act_runner_start(struct act_runner *runner, uint64_t id, struct action_list *list,
	const struct act_options *options, struct input_ticket ticket, act_done done, void *arg)
{
	bool is_first = list_is_empty(&runner->runs);
	struct run *run = xcalloc(1, sizeof(*run));
	run->runner = runner;
	run->id = id;
	run->list = *list;
	*list = (struct action_list){0};
	run->options = *options;
	run->ticket = ticket;
	run->done = done;
	run->arg = arg;
	run->report.changed_at_ms = run->report.settled_at_ms = -1;
	/* One more than there are actions: letting go at the end types nothing, but reports too. */
	run->report.results = xcalloc(run->list.count + 1, sizeof(run->report.results[0]));
	list_init(&run->watch.link);
	list_append(&runner->runs, &run->link);
	if (is_first)
		start_next_soon(runner);
}

void act_runner_cancel(struct act_runner *runner, uint64_t id)
{
	struct run *run, *tmp;
	list_for_each_safe(run, tmp, &runner->runs, link) {
		if (run->id == id) {
			act_fail(run, ACT_CANCELED, "canceled");
			return;
		}
	}
}

void act_runner_lock_out(struct act_runner *runner)
{
	end_all(runner, ACT_LOCKED, "a person has taken the screen over");
}
