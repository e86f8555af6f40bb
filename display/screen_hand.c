/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be done on the screen: each call is a job posted to the display thread and, where it has
   an answer, back. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "display/act_runner.h"
#include "display/input_gate.h"
#include "display/live_source.h"
#include "display/screen_private.h"
#include "display/selection_owner.h"
#include "display/viewer_input.h"
#include "display/window_ops.h"
#include "display/xconn.h"
#include "display/xdotool.h"

/* Seconds of a fast mouse; only a server that has stopped lets so many events wait. */
#define VIEWER_EVENTS_MAX 4096

/* One call from the main thread to the display thread and back. */
struct hand_job {
	struct list link;   /* in screen->lane while it waits or runs */
	void (*start)(struct hand_job *job);
	void (*give_up)(struct hand_job *job, int error); /* answers one that has not started */
	bool is_started;
	struct screen *screen;
	uint64_t id;
	struct input_ticket ticket;
	int error;
	void *arg;
	union {
		struct {
			struct action_list list;
			struct act_options options;
			struct act_report report;
			act_done done;
		} act;
		struct {
			const struct xdotool_request *request; /* the caller's, until done */
			struct xdotool_run *run;
			struct xdotool_result result;
			screen_xdotool_begins on_chain;
			screen_xdotool_done done;
		} xdotool;
		struct {
			unsigned long window;
			struct screen_window_change change;
			screen_window_done done;
		} window;
		struct {
			enum clipboard_selection selection;
			enum clipboard_content content;
			char *data;
			size_t len;
			screen_window_done done;
		} clipboard;
		struct viewer_event viewer_event;
	};
};

static struct hand_job *hand_job_create(struct screen *screen, void *arg)
{
	struct hand_job *job = xcalloc(1, sizeof(*job));
	list_init(&job->link);
	job->screen = screen;
	job->arg = arg;
	job->id = ++screen->next_id;
	/* Of the moment it was asked for: what waits while a person takes the screen and gives it
	   back must not be done behind their back. */
	job->ticket = input_gate_agent(&screen->gate);
	return job;
}

/*
 * The lane: batches of actions and xdotool chains run one after the other, in the order in which they
 * came, so that none falls into the middle of another.
 */
static void lane_start_later(void *arg);

static void lane_start_next(struct screen *screen)
{
	if (list_is_empty(&screen->lane) || screen->conn == NULL || screen->lane_waits)
		return;
	struct hand_job *job = container_of(screen->lane.next, struct hand_job, link);
	if (job->is_started)
		return;
	/* A server that did not answer for a while: whoever gave up meanwhile has said so by post. */
	if (xconn_was_slow(screen->conn)) {
		screen->lane_waits = true;
		loop_post(screen->loop, lane_start_later, screen);
		return;
	}
	job->is_started = true;
	job->start(job);
}

static void lane_start_later(void *arg)
{
	struct screen *screen = arg;
	screen->lane_waits = false;
	lane_start_next(screen);
}

static void lane_add(struct hand_job *job)
{
	list_append(&job->screen->lane, &job->link);
	lane_start_next(job->screen);
}

/* The job is done: the next one may start. */
static void lane_leave(struct hand_job *job)
{
	list_remove(&job->link);
	lane_start_next(job->screen);
}

static struct hand_job *lane_find(struct screen *screen, uint64_t id)
{
	struct hand_job *job;
	list_for_each(job, &screen->lane, link) {
		if (job->id == id)
			return job;
	}
	return NULL;
}

static void act_answer(void *arg)
{
	struct hand_job *job = arg;
	job->act.done(job->arg, &job->act.report);
	free(job);
}

static void act_run_done(void *arg, struct act_report *report)
{
	struct hand_job *job = arg;
	job->act.report = *report;
	lane_leave(job);
	loop_post(job->screen->main_loop, act_answer, job);
}

static void act_start(struct hand_job *job)
{
	act_runner_start(job->screen->runner, job->id, &job->act.list, &job->act.options, job->ticket,
		act_run_done, job);
}

static void act_give_up(struct hand_job *job, int error)
{
	job->act.report = (struct act_report){
		.status = error == -ECANCELED ? ACT_CANCELED : ACT_NO_SCREEN};
	action_list_finish(&job->act.list);
	loop_post(job->screen->main_loop, act_answer, job);
}

static void act_run(void *arg)
{
	struct hand_job *job = arg;
	job->start = act_start;
	job->give_up = act_give_up;
	if (job->screen->runner != NULL)
		lane_add(job);
	else
		act_give_up(job, -ENOTCONN);
}

uint64_t screen_act(struct screen *screen, struct action_list *list,
	const struct act_options *options, act_done done, void *arg)
{
	struct hand_job *job = hand_job_create(screen, arg);
	uint64_t id = job->id;
	job->act.list = *list;
	*list = (struct action_list){0};
	job->act.options = *options;
	job->act.done = done;
	loop_post(screen->loop, act_run, job);
	return id;
}

static void drop_waiting(struct hand_job *job, int error)
{
	list_remove(&job->link);
	job->give_up(job, error);
}

static void cancel_act_run(void *arg)
{
	struct hand_job *request = arg;
	struct hand_job *job = lane_find(request->screen, request->id);
	if (job != NULL && job->is_started)
		act_runner_cancel(job->screen->runner, job->id);
	else if (job != NULL)
		drop_waiting(job, -ECANCELED);
	free(request);
}

void screen_cancel_act(struct screen *screen, uint64_t id)
{
	struct hand_job *job = hand_job_create(screen, NULL);
	job->id = id;
	loop_post(screen->loop, cancel_act_run, job);
}

static void xdotool_answer(void *arg)
{
	struct hand_job *job = arg;
	job->xdotool.done(job->arg, job->error, &job->xdotool.result);
	buffer_finish(&job->xdotool.result.out);
	buffer_finish(&job->xdotool.result.err);
	free(job);
}

static void xdotool_run_done(void *arg, const struct xdotool_result *result)
{
	struct hand_job *job = arg;
	job->xdotool.run = NULL;
	job->xdotool.result.exit_status = result->exit_status;
	job->xdotool.result.is_locked = result->is_locked;
	buffer_append(&job->xdotool.result.out, result->out.data, result->out.len);
	buffer_append(&job->xdotool.result.err, result->err.data, result->err.len);
	lane_leave(job);
	loop_post(job->screen->main_loop, xdotool_answer, job);
}

/* A chain that begins, on its way to the main thread. The job's end follows behind it. */
struct chain_post {
	struct hand_job *job;
	struct xdotool_outline outline;
};

static void tell_chain(void *arg)
{
	struct chain_post *post = arg;
	post->job->xdotool.on_chain(post->job->arg, &post->outline);
	free(post);
}

static void on_chain(void *arg, const struct xdotool_outline *outline)
{
	struct hand_job *job = arg;
	const struct chain_post post = {job, *outline};
	loop_post(job->screen->main_loop, tell_chain, xmemdup(&post, sizeof(post)));
}

static void xdotool_start_job(struct hand_job *job)
{
	job->xdotool.run =
		xdotool_start(&job->screen->hand, job->ticket, job->xdotool.request, on_chain,
			xdotool_run_done, job);
}

static void xdotool_give_up(struct hand_job *job, int error)
{
	job->error = error;
	loop_post(job->screen->main_loop, xdotool_answer, job);
}

static void xdotool_run(void *arg)
{
	struct hand_job *job = arg;
	job->start = xdotool_start_job;
	job->give_up = xdotool_give_up;
	if (job->screen->runner != NULL)
		lane_add(job);
	else
		xdotool_give_up(job, -ENOTCONN);
}

uint64_t screen_xdotool(struct screen *screen, const struct xdotool_request *request,
	screen_xdotool_begins chain_begins, screen_xdotool_done done, void *arg)
{
	struct hand_job *job = hand_job_create(screen, arg);
	uint64_t id = job->id;
	job->xdotool.request = request;
	job->xdotool.on_chain = chain_begins;
	job->xdotool.done = done;
	loop_post(screen->loop, xdotool_run, job);
	return id;
}

static void cancel_xdotool_run(void *arg)
{
	struct hand_job *request = arg;
	struct hand_job *job = lane_find(request->screen, request->id);
	if (job != NULL && job->is_started) {
		xdotool_cancel(job->xdotool.run);
		lane_leave(job);
		xdotool_give_up(job, -ECANCELED);
	} else if (job != NULL) {
		drop_waiting(job, -ECANCELED);
	}
	free(request);
}

void screen_cancel_xdotool(struct screen *screen, uint64_t id)
{
	struct hand_job *job = hand_job_create(screen, NULL);
	job->id = id;
	loop_post(screen->loop, cancel_xdotool_run, job);
}

void screen_end_lane(struct screen *screen)
{
	struct hand_job *job, *tmp;
	list_for_each_safe(job, tmp, &screen->lane, link) {
		if (!job->is_started)
			drop_waiting(job, -ENOTCONN);
	}
	/* A batch that runs is ended by its runner. */
	list_for_each_safe(job, tmp, &screen->lane, link) {
		if (job->start == xdotool_start_job) {
			xdotool_cancel(job->xdotool.run);
			drop_waiting(job, -ENOTCONN);
		}
	}
}

void screen_lock_out_lane(struct screen *screen)
{
	struct hand_job *job, *tmp;
	list_for_each_safe(job, tmp, &screen->lane, link) {
		if (job->is_started && job->start == xdotool_start_job)
			xdotool_holder_changed(job->xdotool.run);
	}
}

static void window_answer(void *arg)
{
	struct hand_job *job = arg;
	job->window.done(job->arg, job->error);
	free(job);
}

static int change_window(struct hand_job *job)
{
	Window window = job->window.window;
	const struct screen_window_change *change = &job->window.change;
	struct xconn *conn = job->screen->conn;
	if (conn == NULL)
		return -ENOTCONN;
	if (!input_gate_admits(&job->screen->gate, job->ticket))
		return -EACCES;
	switch (change->type) {
	case SCREEN_WINDOW_ACTIVATE:
		return window_activate(conn, window);
	case SCREEN_WINDOW_CLOSE: {
		int ret = window_quit(conn, window);
		return ret == -ENOTSUP ? window_close(conn, window) : ret;
	}
	case SCREEN_WINDOW_MOVE:
		return window_move(conn, window, change->x, change->y);
	case SCREEN_WINDOW_RESIZE:
		return window_resize(conn, window, change->width, change->height);
	}
	return -EINVAL;
}

static void window_run(void *arg)
{
	struct hand_job *job = arg;
	job->error = change_window(job);
	loop_post(job->screen->main_loop, window_answer, job);
}

void screen_change_window(struct screen *screen, unsigned long window,
	const struct screen_window_change *change, screen_window_done done, void *arg)
{
	struct hand_job *job = hand_job_create(screen, arg);
	job->window.window = window;
	job->window.change = *change;
	job->window.done = done;
	loop_post(screen->loop, window_run, job);
}

static void clipboard_answer(void *arg)
{
	struct hand_job *job = arg;
	job->clipboard.done(job->arg, job->error);
	free(job->clipboard.data);
	free(job);
}

static void clipboard_run(void *arg)
{
	struct hand_job *job = arg;
	struct screen *screen = job->screen;
	if (screen->conn == NULL)
		job->error = -ENOTCONN;
	else if (!input_gate_admits(&screen->gate, job->ticket))
		job->error = -EACCES;
	else if (!selection_owner_set(screen->selections,
			 job->clipboard.selection == CLIPBOARD_PRIMARY,
			 job->clipboard.content == CLIPBOARD_PNG, job->clipboard.data,
			 job->clipboard.len))
		job->error = -EIO;
	loop_post(screen->main_loop, clipboard_answer, job);
}

void screen_write_clipboard(struct screen *screen, enum clipboard_selection selection,
	enum clipboard_content content, const char *data, size_t len, screen_window_done done,
	void *arg)
{
	struct hand_job *job = hand_job_create(screen, arg);
	job->clipboard.selection = selection;
	job->clipboard.content = content;
	job->clipboard.data = xmemdup(data, len);
	job->clipboard.len = len;
	job->clipboard.done = done;
	loop_post(screen->loop, clipboard_run, job);
}

/* Whether the screen will show what comes of it: any key, and the pointer while a button goes or is down,
   which is noted. */
static bool has_answer(struct screen *screen, const struct viewer_event *event)
{
	bool is_key = event->kind == VIEWER_KEYSYM || event->kind == VIEWER_KEYCODE ||
		      event->kind == VIEWER_TEXT;
	bool is_button = event->kind == VIEWER_POINTER &&
			 (event->buttons != 0 || screen->viewer_buttons != 0);
	if (event->kind == VIEWER_POINTER)
		screen->viewer_buttons = event->buttons;
	return (is_key || is_button) && input_gate_admits(&screen->gate, event->ticket);
}

static void viewer_event_run(void *arg)
{
	struct hand_job *job = arg;
	atomic_fetch_sub(&job->screen->viewer_events, 1);
	if (has_answer(job->screen, &job->viewer_event))
		live_source_expect_answer(job->screen->live);
	if (job->screen->viewer_input != NULL)
		viewer_input_run(job->screen->viewer_input, &job->viewer_event);
	else
		viewer_input_refuse(&job->viewer_event);
	free(job);
}

bool screen_post_viewer_event(struct screen *screen, const struct viewer_event *event)
{
	if (atomic_load(&screen->viewer_events) >= VIEWER_EVENTS_MAX && event->kind != VIEWER_GONE) {
		free(event->text);
		return false;
	}
	atomic_fetch_add(&screen->viewer_events, 1);
	struct hand_job *job = xcalloc(1, sizeof(*job)); /* not job_create: any thread may call */
	job->screen = screen;
	job->viewer_event = *event;
	loop_post(screen->loop, viewer_event_run, job);
	return true;
}
