/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Give me a picture of the screen": at once, when it has changed, or when it has come to rest.
 * Driven by damage events; nothing polls. Display thread only, but for frame_reply_finish.
 */
#ifndef DISPLAY_FRAME_REQUEST_H
#define DISPLAY_FRAME_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "display/rect.h"

struct cursor;
struct cursor_image;
struct frame;
struct frame_feed;
struct grabber;
struct xconn;

enum frame_wait {
	FRAME_WAIT_NONE,
	FRAME_WAIT_STABLE, /* until nothing visible in the area changed for quiet_ms */
	FRAME_WAIT_CHANGE, /* until something visible in the area changes */
};

enum frame_area {
	FRAME_AREA_SCREEN,
	FRAME_AREA_REGION,
	FRAME_AREA_WINDOW,
	FRAME_AREA_ACTIVE_WINDOW,
};

struct frame_options {
	enum frame_area area;
	struct rect region;      /* FRAME_AREA_REGION: must overlap the screen */
	unsigned long window;    /* FRAME_AREA_WINDOW */
	enum frame_wait wait;
	int quiet_ms;            /* FRAME_WAIT_STABLE */
	int timeout_ms;          /* for both waits */
	uint64_t since_serial;   /* FRAME_WAIT_CHANGE: the area_serial that the caller knows; 0: now */
	bool want_cursor;
};

enum frame_wait_end {
	FRAME_END_NONE,    /* nothing was waited for */
	FRAME_END_STABLE,
	FRAME_END_CHANGED,
	FRAME_END_TIMEOUT,
};

struct frame_reply {
	/* 0; -ENOTCONN no screen; -ENOMEM; -ENOENT no such window (or none active); -ENXIO the window
	   is not shown; -ERANGE the area lies outside the screen. Only with 0 is the rest valid. */
	int error;
	struct frame *frame;         /* own reference */
	int64_t seen_wall_us;        /* when the screen was last known to look like this */
	int64_t changed_wall_us;     /* when the area's last visible change was seen */
	uint64_t area_serial;        /* frame serial of that change */
	bool is_changed;             /* the area changed visibly since the request came */
	enum frame_wait_end end;
	struct rect area;            /* within the frame */
	struct rect wanted;          /* the same before it was cut to the screen */
	struct cursor_image *cursor; /* own reference; NULL when not wanted or there is none */
	int cursor_x, cursor_y;      /* the pointer (hot spot) on the screen, with `cursor` */
};

/* Lets go of what the reply holds. Any thread. */
void frame_reply_finish(struct frame_reply *reply);

/* What requests read from; the pointers are NULL while there is no screen. */
struct frame_requests {
	struct xconn *conn;
	struct grabber *grabber;
	struct cursor *cursor;
	struct frame_feed *feed;
	struct list pending; /* of requests that wait */
};
void frame_requests_init(struct frame_requests *requests, struct frame_feed *feed);

/* Called once with the result; takes over what the reply holds. */
typedef void (*frame_request_done)(void *arg, struct frame_reply *reply);

/* Starts a request (at once answered inside this call when there is nothing to wait for). `id` is
   the caller's, for cancelling. */
struct loop;
void frame_request_start(struct frame_requests *requests, struct loop *loop, uint64_t id,
	const struct frame_options *options, frame_request_done done, void *arg);

/* Answers a waiting request now, as its time-out would; harmless when it is not there any more. */
void frame_request_expire(struct frame_requests *requests, uint64_t id);

/* Forgets a waiting request without an answer; harmless when it is not there any more. */
void frame_request_drop(struct frame_requests *requests, uint64_t id);

/* Answers all waiting requests with `error` (the screen has gone, or changed its size). */
void frame_requests_fail_all(struct frame_requests *requests, int error);

#endif
