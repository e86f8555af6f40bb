/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/frame_request.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/activity.h"
#include "display/cursor.h"
#include "display/frame.h"
#include "display/frame_feed.h"
#include "display/grabber.h"
#include "display/windows.h"
#include "display/xconn.h"

/* While something is waited for the screen is read at most this often (100 times a second). */
#define WATCH_INTERVAL_MS 10

struct frame_request {
	struct list link;
	struct frame_requests *requests;
	uint64_t id;
	struct frame_options options;
	frame_request_done done;
	void *arg;
	struct frame_watch watch;
	struct loop_timer *timer;     /* the next moment to look: quiet reached, or time-out */
	int64_t start_us;
	struct rect wanted, area;
	uint64_t start_serial;        /* area's last change when the request came */
};

void frame_requests_init(struct frame_requests *requests, struct frame_feed *feed)
{
	*requests = (struct frame_requests){.feed = feed};
	list_init(&requests->pending);
}

void frame_reply_finish(struct frame_reply *reply)
{
	frame_unref(reply->frame);
	cursor_image_unref(reply->cursor);
	reply->frame = NULL;
	reply->cursor = NULL;
}

/* Where the wanted area is now, cut to the screen. */
static int resolve_area(struct frame_requests *requests, const struct frame_options *options,
	struct rect *wanted, struct rect *area)
{
	struct rect screen = {
		0, 0, grabber_width(requests->grabber), grabber_height(requests->grabber)};
	int ret = 0;
	*wanted = screen;
	if (options->area == FRAME_AREA_REGION) {
		*wanted = options->region;
	} else if (options->area != FRAME_AREA_SCREEN) {
		Window window = options->window;
		if (options->area == FRAME_AREA_ACTIVE_WINDOW)
			window = windows_active(requests->conn);
		ret = window != None ? windows_area(requests->conn, window, wanted) : -ENOENT;
	}
	if (ret != 0)
		return ret;
	*area = rect_intersect(wanted, &screen);
	return rect_is_empty(area) ? -ERANGE : 0;
}

static int64_t to_wall_us(int64_t monotonic_us)
{
	return clock_wall_us() - (clock_monotonic_us() - monotonic_us);
}

static void fill_reply(struct frame_request *request, struct frame_reply *reply)
{
	struct frame_requests *requests = request->requests;
	struct activity *activity = grabber_activity(requests->grabber);
	reply->frame = frame_ref(grabber_frame(requests->grabber));
	reply->seen_wall_us = grabber_seen_wall_us(requests->grabber);
	reply->area_serial = activity_last_serial(activity, &request->area);
	int64_t changed_us = activity_last_change_us(activity, &request->area);
	reply->changed_wall_us =
		changed_us != INT64_MIN ? to_wall_us(changed_us) : reply->seen_wall_us;
	reply->is_changed = reply->area_serial != request->start_serial;
	reply->area = request->area;
	reply->wanted = request->wanted;
	if (!request->options.want_cursor || requests->cursor == NULL)
		return;
	struct cursor_image *image = cursor_image(requests->cursor);
	if (image != NULL &&
		cursor_position(requests->cursor, &reply->cursor_x, &reply->cursor_y))
		reply->cursor = cursor_image_ref(image);
}

static void request_free(struct frame_request *request)
{
	list_remove(&request->link);
	frame_feed_remove(request->requests->feed, &request->watch);
	loop_timer_destroy(request->timer);
	free(request);
}

static void answer(struct frame_request *request, int error, enum frame_wait_end end)
{
	struct frame_reply reply = {.error = error, .end = end};
	if (error == 0)
		fill_reply(request, &reply);
	frame_request_done done = request->done;
	void *arg = request->arg;
	request_free(request);
	done(arg, &reply);
}

/* Finds the area anew (a window may have moved) and brings the frame up to date. */
static int refresh(struct frame_request *request)
{
	struct frame_requests *requests = request->requests;
	if (requests->grabber == NULL)
		return -ENOTCONN;
	int ret = grabber_update(requests->grabber);
	if (ret == 0)
		ret = resolve_area(
			requests, &request->options, &request->wanted, &request->area);
	if (ret == 0)
		ret = requests->conn->is_broken ? -ENOTCONN : 0;
	return ret;
}

static int64_t left_ms(int64_t until_us)
{
	int64_t left_us = until_us - clock_monotonic_us();
	return left_us > 0 ? (left_us + 999) / 1000 : 0;
}

static int64_t deadline_us(const struct frame_request *request)
{
	return request->start_us + (int64_t)request->options.timeout_ms * 1000;
}

/* When the area will have been quiet for long enough, as things stand. The quiet counts from the
   request on: what the caller has just set off may not have drawn anything yet. */
static int64_t quiet_at_us(const struct frame_request *request)
{
	struct activity *activity = grabber_activity(request->requests->grabber);
	int64_t since_us = activity_last_change_us(activity, &request->area);
	if (since_us < request->start_us)
		since_us = request->start_us;
	return since_us + (int64_t)request->options.quiet_ms * 1000;
}

static bool area_has_changed(const struct frame_request *request)
{
	uint64_t known = request->options.since_serial != 0 ? request->options.since_serial
							    : request->start_serial;
	return activity_last_serial(
		       grabber_activity(request->requests->grabber), &request->area) != known;
}

/* Answers the request if what it waits for has come, else sets the timer for the next look. */
static void look(struct frame_request *request)
{
	int error = refresh(request);
	int64_t now_us = clock_monotonic_us();
	if (error != 0) {
		answer(request, error, FRAME_END_NONE);
		return;
	}
	if (request->options.wait == FRAME_WAIT_CHANGE && area_has_changed(request)) {
		answer(request, 0, FRAME_END_CHANGED);
		return;
	}
	int64_t next_us = deadline_us(request);
	if (request->options.wait == FRAME_WAIT_STABLE) {
		int64_t quiet_us = quiet_at_us(request);
		if (now_us >= quiet_us && !windows_program_is_starting(request->requests->conn)) {
			answer(request, 0, FRAME_END_STABLE);
			return;
		}
		/* A program that is just starting gets another quiet time to paint in. */
		if (now_us >= quiet_us)
			quiet_us = now_us + (int64_t)request->options.quiet_ms * 1000;
		if (quiet_us < next_us)
			next_us = quiet_us;
	}
	if (now_us >= deadline_us(request))
		answer(request, 0, FRAME_END_TIMEOUT);
	else
		loop_timer_arm(request->timer, left_ms(next_us));
}

static void on_timer(void *arg)
{
	look(arg);
}

static void on_frame(void *arg, struct frame *frame)
{
	struct frame_request *request = arg;
	if (request->options.wait == FRAME_WAIT_CHANGE)
		loop_timer_arm(request->timer, 0); /* not from inside the feed's round */
}

void frame_request_start(struct frame_requests *requests, struct loop *loop, uint64_t id,
	const struct frame_options *options, frame_request_done done, void *arg)
{
	struct frame_request *request = xcalloc(1, sizeof(*request));
	request->requests = requests;
	request->id = id;
	request->options = *options;
	request->done = done;
	request->arg = arg;
	request->start_us = clock_monotonic_us();
	request->timer = loop_timer_create(loop, on_timer, request);
	request->watch = (struct frame_watch){
		.min_interval_ms = WATCH_INTERVAL_MS, .on_frame = on_frame, .arg = request};
	list_init(&request->watch.link);
	list_append(&requests->pending, &request->link);
	int error = refresh(request);
	if (error != 0 || options->wait == FRAME_WAIT_NONE) {
		answer(request, error, FRAME_END_NONE);
		return;
	}
	request->start_serial = activity_last_serial(
		grabber_activity(requests->grabber), &request->area);
	frame_feed_add(requests->feed, &request->watch);
	look(request);
}

void frame_request_expire(struct frame_requests *requests, uint64_t id)
{
	struct frame_request *request, *tmp;
	list_for_each_safe(request, tmp, &requests->pending, link) {
		if (request->id == id) {
			int error = refresh(request);
			answer(request, error, error == 0 ? FRAME_END_TIMEOUT : FRAME_END_NONE);
			return;
		}
	}
}

void frame_request_drop(struct frame_requests *requests, uint64_t id)
{
	struct frame_request *request, *tmp;
	list_for_each_safe(request, tmp, &requests->pending, link) {
		if (request->id == id) {
			request_free(request);
			return;
		}
	}
}

void frame_requests_fail_all(struct frame_requests *requests, int error)
{
	struct frame_request *request, *tmp;
	list_for_each_safe(request, tmp, &requests->pending, link)
		answer(request, error, FRAME_END_NONE);
}
