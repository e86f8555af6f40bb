/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds windows by what they are called, whose they are and where they show. Display thread only.
 * All windows of the tree are looked at, frames and windows inside windows too, but not this
 * program's own; those that die meanwhile are left out.
 */
#ifndef DISPLAY_WINDOW_SEARCH_H
#define DISPLAY_WINDOW_SEARCH_H

#include <X11/Xlib.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct xconn;

struct window_search {
	const regex_t *pattern; /* NULL: none; compared with the texts that are wanted below */
	bool by_name;           /* _NET_WM_NAME or WM_NAME; a window without one is called "" */
	bool by_class;          /* the second part of WM_CLASS */
	bool by_classname;      /* the first part */
	bool by_role;           /* WM_WINDOW_ROLE */
	int pid;                /* _NET_WM_PID; 0: any */
	bool wants_all;         /* all of the above must hold; else one is enough */
	/* These must hold in any case: */
	bool only_visible;
	int desktop;            /* -1: any; a window on all desktops is on each */
	int max_depth;          /* below the root, whose children are at 1; -1: all */
	size_t limit;           /* how many to find; 0: all */
	/* Called for every window looked at, before; may be NULL. */
	void (*visit)(void *arg, Window window);
	void *visit_arg;
};

struct window_ids {
	Window *items;
	size_t count;
};

/* Appends the hits, those higher in the tree first, each level bottom first. Free out->items. */
void window_search(struct xconn *conn, const struct window_search *search, struct window_ids *out);

void window_ids_append(struct window_ids *ids, Window window);

#endif
