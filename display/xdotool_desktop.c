/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen's size and the window manager's desktops. */
#include <X11/Xatom.h>
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "display/window_ops.h"
#include "display/xdotool_private.h"
#include "display/xprop.h"

#define ALL_DESKTOPS 0xffffffffL

char *xdotool_check_numbers(const struct xdotool_command *command)
{
	long number;
	for (size_t i = 0; i < command->word_count; i++) {
		if (!xdotool_parse_number(command->words[i], &number))
			return xasprintf("'%s' is no number", command->words[i]);
	}
	if (xdotool_option_number(command, XDOTOOL_SCREEN, 0) != 0)
		return xstrdup("there is one screen, 0");
	return NULL;
}

static long number_at(const struct xdotool_run *run, size_t index)
{
	long number = 0;
	xdotool_parse_number(run->command->words[index], &number);
	return number;
}

void xdotool_do_getdisplaygeometry(struct xdotool_run *run)
{
	struct rect area;
	int result = window_geometry(run->conn, run->conn->root, &area);
	if (result != 0)
		xdotool_fail(run, "the screen %s", window_error(result));
	else if (xdotool_has_option(run->command, XDOTOOL_SHELL))
		xdotool_print(run, "WIDTH=%d\nHEIGHT=%d\n", area.width, area.height);
	else
		xdotool_print(run, "%d %d\n", area.width, area.height);
	if (result == 0)
		xdotool_succeed(run);
}

/* Fails when there is no manager or it does not know the property. */
static bool needs(struct xdotool_run *run, const char *property)
{
	if (window_manager_supports(run->conn, property))
		return true;
	xdotool_fail(run, window_manager_runs(run->conn)
				  ? "the window manager does not support %s"
				  : "no window manager runs that would support %s",
		property);
	return false;
}

/* The index-th number of a window's property; false when it is absent. */
static bool read_cardinal(
	struct xdotool_run *run, Window window, const char *name, size_t index, long *out)
{
	size_t count = 0;
	long *values = xprop_read(run->conn, window, name, XA_CARDINAL, 32, &count);
	bool is_there = values != NULL && index < count;
	if (is_there)
		*out = values[index];
	if (values != NULL)
		XFree(values);
	return is_there;
}

static void print_root_cardinal(struct xdotool_run *run, const char *name)
{
	long value;
	if (!needs(run, name))
		return;
	if (!read_cardinal(run, run->conn->root, name, 0, &value)) {
		xdotool_fail(run, "the window manager has not set %s", name);
		return;
	}
	xdotool_print(run, "%ld\n", value);
	xdotool_succeed(run);
}

/* Asks the manager for something that concerns the root window. */
static void ask_root(struct xdotool_run *run, const char *name, long first, long second)
{
	const long data[5] = {first, second};
	if (needs(run, name))
		xdotool_end_window(
			run, window_send_message(run->conn, run->conn->root, name, data));
}

void xdotool_do_get_num_desktops(struct xdotool_run *run)
{
	print_root_cardinal(run, "_NET_NUMBER_OF_DESKTOPS");
}

void xdotool_do_set_num_desktops(struct xdotool_run *run)
{
	ask_root(run, "_NET_NUMBER_OF_DESKTOPS", number_at(run, 0), 0);
}

void xdotool_do_get_desktop(struct xdotool_run *run)
{
	print_root_cardinal(run, "_NET_CURRENT_DESKTOP");
}

void xdotool_do_set_desktop(struct xdotool_run *run)
{
	long desktop = number_at(run, 0), current = 0, count = 0;
	if (xdotool_has_option(run->command, XDOTOOL_RELATIVE)) {
		if (!needs(run, "_NET_CURRENT_DESKTOP"))
			return;
		read_cardinal(run, run->conn->root, "_NET_CURRENT_DESKTOP", 0, &current);
		read_cardinal(run, run->conn->root, "_NET_NUMBER_OF_DESKTOPS", 0, &count);
		desktop += current;
		/* Round and round. */
		if (count > 0)
			desktop = (desktop % count + count) % count;
	}
	ask_root(run, "_NET_CURRENT_DESKTOP", desktop, CurrentTime);
}

void xdotool_do_get_desktop_for_window(struct xdotool_run *run)
{
	long desktop;
	if (!window_exists(run->conn, run->window)) {
		xdotool_end_window(run, run->conn->is_broken ? -ENOTCONN : -ENOENT);
		return;
	}
	if (!read_cardinal(run, run->window, "_NET_WM_DESKTOP", 0, &desktop)) {
		xdotool_fail(run, "window %lu is on no desktop", run->window);
		return;
	}
	xdotool_print(run, "%ld\n", (desktop & ALL_DESKTOPS) == ALL_DESKTOPS ? -1 : desktop);
	xdotool_succeed(run);
}

void xdotool_do_set_desktop_for_window(struct xdotool_run *run)
{
	const long data[5] = {number_at(run, 0) & ALL_DESKTOPS, 2};
	if (!needs(run, "_NET_WM_DESKTOP"))
		return;
	if (!window_exists(run->conn, run->window))
		xdotool_end_window(run, run->conn->is_broken ? -ENOTCONN : -ENOENT);
	else
		xdotool_end_window(run,
			window_send_message(run->conn, run->window, "_NET_WM_DESKTOP", data));
}

void xdotool_do_get_desktop_viewport(struct xdotool_run *run)
{
	long x = 0, y = 0;
	if (!needs(run, "_NET_DESKTOP_VIEWPORT"))
		return;
	read_cardinal(run, run->conn->root, "_NET_DESKTOP_VIEWPORT", 0, &x);
	read_cardinal(run, run->conn->root, "_NET_DESKTOP_VIEWPORT", 1, &y);
	if (xdotool_has_option(run->command, XDOTOOL_SHELL))
		xdotool_print(run, "X=%ld\nY=%ld\n", x, y);
	else
		xdotool_print(run, "%ld %ld\n", x, y);
	xdotool_succeed(run);
}

void xdotool_do_set_desktop_viewport(struct xdotool_run *run)
{
	ask_root(run, "_NET_DESKTOP_VIEWPORT", number_at(run, 0), number_at(run, 1));
}
