/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a batch of actions has brought about: waits for quiet, compares the screen with how it was
   before the batch, takes the picture. */
#include <errno.h>
#include <stddef.h>

#include "base/clock.h"
#include "display/act_private.h"
#include "display/activity.h"
#include "display/frame.h"
#include "display/frame_diff.h"
#include "display/frame_feed.h"
#include "display/grabber.h"
#include "display/hand.h"
#include "display/rect.h"

/* While changes are watched for, the screen is read at most this often. */
#define WATCH_INTERVAL_MS 10

static int64_t since_start_ms(const struct run *run)
{
	return (clock_monotonic_us() - run->start_us) / 1000;
}

/* The first change is told by when it was seen, whatever becomes of it. */
static void note_change(struct run *run, const struct frame *frame)
{
	if (run->report.changed_at_ms < 0 && frame->serial != run->before->serial)
		run->report.changed_at_ms = since_start_ms(run);
}

static void on_watched_frame(void *arg, struct frame *frame)
{
	note_change(arg, frame);
}

bool act_watch_changes(struct run *run)
{
	struct frame_requests *requests = run->runner->hand->requests;
	if (!run->options.has_settle && !run->options.has_shot)
		return true;
	if (requests->grabber == NULL || grabber_update(requests->grabber) != 0)
		return false;
	run->before = frame_ref(grabber_frame(requests->grabber));
	run->watch = (struct frame_watch){
		.min_interval_ms = WATCH_INTERVAL_MS, .on_frame = on_watched_frame, .arg = run};
	frame_feed_add(requests->feed, &run->watch);
	return true;
}

void act_unwatch(struct run *run)
{
	if (run->before == NULL)
		return;
	frame_feed_remove(run->runner->hand->requests->feed, &run->watch);
	frame_unref(run->before);
	run->before = NULL;
}

/* What differs within `area` from before the batch; all of it when the screen had another size. */
static struct rect changed_within(
	const struct run *run, const struct frame *after, const struct rect *area)
{
	struct rect changed = {0};
	if (after->width != run->before->width || after->height != run->before->height)
		return *area;
	if (after->serial != run->before->serial)
		frame_diff_extents(run->before, after, area, &changed);
	return changed;
}

/* The last frame of the batch; whole screens are compared this once. */
static void measure(struct run *run, const struct frame *after)
{
	struct rect screen = {0, 0, after->width, after->height};
	note_change(run, after);
	run->report.changed = changed_within(run, after, &screen);
}

/* After measure, of the same frame: beyond what has changed at all nothing is looked at. */
static void measure_shot(struct run *run, const struct frame_reply *shot)
{
	struct rect within = rect_intersect(&shot->area, &run->report.changed);
	run->report.shot_changed = changed_within(run, shot->frame, &within);
}

static void on_shot(void *arg, struct frame_reply *reply)
{
	struct run *run = arg;
	run->frame_id = 0;
	if (reply->error == -ENOTCONN) {
		act_fail_reading(run, reply->error);
		return;
	}
	run->report.has_shot = true;
	run->report.shot = *reply;
	/* Also when the shot's area is not there: the screen has been read all the same. */
	measure(run, grabber_frame(run->runner->hand->requests->grabber));
	if (reply->error == 0)
		measure_shot(run, reply);
	act_finish(run);
}

static void take_shot(struct run *run)
{
	if (run->options.has_shot)
		act_request_frame(run, &run->options.shot, on_shot);
	else
		act_finish(run);
}

/* Whatever changed within the last quiet time; nothing when a program is only starting. */
static struct rect restless_part(const struct run *run)
{
	const struct activity *activity = grabber_activity(run->runner->hand->requests->grabber);
	int64_t quiet_us = (int64_t)run->options.settle_quiet_ms * 1000;
	return activity_changed_since(activity, clock_monotonic_us() - quiet_us);
}

static void on_settled(void *arg, struct frame_reply *reply)
{
	struct run *run = arg;
	run->frame_id = 0;
	if (reply->error != 0) {
		act_fail_reading(run, reply->error);
		return;
	}
	note_change(run, reply->frame);
	if (!run->options.has_shot)
		measure(run, reply->frame);
	if (reply->end == FRAME_END_STABLE)
		run->report.settled_at_ms = since_start_ms(run);
	else
		run->report.still_changing = restless_part(run);
	frame_reply_finish(reply);
	take_shot(run);
}

void act_settle(struct run *run)
{
	if (run->options.has_settle) {
		const struct frame_options options = {.wait = FRAME_WAIT_STABLE,
			.quiet_ms = run->options.settle_quiet_ms,
			.timeout_ms = run->options.settle_timeout_ms};
		act_request_frame(run, &options, on_settled);
	} else {
		take_shot(run);
	}
}
