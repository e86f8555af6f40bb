/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What viewers say: settings for their picture, keys, pointer, clipboard, sizes, JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "display/rect.h"
#include "display/screen.h"
#include "display/viewer_input.h"
#include "takeover/peer_link.h"
#include "takeover/rfb_extensions.h"
#include "takeover/scancodes.h"
#include "takeover/viewer.h"
#include "takeover/viewer_text.h"
#include "takeover/viewer_thread.h"
#define LOG_MODULE "viewer"
#include "base/log.h"

/* Whether what comes now may act. What a watcher sends is counted. */
static bool may_act(struct viewer *viewer, bool is_claim)
{
	const struct viewer_host *host = viewer->host;
	if (viewer->role != VIEWER_CONTROL) {
		viewer->refused++;
		return false;
	}
	/* What was sent while this machine was frozen may come from somebody whose time is over. */
	host->on_input(host->arg);
	if (input_gate_now(screen_gate(host->screen)).source == viewer->source)
		return true;
	if (is_claim && host->claim(host->arg, viewer))
		return true;
	viewer->refused++;
	return false;
}

static void post_event(struct viewer *viewer, struct viewer_event *event)
{
	event->ticket = input_gate_now(screen_gate(viewer->host->screen));
	event->ticket.source = viewer->source; /* the gate lets it through only while it holds */
	screen_post_viewer_event(viewer->host->screen, event);
}

static void send_message(struct viewer *viewer, struct buffer *message)
{
	if (!viewer_thread_send(viewer->thread, message->data, message->len))
		viewer_end(viewer, PEER_CLOSE_TOO_BIG, "this viewer does not read what it is sent");
	buffer_finish(message);
}

/* Settings */

/* Announces what is not a rectangle but a kind of message, by sending one. */
static void announce(struct viewer *viewer, const struct rfb_caps *old)
{
	const struct rfb_caps *caps = &viewer->caps;
	struct buffer out = {0};
	if (caps->has_fence && !old->has_fence)
		rfb_put_fence(&out, RFB_FENCE_REQUEST, NULL, 0);
	if (caps->has_continuous && !old->has_continuous)
		rfb_put_u8(&out, RFB_END_OF_CONTINUOUS_UPDATES);
	if (caps->has_clipboard && !old->has_clipboard && viewer->role == VIEWER_CONTROL)
		rfb_put_clipboard_caps(&out);
	if (out.len > 0)
		send_message(viewer, &out);
}

static void on_encodings(struct viewer *viewer, const struct rfb_message *message)
{
	struct rfb_caps old = viewer->caps;
	rfb_caps_read(&viewer->caps, message->data, message->len);
	if (viewer->host->encoders == NULL)
		viewer->caps.has_h264 = false;
	viewer_thread_set_caps(viewer->thread, &viewer->caps);
	viewer->reader.has_extended_pointer = viewer->caps.has_extended_mouse;
	announce(viewer, &old);
	viewer->host->on_caps(viewer->host->arg, viewer);
}

static void on_fence(struct viewer *viewer, const struct rfb_message *message)
{
	if ((message->flags & RFB_FENCE_REQUEST) == 0) {
		viewer_thread_fence_answered(viewer->thread, message->data, message->len);
		return;
	}
	/* All that came before has been dealt with here, and updates never overtake messages. */
	uint32_t known = RFB_FENCE_BLOCK_BEFORE | RFB_FENCE_BLOCK_AFTER | RFB_FENCE_SYNC_NEXT;
	struct buffer out = {0};
	rfb_put_fence(&out, message->flags & known, message->data, message->len);
	send_message(viewer, &out);
}

static struct rect area_of(const struct rfb_message *message)
{
	return (struct rect){message->x, message->y, message->width, message->height};
}

/* Keys and pointer */

static void on_key(struct viewer *viewer, const struct rfb_message *message)
{
	if (!may_act(viewer, message->is_on))
		return;
	struct viewer_event event = {
		.kind = VIEWER_KEYSYM, .is_down = message->is_on, .key = message->keysym};
	/* The keysym decides; the place on the keyboard only where there is none. */
	if (message->kind == RFB_KIND_QEMU_KEY && message->keysym == 0) {
		event.kind = VIEWER_KEYCODE;
		event.key = scancode_to_keycode(message->keycode);
		if (event.key == 0)
			return;
	}
	post_event(viewer, &event);
}

static void on_pointer(struct viewer *viewer, const struct rfb_message *message)
{
	/* A pointer that only passes by takes the screen from nobody. */
	if (!may_act(viewer, message->buttons != 0))
		return;
	struct viewer_event event = {.kind = VIEWER_POINTER,
		.x = message->x,
		.y = message->y,
		.buttons = message->buttons};
	post_event(viewer, &event);
}

/* The clipboard */

static void set_clipboard(struct viewer *viewer, char *text, size_t len)
{
	if (text == NULL)
		return;
	if (!may_act(viewer, true)) {
		free(text);
		return;
	}
	struct viewer_event event = {.kind = VIEWER_CLIPBOARD, .text = text, .text_len = len};
	post_event(viewer, &event);
}

void viewer_offer_clipboard(struct viewer *viewer, char *text, size_t len)
{
	struct buffer out = {0};
	free(viewer->clip_text);
	viewer->clip_text = text;
	viewer->clip_len = len;
	if (viewer->role != VIEWER_CONTROL || viewer->thread == NULL)
		return;
	if (viewer->caps.has_clipboard)
		rfb_put_clipboard_action(&out, RFB_CLIP_NOTIFY | RFB_CLIP_TEXT);
	else
		rfb_put_cut_text(&out, text, len);
	send_message(viewer, &out);
}

static void on_extended_clipboard(struct viewer *viewer, const struct rfb_message *message)
{
	struct buffer out = {0};
	bool has_text = (message->flags & RFB_CLIP_TEXT) != 0;
	size_t len = 0;
	switch (message->flags & RFB_CLIP_ACTIONS) {
	case RFB_CLIP_PROVIDE: {
		char *text = rfb_read_clipboard_text(message->flags, message->data, message->len, &len);
		set_clipboard(viewer, text, len);
		return;
	}
	case RFB_CLIP_NOTIFY:
		if (has_text)
			rfb_put_clipboard_action(&out, RFB_CLIP_REQUEST | RFB_CLIP_TEXT);
		break;
	case RFB_CLIP_REQUEST:
		if (has_text && viewer->clip_text != NULL)
			rfb_put_clipboard_text(&out, viewer->clip_text, viewer->clip_len);
		break;
	case RFB_CLIP_PEEK:
		rfb_put_clipboard_action(
			&out, RFB_CLIP_NOTIFY | (viewer->clip_text != NULL ? RFB_CLIP_TEXT : 0));
		break;
	default:
		break; /* its own caps: it can do more than we need */
	}
	if (out.len > 0)
		send_message(viewer, &out);
}

static void on_cut_text(struct viewer *viewer, const struct rfb_message *message)
{
	size_t len = 0;
	char *text = rfb_read_cut_text(message->data, message->len, &len);
	set_clipboard(viewer, text, len);
}

/* Sizes */

static void on_resized(void *arg, int error, int max_width, int max_height)
{
	struct viewer *viewer = arg;
	(void)max_width, (void)max_height;
	viewer->pending--;
	if (viewer->thread != NULL && !viewer->is_ending)
		viewer_thread_answer_size(viewer->thread, error == 0 ? 0 : 3);
	viewer_maybe_gone(viewer);
}

static void on_desktop_size(struct viewer *viewer, const struct rfb_message *message)
{
	if (!may_act(viewer, true)) {
		viewer_thread_answer_size(viewer->thread, 1);
		return;
	}
	viewer->pending++;
	screen_resize(viewer->host->screen, message->width, message->height, on_resized, viewer);
}

bool viewer_handle(struct viewer *viewer, const struct rfb_message *message)
{
	struct rect area = area_of(message);
	switch (message->kind) {
	case RFB_KIND_PIXEL_FORMAT:
		viewer_thread_set_format(viewer->thread, &message->format);
		return true;
	case RFB_KIND_ENCODINGS:
		on_encodings(viewer, message);
		return true;
	case RFB_KIND_UPDATE_REQUEST:
		viewer_thread_request(viewer->thread, &area, message->is_on);
		return true;
	case RFB_KIND_CONTINUOUS:
		if (viewer->caps.has_continuous)
			viewer_thread_set_continuous(viewer->thread, message->is_on, &area);
		return true;
	case RFB_KIND_FENCE:
		on_fence(viewer, message);
		return true;
	case RFB_KIND_KEY:
	case RFB_KIND_QEMU_KEY:
		on_key(viewer, message);
		return true;
	case RFB_KIND_POINTER:
		on_pointer(viewer, message);
		return true;
	case RFB_KIND_CUT_TEXT:
		on_cut_text(viewer, message);
		return true;
	case RFB_KIND_CLIPBOARD:
		on_extended_clipboard(viewer, message);
		return true;
	case RFB_KIND_TEXT_TOO_LONG:
		viewer->refused++;
		return true;
	case RFB_KIND_DESKTOP_SIZE:
		on_desktop_size(viewer, message);
		return true;
	case RFB_KIND_IGNORED:
		return true;
	default:
		return false;
	}
}

void viewer_on_control(struct viewer *viewer)
{
	/* A viewer that is told of the lights, and whose keys say their place, has locks in step with
	   the screen's; another one's keysyms have the right case already. */
	bool passes_locks = viewer->caps.has_qemu_key &&
			    (viewer->caps.has_qemu_led || viewer->caps.has_vmware_led);
	struct viewer_event locks = {.kind = VIEWER_LOCKS, .is_down = passes_locks};
	post_event(viewer, &locks);
}

void viewer_handle_json(struct viewer *viewer, const char *text, size_t len)
{
	const struct viewer_host *host = viewer->host;
	json_t *message = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *kind = json_string_value(json_object_get(message, "t"));
	if (kind == NULL) {
		viewer->refused++;
	} else if (strcmp(kind, "ping") == 0) {
		const json_t *id = json_object_get(message, "id");
		viewer_tell(viewer, json_pack("{s:s, s:O?}", "t", "pong", "id", id));
	} else if (strcmp(kind, "text") == 0) {
		viewer_on_text(viewer, message);
	} else if (strcmp(kind, "clipboard") == 0) {
		viewer_on_clipboard(viewer, message);
	} else {
		host->on_message(host->arg, viewer, kind, message);
	}
	json_decref(message);
}
