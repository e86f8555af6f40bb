/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/clipboard.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "display/xconn.h"
#include "display/xprop.h"

/* One XGetWindowProperty; larger values are read in several. */
#define CHUNK_BYTES (1 << 20)

struct transfer {
	struct list link;
	enum clipboard_selection selection;
	enum clipboard_content content;
	clipboard_done done;
	void *arg;
	bool knows_targets; /* the owner has been asked what it has to offer, or will not say */
	unsigned offered;   /* bit n: it offers the content's target n; all when it will not say */
	int target_index;   /* which of the content's targets is being tried */
	bool is_incr;
	struct buffer data;
};

struct clipboard {
	struct xconn *conn;
	struct xconn_listener listener;
	Window window; /* never mapped; the properties that owners write are on it */
	Atom property;
	struct list transfers; /* the first one is under way */
	struct loop_timer *timer;
	bool is_active;
};

static const char *const text_targets[] = {
	"UTF8_STRING", "text/plain;charset=utf-8", "STRING", "TEXT", NULL};
static const char *const png_targets[] = {"image/png", NULL};

static void start_next(struct clipboard *clipboard);

static struct transfer *current(struct clipboard *clipboard)
{
	return container_of(clipboard->transfers.next, struct transfer, link);
}

static const char *const *targets_of(const struct transfer *transfer)
{
	return transfer->content == CLIPBOARD_PNG ? png_targets : text_targets;
}

static const char *current_target(const struct transfer *transfer)
{
	return transfer->knows_targets ? targets_of(transfer)[transfer->target_index] : "TARGETS";
}

static Atom selection_atom(struct clipboard *clipboard, const struct transfer *transfer)
{
	return transfer->selection == CLIPBOARD_PRIMARY
		       ? XA_PRIMARY
		       : xprop_atom(clipboard->conn, "CLIPBOARD");
}

static void transfer_free(struct transfer *transfer)
{
	list_remove(&transfer->link);
	buffer_finish(&transfer->data);
	free(transfer);
}

/* Latin-1 from an owner that knows only STRING. */
static void widen_latin1(struct buffer *data)
{
	struct buffer out = {0};
	for (size_t i = 0; i < data->len; i++) {
		char encoded[4];
		buffer_append(&out, encoded, utf8_encode(data->data[i], encoded));
	}
	buffer_finish(data);
	*data = out;
}

static void finish(struct clipboard *clipboard, int error)
{
	struct transfer *transfer = current(clipboard);
	list_remove(&transfer->link);
	loop_timer_disarm(clipboard->timer);
	clipboard->is_active = false;
	const char *target = current_target(transfer);
	/* TEXT is the owner's choice; what is no UTF-8 then is taken for Latin-1 too. */
	if (error == 0 && target != NULL &&
		(strcmp(target, "STRING") == 0 ||
			(strcmp(target, "TEXT") == 0 &&
				!utf8_is_valid((const char *)transfer->data.data,
					transfer->data.len))))
		widen_latin1(&transfer->data);
	transfer->done(transfer->arg, error,
		transfer->data.data != NULL ? (const char *)transfer->data.data : "",
		error == 0 ? transfer->data.len : 0);
	transfer_free(transfer);
	start_next(clipboard);
}

static void request_target(struct clipboard *clipboard)
{
	struct xconn *conn = clipboard->conn;
	struct transfer *transfer = current(clipboard);
	XDeleteProperty(conn->dpy, clipboard->window, clipboard->property);
	XConvertSelection(conn->dpy, selection_atom(clipboard, transfer),
		xprop_atom(conn, current_target(transfer)), clipboard->property, clipboard->window,
		CurrentTime);
	loop_timer_arm(clipboard->timer, CLIPBOARD_TIMEOUT_MS);
}

static void start_next(struct clipboard *clipboard)
{
	if (clipboard->is_active || list_is_empty(&clipboard->transfers))
		return;
	clipboard->is_active = true;
	struct transfer *transfer = current(clipboard);
	Atom selection = selection_atom(clipboard, transfer);
	if (!clipboard->conn->is_broken &&
		XGetSelectionOwner(clipboard->conn->dpy, selection) == None) {
		finish(clipboard, transfer->content == CLIPBOARD_TEXT ? 0 : -ENOENT);
		return;
	}
	if (clipboard->conn->is_broken) {
		finish(clipboard, -ENOTCONN);
		return;
	}
	request_target(clipboard);
}

/* Asks for the first target from target_index on that the owner offers. */
static void try_target(struct clipboard *clipboard)
{
	struct transfer *transfer = current(clipboard);
	while (current_target(transfer) != NULL &&
		(transfer->offered & 1u << transfer->target_index) == 0)
		transfer->target_index++;
	if (current_target(transfer) == NULL)
		finish(clipboard, -ENOENT);
	else
		request_target(clipboard);
}

static void try_next_target(struct clipboard *clipboard)
{
	current(clipboard)->target_index++;
	try_target(clipboard);
}

/* Some owners hand out whatever they have under any name, so only what they name is asked for. */
static void on_targets(struct clipboard *clipboard, bool is_answered)
{
	struct xconn *conn = clipboard->conn;
	struct transfer *transfer = current(clipboard);
	size_t count = 0;
	Atom *offers = is_answered ? xprop_read(conn, clipboard->window, "BOXSCREEN_SELECTION",
					     AnyPropertyType, 32, &count)
				   : NULL;
	const char *const *targets = targets_of(transfer);
	transfer->knows_targets = true;
	transfer->offered = offers == NULL ? ~0u : 0;
	for (int n = 0; offers != NULL && targets[n] != NULL; n++) {
		for (size_t i = 0; i < count; i++) {
			if (offers[i] == xprop_atom(conn, targets[n]))
				transfer->offered |= 1u << n;
		}
	}
	if (offers != NULL)
		XFree(offers);
	try_target(clipboard);
}

/* Moves the property's value into the transfer and deletes it, which tells the owner to go on. */
static int take_property(struct clipboard *clipboard, Atom *type, size_t *taken)
{
	struct xconn *conn = clipboard->conn;
	struct transfer *transfer = current(clipboard);
	unsigned long left = 1;
	*taken = 0;
	*type = None;
	for (long offset = 0; left > 0 && !conn->is_broken;) {
		int format = 0;
		unsigned long items = 0;
		unsigned char *data = NULL;
		if (XGetWindowProperty(conn->dpy, clipboard->window, clipboard->property, offset,
			    CHUNK_BYTES / 4, False, AnyPropertyType, type, &format, &items, &left,
			    &data) != Success ||
			conn->is_broken)
			return -ENOTCONN;
		if (*type == xprop_atom(conn, "INCR") || format != 8) {
			left = 0;
		} else {
			buffer_append(&transfer->data, data, items);
			*taken += items;
			offset += (long)(items / 4);
		}
		if (data != NULL)
			XFree(data);
		if (transfer->data.len > CLIPBOARD_MAX_BYTES)
			return -EFBIG;
	}
	XDeleteProperty(conn->dpy, clipboard->window, clipboard->property);
	return conn->is_broken ? -ENOTCONN : 0;
}

static void on_selection_notify(struct clipboard *clipboard, const XSelectionEvent *event)
{
	struct transfer *transfer = current(clipboard);
	if (event->selection != selection_atom(clipboard, transfer) || transfer->is_incr ||
		event->target != xprop_atom(clipboard->conn, current_target(transfer)))
		return; /* the late answer to a request that was given up */
	if (!transfer->knows_targets) {
		on_targets(clipboard, event->property != None);
		return;
	}
	if (event->property == None) {
		try_next_target(clipboard);
		return;
	}
	Atom type;
	size_t taken;
	int error = take_property(clipboard, &type, &taken);
	if (error == 0 && type == xprop_atom(clipboard->conn, "INCR")) {
		transfer->is_incr = true;
		loop_timer_arm(clipboard->timer, CLIPBOARD_TIMEOUT_MS);
		return;
	}
	finish(clipboard, error);
}

static void on_new_value(struct clipboard *clipboard)
{
	Atom type;
	size_t taken;
	int error = take_property(clipboard, &type, &taken);
	if (error == 0 && taken > 0)
		loop_timer_arm(clipboard->timer, CLIPBOARD_TIMEOUT_MS);
	else
		finish(clipboard, error); /* an empty piece ends the transfer */
}

static void on_event(void *arg, XEvent *event)
{
	struct clipboard *clipboard = arg;
	if (!clipboard->is_active)
		return;
	if (event->type == SelectionNotify && event->xselection.requestor == clipboard->window)
		on_selection_notify(clipboard, &event->xselection);
	else if (event->type == PropertyNotify && event->xproperty.window == clipboard->window &&
		 event->xproperty.atom == clipboard->property &&
		 event->xproperty.state == PropertyNewValue && current(clipboard)->is_incr)
		on_new_value(clipboard);
}

/* Also how a request is started, so that `done` never runs inside clipboard_read. */
static void on_timer(void *arg)
{
	struct clipboard *clipboard = arg;
	if (clipboard->is_active)
		finish(clipboard, -ETIMEDOUT);
	else
		start_next(clipboard);
}

struct clipboard *clipboard_create(struct xconn *conn)
{
	struct clipboard *clipboard = xcalloc(1, sizeof(*clipboard));
	clipboard->conn = conn;
	list_init(&clipboard->transfers);
	XSetWindowAttributes attributes = {
		.event_mask = PropertyChangeMask, .override_redirect = True};
	clipboard->window = XCreateWindow(conn->dpy, conn->root, -10, -10, 1, 1, 0, CopyFromParent,
		InputOnly, CopyFromParent, CWEventMask | CWOverrideRedirect, &attributes);
	clipboard->property = xprop_atom(conn, "BOXSCREEN_SELECTION");
	clipboard->listener = (struct xconn_listener){.on_event = on_event, .arg = clipboard};
	xconn_listen(conn, &clipboard->listener);
	clipboard->timer = loop_timer_create(conn->loop, on_timer, clipboard);
	return clipboard;
}

void clipboard_destroy(struct clipboard *clipboard)
{
	if (clipboard == NULL)
		return;
	xconn_unlisten(&clipboard->listener);
	loop_timer_destroy(clipboard->timer);
	struct transfer *transfer, *tmp;
	list_for_each_safe(transfer, tmp, &clipboard->transfers, link) {
		transfer->done(transfer->arg, -ENOTCONN, "", 0);
		transfer_free(transfer);
	}
	if (!clipboard->conn->is_broken)
		XDestroyWindow(clipboard->conn->dpy, clipboard->window);
	free(clipboard);
}

void clipboard_read(struct clipboard *clipboard, enum clipboard_selection selection,
	enum clipboard_content content, clipboard_done done, void *arg)
{
	struct transfer *transfer = xcalloc(1, sizeof(*transfer));
	transfer->selection = selection;
	transfer->content = content;
	transfer->done = done;
	transfer->arg = arg;
	list_append(&clipboard->transfers, &transfer->link);
	if (!clipboard->is_active)
		loop_timer_arm(clipboard->timer, 0);
}

