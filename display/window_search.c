/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/window_search.h"

#include <X11/Xatom.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/window_ops.h"
#include "display/xconn.h"
#include "display/xprop.h"

#define TREE_DEPTH_MAX 64

void window_ids_append(struct window_ids *ids, Window window)
{
	ids->items = xrealloc(ids->items, (ids->count + 1) * sizeof(ids->items[0]));
	ids->items[ids->count++] = window;
}

static bool text_matches(const struct window_search *search, const char *text)
{
	return regexec(search->pattern, text, 0, NULL, 0) == 0;
}

static bool property_matches(struct xconn *conn, const struct window_search *search, Window window,
	const char *property, bool *is_there)
{
	char *text = xprop_text(conn, window, property);
	bool is_match = text != NULL && text_matches(search, text);
	*is_there |= text != NULL;
	free(text);
	return is_match;
}

static bool name_matches(struct xconn *conn, const struct window_search *search, Window window)
{
	bool has_name = false;
	return property_matches(conn, search, window, "_NET_WM_NAME", &has_name) ||
	       property_matches(conn, search, window, "WM_NAME", &has_name) ||
	       (!has_name && text_matches(search, ""));
}

/* A window without WM_CLASS has no class, not an empty one. */
static void match_class(struct xconn *conn, const struct window_search *search, Window window,
	bool *is_class, bool *is_classname)
{
	size_t count = 0;
	*is_class = *is_classname = false;
	char *names = xprop_read(conn, window, "WM_CLASS", XA_STRING, 8, &count);
	if (names == NULL)
		return;
	size_t first = strnlen(names, count);
	*is_classname = text_matches(search, names);
	*is_class = first + 1 <= count && text_matches(search, names + first + 1);
	XFree(names);
}

static bool cardinal_matches(struct xconn *conn, Window window, const char *property,
	unsigned long wanted, unsigned long also)
{
	size_t count = 0;
	unsigned long *value = xprop_read(conn, window, property, XA_CARDINAL, 32, &count);
	bool is_match = value != NULL && count > 0 && (value[0] == wanted || value[0] == also);
	if (value != NULL)
		XFree(value);
	return is_match;
}

static bool conditions_hold(struct xconn *conn, const struct window_search *search, Window window)
{
	bool is_class = false, is_classname = false, has_role = false;
	bool wants_text = search->pattern != NULL;
	struct {
		bool is_wanted, holds;
	} tests[5] = {
		{wants_text && search->by_name, false},
		{wants_text && search->by_class, false},
		{wants_text && search->by_classname, false},
		{wants_text && search->by_role, false},
		{search->pid != 0, false},
	};
	if (tests[1].is_wanted || tests[2].is_wanted)
		match_class(conn, search, window, &is_class, &is_classname);
	tests[0].holds = tests[0].is_wanted && name_matches(conn, search, window);
	tests[1].holds = is_class;
	tests[2].holds = is_classname;
	tests[3].holds = tests[3].is_wanted &&
			 property_matches(conn, search, window, "WM_WINDOW_ROLE", &has_role);
	unsigned long pid = (unsigned long)search->pid;
	tests[4].holds =
		tests[4].is_wanted && cardinal_matches(conn, window, "_NET_WM_PID", pid, pid);
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		if (tests[i].is_wanted && tests[i].holds != search->wants_all)
			return tests[i].holds;
	}
	return search->wants_all;
}

struct walk {
	struct xconn *conn;
	const struct window_search *search;
	Window manager;        /* the window manager's own window, which shows nothing */
	struct window_ids *out;
};

static bool window_matches(const struct walk *walk, Window window)
{
	const struct window_search *search = walk->search;
	if (window_is_own(walk->conn, window) || window == walk->manager)
		return false;
	if (search->only_visible && !window_is_viewable(walk->conn, window))
		return false;
	if (search->desktop >= 0 &&
		!cardinal_matches(walk->conn, window, "_NET_WM_DESKTOP",
			(unsigned long)search->desktop, 0xffffffff))
		return false;
	return conditions_hold(walk->conn, search, window);
}

static bool is_full(const struct walk *walk)
{
	return walk->search->limit > 0 && walk->out->count >= walk->search->limit;
}

static void look_at(struct walk *walk, Window window)
{
	if (walk->search->visit != NULL)
		walk->search->visit(walk->search->visit_arg, window);
	if (!is_full(walk) && window_matches(walk, window))
		window_ids_append(walk->out, window);
}

static void search_below(struct walk *walk, Window window, int depth)
{
	Window root, parent, *children = NULL;
	unsigned count = 0;
	if (walk->conn->is_broken || depth > TREE_DEPTH_MAX || is_full(walk) ||
		(walk->search->max_depth >= 0 && depth > walk->search->max_depth))
		return;
	xconn_trap(walk->conn);
	Status is_read =
		XQueryTree(walk->conn->dpy, window, &root, &parent, &children, &count);
	if (xconn_untrap_replied(walk->conn) != 0 || !is_read)
		count = 0;
	for (unsigned i = 0; i < count; i++)
		look_at(walk, children[i]);
	for (unsigned i = 0; i < count; i++)
		search_below(walk, children[i], depth + 1);
	if (children != NULL)
		XFree(children);
}

void window_search(struct xconn *conn, const struct window_search *search, struct window_ids *out)
{
	struct walk walk = {conn, search, window_manager_check(conn), out};
	look_at(&walk, conn->root);
	search_below(&walk, conn->root, 1);
}
