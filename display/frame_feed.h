/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivers frames as the screen changes, to whoever watches, no faster than the watcher wants.
 * While there is no watcher the screen is not read at all. Display thread only.
 */
#ifndef DISPLAY_FRAME_FEED_H
#define DISPLAY_FRAME_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct frame;
struct frame_feed;
struct grabber;
struct loop;

/* Embedded in the watcher. on_frame borrows the frame (frame_ref it to keep it); it may remove its
   own watch but no other. */
struct frame_watch {
	struct list link;
	int min_interval_ms; /* least time between two frames for this watcher; 0: every change */
	void (*on_frame)(void *arg, struct frame *frame);
	void *arg;
	uint64_t last_serial; /* private */
	int64_t last_us;      /* private */
};

struct frame_feed *frame_feed_create(struct loop *loop);
void frame_feed_destroy(struct frame_feed *feed);

/* The grabber to read from; NULL while there is no screen. Watches stay over a change. */
void frame_feed_set_grabber(struct frame_feed *feed, struct grabber *grabber);

/* From the next turn of the loop on, calls watch->on_frame with the newest frame, then for changes. */
void frame_feed_add(struct frame_feed *feed, struct frame_watch *watch);
void frame_feed_remove(struct frame_feed *feed, struct frame_watch *watch);

/* To be called by the grabber's owner when there is damage or a new size. */
void frame_feed_on_damage(struct frame_feed *feed);

/* A watcher's min_interval_ms is shorter now: a frame that waits for its turn comes as soon. */
void frame_feed_hurry(struct frame_feed *feed);

#endif
