/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/act_runner.h"

#include <X11/Xlib.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/loop.h"
#include "display/barrier.h"
#include "display/drag_path.h"
#include "display/frame.h"
#include "display/frame_feed.h"
#include "display/grabber.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/input_gate.h"
#include "display/typist.h"
#include "display/xconn.h"

/* Between the clicks of one double or triple click: toolkits count up to 200–500 ms as one. */
#define CLICK_PAUSE_MS 30
/* While changes are watched for, the screen is read at most this often. */
#define WATCH_INTERVAL_MS 10
/* Between actions the server is asked to answer at least so often. */
#define SYNC_INTERVAL_US 50000
#define HELD_MAX 32
/* How long the program under the end of a drag may take to take it in before the button goes up. */
#define DROP_WAIT_MS 1000

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
	uint64_t typist_id;        /* newest request; 0: none */
	int typist_pending;        /* requests whose `done` has not come */
	bool is_modified;          /* the modifiers are down */
	uint64_t frame_id;         /* 0: none */
	void (*after_typing)(struct run *run);

	/* changes since the batch began */
	bool is_watching;
	struct frame_watch watch;
	uint64_t start_serial;
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
};

static void step_action(struct run *run);
static void resume(void *arg);
static void end_actions(struct run *run);

static struct run *current(struct act_runner *runner)
{
	return container_of(runner->runs.next, struct run, link);
}

static struct action *current_action(struct run *run)
{
	return &run->list.items[run->report.done_count];
}

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

static void unwatch(struct run *run)
{
	if (run->is_watching)
		frame_feed_remove(run->runner->hand->requests->feed, &run->watch);
	run->is_watching = false;
}

/* Hands the report over and frees the run. */
static void finish(struct run *run)
{
	struct act_runner *runner = run->runner;
	unwatch(run);
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

static void fail(struct run *run, enum act_status status, const char *message)
{
	run->report.status = status;
	snprintf(run->report.message, sizeof(run->report.message), "%s", message);
	drop_work(run);
	finish(run);
}

static int64_t since_start_ms(const struct run *run)
{
	return (clock_monotonic_us() - run->start_us) / 1000;
}

static void wait_ms(struct run *run, int64_t ms, void (*then)(struct run *run))
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
		then(current(runner));
	}
}

/* Whether the batch may still act; ends it otherwise. */
static bool may_act(struct run *run)
{
	if (input_gate_admits(run->runner->hand->gate, run->ticket))
		return true;
	fail(run, ACT_LOCKED, "a person has taken the screen over");
	return false;
}

static void action_done(struct run *run)
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
	struct run *run = current(runner);
	if (run->typist_pending == 0)
		return;
	run->typist_pending--;
	if (result->status != TYPIST_OK) {
		fail(run, status_of_typist(result->status), result->message);
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

static void note_held(struct run *run, bool is_button, uint32_t code, bool is_down)
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
	run->typist_id = typist_keysym(run->runner->hand->typist, run->ticket, is_down, keysym,
		on_typed, run->runner);
}

/* Presses (in order) or releases (reversed) the action's modifiers, then goes on with `then`. */
static void send_modifiers(struct run *run, bool is_down, void (*then)(struct run *run))
{
	const struct key_chord *chord = &current_action(run)->modifiers;
	run->is_modified = is_down;
	run->after_typing = then;
	for (int i = 0; i < chord->count; i++)
		send_keysym(run, chord->keysyms[is_down ? i : chord->count - 1 - i], is_down);
}

/* The end of a pointer action. */
static void pointer_done(struct run *run)
{
	if (run->is_modified)
		send_modifiers(run, false, action_done);
	else
		action_done(run);
}

static void click_once(struct run *run)
{
	struct action *action = current_action(run);
	struct injector *injector = run->runner->hand->injector;
	if (!may_act(run))
		return;
	injector_button(injector, INPUT_SOURCE_AGENT, action->button, true);
	injector_button(injector, INPUT_SOURCE_AGENT, action->button, false);
	if (++run->step < action->count)
		wait_ms(run, CLICK_PAUSE_MS, click_once);
	else
		pointer_done(run);
}

/* A drop counts only where the program has seen the drag come in; a busy one is waited for. */
static void on_drag_taken(void *arg, enum barrier_outcome outcome)
{
	struct run *run = current(arg);
	if (!may_act(run))
		return;
	injector_button(run->runner->hand->injector, INPUT_SOURCE_AGENT, current_action(run)->button,
		false);
	pointer_done(run);
}

static void drag_next(struct run *run)
{
	struct action *action = current_action(run);
	struct injector *injector = run->runner->hand->injector;
	if (!may_act(run))
		return;
	if ((size_t)run->step == run->path.count) {
		barrier_begin_on(run->runner->barrier, barrier_pointer_window(run->runner->hand->conn),
			DROP_WAIT_MS, on_drag_taken, run->runner);
		return;
	}
	struct action_point point = run->path.points[run->step];
	injector_move(injector, point.x, point.y);
	if (run->step == 0)
		injector_button(injector, INPUT_SOURCE_AGENT, action->button, true);
	run->step++;
	wait_ms(run, DRAG_STEP_MS, drag_next);
}

static bool read_pointer(struct run *run, struct action_point *out)
{
	struct xconn *conn = run->runner->hand->conn;
	Window root, child;
	int win_x, win_y;
	unsigned mask;
	if (conn->is_broken)
		return false;
	XQueryPointer(conn->dpy, conn->root, &root, &child, &out->x, &out->y, &win_x, &win_y, &mask);
	return !conn->is_broken;
}

static void drag_start(struct run *run)
{
	struct action *action = current_action(run);
	struct action_point start = {0};
	if (action->path_count == 1 && !read_pointer(run, &start)) {
		fail(run, ACT_NO_SCREEN, "the X server has gone");
		return;
	}
	drag_path_plan(&run->path, action->path_count == 1 ? &start : NULL, action->path,
		action->path_count);
	drag_next(run);
}

static void do_at_point(struct run *run);

static void on_glide_taken(void *arg, enum barrier_outcome outcome)
{
	struct run *run = current(arg);
	if (may_act(run))
		do_at_point(run);
}

static void glide_next(struct run *run)
{
	if (!may_act(run))
		return;
	if ((size_t)run->step == run->path.count) {
		run->step = 0;
		barrier_begin_on(run->runner->barrier, barrier_pointer_window(run->runner->hand->conn),
			DROP_WAIT_MS, on_glide_taken, run->runner);
		return;
	}
	struct action_point point = run->path.points[run->step++];
	injector_move(run->runner->hand->injector, point.x, point.y);
	wait_ms(run, DRAG_STEP_MS, glide_next);
}

/*
 * A move with a button down is part of a drag, whether it comes as one action or as the vendors'
 * separate ones: it goes in steps, and the program has taken it before the button goes up.
 */
static void do_pointer(struct run *run)
{
	struct action *action = current_action(run);
	struct injector *injector = run->runner->hand->injector;
	bool is_drag = action->type == ACTION_MOVE || action->type == ACTION_BUTTON_UP;
	struct action_point start;
	if (!is_drag || !injector_source_holds_button(injector, INPUT_SOURCE_AGENT) ||
		!read_pointer(run, &start)) {
		if (action->has_point)
			injector_move(injector, action->point.x, action->point.y);
		do_at_point(run);
		return;
	}
	const struct action_point end = action->has_point ? action->point : start;
	drag_path_plan(&run->path, &start, &end, 1);
	glide_next(run);
}

/* A pointer action, its modifiers being down and the pointer in its place. */
static void do_at_point(struct run *run)
{
	struct action *action = current_action(run);
	struct injector *injector = run->runner->hand->injector;
	switch (action->type) {
	case ACTION_CLICK:
		click_once(run);
		return;
	case ACTION_DRAG:
		drag_start(run);
		return;
	case ACTION_BUTTON_DOWN:
	case ACTION_BUTTON_UP:
		injector_button(injector, INPUT_SOURCE_AGENT, action->button,
			action->type == ACTION_BUTTON_DOWN);
		note_held(run, true, (uint32_t)action->button,
			action->type == ACTION_BUTTON_DOWN && !action->is_kept);
		break;
	case ACTION_SCROLL:
		injector_wheel(injector, action->steps_x, action->steps_y);
		break;
	default:
		break; /* move */
	}
	pointer_done(run);
}

static void press_chord(struct run *run)
{
	struct action *action = current_action(run);
	if ((size_t)run->step == action->chord_count) {
		action_done(run);
		return;
	}
	const struct typist_key_options options = {
		.repeat = action->count, .hold_ms = action->duration_ms};
	run->after_typing = press_chord;
	run->typist_pending++;
	run->typist_id = typist_key(run->runner->hand->typist, run->ticket,
		&action->chords[run->step++], &options, on_typed, run->runner);
}

static void do_key_edge(struct run *run, bool is_down)
{
	struct action *action = current_action(run);
	run->after_typing = action_done;
	for (size_t i = 0; i < action->chord_count; i++) {
		const struct key_chord *chord = &action->chords[i];
		for (int k = 0; k < chord->count; k++) {
			uint32_t keysym = chord->keysyms[is_down ? k : chord->count - 1 - k];
			note_held(run, false, keysym, is_down && !action->is_kept);
			send_keysym(run, keysym, is_down);
		}
	}
}

static void do_type(struct run *run)
{
	struct action *action = current_action(run);
	const struct typist_text_options options = {
		.via_paste = action->via_paste, .delay_ms = action->delay_ms};
	run->after_typing = action_done;
	run->typist_pending++;
	run->typist_id = typist_type(run->runner->hand->typist, run->ticket, action->text,
		action->text_len, &options, on_typed, run->runner);
}

static void request_frame(struct run *run, const struct frame_options *options, frame_request_done done)
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
	enum action_type type = current_action(run)->type;
	run->frame_id = 0;
	if (reply->error != 0) {
		fail(run, reply->error == -ENOTCONN ? ACT_NO_SCREEN : ACT_FAILED,
			"the screen cannot be read");
		return;
	}
	out->end = reply->end;
	if (type == ACTION_SCREENSHOT || type == ACTION_ZOOM) {
		out->has_frame = true;
		out->frame = *reply;
	} else {
		frame_reply_finish(reply);
	}
	action_done(run);
}

static void do_frame(struct run *run)
{
	struct action *action = current_action(run);
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
	request_frame(run, &options, on_action_frame);
}

static void do_cursor_position(struct run *run)
{
	struct act_result *out = &run->report.results[run->report.done_count];
	out->has_point = read_pointer(run, &out->point);
	if (out->has_point)
		action_done(run);
	else
		fail(run, ACT_NO_SCREEN, "the X server has gone");
}

static void do_action(struct run *run)
{
	struct action *action = current_action(run);
	switch (action->type) {
	case ACTION_MOVE:
	case ACTION_CLICK:
	case ACTION_BUTTON_DOWN:
	case ACTION_BUTTON_UP:
	case ACTION_DRAG:
	case ACTION_SCROLL:
		if (action->modifiers.count > 0)
			send_modifiers(run, true, do_pointer);
		else
			do_pointer(run);
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
		wait_ms(run, action->duration_ms, action_done);
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
	if (!may_act(run))
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
		wait_ms(run, 0, do_action);
	else
		do_action(run);
}

/* After the posts that came while the server did not answer: the batch may be gone. */
static void resume(void *arg)
{
	struct act_runner *runner = arg;
	if (!list_is_empty(&runner->runs) && current(runner)->is_started)
		step_action(current(runner));
}

static void take_shot(struct run *run);

static bool has_changed(const struct run *run)
{
	const struct frame *frame = grabber_frame(run->runner->hand->requests->grabber);
	return run->is_watching && frame != NULL && frame->serial != run->start_serial;
}

static void note_change(struct run *run)
{
	if (has_changed(run) && run->report.changed_at_ms < 0)
		run->report.changed_at_ms = since_start_ms(run);
	run->report.is_changed = has_changed(run);
}

static void on_settled(void *arg, struct frame_reply *reply)
{
	struct run *run = arg;
	int error = reply->error;
	enum frame_wait_end end = reply->end;
	run->frame_id = 0;
	frame_reply_finish(reply);
	if (error != 0) {
		fail(run, ACT_NO_SCREEN, "the X server has gone");
		return;
	}
	note_change(run);
	if (end == FRAME_END_STABLE)
		run->report.settled_at_ms = since_start_ms(run);
	take_shot(run);
}

static void on_shot(void *arg, struct frame_reply *reply)
{
	struct run *run = arg;
	run->frame_id = 0;
	if (reply->error != -ENOTCONN)
		note_change(run);
	run->report.has_shot = true;
	run->report.shot = *reply;
	finish(run);
}

static void take_shot(struct run *run)
{
	if (run->options.has_shot)
		request_frame(run, &run->options.shot, on_shot);
	else
		finish(run);
}

static void settle(struct run *run)
{
	if (run->options.has_settle) {
		const struct frame_options options = {.wait = FRAME_WAIT_STABLE,
			.quiet_ms = run->options.settle_quiet_ms,
			.timeout_ms = run->options.settle_timeout_ms};
		request_frame(run, &options, on_settled);
	} else {
		take_shot(run);
	}
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
		run->after_typing = settle;
	else
		settle(run);
}

static void on_watched_frame(void *arg, struct frame *frame)
{
	note_change(arg);
}

static bool watch_changes(struct run *run)
{
	struct frame_requests *requests = run->runner->hand->requests;
	if (!run->options.has_settle && !run->options.has_shot)
		return true;
	if (requests->grabber == NULL || grabber_update(requests->grabber) != 0)
		return false;
	run->start_serial = grabber_frame(requests->grabber)->serial;
	run->watch = (struct frame_watch){.min_interval_ms = WATCH_INTERVAL_MS,
		.on_frame = on_watched_frame,
		.arg = run};
	frame_feed_add(requests->feed, &run->watch);
	run->is_watching = true;
	return true;
}

static void start(struct run *run)
{
	struct hand *hand = run->runner->hand;
	run->ticket = input_gate_now(hand->gate);
	run->start_us = clock_monotonic_us();
	if (run->ticket.source != INPUT_SOURCE_AGENT) {
		fail(run, ACT_LOCKED, "a person holds the screen");
		return;
	}
	run->is_started = true;
	if (hand->typist == NULL)
		fail(run, ACT_NO_INPUT,
			"input is not possible: the X server lacks the XTEST or XKEYBOARD extension");
	else if (!watch_changes(run))
		fail(run, ACT_NO_SCREEN, "the X server has gone");
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
		fail(run, status, message);
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
	const struct act_options *options, act_done done, void *arg)
{
	bool is_first = list_is_empty(&runner->runs);
	struct run *run = xcalloc(1, sizeof(*run));
	run->runner = runner;
	run->id = id;
	run->list = *list;
	*list = (struct action_list){0};
	run->options = *options;
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
			fail(run, ACT_CANCELED, "canceled");
			return;
		}
	}
}

void act_runner_lock_out(struct act_runner *runner)
{
	end_all(runner, ACT_LOCKED, "a person has taken the screen over");
}
