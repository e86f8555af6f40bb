/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/clipboard_keeper.h"

#include <X11/extensions/Xfixes.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/loop.h"
#include "display/clipboard.h"
#include "display/input_gate.h"
#include "display/selection_owner.h"
#include "display/xconn.h"
#include "display/xprop.h"

/* Some programs take the selection several times in a row for one copy. */
#define SETTLE_MS 10

struct clipboard_keeper {
	struct xconn *conn;
	struct xconn_listener listener;
	struct clipboard *clipboard;
	struct selection_owner *owner;
	const struct input_gate *gate;
	struct loop_timer *timer;
	Atom selection;
	unsigned generation;   /* of owners: tells late answers from the present one's */
	struct buffer kept;
	bool has_kept, is_png;
};

/* One question to an owner; answered at the latest when the clipboard is destroyed. */
struct question {
	struct clipboard_keeper *keeper;
	unsigned generation;
	bool is_png;
};

static void forget(struct clipboard_keeper *keeper)
{
	keeper->kept.len = 0;
	keeper->has_kept = false;
}

static void ask(struct clipboard_keeper *keeper, bool is_png);

static void on_answer(void *arg, int error, const char *data, size_t len)
{
	struct question *question = arg;
	struct clipboard_keeper *keeper = question->keeper;
	bool is_png = question->is_png;
	bool is_current = question->generation == keeper->generation;
	free(question);
	if (!is_current || error == -ENOTCONN)
		return;
	if (error == 0 && len > 0 && len <= CLIPBOARD_KEEPER_MAX_BYTES) {
		forget(keeper);
		buffer_append(&keeper->kept, data, len);
		keeper->is_png = is_png;
		keeper->has_kept = true;
	} else if (!is_png && error != 0) {
		ask(keeper, true);
	}
}

static void ask(struct clipboard_keeper *keeper, bool is_png)
{
	struct question *question = xcalloc(1, sizeof(*question));
	question->keeper = keeper;
	question->generation = keeper->generation;
	question->is_png = is_png;
	clipboard_read(keeper->clipboard, CLIPBOARD_CLIPBOARD,
		is_png ? CLIPBOARD_PNG : CLIPBOARD_TEXT, on_answer, question);
}

static void on_timer(void *arg)
{
	struct clipboard_keeper *keeper = arg;
	if (input_gate_now(keeper->gate).source == INPUT_SOURCE_AGENT)
		ask(keeper, false);
}

static void on_event(void *arg, XEvent *event)
{
	struct clipboard_keeper *keeper = arg;
	if (event->type != keeper->conn->fixes_event + XFixesSelectionNotify)
		return;
	const XFixesSelectionNotifyEvent *notify = (const XFixesSelectionNotifyEvent *)event;
	if (notify->selection != keeper->selection)
		return;
	if (notify->subtype == XFixesSetSelectionOwnerNotify) {
		forget(keeper);
		keeper->generation++;
		if (notify->owner != None && !selection_owner_is(keeper->owner, notify->owner))
			loop_timer_arm(keeper->timer, SETTLE_MS);
		else
			loop_timer_disarm(keeper->timer);
	} else if (keeper->has_kept) { /* the owner's window or connection went away */
		selection_owner_set(keeper->owner, false, keeper->is_png,
			(const char *)keeper->kept.data, keeper->kept.len);
	}
}

struct clipboard_keeper *clipboard_keeper_create(struct xconn *conn, struct clipboard *clipboard,
	struct selection_owner *owner, const struct input_gate *gate)
{
	if (!conn->has_fixes)
		return NULL;
	struct clipboard_keeper *keeper = xcalloc(1, sizeof(*keeper));
	keeper->conn = conn;
	keeper->clipboard = clipboard;
	keeper->owner = owner;
	keeper->gate = gate;
	keeper->selection = xprop_atom(conn, "CLIPBOARD");
	keeper->timer = loop_timer_create(conn->loop, on_timer, keeper);
	keeper->listener = (struct xconn_listener){.on_event = on_event, .arg = keeper};
	xconn_listen(conn, &keeper->listener);
	XFixesSelectSelectionInput(conn->dpy, conn->root, keeper->selection,
		XFixesSetSelectionOwnerNotifyMask | XFixesSelectionWindowDestroyNotifyMask |
			XFixesSelectionClientCloseNotifyMask);
	return keeper;
}

void clipboard_keeper_destroy(struct clipboard_keeper *keeper)
{
	if (keeper == NULL)
		return;
	xconn_unlisten(&keeper->listener);
	loop_timer_destroy(keeper->timer);
	buffer_finish(&keeper->kept);
	free(keeper);
}
