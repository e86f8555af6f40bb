/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How --sync waits: for X events of the windows concerned, with a cap. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "display/hand.h"
#include "display/xdotool_private.h"

static bool is_watched(const struct xdotool_run *run, Window window)
{
	for (size_t i = 0; i < run->wait.watched_count; i++) {
		if (run->wait.watched[i].window == window)
			return true;
	}
	return false;
}

void xdotool_watch(struct xdotool_run *run, Window window, long mask)
{
	XWindowAttributes attributes;
	if (run->conn->is_broken || is_watched(run, window))
		return;
	xconn_trap(run->conn);
	if (XGetWindowAttributes(run->conn->dpy, window, &attributes)) {
		long added = mask & ~attributes.your_event_mask;
		XSelectInput(run->conn->dpy, window, attributes.your_event_mask | added);
		run->wait.watched = xrealloc(run->wait.watched,
			(run->wait.watched_count + 1) * sizeof(run->wait.watched[0]));
		run->wait.watched[run->wait.watched_count++] =
			(struct xdotool_watched){window, added};
	}
	xconn_untrap(run->conn);
}

/* Others here may have come to listen to the same window meanwhile: only what we added goes. */
static void unwatch_all(struct xdotool_run *run)
{
	XWindowAttributes attributes;
	if (!run->conn->is_broken && run->wait.watched_count > 0) {
		xconn_trap(run->conn);
		for (size_t i = 0; i < run->wait.watched_count; i++) {
			const struct xdotool_watched *watched = &run->wait.watched[i];
			if (watched->added_mask != 0 &&
				XGetWindowAttributes(
					run->conn->dpy, watched->window, &attributes))
				XSelectInput(run->conn->dpy, watched->window,
					attributes.your_event_mask & ~watched->added_mask);
		}
		xconn_untrap(run->conn);
	}
	run->wait.watched_count = 0;
}

/* Looked at in a turn of the loop of its own: once for a burst, and not amid the event's listeners. */
static void on_event(void *arg, XEvent *event)
{
	struct xdotool_run *run = arg;
	if (!is_watched(run, event->xany.window))
		return;
	if (event->type == ConfigureNotify &&
		event->xconfigure.window == event->xconfigure.event &&
		event->xconfigure.window == run->window)
		run->wait.has_configured = true;
	if (run->wait.is_active && !loop_timer_is_armed(run->wait.check_timer))
		loop_timer_arm(run->wait.check_timer, run->wait.pause_ms);
}

void xdotool_wait_stop(struct xdotool_run *run)
{
	run->wait.is_active = false;
	run->wait.has_configured = false;
	run->wait.pause_ms = 0;
	loop_timer_disarm(run->wait.check_timer);
	loop_timer_disarm(run->wait.cap_timer);
	unwatch_all(run);
}

static void finish(struct xdotool_run *run, bool is_over)
{
	xdotool_wait_stop(run);
	run->wait.next(run, is_over);
}

static void on_check(void *arg)
{
	struct xdotool_run *run = arg;
	if (!input_gate_admits(run->hand->gate, run->ticket))
		xdotool_holder_changed(run);
	else if (run->wait.is_over(run))
		finish(run, true);
}

static void on_cap(void *arg)
{
	struct xdotool_run *run = arg;
	if (!input_gate_admits(run->hand->gate, run->ticket))
		xdotool_holder_changed(run);
	else
		finish(run, run->wait.is_over(run));
}

void xdotool_await(struct xdotool_run *run, int cap_ms, bool (*is_over)(struct xdotool_run *run),
	void (*next)(struct xdotool_run *run, bool is_over))
{
	run->wait.is_over = is_over;
	run->wait.next = next;
	/* What has happened already may lie in the queue. */
	if (is_over(run)) {
		finish(run, true);
		return;
	}
	run->wait.is_active = true;
	loop_timer_arm(run->wait.cap_timer, cap_ms);
}

void xdotool_end_wait(struct xdotool_run *run, bool is_over, const char *what)
{
	if (is_over)
		xdotool_succeed(run);
	else
		xdotool_fail(run, "window %lu %s within %d s", run->window, what,
			XDOTOOL_SYNC_MAX_MS / 1000);
}

void xdotool_wait_init(struct xdotool_run *run)
{
	run->wait.check_timer = loop_timer_create(run->hand->loop, on_check, run);
	run->wait.cap_timer = loop_timer_create(run->hand->loop, on_cap, run);
	run->wait.listener = (struct xconn_listener){.on_event = on_event, .arg = run};
	xconn_listen(run->conn, &run->wait.listener);
}

void xdotool_wait_finish(struct xdotool_run *run)
{
	xdotool_wait_stop(run);
	xconn_unlisten(&run->wait.listener);
	loop_timer_destroy(run->wait.check_timer);
	loop_timer_destroy(run->wait.cap_timer);
	free(run->wait.watched);
}
