/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/barrier.h"

#include <X11/Xatom.h>
#include <X11/extensions/XRes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/socket_look.h"
#include "display/xconn.h"

/* Answers take 7-45 ms in GTK, Qt and browsers; a busy one is asked by its socket meanwhile. */
#define PING_PATIENCE_MS 250
/* Looks at once, before the loop has its turn again; the first seldom counts. */
#define LOOKS_AT_ONCE 10
/* Without seeing the server sleep: in so many looks in a row, a millisecond and a round trip apart,
   the program must sleep. */
#define ASLEEP_LOOKS 8
/* A program whose main thread never sleeps (a game) but keeps its queue empty for so long is done.
 */
#define RUNNING_PATIENCE_US 2000000
/* For programs that can neither be asked nor seen: twice the slowest barrier measured. */
#define BLIND_WAIT_MS 100
/* A millisecond each when the program is behind. */
#define EXIT_LOOKS     200
#define TREE_DEPTH_MAX 32
#define SERVER_TRIES   5

enum phase {
	PHASE_IDLE,
	PHASE_DONE, /* the outcome is known; the callback is on its way */
	PHASE_PING,
	PHASE_LOOK,
	PHASE_BLIND,
};

/* All fields are owned by the display thread. */
struct barrier {
	struct xconn *conn;
	struct xconn_listener listener;
	struct loop_timer *timer;
	struct socket_look *look; /* NULL: the kernel has no such thing */
	Atom wm_protocols, net_wm_ping;

	enum phase phase;
	enum barrier_outcome outcome;
	void (*done)(void *arg, enum barrier_outcome outcome);
	void *done_arg;
	int64_t limit_us; /* when to give up */

	Window focus;       /* of this barrier */
	Window ping_window; /* the window that offers the ping, None without */
	unsigned long ping_id;
	Window mute_window;  /* offered the ping and did not answer in time */
	Window aimed_window; /* whose process `look` is aimed at, None: nobody's */
	int asleep_looks;
	int64_t running_since_us;
};

static void finish(struct barrier *barrier, enum barrier_outcome outcome)
{
	barrier->phase = PHASE_DONE;
	barrier->outcome = outcome;
	loop_timer_arm(barrier->timer, 0);
}

static void report(struct barrier *barrier)
{
	loop_timer_disarm(barrier->timer);
	barrier->phase = PHASE_IDLE;
	barrier->done(barrier->done_arg, barrier->outcome);
}

static void on_event(void *arg, XEvent *event)
{
	struct barrier *barrier = arg;
	const XClientMessageEvent *message = &event->xclient;
	if (event->type != ClientMessage || message->message_type != barrier->wm_protocols ||
		message->format != 32 || (Atom)message->data.l[0] != barrier->net_wm_ping)
		return;
	Window window = (Window)message->data.l[2];
	if (window == barrier->mute_window)
		barrier->mute_window = None; /* slow, but it answers */
	if ((barrier->phase == PHASE_PING || barrier->phase == PHASE_LOOK) &&
		window == barrier->ping_window &&
		((unsigned long)message->data.l[1] & 0xffffffff) == barrier->ping_id)
		finish(barrier, BARRIER_PASSED);
}

static void on_timer(void *arg);

static void select_root_events(struct xconn *conn)
{
	/* Others on this connection select on the root too: add to theirs. */
	XWindowAttributes attributes;
	if (XGetWindowAttributes(conn->dpy, conn->root, &attributes))
		XSelectInput(
			conn->dpy, conn->root, attributes.your_event_mask | SubstructureNotifyMask);
}

/*
 * The process at the other end of our socket, when it is the server: after a round trip it has been
 * to sleep once more. (A socket that somebody else has opened for it carries that one's number.)
 */
static void find_server(struct barrier *barrier)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	if (getsockopt(ConnectionNumber(barrier->conn->dpy), SOL_SOCKET, SO_PEERCRED, &peer,
		    &len) != 0 ||
		peer.pid <= 0)
		return;
	socket_look_set_server(barrier->look, peer.pid);
	for (int i = 0; i < SERVER_TRIES; i++) {
		unsigned long long before = socket_look_server_sleeps(barrier->look);
		XSync(barrier->conn->dpy, False);
		if (barrier->conn->is_broken)
			return;
		XSync(barrier->conn->dpy, False);
		if (socket_look_server_sleeps(barrier->look) != before)
			return;
	}
	socket_look_set_server(barrier->look, 0);
}

struct barrier *barrier_create(struct xconn *conn)
{
	struct barrier *barrier = xcalloc(1, sizeof(*barrier));
	barrier->conn = conn;
	barrier->wm_protocols = XInternAtom(conn->dpy, "WM_PROTOCOLS", False);
	barrier->net_wm_ping = XInternAtom(conn->dpy, "_NET_WM_PING", False);
	barrier->timer = loop_timer_create(conn->loop, on_timer, barrier);
	barrier->look = conn->has_xres ? socket_look_create() : NULL;
	barrier->listener = (struct xconn_listener){.on_event = on_event, .arg = barrier};
	if (barrier->look != NULL)
		find_server(barrier);
	select_root_events(conn);
	xconn_listen(conn, &barrier->listener);
	return barrier;
}

void barrier_destroy(struct barrier *barrier)
{
	if (barrier == NULL)
		return;
	loop_timer_destroy(barrier->timer);
	xconn_unlisten(&barrier->listener);
	socket_look_destroy(barrier->look);
	free(barrier);
}

static Window window_under_pointer(struct xconn *conn)
{
	Window window = conn->root, root, child;
	int x, y, x_window, y_window;
	unsigned mask;
	for (int depth = 0; depth < TREE_DEPTH_MAX; depth++) {
		if (!XQueryPointer(conn->dpy, window, &root, &child, &x, &y, &x_window, &y_window,
			    &mask) ||
			child == None)
			break;
		window = child;
	}
	return window == conn->root ? None : window;
}

Window barrier_focus_window(struct xconn *conn)
{
	Window focus = None;
	int revert;
	if (conn->is_broken)
		return None;
	xconn_trap(conn);
	XGetInputFocus(conn->dpy, &focus, &revert);
	if (focus == PointerRoot || focus == conn->root)
		focus = window_under_pointer(conn);
	xconn_untrap(conn);
	return focus;
}

static bool offers_ping(struct barrier *barrier, Window window)
{
	Atom *protocols = NULL, type;
	int format;
	unsigned long count = 0, rest;
	unsigned char *data = NULL;
	bool is_offered = false;
	if (XGetWindowProperty(barrier->conn->dpy, window, barrier->wm_protocols, 0, 64, False,
		    XA_ATOM, &type, &format, &count, &rest, &data) == Success &&
		type == XA_ATOM && format == 32) {
		protocols = (Atom *)(void *)data;
		for (unsigned long i = 0; i < count; i++)
			is_offered |= protocols[i] == barrier->net_wm_ping;
	}
	if (data != NULL)
		XFree(data);
	return is_offered;
}

/* The focus is often a child or a proxy of the window that carries WM_PROTOCOLS. */
static Window find_ping_window(struct barrier *barrier)
{
	Window window = barrier->focus, found = None;
	xconn_trap(barrier->conn);
	for (int depth = 0; depth < TREE_DEPTH_MAX && window != None; depth++) {
		Window root, parent = None, *children = NULL;
		unsigned count;
		if (window == barrier->conn->root)
			break;
		if (offers_ping(barrier, window)) {
			found = window;
			break;
		}
		if (!XQueryTree(barrier->conn->dpy, window, &root, &parent, &children, &count))
			parent = None;
		if (children != NULL)
			XFree(children);
		window = parent;
	}
	if (xconn_untrap(barrier->conn) != 0)
		found = None;
	return found;
}

static void send_ping(struct barrier *barrier)
{
	/* Programs send it back as it came; only we look at it. */
	static unsigned long
		last_id; /* of all barriers: none takes the other's answer for its own */
	last_id = (last_id + 1) & 0x7fffffff;
	barrier->ping_id = last_id;
	XEvent event = {.xclient = {
				.type = ClientMessage,
				.window = barrier->ping_window,
				.message_type = barrier->wm_protocols,
				.format = 32,
			}};
	event.xclient.data.l[0] = (long)barrier->net_wm_ping;
	event.xclient.data.l[1] = (long)barrier->ping_id;
	event.xclient.data.l[2] = (long)barrier->ping_window;
	XSendEvent(barrier->conn->dpy, barrier->ping_window, False, NoEventMask, &event);
	XFlush(barrier->conn->dpy);
}

static pid_t window_pid(struct barrier *barrier, Window window)
{
	XResClientIdSpec spec = {.client = window, .mask = XRES_CLIENT_ID_PID_MASK};
	XResClientIdValue *ids = NULL;
	long count = 0;
	pid_t pid = -1;
	if (XResQueryClientIds(barrier->conn->dpy, 1, &spec, &count, &ids) != Success)
		return -1;
	for (long i = 0; i < count && pid <= 0; i++)
		pid = XResGetClientPid(&ids[i]);
	XResClientIdsDestroy(count, ids);
	return pid;
}

/* Whether the program can be looked at by its socket. */
static bool aim(struct barrier *barrier)
{
	if (barrier->look == NULL)
		return false;
	if (barrier->aimed_window == barrier->focus)
		return true;
	xconn_trap(barrier->conn);
	pid_t pid = window_pid(barrier, barrier->focus);
	bool is_aimed =
		xconn_untrap(barrier->conn) == 0 && pid > 0 && socket_look_aim(barrier->look, pid);
	barrier->aimed_window = is_aimed ? barrier->focus : None;
	return is_aimed;
}

pid_t barrier_window_pid(struct barrier *barrier, Window window)
{
	if (window == None || !barrier->conn->has_xres)
		return -1;
	xconn_trap(barrier->conn);
	pid_t pid = window_pid(barrier, window);
	return xconn_untrap(barrier->conn) == 0 ? pid : -1;
}

static void wait_blindly(struct barrier *barrier)
{
	barrier->phase = PHASE_BLIND;
	XSync(barrier->conn->dpy, False);
	loop_timer_arm(barrier->timer, BLIND_WAIT_MS);
}

static void begin_looking(struct barrier *barrier)
{
	if (!aim(barrier)) {
		wait_blindly(barrier);
		return;
	}
	barrier->phase = PHASE_LOOK;
	barrier->asleep_looks = 0;
	barrier->running_since_us = clock_monotonic_us();
	loop_timer_arm(barrier->timer, 0);
}

/*
 * The round trip has the server take all that we sent. Not that it has sent it on: it keeps back
 * what is for a client whose own requests wait, and serves whoever asks quickly first. So both must
 * be seen to sleep over one moment at which no queue holds anything.
 */
static enum socket_look_result look_once(struct barrier *barrier)
{
	enum socket_look_result result = SOCKET_LOOK_BEHIND;
	XSync(barrier->conn->dpy, False);
	for (int i = 0; i < LOOKS_AT_ONCE && !barrier->conn->is_broken; i++) {
		result = socket_look_now(barrier->look);
		if (result == SOCKET_LOOK_IDLE || result == SOCKET_LOOK_UNKNOWN)
			break;
	}
	barrier->asleep_looks = result == SOCKET_LOOK_ASLEEP ? barrier->asleep_looks + 1 : 0;
	return result;
}

static bool has_passed(const struct barrier *barrier, enum socket_look_result result)
{
	return result == SOCKET_LOOK_IDLE || barrier->asleep_looks >= ASLEEP_LOOKS;
}

static void take_looks(struct barrier *barrier)
{
	int64_t now_us = clock_monotonic_us();
	enum socket_look_result result = look_once(barrier);
	if (barrier->conn->is_broken)
		return;
	if (result == SOCKET_LOOK_BEHIND)
		barrier->running_since_us = now_us;
	if (has_passed(barrier, result)) {
		finish(barrier, BARRIER_PASSED);
	} else if (result == SOCKET_LOOK_UNKNOWN) {
		barrier->aimed_window = None; /* it may have gone, or have new sockets */
		wait_blindly(barrier);
	} else if (now_us - barrier->running_since_us > RUNNING_PATIENCE_US) {
		finish(barrier, BARRIER_WAITED);
	} else if (now_us > barrier->limit_us) {
		finish(barrier, BARRIER_TIMED_OUT);
	} else {
		loop_timer_arm(barrier->timer, 1);
	}
}

static void on_timer(void *arg)
{
	struct barrier *barrier = arg;
	if (barrier->conn->is_broken)
		return;
	switch (barrier->phase) {
	case PHASE_DONE:
		report(barrier);
		break;
	case PHASE_PING:
		barrier->mute_window = barrier->ping_window;
		begin_looking(barrier);
		break;
	case PHASE_LOOK:
		take_looks(barrier);
		break;
	case PHASE_BLIND:
		finish(barrier, BARRIER_WAITED);
		break;
	case PHASE_IDLE:
		break;
	}
}

Window barrier_pointer_window(struct xconn *conn)
{
	if (conn->is_broken)
		return None;
	xconn_trap(conn);
	Window window = window_under_pointer(conn);
	return xconn_untrap(conn) == 0 && window != conn->root ? window : None;
}

void barrier_begin(struct barrier *barrier, int limit_ms,
	void (*done)(void *arg, enum barrier_outcome outcome), void *arg)
{
	barrier_begin_on(barrier, barrier_focus_window(barrier->conn), limit_ms, done, arg);
}

void barrier_begin_on(struct barrier *barrier, Window window, int limit_ms,
	void (*done)(void *arg, enum barrier_outcome outcome), void *arg)
{
	barrier->done = done;
	barrier->done_arg = arg;
	barrier->limit_us = clock_monotonic_us() + (int64_t)limit_ms * 1000;
	barrier->focus = window;
	if (barrier->focus == None || barrier->conn->is_broken) {
		finish(barrier, BARRIER_PASSED);
		return;
	}
	barrier->ping_window = find_ping_window(barrier);
	if (barrier->ping_window != None && barrier->ping_window != barrier->mute_window) {
		barrier->phase = PHASE_PING;
		loop_timer_arm(
			barrier->timer, PING_PATIENCE_MS < limit_ms ? PING_PATIENCE_MS : limit_ms);
		send_ping(barrier);
		return;
	}
	begin_looking(barrier);
}

void barrier_cancel(struct barrier *barrier)
{
	loop_timer_disarm(barrier->timer);
	barrier->phase = PHASE_IDLE;
}

void barrier_wait(struct barrier *barrier)
{
	barrier->focus = barrier_focus_window(barrier->conn);
	if (barrier->focus == None || !aim(barrier)) {
		XSync(barrier->conn->dpy, False);
		return;
	}
	barrier->asleep_looks = 0;
	for (int i = 0; i < EXIT_LOOKS; i++) {
		enum socket_look_result result = look_once(barrier);
		if (barrier->conn->is_broken || result == SOCKET_LOOK_UNKNOWN ||
			has_passed(barrier, result))
			return;
		usleep(1000);
	}
}
