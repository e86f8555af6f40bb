/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/xconn.h"

#include <X11/XKBlib.h>
#include <X11/Xlibint.h>
#include <X11/extensions/XRes.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/XTest.h>
#include <X11/extensions/Xdamage.h>
#include <X11/extensions/Xfixes.h>
#include <X11/extensions/Xrandr.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#define LOG_MODULE "xconn"
#include "base/log.h"

/* The connection of this thread; Xlib's handlers get only a Display. */
static _Thread_local struct xconn *thread_conn;

static int on_x_error(Display *dpy, XErrorEvent *event)
{
	struct xconn *conn = thread_conn;
	if (conn != NULL && conn->dpy == dpy && conn->trap_depth > 0 &&
		event->serial >= conn->trap_serial) {
		if (conn->trapped_error == 0)
			conn->trapped_error = event->error_code;
		return 0;
	}
	char text[128];
	XGetErrorText(dpy, event->error_code, text, sizeof(text));
	log_warn("X error %d (%s) for request %d.%d on resource 0x%lx", event->error_code, text,
		event->request_code, event->minor_code, event->resourceid);
	return 0;
}

static int on_x_io_error(Display *dpy)
{
	return 0; /* Xlib calls the exit handler next, which marks the connection */
}

static void on_x_io_error_exit(Display *dpy, void *arg)
{
	struct xconn *conn = arg;
	if (conn->is_broken)
		return;
	conn->is_broken = true;
	/* Never from inside an Xlib call: the owner hears of it from the loop. */
	loop_timer_arm(conn->lost_timer, 0);
}

static void install_handlers(void)
{
	XSetErrorHandler(on_x_error);
	XSetIOErrorHandler(on_x_io_error);
}

static void on_lost_timer(void *arg)
{
	struct xconn *conn = arg;
	conn->on_lost(conn->on_lost_arg);
}

void xconn_dispatch_pending(struct xconn *conn)
{
	while (!conn->is_broken && XPending(conn->dpy) > 0) {
		XEvent event;
		XNextEvent(conn->dpy, &event);
		if (conn->is_broken)
			return;
		struct xconn_listener *listener, *tmp;
		list_for_each_safe(listener, tmp, &conn->listeners, link)
			listener->on_event(listener->arg, &event);
	}
}

/*
 * Before the loop sleeps: calls that waited for replies have read events too, for which the fd never
 * becomes readable, and so may writing (xcb reads whenever the socket has something). XPending
 * flushes first and looks then, so that nothing slips in between.
 */
static void on_prepare(void *arg)
{
	xconn_dispatch_pending(arg);
}

static void on_readable(void *arg, int events)
{
	xconn_dispatch_pending(arg);
}

static void query_extensions(struct xconn *conn)
{
	Display *dpy = conn->dpy;
	int error_base, event_base, major, minor;
	conn->has_shm = XShmQueryExtension(dpy);
	conn->has_damage = XDamageQueryExtension(dpy, &conn->damage_event, &error_base) &&
			   XDamageQueryVersion(dpy, &major, &minor);
	conn->has_fixes = XFixesQueryExtension(dpy, &conn->fixes_event, &error_base) &&
			  XFixesQueryVersion(dpy, &major, &minor);
	conn->has_randr = XRRQueryExtension(dpy, &conn->randr_event, &error_base) &&
			  XRRQueryVersion(dpy, &major, &minor);
	conn->has_xres = XResQueryExtension(dpy, &event_base, &error_base) &&
			 XResQueryVersion(dpy, &major, &minor) &&
			 (major > 1 || (major == 1 && minor >= 2));
	conn->has_xtest = XTestQueryExtension(dpy, &event_base, &error_base, &major, &minor);
	int opcode;
	major = XkbMajorVersion;
	minor = XkbMinorVersion;
	conn->has_xkb = XkbQueryExtension(
		dpy, &opcode, &conn->xkb_event, &error_base, &major, &minor);
	if (!XQueryExtension(dpy, "XInputExtension", &conn->xi_opcode, &event_base, &error_base))
		conn->xi_opcode = 0;
}

struct xconn *xconn_open(
	const char *display, struct loop *loop, void (*on_lost)(void *arg), void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, install_handlers);
	Display *dpy = XOpenDisplay(display);
	if (dpy == NULL)
		return NULL;
	struct xconn *conn = xcalloc(1, sizeof(*conn));
	conn->dpy = dpy;
	conn->screen = DefaultScreen(dpy);
	conn->root = DefaultRootWindow(dpy);
	conn->loop = loop;
	conn->on_lost = on_lost;
	conn->on_lost_arg = arg;
	conn->lost_timer = loop_timer_create(loop, on_lost_timer, conn);
	list_init(&conn->listeners);
	thread_conn = conn;
	XSetIOErrorExitHandler(dpy, on_x_io_error_exit, conn);
	query_extensions(conn);
	conn->io = loop_io_create(loop, ConnectionNumber(dpy), LOOP_READABLE, on_readable, conn);
	conn->prepare = loop_prepare_create(loop, on_prepare, conn);
	return conn;
}

void xconn_close(struct xconn *conn)
{
	if (conn == NULL)
		return;
	loop_io_destroy(conn->io);
	loop_prepare_destroy(conn->prepare);
	loop_timer_destroy(conn->lost_timer);
	if (conn->is_broken)
		shutdown(ConnectionNumber(conn->dpy), SHUT_RDWR);
	XCloseDisplay(conn->dpy);
	thread_conn = NULL;
	free(conn);
}

bool xconn_was_slow(struct xconn *conn)
{
	int64_t start_us = clock_monotonic_us();
	if (!conn->is_broken)
		XSync(conn->dpy, False);
	return !conn->is_broken && clock_monotonic_us() - start_us > XCONN_SLOW_US;
}

void xconn_listen(struct xconn *conn, struct xconn_listener *listener)
{
	list_append(&conn->listeners, &listener->link);
}

void xconn_unlisten(struct xconn_listener *listener)
{
	list_remove(&listener->link);
}

void xconn_trap(struct xconn *conn)
{
	if (conn->trap_depth == 0) {
		/* Errors of what came before are not ours. */
		conn->trap_serial = NextRequest(conn->dpy);
		conn->trapped_error = 0;
	}
	conn->trap_depth++;
}

int xconn_untrap(struct xconn *conn)
{
	if (!conn->is_broken)
		XSync(conn->dpy, False);
	return xconn_untrap_replied(conn);
}

int xconn_untrap_replied(struct xconn *conn)
{
	conn->trap_depth--;
	int error = conn->trapped_error;
	conn->trapped_error = 0;
	return conn->is_broken ? -1 : error;
}
