/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mousemove, mousemove_relative, click, mousedown, mouseup, getmouselocation. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/drag_path.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/window_ops.h"
#include "display/windows.h"
#include "display/xdotool_private.h"

#define CLICK_DELAY_MS 100
#define CLICKS_AT_ONCE 100 /* before the loop gets its turn */
/*
 * A window manager gives a window the focus some time after it was clicked. xdotool's pause of 100 ms
 * behind each click hides that; here what follows waits until it has happened, as long at most.
 */
#define FOCUS_FOLLOWS_MS 100
/* Sines of round angles come out a hair below whole numbers; xdotool cuts fractions off. */
#define ROUNDING 1e-6

/*
 * With a button down a move is a drag, and a jump would start it in Chromium but never reach the
 * target: it goes in steps, the last but one still within any target.
 */
#define DRAG_STEP_PX 10
#define NEAR_END_PX  2.0

struct pointer {
	int x, y;
	Window child;   /* of the root */
	unsigned mask;  /* modifiers and buttons */
};

static bool read_pointer(struct xdotool_run *run, struct pointer *out)
{
	Window root;
	int x, y;
	*out = (struct pointer){0};
	if (run->conn->is_broken)
		return false;
	return XQueryPointer(run->conn->dpy, run->conn->root, &root, &out->child, &out->x, &out->y,
		       &x, &y, &out->mask) != 0;
}

/* Checks */

char *xdotool_check_button(const struct xdotool_command *command)
{
	long button;
	if (!xdotool_parse_number(command->words[0], &button) || button < 1 ||
		button > INJECTOR_BUTTON_MAX)
		return xasprintf("'%s' is no button: they are 1 to %d", command->words[0],
			INJECTOR_BUTTON_MAX);
	return NULL;
}

char *xdotool_check_place(const struct xdotool_command *command)
{
	int value;
	if (command->word_count == 1)
		return NULL; /* restore */
	for (size_t i = 0; i < command->word_count; i++) {
		if (!xdotool_parse_coordinate(command->words[i], &value))
			return xasprintf("'%s' is no coordinate", command->words[i]);
	}
	if (xdotool_option_number(command, XDOTOOL_SCREEN, 0) != 0)
		return xstrdup("there is one screen, 0");
	return NULL;
}

static int coordinate(const struct xdotool_run *run, size_t index)
{
	int value = 0;
	xdotool_parse_coordinate(run->command->words[index], &value);
	return value;
}

/* Moving */

static int cut(double value)
{
	return (int)(value + copysign(ROUNDING, value));
}

/* Angle (0 is up, clockwise) and distance to a place. */
static void from_polar(const struct xdotool_run *run, double centre_x, double centre_y, int *x, int *y)
{
	double angle = strtod(run->command->words[0], NULL) * M_PI / 180;
	double distance = strtod(run->command->words[1], NULL);
	*x = cut(centre_x + sin(angle) * distance);
	*y = cut(centre_y - cos(angle) * distance);
}

/*
 * The server has moved the pointer when it has answered a request behind the move: that is all that
 * --sync has to wait for, also when the pointer was there already or is held back.
 */
static void finish_move(struct xdotool_run *run)
{
	xdotool_put_back_modifiers(run);
	if (xdotool_has_option(run->command, XDOTOOL_SYNC) && !run->conn->is_broken)
		XSync(run->conn->dpy, False);
	xdotool_succeed(run);
}

static void drag_next(struct xdotool_run *run)
{
	double way_x = run->drag.to_x - run->drag.from_x, way_y = run->drag.to_y - run->drag.from_y;
	double part = 1 - NEAR_END_PX / hypot(way_x, way_y);
	int step = ++run->drag.step;
	if (step <= run->drag.step_count)
		part = part * step / run->drag.step_count;
	else
		part = 1;
	injector_move(run->hand->injector, run->drag.from_x + (int)lround(way_x * part),
		run->drag.from_y + (int)lround(way_y * part));
	xdotool_after_ms(
		run, DRAG_STEP_MS, step <= run->drag.step_count ? drag_next : finish_move);
}

static void move_to(struct xdotool_run *run, int x, int y)
{
	struct pointer pointer;
	xdotool_lift_modifiers(run);
	bool is_drag = read_pointer(run, &pointer) &&
		       (pointer.mask & (Button1Mask | Button2Mask | Button3Mask)) != 0;
	double distance = hypot(x - pointer.x, y - pointer.y);
	if (!is_drag || distance < 2 * DRAG_STEP_PX) {
		injector_move(run->hand->injector, x, y);
		finish_move(run);
		return;
	}
	int steps = (int)(distance / DRAG_STEP_PX);
	run->drag.step_count = steps < DRAG_STEPS ? steps : DRAG_STEPS;
	run->drag.step = 0;
	run->drag.from_x = pointer.x;
	run->drag.from_y = pointer.y;
	run->drag.to_x = x;
	run->drag.to_y = y;
	drag_next(run);
}

static bool screen_area(struct xdotool_run *run, struct rect *out)
{
	return window_geometry(run->conn, run->conn->root, out) == 0;
}

/* The inside of the window on the screen. */
static int inside_area(struct xdotool_run *run, Window window, struct rect *out)
{
	Window child;
	int result = window_geometry(run->conn, window, out);
	if (result != 0)
		return result;
	xconn_trap(run->conn);
	XTranslateCoordinates(
		run->conn->dpy, window, run->conn->root, 0, 0, &out->x, &out->y, &child);
	return xconn_untrap(run->conn) == 0 ? 0 : -ENOENT;
}

void xdotool_do_mousemove(struct xdotool_run *run)
{
	struct rect area = {0};
	struct pointer pointer;
	if (run->command->word_count == 1) {
		if (run->has_place)
			move_to(run, run->place_x, run->place_y);
		else
			xdotool_fail(run, "Have no previous mouse position. Cannot restore.");
		return;
	}
	bool is_polar = xdotool_has_option(run->command, XDOTOOL_POLAR);
	if (run->window != None) {
		int result = inside_area(run, run->window, &area);
		if (result != 0) {
			xdotool_end_window(run, result);
			return;
		}
	} else if (read_pointer(run, &pointer)) {
		run->has_place = true;
		run->place_x = pointer.x;
		run->place_y = pointer.y;
	}
	if (is_polar && run->window == None)
		screen_area(run, &area);
	int x = area.x + (is_polar ? 0 : coordinate(run, 0));
	int y = area.y + (is_polar ? 0 : coordinate(run, 1));
	if (is_polar)
		from_polar(run, area.x + area.width / 2, area.y + area.height / 2, &x, &y);
	move_to(run, x, y);
}

void xdotool_do_mousemove_relative(struct xdotool_run *run)
{
	int dx = coordinate(run, 0), dy = coordinate(run, 1);
	if (xdotool_has_option(run->command, XDOTOOL_POLAR))
		from_polar(run, 0, 0, &dx, &dy);
	struct pointer pointer;
	if ((dx != 0 || dy != 0) && read_pointer(run, &pointer))
		move_to(run, pointer.x + dx, pointer.y + dy);
	else
		finish_move(run);
}

/* Buttons */

static int button_of(const struct xdotool_run *run)
{
	long button = 0;
	xdotool_parse_number(run->command->words[0], &button);
	return (int)button;
}

/*
 * --window of the button commands. Clicks that are sent to a window are ignored by most programs;
 * real ones go to what is under the pointer, so that must be the window.
 */
static bool is_pointer_in_window(struct xdotool_run *run)
{
	struct pointer pointer;
	Window window = run->window;
	if (window == None)
		return true;
	if (!window_exists(run->conn, window)) {
		xdotool_end_window(run, -ENOENT);
		return false;
	}
	if (read_pointer(run, &pointer)) {
		Window root, child = run->conn->root;
		int x, y, x_in, y_in;
		unsigned mask;
		xconn_trap(run->conn);
		while (child != None && child != window &&
			XQueryPointer(run->conn->dpy, child, &root, &child, &x, &y, &x_in, &y_in,
				&mask))
			;
		if (xconn_untrap(run->conn) == 0 && child == window)
			return true;
	}
	xdotool_fail(run, "the pointer is not over window %lu; move it there first: mousemove "
			  "--window %lu X Y",
		window, window);
	return false;
}

static Window active_window(struct xdotool_run *run)
{
	return windows_active(run->conn);
}

static bool is_clicked_window_active(struct xdotool_run *run)
{
	return active_window(run) == run->focus_wanted;
}

static void after_focus(struct xdotool_run *run, bool is_over)
{
	xdotool_succeed(run); /* not every window takes the focus */
}

/* Whether a manager is going to move the focus to what is clicked. */
static void watch_focus(struct xdotool_run *run, int button)
{
	run->focus_wanted = None;
	if (button > 3 || !window_manager_runs(run->conn))
		return;
	Window client = window_under_pointer(run->conn);
	if (client == None || client == active_window(run))
		return;
	run->focus_wanted = client;
	xdotool_watch(run, run->conn->root, PropertyChangeMask);
}

static void finish_clicks(struct xdotool_run *run)
{
	xdotool_put_back_modifiers(run);
	if (run->focus_wanted != None)
		xdotool_await(run, FOCUS_FOLLOWS_MS, is_clicked_window_active, after_focus);
	else
		xdotool_succeed(run);
}

static void click_next(struct xdotool_run *run)
{
	int button = button_of(run);
	/* A pause behind the last one only when it is asked for. */
	bool has_delay = xdotool_has_option(run->command, XDOTOOL_DELAY);
	long delay_ms = xdotool_option_number(run->command, XDOTOOL_DELAY, CLICK_DELAY_MS);
	for (int i = 0; run->repeats_left > 0; i++) {
		if (i == CLICKS_AT_ONCE) {
			xdotool_after_ms(run, 0, click_next);
			return;
		}
		xdotool_press_button(run, button, true);
		xdotool_press_button(run, button, false);
		run->repeats_left--;
		if (delay_ms > 0 && (run->repeats_left > 0 || has_delay)) {
			xdotool_after_ms(run, delay_ms, click_next);
			return;
		}
	}
	finish_clicks(run);
}

void xdotool_do_click(struct xdotool_run *run)
{
	if (!is_pointer_in_window(run))
		return;
	run->repeats_left = (int)xdotool_option_number(run->command, XDOTOOL_REPEAT, 1);
	watch_focus(run, button_of(run));
	xdotool_lift_modifiers(run);
	click_next(run);
}

void xdotool_do_mousedown(struct xdotool_run *run)
{
	if (!is_pointer_in_window(run))
		return;
	watch_focus(run, button_of(run));
	xdotool_lift_modifiers(run);
	xdotool_press_button(run, button_of(run), true);
	finish_clicks(run);
}

void xdotool_do_mouseup(struct xdotool_run *run)
{
	if (!is_pointer_in_window(run))
		return;
	run->focus_wanted = None;
	xdotool_lift_modifiers(run);
	xdotool_press_button(run, button_of(run), false);
	finish_clicks(run);
}

/* getmouselocation */

void xdotool_do_getmouselocation(struct xdotool_run *run)
{
	struct pointer pointer;
	if (!read_pointer(run, &pointer)) {
		xdotool_fail(run, "the pointer cannot be read");
		return;
	}
	Window window = pointer.child != None ? window_client(run->conn, pointer.child) : None;
	if (window == None)
		window = run->conn->root;
	const char *prefix = xdotool_option(run->command, XDOTOOL_PREFIX);
	if (prefix == NULL)
		prefix = "";
	if (xdotool_has_option(run->command, XDOTOOL_SHELL)) {
		xdotool_print(run, "%.16sX=%d\n%.16sY=%d\n%.16sSCREEN=%d\n%.16sWINDOW=%lu\n",
			prefix, pointer.x, prefix, pointer.y, prefix, run->conn->screen, prefix,
			window);
		xdotool_succeed(run);
		return;
	}
	xdotool_set_stack(run, window);
	if (run->command->is_last)
		xdotool_print(run, "x:%d y:%d screen:%d window:%lu\n", pointer.x, pointer.y,
			run->conn->screen, window);
	xdotool_succeed(run);
}
