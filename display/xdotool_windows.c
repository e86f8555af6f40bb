/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked about windows (get…) and done to them (window…). */
#include <X11/Xatom.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/window_ops.h"
#include "display/windows.h"
#include "display/xdotool_private.h"
#include "display/xprop.h"

/* Questions */

static void tell_window(struct xdotool_run *run, Window window)
{
	xdotool_set_stack(run, window);
	if (run->command->is_last)
		xdotool_print(run, "%lu\n", window);
	xdotool_succeed(run);
}

void xdotool_do_getactivewindow(struct xdotool_run *run)
{
	Window window = windows_active(run->conn);
	if (window != None)
		tell_window(run, window);
	else
		xdotool_fail(run, "no window is active");
}

void xdotool_do_getwindowfocus(struct xdotool_run *run)
{
	Window focus = None;
	int revert_to;
	if (!run->conn->is_broken)
		XGetInputFocus(run->conn->dpy, &focus, &revert_to);
	if (xdotool_has_option(run->command, XDOTOOL_VERY_WINDOW)) {
		tell_window(run, focus);
		return;
	}
	Window window = focus == PointerRoot ? window_under_pointer(run->conn)
			: focus != None      ? window_client(run->conn, focus)
					     : None;
	if (window != None)
		tell_window(run, window);
	else
		xdotool_fail(run, "no window has the focus");
}

/* Ends the command when there is no such window. */
static bool is_there(struct xdotool_run *run)
{
	if (window_exists(run->conn, run->window))
		return true;
	xdotool_end_window(run, run->conn->is_broken ? -ENOTCONN : -ENOENT);
	return false;
}

void xdotool_do_getwindowname(struct xdotool_run *run)
{
	if (!is_there(run))
		return;
	char *name = xprop_text(run->conn, run->window, "_NET_WM_NAME");
	if (name == NULL)
		name = xprop_text(run->conn, run->window, "WM_NAME");
	xdotool_print(run, "%s\n", name != NULL ? name : "");
	free(name);
	xdotool_succeed(run);
}

void xdotool_do_getwindowclassname(struct xdotool_run *run)
{
	if (!is_there(run))
		return;
	size_t count = 0;
	char *names = xprop_read(run->conn, run->window, "WM_CLASS", XA_STRING, 8, &count);
	size_t first = names != NULL ? strnlen(names, count) : 0;
	xdotool_print(run, "%s\n", names != NULL && first + 1 <= count ? names + first + 1 : "");
	if (names != NULL)
		XFree(names);
	xdotool_succeed(run);
}

void xdotool_do_getwindowpid(struct xdotool_run *run)
{
	if (!is_there(run))
		return;
	int pid = windows_pid(run->conn, run->window);
	if (pid > 0) {
		xdotool_print(run, "%d\n", pid);
		xdotool_succeed(run);
	} else {
		xdotool_fail(run, "window %lu has no pid associated with it.", run->window);
	}
}

void xdotool_do_getwindowgeometry(struct xdotool_run *run)
{
	struct rect area;
	int result = window_geometry(run->conn, run->window, &area);
	if (result != 0) {
		xdotool_end_window(run, result);
		return;
	}
	const char *prefix = xdotool_option(run->command, XDOTOOL_PREFIX);
	const char *p = prefix != NULL ? prefix : "";
	if (xdotool_has_option(run->command, XDOTOOL_SHELL))
		xdotool_print(run,
			"%.16sWINDOW=%lu\n%.16sX=%d\n%.16sY=%d\n%.16sWIDTH=%d\n"
			"%.16sHEIGHT=%d\n%.16sSCREEN=%d\n",
			p, run->window, p, area.x, p, area.y, p, area.width, p, area.height, p,
			run->conn->screen);
	else
		xdotool_print(run, "Window %lu\n  Position: %d,%d (screen: %d)\n  Geometry: %dx%d\n",
			run->window, area.x, area.y, run->conn->screen, area.width, area.height);
	xdotool_succeed(run);
}

/* Deeds without a wait */

void xdotool_do_windowraise(struct xdotool_run *run)
{
	xdotool_end_window(run, window_raise(run->conn, run->window));
}

void xdotool_do_windowlower(struct xdotool_run *run)
{
	xdotool_end_window(run, window_lower(run->conn, run->window));
}

void xdotool_do_windowclose(struct xdotool_run *run)
{
	xdotool_end_window(run, window_close(run->conn, run->window));
}

void xdotool_do_windowquit(struct xdotool_run *run)
{
	int result = window_quit(run->conn, run->window);
	if (result == -ENOTSUP)
		xdotool_fail(run, "window %lu does not take WM_DELETE_WINDOW; windowclose and "
				  "windowkill do not ask", run->window);
	else
		xdotool_end_window(run, result);
}

void xdotool_do_windowkill(struct xdotool_run *run)
{
	xdotool_end_window(run, window_kill(run->conn, run->window));
}

/* Deeds that --sync waits for */

static bool is_gone(struct xdotool_run *run)
{
	return !window_exists(run->conn, run->window);
}

static bool is_active(struct xdotool_run *run)
{
	return windows_active(run->conn) == run->window || is_gone(run);
}

static bool has_focus(struct xdotool_run *run)
{
	Window focus = None;
	int revert_to;
	if (!run->conn->is_broken)
		XGetInputFocus(run->conn->dpy, &focus, &revert_to);
	return window_is_inside(run->conn, focus, run->window) || is_gone(run);
}

static bool is_active_or_focused(struct xdotool_run *run)
{
	/* Without a manager a window inside another can be focused, but only the outer one is active. */
	return is_active(run) || (!window_manager_runs(run->conn) && has_focus(run));
}

static int map_state(struct xdotool_run *run)
{
	XWindowAttributes attributes;
	xconn_trap(run->conn);
	Status is_read = XGetWindowAttributes(run->conn->dpy, run->window, &attributes);
	return xconn_untrap(run->conn) == 0 && is_read ? attributes.map_state : -1;
}

static bool is_mapped(struct xdotool_run *run)
{
	int state = map_state(run);
	return state == IsViewable || state < 0;
}

static bool is_unmapped(struct xdotool_run *run)
{
	int state = map_state(run);
	return state == IsUnmapped || state < 0;
}

static bool is_minimized(struct xdotool_run *run)
{
	return map_state(run) != IsViewable;
}

static void end_waiting(struct xdotool_run *run, bool is_over)
{
	static const struct {
		void (*start)(struct xdotool_run *run);
		const char *what;
	} complaints[] = {
		{xdotool_do_windowactivate, "was not activated"},
		{xdotool_do_windowfocus, "did not get the focus"},
		{xdotool_do_windowmap, "was not mapped"},
		{xdotool_do_windowunmap, "was not unmapped"},
		{xdotool_do_windowminimize, "was not minimized"},
		{xdotool_do_windowmove, "was not moved"},
		{xdotool_do_windowsize, "was not resized"},
	};
	const char *what = "did not change";
	for (size_t i = 0; i < ARRAY_LEN(complaints); i++) {
		if (complaints[i].start == run->command->spec->start)
			what = complaints[i].what;
	}
	if (is_gone(run))
		xdotool_end_window(run, run->conn->is_broken ? -ENOTCONN : -ENOENT);
	else
		xdotool_end_wait(run, is_over, what);
}

/* Listens, when the command is to wait; the deed comes behind. */
static void watch_if_sync(struct xdotool_run *run)
{
	if (!xdotool_has_option(run->command, XDOTOOL_SYNC))
		return;
	xdotool_watch(
		run, run->window, StructureNotifyMask | FocusChangeMask | PropertyChangeMask);
	/* A frame's mapping is told on the root window only. */
	xdotool_watch(run, run->conn->root, SubstructureNotifyMask | PropertyChangeMask);
}

/* Waits for what the deed is to bring about, when it is to be waited for and went well. */
static void end_deed(struct xdotool_run *run, int result, bool (*is_over)(struct xdotool_run *run))
{
	if (result != 0 || !xdotool_has_option(run->command, XDOTOOL_SYNC)) {
		xdotool_wait_stop(run);
		xdotool_end_window(run, result);
	} else {
		xdotool_await(run, XDOTOOL_SYNC_MAX_MS, is_over, end_waiting);
	}
}

void xdotool_do_windowactivate(struct xdotool_run *run)
{
	watch_if_sync(run);
	end_deed(run, window_activate(run->conn, run->window), is_active_or_focused);
}

void xdotool_do_windowfocus(struct xdotool_run *run)
{
	watch_if_sync(run);
	end_deed(run, window_focus(run->conn, run->window), has_focus);
}

void xdotool_do_windowmap(struct xdotool_run *run)
{
	watch_if_sync(run);
	end_deed(run, window_map(run->conn, run->window), is_mapped);
}

void xdotool_do_windowunmap(struct xdotool_run *run)
{
	watch_if_sync(run);
	end_deed(run, window_unmap(run->conn, run->window), is_unmapped);
}

void xdotool_do_windowminimize(struct xdotool_run *run)
{
	watch_if_sync(run);
	int result = window_minimize(run->conn, run->window);
	if (result == -ENOTSUP)
		xdotool_fail(run, "there is no window manager that could minimize a window");
	else
		end_deed(run, result, is_minimized);
}

/* Place and size */

/* "50%" of a length; false when the word is no percentage. */
static bool parse_percentage(const char *text, int whole, int *out)
{
	size_t len = strlen(text);
	int percent;
	if (len < 2 || text[len - 1] != '%')
		return false;
	char *number = xstrndup(text, len - 1);
	bool is_number = xdotool_parse_coordinate(number, &percent);
	free(number);
	if (is_number)
		*out = (int)((long)whole * percent / 100);
	return is_number;
}

static bool is_length(const char *text, const char *axis)
{
	int value;
	return xdotool_parse_coordinate(text, &value) || parse_percentage(text, 100, &value) ||
	       (axis != NULL && strcmp(text, axis) == 0);
}

char *xdotool_check_move(const struct xdotool_command *command)
{
	static const char *const axes[] = {"x", "y"};
	for (int i = 0; i < 2; i++) {
		if (!is_length(command->words[i], axes[i]))
			return xasprintf("'%s' is no place: a number, a percentage of the screen, "
					 "or '%s' to leave it", command->words[i], axes[i]);
	}
	return NULL;
}

char *xdotool_check_size(const struct xdotool_command *command)
{
	for (int i = 0; i < 2; i++) {
		if (!is_length(command->words[i], NULL))
			return xasprintf("'%s' is no size: a number or a percentage of the screen",
				command->words[i]);
	}
	return NULL;
}

static bool has_moved(struct xdotool_run *run)
{
	int x, y;
	if (window_place(run->conn, run->window, &x, &y) != 0)
		return true;
	/* A manager that leaves the window where it is says so with a ConfigureNotify. */
	return (x == run->wanted_x && y == run->wanted_y) || x != run->area.x || y != run->area.y ||
	       run->wait.has_configured;
}

static bool has_resized(struct xdotool_run *run)
{
	struct rect now;
	if (window_geometry(run->conn, run->window, &now) != 0)
		return true;
	return (now.width == run->wanted_x && now.height == run->wanted_y) ||
	       now.width != run->area.width || now.height != run->area.height ||
	       run->wait.has_configured;
}

static int length_of(struct xdotool_run *run, int index, int now, bool is_relative, int whole)
{
	const char *word = run->command->words[index];
	int value = 0;
	if (!xdotool_parse_coordinate(word, &value) && !parse_percentage(word, whole, &value))
		return now; /* the literal x or y */
	return is_relative ? now + value : value;
}

void xdotool_do_windowmove(struct xdotool_run *run)
{
	struct rect screen;
	bool is_relative = xdotool_has_option(run->command, XDOTOOL_RELATIVE);
	int result = window_place(run->conn, run->window, &run->area.x, &run->area.y);
	if (result == 0)
		result = window_geometry(run->conn, run->conn->root, &screen);
	if (result != 0) {
		xdotool_end_window(run, result);
		return;
	}
	run->wanted_x = length_of(run, 0, run->area.x, is_relative, screen.width);
	run->wanted_y = length_of(run, 1, run->area.y, is_relative, screen.height);
	watch_if_sync(run);
	end_deed(run, window_move(run->conn, run->window, run->wanted_x, run->wanted_y), has_moved);
}

static bool is_percentage(const struct xdotool_run *run, int index)
{
	const char *word = run->command->words[index];
	return word[strlen(word) - 1] == '%';
}

void xdotool_do_windowsize(struct xdotool_run *run)
{
	struct rect screen;
	int result = window_geometry(run->conn, run->window, &run->area);
	if (result == 0)
		result = window_geometry(run->conn, run->conn->root, &screen);
	if (result != 0) {
		xdotool_end_window(run, result);
		return;
	}
	int width = length_of(run, 0, 0, false, screen.width);
	int height = length_of(run, 1, 0, false, screen.height);
	int hinted_width = width, hinted_height = height;
	if (xdotool_has_option(run->command, XDOTOOL_USE_HINTS))
		result = window_size_from_hints(
			run->conn, run->window, &hinted_width, &hinted_height);
	run->wanted_x = is_percentage(run, 0) ? width : hinted_width;
	run->wanted_y = is_percentage(run, 1) ? height : hinted_height;
	watch_if_sync(run);
	if (result == 0)
		result = window_resize(run->conn, run->window, run->wanted_x, run->wanted_y);
	end_deed(run, result, has_resized);
}
