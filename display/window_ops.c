/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/window_ops.h"

#include <X11/Xatom.h>
#include <X11/Xlibint.h>
#include <X11/Xutil.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "display/xconn.h"
#include "display/xprop.h"

#define TREE_DEPTH_MAX 64
#define SIZE_MAX_PX    32767 /* the protocol's limit */
#define SOURCE_PAGER   2     /* EWMH: the user's own wish, which managers follow */

const char *window_error(int result)
{
	switch (result) {
	case -ENOENT:
		return "does not exist";
	case -ENOTSUP:
		return "has no window manager that could do that";
	case -ENXIO:
		return "is not on the screen";
	case -EPERM:
		return "is not to be touched";
	case -ENOTCONN:
		return "has lost its display";
	default:
		return "cannot be changed so: the X server refused";
	}
}

static int result_of(int error)
{
	if (error == 0)
		return 0;
	if (error < 0)
		return -ENOTCONN;
	return error == BadWindow || error == BadDrawable ? -ENOENT : -EINVAL;
}

/* What the trapped request came to. */
static int untrap(struct xconn *conn)
{
	return result_of(xconn_untrap(conn));
}

/* The same for requests whose reply has come. */
static int untrap_replied(struct xconn *conn)
{
	return result_of(xconn_untrap_replied(conn));
}

static int read_attributes(struct xconn *conn, Window window, XWindowAttributes *out)
{
	if (conn->is_broken)
		return -ENOTCONN;
	if (window == None)
		return -ENOENT;
	xconn_trap(conn);
	Status is_read = XGetWindowAttributes(conn->dpy, window, out);
	int result = untrap_replied(conn);
	return result == 0 && !is_read ? -ENOENT : result;
}

static Window read_window_property(struct xconn *conn, Window window, const char *name)
{
	size_t count = 0;
	Window value = None;
	Window *list = xprop_read(conn, window, name, XA_WINDOW, 32, &count);
	if (list != NULL) {
		if (count > 0)
			value = list[0];
		XFree(list);
	}
	return value;
}

Window window_manager_check(struct xconn *conn)
{
	Window check = read_window_property(conn, conn->root, "_NET_SUPPORTING_WM_CHECK");
	/* The property outlives a manager that was killed; its window does not. */
	if (check != None && read_window_property(conn, check, "_NET_SUPPORTING_WM_CHECK") != check)
		return None;
	return check;
}

bool window_manager_runs(struct xconn *conn)
{
	return window_manager_check(conn) != None;
}

bool window_manager_supports(struct xconn *conn, const char *name)
{
	if (!window_manager_runs(conn))
		return false;
	size_t count = 0;
	bool is_found = false;
	Atom wanted = xprop_atom(conn, name);
	Atom *atoms = xprop_read(conn, conn->root, "_NET_SUPPORTED", XA_ATOM, 32, &count);
	for (size_t i = 0; atoms != NULL && i < count && !is_found; i++)
		is_found = atoms[i] == wanted;
	if (atoms != NULL)
		XFree(atoms);
	return is_found;
}

bool window_is_own(struct xconn *conn, Window window)
{
	const struct _XDisplay *dpy = conn->dpy;
	return (window & ~dpy->resource_mask) == dpy->resource_base;
}

bool window_exists(struct xconn *conn, Window window)
{
	XWindowAttributes attributes;
	return read_attributes(conn, window, &attributes) == 0;
}

bool window_is_viewable(struct xconn *conn, Window window)
{
	XWindowAttributes attributes;
	return read_attributes(conn, window, &attributes) == 0 &&
	       attributes.map_state == IsViewable;
}

Window window_parent(struct xconn *conn, Window window)
{
	Window root, parent = None, *children = NULL;
	unsigned count;
	if (conn->is_broken || window == None)
		return None;
	xconn_trap(conn);
	Status is_read = XQueryTree(conn->dpy, window, &root, &parent, &children, &count);
	int result = untrap_replied(conn);
	if (children != NULL)
		XFree(children);
	return result == 0 && is_read ? parent : None;
}

bool window_is_inside(struct xconn *conn, Window window, Window other)
{
	for (int depth = 0; depth < TREE_DEPTH_MAX && window != None; depth++) {
		if (window == other)
			return true;
		window = window_parent(conn, window);
	}
	return false;
}

static bool has_wm_state(struct xconn *conn, Window window)
{
	size_t count;
	void *state = xprop_read(conn, window, "WM_STATE", AnyPropertyType, 32, &count);
	if (state != NULL)
		XFree(state);
	return state != NULL;
}

static Window client_inside(struct xconn *conn, Window window, int levels)
{
	Window root, parent, found = None, *children = NULL;
	unsigned count = 0;
	if (conn->is_broken)
		return None;
	xconn_trap(conn);
	Status is_read = XQueryTree(conn->dpy, window, &root, &parent, &children, &count);
	if (untrap_replied(conn) != 0 || !is_read)
		count = 0;
	for (unsigned i = 0; i < count && found == None; i++) {
		if (has_wm_state(conn, children[i]))
			found = children[i];
		else if (levels > 1)
			found = client_inside(conn, children[i], levels - 1);
	}
	if (children != NULL)
		XFree(children);
	return found;
}

Window window_client(struct xconn *conn, Window window)
{
	Window top = None;
	for (int depth = 0; depth < TREE_DEPTH_MAX && window != conn->root; depth++) {
		if (window == None)
			return None;
		if (has_wm_state(conn, window))
			return window;
		top = window;
		window = window_parent(conn, window);
	}
	if (top == None)
		return None;
	Window client = client_inside(conn, top, 2);
	return client != None ? client : top;
}

Window window_under_pointer(struct xconn *conn)
{
	Window root, child = None;
	int x, y, x_in, y_in;
	unsigned mask;
	if (conn->is_broken ||
		!XQueryPointer(conn->dpy, conn->root, &root, &child, &x, &y, &x_in, &y_in, &mask))
		return None;
	return child != None ? window_client(conn, child) : None;
}

/* Geometry */

static int translate_to_root(struct xconn *conn, Window window, int *x, int *y)
{
	Window child;
	xconn_trap(conn);
	XTranslateCoordinates(conn->dpy, window, conn->root, 0, 0, x, y, &child);
	return untrap_replied(conn);
}

int window_geometry(struct xconn *conn, Window window, struct rect *out)
{
	XWindowAttributes attributes;
	int result = read_attributes(conn, window, &attributes);
	if (result != 0)
		return result;
	*out = (struct rect){attributes.x, attributes.y, attributes.width, attributes.height};
	Window parent = window_parent(conn, window);
	if (parent == conn->root || window == conn->root)
		return 0;
	return translate_to_root(conn, window, &out->x, &out->y);
}

int window_place(struct xconn *conn, Window window, int *x, int *y)
{
	XSizeHints hints = {0};
	long supplied;
	struct rect area;
	int result = window_geometry(conn, window, &area);
	if (result != 0)
		return result;
	xconn_trap(conn);
	Status is_read = XGetWMNormalHints(conn->dpy, window, &hints, &supplied);
	result = untrap_replied(conn);
	bool is_static = result == 0 && is_read && (hints.flags & PWinGravity) &&
			 hints.win_gravity == StaticGravity;
	/* A manager takes a place as that of the frame's corner, for windows with static gravity as
	   that of the inside. */
	while (result == 0 && !is_static) {
		Window parent = window_parent(conn, window);
		if (parent == None)
			return -ENOENT;
		if (parent == conn->root)
			break;
		window = parent;
		result = window_geometry(conn, window, &area);
	}
	*x = area.x;
	*y = area.y;
	return result;
}

int window_size_from_hints(struct xconn *conn, Window window, int *width, int *height)
{
	XSizeHints hints = {0};
	long supplied;
	if (!window_exists(conn, window))
		return conn->is_broken ? -ENOTCONN : -ENOENT;
	xconn_trap(conn);
	Status is_read = XGetWMNormalHints(conn->dpy, window, &hints, &supplied);
	int result = untrap_replied(conn);
	if (result != 0 || !is_read || (hints.flags & PResizeInc) == 0)
		return result;
	bool has_base = (hints.flags & PBaseSize) != 0;
	bool has_min = (hints.flags & PMinSize) != 0;
	/* ICCCM 4.1.2.3: the minimum stands in for a missing base size. */
	int base_width = has_base ? hints.base_width : has_min ? hints.min_width : 0;
	int base_height = has_base ? hints.base_height : has_min ? hints.min_height : 0;
	if (hints.width_inc > 0 && *width < SIZE_MAX_PX)
		*width = base_width + *width * hints.width_inc;
	if (hints.height_inc > 0 && *height < SIZE_MAX_PX)
		*height = base_height + *height * hints.height_inc;
	return 0;
}

/* Doing things */

/* Whether there is a window that may be changed at all. */
static int check(struct xconn *conn, Window window)
{
	XWindowAttributes attributes;
	int result = read_attributes(conn, window, &attributes);
	if (result == 0 && (window == conn->root || window_is_own(conn, window)))
		return -EPERM;
	return result;
}

/* One of Xlib's simple requests. */
static int apply(struct xconn *conn, Window window, int (*request)(Display *dpy, Window window))
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	xconn_trap(conn);
	request(conn->dpy, window);
	return untrap(conn);
}

int window_send_message(struct xconn *conn, Window window, const char *type, const long data[5])
{
	XEvent event = {0};
	event.xclient.type = ClientMessage;
	event.xclient.window = window;
	event.xclient.message_type = xprop_atom(conn, type);
	event.xclient.format = 32;
	memcpy(event.xclient.data.l, data, 5 * sizeof(long));
	if (conn->is_broken)
		return -ENOTCONN;
	xconn_trap(conn);
	XSendEvent(conn->dpy, conn->root, False, SubstructureNotifyMask | SubstructureRedirectMask,
		&event);
	return untrap(conn);
}

static void show_desktop_of(struct xconn *conn, Window window)
{
	size_t count = 0;
	unsigned long *desktop =
		xprop_read(conn, window, "_NET_WM_DESKTOP", XA_CARDINAL, 32, &count);
	unsigned long *current =
		xprop_read(conn, conn->root, "_NET_CURRENT_DESKTOP", XA_CARDINAL, 32, &count);
	/* 0xffffffff: on all desktops */
	if (desktop != NULL && current != NULL && *desktop != *current && *desktop < 0xffffffff) {
		const long data[5] = {(long)*desktop, CurrentTime};
		window_send_message(conn, conn->root, "_NET_CURRENT_DESKTOP", data);
	}
	if (desktop != NULL)
		XFree(desktop);
	if (current != NULL)
		XFree(current);
}

int window_focus(struct xconn *conn, Window window)
{
	XWindowAttributes attributes;
	int result = read_attributes(conn, window, &attributes);
	if (result != 0)
		return result;
	if (attributes.map_state != IsViewable)
		return -ENXIO;
	xconn_trap(conn);
	XSetInputFocus(conn->dpy, window, RevertToParent, CurrentTime);
	result = untrap(conn);
	/* BadMatch: it was unmapped meanwhile. */
	return result == -EINVAL ? -ENXIO : result;
}

int window_activate(struct xconn *conn, Window window)
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	if (window_manager_supports(conn, "_NET_ACTIVE_WINDOW")) {
		show_desktop_of(conn, window);
		const long data[5] = {SOURCE_PAGER, CurrentTime};
		return window_send_message(conn, window, "_NET_ACTIVE_WINDOW", data);
	}
	if (window_manager_runs(conn))
		return -ENOTSUP;
	xconn_trap(conn);
	XMapRaised(conn->dpy, window);
	result = untrap(conn);
	return result != 0 ? result : window_focus(conn, window);
}

static bool takes_delete_message(struct xconn *conn, Window window)
{
	size_t count = 0;
	bool is_found = false;
	Atom *protocols = xprop_read(conn, window, "WM_PROTOCOLS", XA_ATOM, 32, &count);
	for (size_t i = 0; protocols != NULL && i < count && !is_found; i++)
		is_found = protocols[i] == xprop_atom(conn, "WM_DELETE_WINDOW");
	if (protocols != NULL)
		XFree(protocols);
	return is_found;
}

int window_quit(struct xconn *conn, Window window)
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	if (!takes_delete_message(conn, window))
		return -ENOTSUP;
	XEvent event = {0};
	event.xclient.type = ClientMessage;
	event.xclient.window = window;
	event.xclient.message_type = xprop_atom(conn, "WM_PROTOCOLS");
	event.xclient.format = 32;
	event.xclient.data.l[0] = (long)xprop_atom(conn, "WM_DELETE_WINDOW");
	event.xclient.data.l[1] = CurrentTime;
	xconn_trap(conn);
	XSendEvent(conn->dpy, window, False, NoEventMask, &event);
	return untrap(conn);
}

int window_close(struct xconn *conn, Window window)
{
	return apply(conn, window, XDestroyWindow);
}

int window_kill(struct xconn *conn, Window window)
{
	return apply(conn, window, XKillClient);
}

int window_move(struct xconn *conn, Window window, int x, int y)
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	if (x < -SIZE_MAX_PX || y < -SIZE_MAX_PX || x > SIZE_MAX_PX || y > SIZE_MAX_PX)
		return -EINVAL;
	xconn_trap(conn);
	XMoveWindow(conn->dpy, window, x, y);
	return untrap(conn);
}

int window_resize(struct xconn *conn, Window window, int width, int height)
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	if (width < 1 || height < 1 || width > SIZE_MAX_PX || height > SIZE_MAX_PX)
		return -EINVAL;
	xconn_trap(conn);
	XResizeWindow(conn->dpy, window, (unsigned)width, (unsigned)height);
	return untrap(conn);
}

int window_raise(struct xconn *conn, Window window)
{
	return apply(conn, window, XRaiseWindow);
}

int window_lower(struct xconn *conn, Window window)
{
	return apply(conn, window, XLowerWindow);
}

int window_map(struct xconn *conn, Window window)
{
	return apply(conn, window, XMapWindow);
}

int window_unmap(struct xconn *conn, Window window)
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	xconn_trap(conn);
	/* Tells the manager as well (ICCCM 4.1.4), which else would keep the frame of a window that is
	   iconified already. */
	XWithdrawWindow(conn->dpy, window, conn->screen);
	return untrap(conn);
}

int window_minimize(struct xconn *conn, Window window)
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	if (!window_manager_runs(conn))
		return -ENOTSUP;
	const long data[5] = {IconicState};
	return window_send_message(conn, window, "WM_CHANGE_STATE", data);
}

int window_state(struct xconn *conn, Window window, int action, const char *name)
{
	int result = check(conn, window);
	if (result != 0)
		return result;
	if (!window_manager_supports(conn, "_NET_WM_STATE"))
		return -ENOTSUP;
	char atom[64];
	snprintf(atom, sizeof(atom), "_NET_WM_STATE_%s", name);
	const long data[5] = {action, (long)xprop_atom(conn, atom), 0, SOURCE_PAGER};
	return window_send_message(conn, window, "_NET_WM_STATE", data);
}
