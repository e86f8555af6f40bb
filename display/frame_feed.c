/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/frame_feed.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/frame.h"
#include "display/grabber.h"

/* Without XDamage there is no event to wait for; a watched screen is then read this often. */
#define NO_DAMAGE_INTERVAL_MS 50

struct frame_feed {
	struct loop *loop;
	struct grabber *grabber;
	struct list watches;
	struct loop_timer *timer;
};

static void feed_run(void *arg);

struct frame_feed *frame_feed_create(struct loop *loop)
{
	struct frame_feed *feed = xcalloc(1, sizeof(*feed));
	feed->loop = loop;
	list_init(&feed->watches);
	feed->timer = loop_timer_create(loop, feed_run, feed);
	return feed;
}

void frame_feed_destroy(struct frame_feed *feed)
{
	if (feed == NULL)
		return;
	loop_timer_destroy(feed->timer);
	free(feed);
}

void frame_feed_set_grabber(struct frame_feed *feed, struct grabber *grabber)
{
	feed->grabber = grabber;
	loop_timer_disarm(feed->timer);
	if (grabber != NULL)
		frame_feed_on_damage(feed);
}

/* How long until `watch` may have its next frame. */
static int64_t wait_ms(const struct frame_watch *watch, int64_t now_us)
{
	if (watch->last_us == 0)
		return 0;
	int64_t left_us = watch->last_us + watch->min_interval_ms * 1000 - now_us;
	return left_us > 0 ? (left_us + 999) / 1000 : 0;
}

/* How long until some watcher may have its next frame. */
static int64_t soonest_wait_ms(struct frame_feed *feed)
{
	int64_t now_us = clock_monotonic_us();
	int64_t soonest_ms = INT64_MAX;
	struct frame_watch *watch;
	list_for_each(watch, &feed->watches, link) {
		int64_t ms = wait_ms(watch, now_us);
		if (ms < soonest_ms)
			soonest_ms = ms;
	}
	return soonest_ms;
}

void frame_feed_on_damage(struct frame_feed *feed)
{
	if (feed->grabber != NULL && !list_is_empty(&feed->watches))
		loop_timer_arm(feed->timer, soonest_wait_ms(feed));
}

void frame_feed_hurry(struct frame_feed *feed)
{
	if (loop_timer_is_armed(feed->timer))
		frame_feed_on_damage(feed);
}

static void deliver(struct frame_feed *feed)
{
	struct frame *frame = grabber_frame(feed->grabber);
	if (frame == NULL)
		return;
	frame_ref(frame);
	int64_t now_us = clock_monotonic_us();
	int64_t next_ms = INT64_MAX;
	struct frame_watch *watch, *tmp;
	list_for_each_safe(watch, tmp, &feed->watches, link) {
		if (watch->last_serial == frame->serial)
			continue;
		int64_t ms = wait_ms(watch, now_us);
		if (ms > 0) {
			if (ms < next_ms)
				next_ms = ms;
			continue;
		}
		watch->last_serial = frame->serial;
		watch->last_us = now_us;
		watch->on_frame(watch->arg, frame);
	}
	frame_unref(frame);
	if (next_ms != INT64_MAX && !loop_timer_is_armed(feed->timer))
		loop_timer_arm(feed->timer, next_ms);
}

static void feed_run(void *arg)
{
	struct frame_feed *feed = arg;
	if (feed->grabber == NULL || list_is_empty(&feed->watches))
		return;
	int64_t ms = soonest_wait_ms(feed);
	if (ms > 0) { /* damage came while a frame was being delivered */
		loop_timer_arm(feed->timer, ms);
		return;
	}
	if (grabber_update(feed->grabber) != 0)
		return; /* the server is going; set_grabber follows */
	deliver(feed);
	if (grabber_is_dirty(feed->grabber) && !list_is_empty(&feed->watches) &&
		!loop_timer_is_armed(feed->timer))
		loop_timer_arm(feed->timer, NO_DAMAGE_INTERVAL_MS);
}

void frame_feed_add(struct frame_feed *feed, struct frame_watch *watch)
{
	watch->last_serial = 0;
	watch->last_us = 0;
	list_append(&feed->watches, &watch->link);
	if (feed->grabber != NULL)
		loop_timer_arm(feed->timer, 0);
}

void frame_feed_remove(struct frame_feed *feed, struct frame_watch *watch)
{
	list_remove(&watch->link);
	if (list_is_empty(&feed->watches))
		loop_timer_disarm(feed->timer);
}
