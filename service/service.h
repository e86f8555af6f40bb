/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon's commands share. Main thread only. main.c creates everything in here and
 * destroys it in reverse; commands borrow it.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdint.h>

#include "base/list.h"

struct downloads;
struct events;
struct http_listener;
struct loop;
struct metrics;
struct options;
struct page_server;
struct privacy;
struct recordings;
struct screen;
struct shot_cache;
struct takeover_waits;
struct takeovers;
struct viewers;

struct service {
	const struct options *options;
	struct loop *loop;
	struct screen *screen;       /* NULL until the display's name is known (--xvfb auto) */
	struct events *events;
	struct http_listener *control; /* the control socket's */
	struct metrics *metrics;
	struct downloads *downloads;
	struct shot_cache *shot_cache;
	struct viewers *viewers;
	struct takeovers *takeovers;
	struct takeover_waits *takeover_waits;
	struct page_server *page_server;
	struct privacy *privacy;     /* never NULL */
	struct recordings *recordings;
	struct list looking_calls;   /* call.c's: those that show the screen */
	const char *socket_path;
	const char *public_url;      /* without a trailing slash */
	const char *page_policy;     /* Content-Security-Policy */
	const char *xserver_fault;   /* why there is no X server and will be none; NULL */
	uint64_t boot_id;            /* random, tells this run of the daemon from others */
	int64_t started_us;          /* monotonic */
};

#endif
