/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/cursor.h"

#include <X11/extensions/Xfixes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "display/xconn.h"

struct cursor {
	struct xconn *conn;
	struct xconn_listener listener;
	struct cursor_image *image;
	bool is_stale; /* the server has shown another cursor since `image` was read */
};

struct cursor_image *cursor_image_ref(struct cursor_image *image)
{
	atomic_fetch_add(&image->refs, 1);
	return image;
}

void cursor_image_unref(struct cursor_image *image)
{
	if (image != NULL && atomic_fetch_sub(&image->refs, 1) == 1)
		free(image);
}

static void on_event(void *arg, XEvent *event)
{
	struct cursor *cursor = arg;
	if (event->type == cursor->conn->fixes_event + XFixesCursorNotify)
		cursor->is_stale = true;
}

struct cursor *cursor_create(struct xconn *conn)
{
	struct cursor *cursor = xcalloc(1, sizeof(*cursor));
	cursor->conn = conn;
	cursor->is_stale = true;
	cursor->listener = (struct xconn_listener){.on_event = on_event, .arg = cursor};
	xconn_listen(conn, &cursor->listener);
	if (conn->has_fixes)
		XFixesSelectCursorInput(conn->dpy, conn->root, XFixesDisplayCursorNotifyMask);
	return cursor;
}

void cursor_destroy(struct cursor *cursor)
{
	if (cursor == NULL)
		return;
	xconn_unlisten(&cursor->listener);
	cursor_image_unref(cursor->image);
	free(cursor);
}

static void on_short_io_error(Display *dpy, void *arg)
{
}

/*
 * Asks over a connection of a moment. The SECURITY extension refuses the image of a cursor whose
 * maker has ended (xsetroot -cursor is one), as long as nobody has the maker's place among the
 * server's clients; a new connection takes it.
 */
static XFixesCursorImage *ask_anew(struct xconn *conn)
{
	int event_base, error_base, major, minor;
	Display *dpy = XOpenDisplay(DisplayString(conn->dpy));
	if (dpy == NULL)
		return NULL;
	XSetIOErrorExitHandler(dpy, on_short_io_error, NULL);
	XFixesCursorImage *shown = NULL;
	if (XFixesQueryExtension(dpy, &event_base, &error_base) &&
		XFixesQueryVersion(dpy, &major, &minor))
		shown = XFixesGetCursorImage(dpy);
	XCloseDisplay(dpy);
	return shown;
}

static struct cursor_image *read_image(struct xconn *conn)
{
	xconn_trap(conn);
	XFixesCursorImage *shown = XFixesGetCursorImage(conn->dpy);
	if (xconn_untrap(conn) == -1)
		return NULL;
	if (shown == NULL)
		shown = ask_anew(conn);
	if (shown == NULL)
		return NULL;
	size_t count = (size_t)shown->width * shown->height;
	struct cursor_image *image = xmalloc(sizeof(*image) + count * sizeof(image->argb[0]));
	atomic_init(&image->refs, 1);
	image->width = shown->width;
	image->height = shown->height;
	image->hot_x = shown->xhot;
	image->hot_y = shown->yhot;
	image->serial = shown->cursor_serial;
	/* Xlib widens each 32-bit pixel to an unsigned long. */
	for (size_t i = 0; i < count; i++)
		image->argb[i] = (uint32_t)shown->pixels[i];
	XFree(shown);
	return image;
}

struct cursor_image *cursor_image(struct cursor *cursor)
{
	struct xconn *conn = cursor->conn;
	if (!conn->has_fixes || conn->is_broken)
		return NULL;
	xconn_dispatch_pending(conn);
	if (cursor->is_stale && !conn->is_broken) {
		cursor->is_stale = false;
		cursor_image_unref(cursor->image);
		cursor->image = read_image(conn);
	}
	return cursor->image;
}

bool cursor_position(struct cursor *cursor, int *x, int *y)
{
	struct xconn *conn = cursor->conn;
	Window root, child;
	int win_x, win_y;
	unsigned mask;
	if (conn->is_broken)
		return false;
	*x = *y = 0;
	XQueryPointer(conn->dpy, conn->root, &root, &child, x, y, &win_x, &win_y, &mask);
	return !conn->is_broken;
}
