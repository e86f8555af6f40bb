/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/windows.h"

#include <X11/Xatom.h>
#include <X11/Xutil.h>
#include <X11/extensions/XRes.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "display/window_ops.h"
#include "display/xconn.h"
#include "display/xprop.h"

static pid_t client_pid(struct xconn *conn, XID resource)
{
	if (!conn->has_xres)
		return 0;
	XResClientIdSpec spec = {.client = resource, .mask = XRES_CLIENT_ID_PID_MASK};
	long count = 0;
	XResClientIdValue *values = NULL;
	pid_t pid = 0;
	if (XResQueryClientIds(conn->dpy, 1, &spec, &count, &values) == Success) {
		for (long i = 0; i < count; i++) {
			pid_t got = XResGetClientPid(&values[i]);
			if (got > 0)
				pid = got;
		}
		XResClientIdsDestroy(count, values);
	}
	return pid;
}

int windows_pid(struct xconn *conn, Window window)
{
	size_t count = 0;
	pid_t pid = 0;
	unsigned long *value = xprop_read(conn, window, "_NET_WM_PID", XA_CARDINAL, 32, &count);
	if (value != NULL) {
		if (count > 0)
			pid = (pid_t)value[0];
		XFree(value);
	}
	return pid > 0 ? pid : client_pid(conn, window);
}

static bool read_attributes(struct xconn *conn, Window window, XWindowAttributes *out)
{
	xconn_trap(conn);
	Status is_read = XGetWindowAttributes(conn->dpy, window, out);
	return xconn_untrap(conn) == 0 && is_read != 0;
}

/* The area of a window whose attributes are known, in root coordinates. */
static bool root_area(struct xconn *conn, Window window, const XWindowAttributes *attributes,
	struct rect *out)
{
	Window child;
	int x = 0, y = 0;
	xconn_trap(conn);
	Bool is_same_screen =
		XTranslateCoordinates(conn->dpy, window, conn->root, 0, 0, &x, &y, &child);
	if (xconn_untrap(conn) != 0 || !is_same_screen)
		return false;
	*out = (struct rect){x, y, attributes->width, attributes->height};
	return true;
}

static void read_class(struct xconn *conn, Window window, struct window_info *info)
{
	size_t count = 0;
	char *names = xprop_read(conn, window, "WM_CLASS", XA_STRING, 8, &count);
	if (names == NULL)
		return;
	size_t instance_len = strnlen(names, count);
	free(info->instance);
	info->instance = xstrndup(names, instance_len);
	if (instance_len + 1 < count) {
		free(info->class_name);
		info->class_name = xstrndup(names + instance_len + 1, count - instance_len - 1);
	}
	XFree(names);
}

static int read_desktop(struct xconn *conn, Window window)
{
	size_t count = 0;
	int desktop = -1;
	unsigned long *value = xprop_read(conn, window, "_NET_WM_DESKTOP", XA_CARDINAL, 32, &count);
	if (value != NULL) {
		if (count > 0 && value[0] < 0xffffffff)
			desktop = (int)value[0];
		XFree(value);
	}
	return desktop;
}

static void window_info_finish(struct window_info *info)
{
	free(info->title);
	free(info->class_name);
	free(info->instance);
}

/* Returns false when the window is gone or is none to show. */
static bool read_window(struct xconn *conn, Window window, Window active, struct window_info *info)
{
	XWindowAttributes attributes;
	if (!read_attributes(conn, window, &attributes) || attributes.class != InputOutput)
		return false;
	*info = (struct window_info){.id = window};
	if (!root_area(conn, window, &attributes, &info->area))
		return false;
	info->title = xprop_text(conn, window, "_NET_WM_NAME");
	if (info->title == NULL)
		info->title = xprop_text(conn, window, "WM_NAME");
	if (info->title == NULL)
		info->title = xstrdup("");
	info->class_name = xstrdup("");
	info->instance = xstrdup("");
	read_class(conn, window, info);
	info->pid = windows_pid(conn, window);
	info->desktop = read_desktop(conn, window);
	info->is_active = window == active;
	info->is_visible = attributes.map_state == IsViewable;
	info->is_override_redirect = attributes.override_redirect != 0;
	return true;
}

static Window *query_children(struct xconn *conn, Window window, unsigned *count)
{
	Window root, parent, *children = NULL;
	*count = 0;
	xconn_trap(conn);
	Status is_read = XQueryTree(conn->dpy, window, &root, &parent, &children, count);
	if (xconn_untrap(conn) != 0 || !is_read) {
		*count = 0;
		return NULL;
	}
	return children;
}

static void append_window(
	struct xconn *conn, struct window_list *list, Window window, Window active)
{
	struct window_info info;
	if (!read_window(conn, window, active, &info))
		return;
	list->items = xrealloc(list->items, (list->count + 1) * sizeof(list->items[0]));
	list->items[list->count++] = info;
}

/* Managers and toolkits keep windows of their own there, mapped, for properties and focus. */
static bool is_outside(struct xconn *conn, const XWindowAttributes *attributes)
{
	return attributes->x + attributes->width <= 0 || attributes->y + attributes->height <= 0 ||
	       attributes->x >= DisplayWidth(conn->dpy, conn->screen) ||
	       attributes->y >= DisplayHeight(conn->dpy, conn->screen);
}

/* Mapped children of the root: all of them without a window manager, with one only those that are
   none of its business (menus, tooltips). */
static void append_children(
	struct xconn *conn, struct window_list *list, Window active, bool only_override_redirect)
{
	unsigned count;
	Window *children = query_children(conn, conn->root, &count);
	for (unsigned i = 0; i < count; i++) {
		XWindowAttributes attributes;
		if (!read_attributes(conn, children[i], &attributes) ||
			attributes.map_state == IsUnmapped || is_outside(conn, &attributes))
			continue;
		if (!only_override_redirect || attributes.override_redirect)
			append_window(conn, list, children[i], active);
	}
	if (children != NULL)
		XFree(children);
}

int windows_list(struct xconn *conn, struct window_list *out)
{
	*out = (struct window_list){0};
	if (conn->is_broken)
		return -ENOTCONN;
	Window active = windows_active(conn);
	size_t count = 0;
	Window *clients = xprop_read(
		conn, conn->root, "_NET_CLIENT_LIST_STACKING", XA_WINDOW, 32, &count);
	for (size_t i = 0; clients != NULL && i < count; i++)
		append_window(conn, out, clients[i], active);
	/* A manager with no client yet has an empty list, or none. */
	append_children(conn, out, active, clients != NULL || window_manager_runs(conn));
	if (clients != NULL)
		XFree(clients);
	if (conn->is_broken) {
		window_list_finish(out);
		return -ENOTCONN;
	}
	return 0;
}

void window_list_finish(struct window_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		window_info_finish(&list->items[i]);
	free(list->items);
	*list = (struct window_list){0};
}

/* The child of the root that window lies in (itself, when it is one). */
static Window top_level_of(struct xconn *conn, Window window)
{
	for (int depth = 0; depth < 64; depth++) {
		Window root, parent = None, *children = NULL;
		unsigned count;
		xconn_trap(conn);
		Status is_read = XQueryTree(conn->dpy, window, &root, &parent, &children, &count);
		int error = xconn_untrap(conn);
		if (children != NULL)
			XFree(children);
		if (error != 0 || !is_read)
			return None;
		if (parent == conn->root || parent == None)
			return window;
		window = parent;
	}
	return None;
}

Window windows_active(struct xconn *conn)
{
	if (conn->is_broken)
		return None;
	size_t count = 0;
	Window active = None;
	Window *value = xprop_read(conn, conn->root, "_NET_ACTIVE_WINDOW", XA_WINDOW, 32, &count);
	if (value != NULL) {
		if (count > 0)
			active = value[0];
		XFree(value);
	}
	if (active != None || conn->is_broken)
		return active;
	int revert_to;
	XGetInputFocus(conn->dpy, &active, &revert_to);
	if (active == None || active == PointerRoot || active == conn->root)
		return None;
	return top_level_of(conn, active);
}

int windows_area(struct xconn *conn, Window window, struct rect *out)
{
	XWindowAttributes attributes;
	if (conn->is_broken)
		return -ENOTCONN;
	if (!read_attributes(conn, window, &attributes))
		return conn->is_broken ? -ENOTCONN : -ENOENT;
	if (attributes.map_state != IsViewable || attributes.class != InputOutput)
		return -ENXIO;
	return root_area(conn, window, &attributes, out) ? 0 : -ENOENT;
}

/* When the process started, in microseconds of the boot-time clock; -1 when it cannot be told. */
static int64_t process_start_us(pid_t pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return -1;
	text[len] = '\0';
	char *p = strrchr(text, ')'); /* the name may hold blanks and brackets */
	unsigned long long ticks = 0;
	if (p == NULL || sscanf(p + 1,
				 " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d"
				 " %*d %*d %*d %*d %llu",
				 &ticks) != 1)
		return -1;
	return (int64_t)(ticks * 1000000 / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* Whether a mapped window below `window` (two levels: a frame and what is in it) is the client's. */
static bool has_mapped_window(
	struct xconn *conn, Window window, const XResClient *client, int levels)
{
	unsigned count;
	Window *children = query_children(conn, window, &count);
	bool is_found = false;
	for (unsigned i = 0; i < count && !is_found; i++) {
		XWindowAttributes attributes;
		bool is_own = (children[i] & ~client->resource_mask) == client->resource_base;
		if (is_own && read_attributes(conn, children[i], &attributes))
			is_found = attributes.map_state != IsUnmapped &&
				   attributes.class == InputOutput;
		else if (levels > 1)
			is_found = has_mapped_window(conn, children[i], client, levels - 1);
	}
	if (children != NULL)
		XFree(children);
	return is_found;
}

static bool client_is_starting(struct xconn *conn, const XResClient *client, int64_t now_us)
{
	if (client->resource_base == 0)
		return false; /* the server itself */
	pid_t pid = client_pid(conn, client->resource_base);
	if (pid <= 0 || pid == getpid())
		return false;
	int64_t start_us = process_start_us(pid);
	if (start_us < 0 || now_us - start_us > STARTUP_MAX_MS * 1000)
		return false;
	return !has_mapped_window(conn, conn->root, client, 2);
}

bool windows_program_is_starting(struct xconn *conn)
{
	if (!conn->has_xres || conn->is_broken)
		return false;
	int count = 0;
	XResClient *clients = NULL;
	bool is_starting = false;
	int64_t now_us = clock_boottime_us();
	if (!XResQueryClients(conn->dpy, &count, &clients))
		return false;
	for (int i = 0; i < count && !is_starting && !conn->is_broken; i++)
		is_starting = client_is_starting(conn, &clients[i], now_us);
	if (clients != NULL)
		XFree(clients);
	return is_starting;
}
