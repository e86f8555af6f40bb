/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pointer actions of a batch: clicks, moves, buttons, drags, the wheel. */
#include <X11/Xlib.h>
#include <stdlib.h>

#include "base/clock.h"
#include "display/act_private.h"
#include "display/barrier.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/xconn.h"

/* Between the clicks of one double or triple click: toolkits count up to 200–500 ms as one. */
#define CLICK_PAUSE_MS 30
/* Further apart than this clicks are not at the same spot (ACTION_CLICKS_APART_MS). */
#define CLICKS_APART_PIXELS 10
/* How long the program under the end of a drag may take to take it in before the button goes up. */
#define DROP_WAIT_MS 1000

/* The end of a pointer action. */
static void pointer_done(struct run *run)
{
	if (run->is_modified)
		act_send_modifiers(run, false, act_action_done);
	else
		act_action_done(run);
}

static void click_once(struct run *run)
{
	struct action *action = act_action(run);
	struct injector *injector = run->runner->hand->injector;
	if (!act_may_act(run))
		return;
	injector_button(injector, INPUT_SOURCE_AGENT, action->button, true);
	injector_button(injector, INPUT_SOURCE_AGENT, action->button, false);
	run->runner->clicked_us = clock_monotonic_us();
	run->runner->has_clicked_point = action->has_point;
	run->runner->clicked_point = action->point;
	if (++run->step < action->count)
		act_after_ms(run, CLICK_PAUSE_MS, click_once);
	else
		pointer_done(run);
}

static bool is_elsewhere(const struct act_runner *runner, const struct action *action)
{
	return runner->has_clicked_point && action->has_point &&
	       (abs(runner->clicked_point.x - action->point.x) > CLICKS_APART_PIXELS ||
		       abs(runner->clicked_point.y - action->point.y) > CLICKS_APART_PIXELS);
}

/* Models' loops and batches are quicker than people: [click, type, triple_click] at one spot. */
static void click_start(struct run *run)
{
	const struct action *action = act_action(run);
	int64_t since_us = clock_monotonic_us() - run->runner->clicked_us;
	if (action->count > 1 && since_us < ACTION_CLICKS_APART_MS * 1000 &&
		!is_elsewhere(run->runner, action))
		act_after_ms(run, ACTION_CLICKS_APART_MS - since_us / 1000, click_once);
	else
		click_once(run);
}

/* A drop counts only where the program has seen the drag come in; a busy one is waited for. */
static void on_drag_taken(void *arg, enum barrier_outcome outcome)
{
	struct run *run = act_current(arg);
	if (!act_may_act(run))
		return;
	injector_button(run->runner->hand->injector, INPUT_SOURCE_AGENT, act_action(run)->button,
		false);
	pointer_done(run);
}

static void drag_next(struct run *run)
{
	struct action *action = act_action(run);
	struct injector *injector = run->runner->hand->injector;
	if (!act_may_act(run))
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
	act_after_ms(run, DRAG_STEP_MS, drag_next);
}

bool act_read_pointer(struct run *run, struct action_point *out)
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
	struct action *action = act_action(run);
	struct action_point start = {0};
	if (action->path_count == 1 && !act_read_pointer(run, &start)) {
		act_fail(run, ACT_NO_SCREEN, "the X server has gone");
		return;
	}
	drag_path_plan(&run->path, action->path_count == 1 ? &start : NULL, action->path,
		action->path_count);
	drag_next(run);
}

static void do_at_point(struct run *run);

static void on_glide_taken(void *arg, enum barrier_outcome outcome)
{
	struct run *run = act_current(arg);
	if (act_may_act(run))
		do_at_point(run);
}

static void glide_next(struct run *run)
{
	if (!act_may_act(run))
		return;
	if ((size_t)run->step == run->path.count) {
		run->step = 0;
		barrier_begin_on(run->runner->barrier, barrier_pointer_window(run->runner->hand->conn),
			DROP_WAIT_MS, on_glide_taken, run->runner);
		return;
	}
	struct action_point point = run->path.points[run->step++];
	injector_move(run->runner->hand->injector, point.x, point.y);
	act_after_ms(run, DRAG_STEP_MS, glide_next);
}

/*
 * A move with a button down is part of a drag, whether it comes as one action or as the vendors'
 * separate ones: it goes in steps, and the program has taken it before the button goes up.
 */
void act_pointer(struct run *run)
{
	struct action *action = act_action(run);
	struct injector *injector = run->runner->hand->injector;
	bool is_drag = action->type == ACTION_MOVE || action->type == ACTION_BUTTON_UP;
	struct action_point start;
	if (!is_drag || !injector_source_holds_button(injector, INPUT_SOURCE_AGENT) ||
		!act_read_pointer(run, &start)) {
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
	struct action *action = act_action(run);
	struct injector *injector = run->runner->hand->injector;
	switch (action->type) {
	case ACTION_CLICK:
		click_start(run);
		return;
	case ACTION_DRAG:
		drag_start(run);
		return;
	case ACTION_BUTTON_DOWN:
	case ACTION_BUTTON_UP:
		injector_button(injector, INPUT_SOURCE_AGENT, action->button,
			action->type == ACTION_BUTTON_DOWN);
		act_note_held(run, true, (uint32_t)action->button,
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
