/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/selection_owner.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "display/xconn.h"
#define LOG_MODULE "selection"
#include "base/log.h"

#define SAVE_WAIT_MS      300 /* for an owner to begin to answer, and between pieces */
#define SAVE_MAX          (32 * 1024 * 1024)
#define PIECE_MAX         (128 * 1024) /* below the smallest request limit of X servers */
#define TRANSFER_LIMIT_US 10000000     /* for a requestor that stops taking pieces */
/* The bits of an XID that tell clients apart, as servers deal them with up to 256 clients. */
#define CLIENT_BITS (~(XID)0x1fffff)

enum { CLIPBOARD, PRIMARY, SELECTION_COUNT };

struct content {
	struct buffer bytes;
	bool is_png;
};

enum save_state {
	SAVE_NONE,
	SAVE_ASKED,
	SAVE_PIECES, /* INCR */
	SAVE_DONE,
};

struct selection {
	Atom name;
	Atom property;        /* on our window, for reading */
	struct content saved; /* what was there before; served by us after giving back */
	bool has_saved;
	bool is_owned; /* by us, whatever we serve */
	enum save_state state;
};

/* One INCR under way to a requestor. */
struct transfer {
	struct list link;
	Window requestor;
	Atom property, type;
	struct buffer bytes;
	size_t sent;
	int64_t deadline_us;
	bool is_watched; /* its end is what `served` waits for */
};

/* All fields are owned by the display thread. */
struct selection_owner {
	struct xconn *conn;
	struct xconn_listener listener;
	struct loop_timer *timer; /* for saving */
	Window window;
	Atom utf8_string, targets, text, plain, plain_utf8, png, incr;
	struct selection selections[SELECTION_COUNT];
	struct buffer offered; /* the text of the moment */
	bool is_taken;
	bool is_saving;
	struct list transfers;
	int64_t last_served_us;

	void (*ready)(void *arg, bool is_owned);
	void *ready_arg;
	Window watched;
	void (*served)(void *arg);
	void *served_arg;
	Window refused; /* whose client gets nothing, None: nobody's */
};

static void on_event(void *arg, XEvent *event);
static void on_save_timer(void *arg);

struct selection_owner *selection_owner_create(struct xconn *conn)
{
	struct selection_owner *owner = xcalloc(1, sizeof(*owner));
	Display *dpy = conn->dpy;
	owner->conn = conn;
	owner->timer = loop_timer_create(conn->loop, on_save_timer, owner);
	owner->utf8_string = XInternAtom(dpy, "UTF8_STRING", False);
	owner->targets = XInternAtom(dpy, "TARGETS", False);
	owner->text = XInternAtom(dpy, "TEXT", False);
	owner->plain = XInternAtom(dpy, "text/plain", False);
	owner->plain_utf8 = XInternAtom(dpy, "text/plain;charset=utf-8", False);
	owner->png = XInternAtom(dpy, "image/png", False);
	owner->incr = XInternAtom(dpy, "INCR", False);
	owner->selections[CLIPBOARD].name = XInternAtom(dpy, "CLIPBOARD", False);
	owner->selections[CLIPBOARD].property = XInternAtom(dpy, "_BOXSCREEN_SAVED_0", False);
	owner->selections[PRIMARY].name = XA_PRIMARY;
	owner->selections[PRIMARY].property = XInternAtom(dpy, "_BOXSCREEN_SAVED_1", False);
	owner->window = XCreateSimpleWindow(dpy, conn->root, -1, -1, 1, 1, 0, 0, 0);
	XSelectInput(dpy, owner->window, PropertyChangeMask);
	list_init(&owner->transfers);
	owner->listener = (struct xconn_listener){.on_event = on_event, .arg = owner};
	xconn_listen(conn, &owner->listener);
	return owner;
}

static void free_transfer(struct transfer *transfer)
{
	list_remove(&transfer->link);
	buffer_finish(&transfer->bytes);
	free(transfer);
}

void selection_owner_destroy(struct selection_owner *owner)
{
	if (owner == NULL)
		return;
	struct transfer *transfer, *tmp;
	list_for_each_safe (transfer, tmp, &owner->transfers, link)
		free_transfer(transfer);
	xconn_unlisten(&owner->listener);
	loop_timer_destroy(owner->timer);
	if (!owner->conn->is_broken)
		XDestroyWindow(owner->conn->dpy, owner->window);
	for (int i = 0; i < SELECTION_COUNT; i++)
		buffer_finish(&owner->selections[i].saved.bytes);
	buffer_finish(&owner->offered);
	free(owner);
}

/* Saving */

static void forget_saved(struct selection *selection)
{
	selection->saved.bytes.len = 0;
	selection->has_saved = false;
}

static void finish_saving(struct selection_owner *owner)
{
	Display *dpy = owner->conn->dpy;
	loop_timer_disarm(owner->timer);
	owner->is_saving = false;
	owner->is_taken = true;
	bool is_owned = true;
	for (int i = 0; i < SELECTION_COUNT; i++) {
		struct selection *selection = &owner->selections[i];
		if (selection->state == SAVE_ASKED || selection->state == SAVE_PIECES) {
			log_info("what a selection held could not be read and is lost");
			forget_saved(selection);
		}
		selection->state = SAVE_NONE;
		XSetSelectionOwner(dpy, selection->name, owner->window, CurrentTime);
		selection->is_owned = XGetSelectionOwner(dpy, selection->name) == owner->window;
		is_owned &= selection->is_owned;
	}
	owner->ready(owner->ready_arg, is_owned);
}

static void finish_saving_when_all_done(struct selection_owner *owner)
{
	for (int i = 0; i < SELECTION_COUNT; i++) {
		if (owner->selections[i].state != SAVE_DONE)
			return;
	}
	if (owner->is_saving)
		finish_saving(owner);
}

static void on_save_timer(void *arg)
{
	struct selection_owner *owner = arg;
	if (owner->is_saving && !owner->conn->is_broken)
		finish_saving(owner);
}

static void ask(struct selection_owner *owner, struct selection *selection)
{
	selection->state = SAVE_ASKED;
	XConvertSelection(owner->conn->dpy, selection->name,
		selection->saved.is_png ? owner->png : owner->utf8_string, selection->property,
		owner->window, CurrentTime);
}

void selection_owner_take(struct selection_owner *owner, const char *text, size_t len,
	void (*ready)(void *arg, bool is_owned), void *arg)
{
	owner->ready = ready;
	owner->ready_arg = arg;
	owner->offered.len = 0;
	buffer_append(&owner->offered, text, len);
	owner->last_served_us = 0;
	owner->watched = None;
	owner->is_saving = true;
	for (int i = 0; i < SELECTION_COUNT; i++) {
		struct selection *selection = &owner->selections[i];
		Window now = XGetSelectionOwner(owner->conn->dpy, selection->name);
		if (now == owner->window) { /* still the contents that we put back */
			selection->state = SAVE_DONE;
			continue;
		}
		forget_saved(selection);
		selection->saved.is_png = false;
		selection->state = SAVE_DONE;
		if (now != None)
			ask(owner, selection);
	}
	bool is_waiting = owner->selections[CLIPBOARD].state == SAVE_ASKED ||
			  owner->selections[PRIMARY].state == SAVE_ASKED;
	loop_timer_arm(owner->timer, is_waiting ? SAVE_WAIT_MS : 0);
	XFlush(owner->conn->dpy);
}

/* Reads and deletes our property into the saved bytes. Returns its length, or -1; *type its type.
 */
static long read_property(struct selection_owner *owner, struct selection *selection, Atom *type)
{
	int format;
	unsigned long count = 0, rest = 0;
	unsigned char *data = NULL;
	if (XGetWindowProperty(owner->conn->dpy, owner->window, selection->property, 0,
		    SAVE_MAX / 4, True, AnyPropertyType, type, &format, &count, &rest,
		    &data) != Success)
		return -1;
	bool is_fine = format == 8 && rest == 0 && selection->saved.bytes.len + count <= SAVE_MAX;
	if (is_fine && *type != owner->incr)
		buffer_append(&selection->saved.bytes, data, count);
	if (data != NULL)
		XFree(data);
	return is_fine || *type == owner->incr ? (long)count : -1;
}

static void on_answer(struct selection_owner *owner, const XSelectionEvent *event)
{
	for (int i = 0; i < SELECTION_COUNT; i++) {
		struct selection *selection = &owner->selections[i];
		if (event->selection != selection->name || selection->state != SAVE_ASKED)
			continue;
		Atom type = None;
		if (event->property == None) {
			if (selection->saved.is_png) {
				selection->state = SAVE_DONE; /* neither text nor a picture */
			} else {
				selection->saved.is_png = true;
				ask(owner, selection);
			}
		} else if (read_property(owner, selection, &type) < 0) {
			forget_saved(selection);
			selection->state = SAVE_DONE;
		} else if (type == owner->incr) {
			selection->state = SAVE_PIECES;
			loop_timer_arm(owner->timer, SAVE_WAIT_MS);
		} else {
			selection->has_saved = true;
			selection->state = SAVE_DONE;
		}
		finish_saving_when_all_done(owner);
		return;
	}
}

static void on_piece(struct selection_owner *owner, const XPropertyEvent *event)
{
	for (int i = 0; i < SELECTION_COUNT; i++) {
		struct selection *selection = &owner->selections[i];
		if (selection->state != SAVE_PIECES || event->atom != selection->property ||
			event->state != PropertyNewValue)
			continue;
		Atom type;
		long len = read_property(owner, selection, &type);
		if (len > 0) {
			loop_timer_arm(owner->timer, SAVE_WAIT_MS);
			return;
		}
		selection->has_saved = len == 0;
		selection->state = SAVE_DONE;
		finish_saving_when_all_done(owner);
		return;
	}
}

/* Serving */

bool selection_is_same_client(Window window, Window other)
{
	return window != None && (window & CLIENT_BITS) == (other & CLIENT_BITS);
}

static bool is_watched(const struct selection_owner *owner, Window requestor)
{
	return selection_is_same_client(owner->watched, requestor);
}

static void note_served(struct selection_owner *owner, bool is_for_watched)
{
	owner->last_served_us = clock_monotonic_us();
	if (!is_for_watched || owner->served == NULL)
		return;
	void (*served)(void *arg) = owner->served;
	owner->served = NULL;
	served(owner->served_arg);
}

static void begin_transfer(struct selection_owner *owner, const XSelectionRequestEvent *request,
	Atom property, Atom type, const struct buffer *bytes)
{
	struct transfer *transfer = xcalloc(1, sizeof(*transfer));
	transfer->requestor = request->requestor;
	transfer->property = property;
	transfer->type = type;
	buffer_append(&transfer->bytes, bytes->data, bytes->len);
	transfer->deadline_us = clock_monotonic_us() + TRANSFER_LIMIT_US;
	transfer->is_watched = owner->is_taken && is_watched(owner, request->requestor);
	list_append(&owner->transfers, &transfer->link);
	XSelectInput(owner->conn->dpy, request->requestor, PropertyChangeMask);
	long size = (long)bytes->len;
	XChangeProperty(owner->conn->dpy, request->requestor, property, owner->incr, 32,
		PropModeReplace, (unsigned char *)&size, 1);
}

/* The requestor has taken a piece: the next one, an empty one at the end. */
static void continue_transfer(struct selection_owner *owner, const XPropertyEvent *event)
{
	struct transfer *transfer, *tmp;
	list_for_each_safe (transfer, tmp, &owner->transfers, link) {
		if (clock_monotonic_us() > transfer->deadline_us) {
			free_transfer(transfer);
			continue;
		}
		if (transfer->requestor != event->window || transfer->property != event->atom ||
			event->state != PropertyDelete)
			continue;
		size_t size = transfer->bytes.len - transfer->sent;
		size = size > PIECE_MAX ? PIECE_MAX : size;
		xconn_trap(owner->conn);
		XChangeProperty(owner->conn->dpy, transfer->requestor, transfer->property,
			transfer->type, 8, PropModeReplace, transfer->bytes.data + transfer->sent,
			(int)size);
		int error = xconn_untrap(owner->conn);
		transfer->sent += size;
		transfer->deadline_us = clock_monotonic_us() + TRANSFER_LIMIT_US;
		bool was_watched = transfer->is_watched;
		if (size > 0 && error == 0) {
			owner->last_served_us = clock_monotonic_us();
			return;
		}
		free_transfer(transfer);
		if (error == 0)
			note_served(owner, was_watched);
		return;
	}
}

static void put_targets(struct selection_owner *owner, Window requestor, Atom property, bool is_png)
{
	Atom list[8];
	int count = 0;
	list[count++] = owner->targets;
	if (is_png) {
		list[count++] = owner->png;
	} else {
		list[count++] = owner->utf8_string;
		list[count++] = owner->plain_utf8;
		list[count++] = owner->plain;
		list[count++] = owner->text;
		list[count++] = XA_STRING;
	}
	XChangeProperty(owner->conn->dpy, requestor, property, XA_ATOM, 32, PropModeReplace,
		(unsigned char *)list, count);
}

/* For programs that ask for STRING, which ICCCM defines as Latin-1. */
static void narrow_to_latin1(const struct buffer *text, struct buffer *out)
{
	for (size_t at = 0; at < text->len;) {
		uint32_t code_point = '?';
		size_t used =
			utf8_decode((const char *)text->data + at, text->len - at, &code_point);
		uint8_t byte = code_point <= 0xff ? (uint8_t)code_point : '?';
		buffer_append(out, &byte, 1);
		at += used > 0 ? used : 1;
	}
}

enum served { REFUSED, SERVED_TARGETS, SERVED_DATA, SERVING_PIECES };

static enum served serve(
	struct selection_owner *owner, const XSelectionRequestEvent *request, Atom property)
{
	const struct selection *selection = NULL;
	for (int i = 0; i < SELECTION_COUNT; i++) {
		if (owner->selections[i].name == request->selection &&
			owner->selections[i].is_owned)
			selection = &owner->selections[i];
	}
	/* Our own clipboard keeper must not take the text of the moment for a copied one. */
	bool is_offering =
		owner->is_taken && !selection_is_same_client(owner->window, request->requestor);
	if (selection == NULL || (!is_offering && !selection->has_saved) ||
		selection_is_same_client(owner->refused, request->requestor))
		return REFUSED;
	const struct buffer *bytes = is_offering ? &owner->offered : &selection->saved.bytes;
	bool is_png = !is_offering && selection->saved.is_png;
	if (request->target == owner->targets) {
		put_targets(owner, request->requestor, property, is_png);
		return SERVED_TARGETS;
	}
	bool is_text = request->target == owner->utf8_string || request->target == owner->text ||
		       request->target == owner->plain || request->target == owner->plain_utf8 ||
		       request->target == XA_STRING;
	if (is_png ? request->target != owner->png : !is_text)
		return REFUSED;
	Atom type = request->target == owner->text ? owner->utf8_string : request->target;
	struct buffer latin1 = {0};
	if (type == XA_STRING && !is_png) {
		narrow_to_latin1(bytes, &latin1);
		bytes = &latin1;
	}
	enum served outcome = SERVED_DATA;
	if (bytes->len > PIECE_MAX) {
		begin_transfer(owner, request, property, type, bytes);
		outcome = SERVING_PIECES;
	} else {
		XChangeProperty(owner->conn->dpy, request->requestor, property, type, 8,
			PropModeReplace, bytes->data, (int)bytes->len);
	}
	buffer_finish(&latin1);
	return outcome;
}

static void on_request(struct selection_owner *owner, const XSelectionRequestEvent *request)
{
	/* Obsolete requestors leave the property out and mean the target's name. */
	Atom property = request->property != None ? request->property : request->target;
	xconn_trap(owner->conn); /* the requestor may be gone */
	enum served outcome = serve(owner, request, property);
	XEvent answer = {.xselection = {
				 .type = SelectionNotify,
				 .requestor = request->requestor,
				 .selection = request->selection,
				 .target = request->target,
				 .property = outcome == REFUSED ? None : property,
				 .time = request->time,
			 }};
	XSendEvent(owner->conn->dpy, request->requestor, False, NoEventMask, &answer);
	int error = xconn_untrap(owner->conn);
	if (outcome == SERVED_DATA && error == 0 && owner->is_taken)
		note_served(owner, is_watched(owner, request->requestor));
}

static void on_event(void *arg, XEvent *event)
{
	struct selection_owner *owner = arg;
	switch (event->type) {
	case SelectionRequest:
		if (event->xselectionrequest.owner == owner->window)
			on_request(owner, &event->xselectionrequest);
		break;
	case SelectionNotify:
		if (event->xselection.requestor == owner->window)
			on_answer(owner, &event->xselection);
		break;
	case SelectionClear:
		for (int i = 0;
			event->xselectionclear.window == owner->window && i < SELECTION_COUNT;
			i++) {
			if (owner->selections[i].name == event->xselectionclear.selection)
				owner->selections[i].is_owned = false;
		}
		break;
	case PropertyNotify:
		if (event->xproperty.window == owner->window)
			on_piece(owner, &event->xproperty);
		else
			continue_transfer(owner, &event->xproperty);
		break;
	default:
		break;
	}
}

bool selection_owner_set(
	struct selection_owner *owner, bool is_primary, bool is_png, const char *data, size_t len)
{
	struct selection *selection = &owner->selections[is_primary ? PRIMARY : CLIPBOARD];
	if (owner->conn->is_broken)
		return false;
	forget_saved(selection);
	buffer_append(&selection->saved.bytes, data, len);
	selection->saved.is_png = is_png;
	selection->has_saved = true;
	XSetSelectionOwner(owner->conn->dpy, selection->name, owner->window, CurrentTime);
	selection->is_owned =
		XGetSelectionOwner(owner->conn->dpy, selection->name) == owner->window;
	return selection->is_owned;
}

bool selection_owner_is(const struct selection_owner *owner, Window window)
{
	return window == owner->window;
}

void selection_owner_watch(
	struct selection_owner *owner, Window window, void (*served)(void *arg), void *arg)
{
	owner->watched = window;
	owner->served = served;
	owner->served_arg = arg;
}

long long selection_owner_last_served_us(const struct selection_owner *owner)
{
	return owner->last_served_us;
}

/* Nobody shall own what nobody owned. */
static void give_up_empty(struct selection_owner *owner)
{
	for (int i = 0; i < SELECTION_COUNT; i++) {
		struct selection *selection = &owner->selections[i];
		if (selection->has_saved || !selection->is_owned ||
			XGetSelectionOwner(owner->conn->dpy, selection->name) != owner->window)
			continue;
		XSetSelectionOwner(owner->conn->dpy, selection->name, None, CurrentTime);
		selection->is_owned = false;
	}
}

void selection_owner_refuse(struct selection_owner *owner, Window window)
{
	owner->refused = window;
	if (window == None && !owner->is_taken && !owner->conn->is_broken)
		give_up_empty(owner);
}

void selection_owner_give_back(struct selection_owner *owner)
{
	loop_timer_disarm(owner->timer);
	owner->is_saving = false;
	owner->served = NULL;
	owner->watched = None;
	if (!owner->is_taken || owner->conn->is_broken)
		return;
	owner->is_taken = false;
	if (owner->refused == None)
		give_up_empty(owner);
}
