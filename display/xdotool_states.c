/* SPDX-License-Identifier: GPL-2.0-or-later */
/* windowstate, set_window, windowreparent. */
#include <X11/Xatom.h>
#include <X11/Xutil.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/window_ops.h"
#include "display/xdotool_private.h"
#include "display/xprop.h"

static const char *const states[] = {"MODAL", "STICKY", "MAXIMIZED_VERT", "MAXIMIZED_HORZ", "SHADED",
	"SKIP_TASKBAR", "SKIP_PAGER", "HIDDEN", "FULLSCREEN", "ABOVE", "BELOW", "DEMANDS_ATTENTION"};

static const char *find_state(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		if (strcasecmp(states[i], name) == 0)
			return states[i];
	}
	return NULL;
}

/* What _NET_WM_STATE calls the option; -1 for others. */
static int action_of(enum xdotool_option option)
{
	switch (option) {
	case XDOTOOL_REMOVE:
		return 0;
	case XDOTOOL_ADD:
		return 1;
	case XDOTOOL_TOGGLE:
		return 2;
	default:
		return -1;
	}
}

char *xdotool_check_state(const struct xdotool_command *command)
{
	bool has_action = false;
	for (size_t i = 0; i < command->given_count; i++) {
		const struct xdotool_given *given = &command->given[i];
		if (action_of(given->option) < 0)
			continue;
		has_action = true;
		if (find_state(given->value) == NULL)
			return xasprintf("unknown state '%s'", given->value);
	}
	return has_action ? NULL : xstrdup("one of --add, --remove and --toggle is needed");
}

void xdotool_do_windowstate(struct xdotool_run *run)
{
	const struct xdotool_command *command = run->command;
	int result = 0;
	for (size_t i = 0; i < command->given_count && result == 0; i++) {
		const struct xdotool_given *given = &command->given[i];
		int action = action_of(given->option);
		if (action >= 0)
			result = window_state(
				run->conn, run->window, action, find_state(given->value));
	}
	if (result == -ENOTSUP)
		xdotool_fail(run, "there is no window manager that keeps states of windows");
	else
		xdotool_end_window(run, result);
}

char *xdotool_check_set_window(const struct xdotool_command *command)
{
	static const enum xdotool_option flags[] = {XDOTOOL_OVERRIDE_REDIRECT, XDOTOOL_URGENCY};
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		if (xdotool_option_number(command, flags[i], 0) > 1)
			return xstrdup("--overrideredirect and --urgency take 0 or 1");
	}
	return command->given_count > 0 ? NULL : xstrdup("what is to be set?");
}

static void set_text(struct xdotool_run *run, const char *name, const char *ewmh_name,
	enum xdotool_option option)
{
	const char *text = xdotool_option(run->command, option);
	if (text == NULL)
		return;
	Display *dpy = run->conn->dpy;
	int len = (int)strlen(text);
	Atom utf8 = xprop_atom(run->conn, "UTF8_STRING");
	XChangeProperty(dpy, run->window, xprop_atom(run->conn, name), utf8, 8, PropModeReplace,
		(const unsigned char *)text, len);
	if (ewmh_name != NULL)
		XChangeProperty(dpy, run->window, xprop_atom(run->conn, ewmh_name), utf8, 8,
			PropModeReplace, (const unsigned char *)text, len);
}

/* WM_CLASS holds both names; the one that is not given stays. */
static void set_class(struct xdotool_run *run)
{
	const char *class_name = xdotool_option(run->command, XDOTOOL_SET_CLASS);
	const char *instance = xdotool_option(run->command, XDOTOOL_SET_CLASSNAME);
	XClassHint old = {0};
	if (class_name == NULL && instance == NULL)
		return;
	XGetClassHint(run->conn->dpy, run->window, &old);
	const char *new_class = class_name != NULL ? class_name : old.res_class;
	const char *new_instance = instance != NULL ? instance : old.res_name;
	char *both = xasprintf("%s%c%s%c", new_instance != NULL ? new_instance : "", 0,
		new_class != NULL ? new_class : "", 0);
	size_t len = strlen(both) + 1;
	len += strlen(both + len) + 1;
	XChangeProperty(run->conn->dpy, run->window, XA_WM_CLASS, XA_STRING, 8, PropModeReplace,
		(unsigned char *)both, (int)len);
	free(both);
	if (old.res_class != NULL)
		XFree(old.res_class);
	if (old.res_name != NULL)
		XFree(old.res_name);
}

static void set_urgency(struct xdotool_run *run)
{
	long is_urgent = xdotool_option_number(run->command, XDOTOOL_URGENCY, -1);
	if (is_urgent < 0)
		return;
	XWMHints *hints = XGetWMHints(run->conn->dpy, run->window);
	if (hints == NULL)
		hints = XAllocWMHints();
	if (hints == NULL)
		return;
	hints->flags = is_urgent ? hints->flags | XUrgencyHint : hints->flags & ~XUrgencyHint;
	XSetWMHints(run->conn->dpy, run->window, hints);
	XFree(hints);
}

void xdotool_do_set_window(struct xdotool_run *run)
{
	long is_override = xdotool_option_number(run->command, XDOTOOL_OVERRIDE_REDIRECT, -1);
	if (!window_exists(run->conn, run->window)) {
		xdotool_end_window(run, run->conn->is_broken ? -ENOTCONN : -ENOENT);
		return;
	}
	xconn_trap(run->conn);
	set_text(run, "WM_NAME", "_NET_WM_NAME", XDOTOOL_SET_NAME);
	set_text(run, "WM_ICON_NAME", "_NET_WM_ICON_NAME", XDOTOOL_ICON_NAME);
	set_text(run, "WM_WINDOW_ROLE", NULL, XDOTOOL_SET_ROLE);
	set_class(run);
	set_urgency(run);
	if (is_override >= 0) {
		XSetWindowAttributes attributes = {.override_redirect = is_override != 0};
		XChangeWindowAttributes(
			run->conn->dpy, run->window, CWOverrideRedirect, &attributes);
	}
	int error = xconn_untrap(run->conn);
	xdotool_end_window(run, error == 0 ? 0 : error < 0 ? -ENOTCONN : -ENOENT);
}

char *xdotool_check_reparent(const struct xdotool_command *command)
{
	Window window;
	if (command->words[0][0] == '%' || xdotool_parse_window(command->words[0], &window))
		return NULL;
	return xasprintf("'%s' is no window id", command->words[0]);
}

void xdotool_do_windowreparent(struct xdotool_run *run)
{
	const char *word = run->command->words[0];
	Window parent = None;
	if (!xdotool_parse_window(word, &parent)) {
		long index = strtol(word + 1, NULL, 10);
		if (index < 1 || (size_t)index > run->stack.count) {
			xdotool_fail(run, "Invalid window stack selection '%s' (out of range)",
				word);
			return;
		}
		parent = run->stack.items[index - 1];
	}
	if (window_is_own(run->conn, run->window)) {
		xdotool_end_window(run, -EPERM);
		return;
	}
	xconn_trap(run->conn);
	XReparentWindow(run->conn->dpy, run->window, parent, 0, 0);
	int error = xconn_untrap(run->conn);
	xdotool_end_window(run, error == 0	    ? 0
				: error < 0	    ? -ENOTCONN
				: error == BadWindow ? -ENOENT
						     : -EINVAL);
}
