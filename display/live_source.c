/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/live_source.h"

#include <X11/XKBlib.h>
#include <X11/extensions/XInput2.h>
#include <X11/extensions/Xfixes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/activity.h"
#include "display/clipboard.h"
#include "display/cursor.h"
#include "display/frame.h"
#include "display/frame_diff.h"
#include "display/frame_feed.h"
#include "display/grabber.h"
#include "display/xconn.h"
#include "display/xprop.h"

/*
 * How many pictures a second go out while the screen keeps changing: all of it, or a small part, which
 * costs less. More than the 30 of videos, so that there is one to spare for a letter that is typed
 * meanwhile: those to spare are saved up, and the answer to a key does not wait for the next frame of a
 * video.
 */
#define FRAMES_PER_S_ALL  38
#define FRAMES_PER_S_PART 46
/* One who wants fewer has a turn of their own, and no frame shall miss it. */
#define FRAMES_SPARE      1.1
#define FRAMES_SAVED      2
#define FRAME_LEAST_MS    8
/*
 * For so long after a key or a click all pictures go out: one of them has what it did. While more moves than
 * goes out the first is put off for as long as programs mostly take to draw: encoding another would only
 * keep the encoder from that one.
 */
#define ANSWER_US         60000
#define ANSWER_DRAWN_MS   4
/* The pointer is asked for at most so often while it moves. */
#define POINTER_INTERVAL_MS 16
/* Smaller moving things (a spinner, a caret) cost less as they are than as a video. */
#define HOT_SIDE_MIN 32
/*
 * A video has its size from the first frames on. What goes on growing (scrolling text with lines of
 * different length) gets whole tiles: each new size costs an encoder and a large first frame.
 */
#define GROWTHS_MAX 4
/* Changes of up to so many tiles are told to the pixel. */
#define SHARP_TILES 8

struct live_source {
	struct loop *loop;
	struct frame_feed *feed;
	struct list watches;
	struct frame_watch frame_watch;
	bool is_watching;
	struct loop_timer *pointer_timer; /* ask where the pointer is */
	struct loop_timer *cool_timer;    /* look whether the motion has stopped */

	/* NULL while there is no screen */
	struct xconn *conn;
	struct grabber *grabber;
	struct cursor *cursor;
	struct clipboard *clipboard;
	struct xconn_listener listener;

	struct frame *last;               /* what was told last */
	double saved_frames;              /* that may go out at once */
	int64_t frame_us;                 /* when the last one did */
	int64_t answer_end_us;            /* until then an answer is expected */
	struct rect hot_extents;          /* exactly what moved so far inside the activity's answer */
	int hot_growths;                  /* how often that has grown since the motion began */
	struct rect hot;
	int pointer_x, pointer_y;
	int64_t pointer_us;               /* when it was asked for */
	bool is_pointer_due;
	int lights;
	bool is_clipboard_read;           /* one is under way */
	bool is_clipboard_stale;          /* and it has changed since */
};

static void on_frame(void *arg, struct frame *frame);
static void on_pointer_timer(void *arg);
static void on_cool_timer(void *arg);
static void on_event(void *arg, XEvent *event);

struct live_source *live_source_create(struct loop *loop, struct frame_feed *feed)
{
	struct live_source *source = xcalloc(1, sizeof(*source));
	source->loop = loop;
	source->feed = feed;
	list_init(&source->watches);
	source->frame_watch = (struct frame_watch){
		.min_interval_ms = FRAME_LEAST_MS, .on_frame = on_frame, .arg = source};
	source->pointer_timer = loop_timer_create(loop, on_pointer_timer, source);
	source->cool_timer = loop_timer_create(loop, on_cool_timer, source);
	return source;
}

static void forget_motion(struct live_source *source)
{
	source->hot = source->hot_extents = (struct rect){0};
	source->hot_growths = 0;
}

static void forget_frame(struct live_source *source)
{
	frame_unref(source->last);
	source->last = NULL;
	forget_motion(source);
}

void live_source_destroy(struct live_source *source)
{
	if (source == NULL)
		return;
	live_source_set_screen(source, NULL, NULL, NULL, NULL);
	if (source->is_watching)
		frame_feed_remove(source->feed, &source->frame_watch);
	loop_timer_destroy(source->pointer_timer);
	loop_timer_destroy(source->cool_timer);
	free(source);
}

/* Telling */

static bool lacks_nobody(const struct live_source *source)
{
	const struct live_watch *watch;
	list_for_each(watch, &source->watches, link) {
		if (watch->is_new)
			return false;
	}
	return true;
}

static void tell(struct live_source *source, pixman_region32_t *damage)
{
	if (source->last == NULL)
		return;
	pixman_region32_t all;
	pixman_region32_init_rect(
		&all, 0, 0, (unsigned)source->last->width, (unsigned)source->last->height);
	struct live_view view = {.frame = source->last,
		.hot = source->hot,
		.cursor = cursor_image(source->cursor),
		.pointer_x = source->pointer_x,
		.pointer_y = source->pointer_y,
		.lights = source->lights};
	struct live_watch *watch;
	list_for_each(watch, &source->watches, link) {
		view.damage = watch->is_new ? &all : damage;
		watch->is_new = false;
		watch->on_view(watch->arg, &view);
	}
	pixman_region32_fini(&all);
}

static void tell_without_damage(struct live_source *source)
{
	pixman_region32_t none;
	pixman_region32_init(&none);
	tell(source, &none);
	pixman_region32_fini(&none);
}

/* The tiles that changed after the frame with serial `since`. */
static void add_tiles_since(struct live_source *source, const struct frame *frame, uint64_t since,
	pixman_region32_t *out)
{
	const struct activity *activity = grabber_activity(source->grabber);
	for (int y = 0; y < frame->height; y += ACTIVITY_TILE) {
		for (int x = 0; x < frame->width; x += ACTIVITY_TILE) {
			struct rect tile = {x, y, ACTIVITY_TILE, ACTIVITY_TILE};
			if (activity_last_serial(activity, &tile) > since)
				pixman_region32_union_rect(out, out, x, y, ACTIVITY_TILE, ACTIVITY_TILE);
		}
	}
	pixman_region32_intersect_rect(
		out, out, 0, 0, (unsigned)frame->width, (unsigned)frame->height);
}

static long area_of(const struct rect *rect)
{
	return (long)rect->width * rect->height;
}

/* A rectangle that holds `tiles` and changes as seldom as may be: the old one, grown, unless much of
   that is still by now. */
static struct rect settle(const struct rect *old, const struct rect *tiles)
{
	struct rect both = rect_bounding(old, tiles);
	return area_of(&both) <= 2 * area_of(tiles) ? both : *tiles;
}

/*
 * The hot rectangle to the pixel: the activity knows tiles, but text that stands still in a tile
 * beside a video must stay sharp. It grows with what moves in it and starts anew when the
 * activity's answer shrinks or moves.
 */
static void look_at_motion(struct live_source *source, const struct frame *before,
	const struct frame *after, int64_t now_us)
{
	struct rect tiles;
	if (!activity_hot_rect(grabber_activity(source->grabber), now_us, &tiles)) {
		forget_motion(source);
		return;
	}
	struct rect kept = rect_intersect(&source->hot_extents, &tiles);
	bool is_same_or_grown = rect_equals(&kept, &source->hot_extents);
	struct rect grown = is_same_or_grown ? kept : (struct rect){0};
	if (before != NULL && before != after)
		frame_diff_grow(before, after, &tiles, &grown);
	if (!rect_equals(&grown, &source->hot_extents))
		source->hot_growths++;
	source->hot_extents = grown;
	struct rect hot = source->hot_growths > GROWTHS_MAX ? settle(&source->hot, &tiles)
							    : source->hot_extents;
	hot.width &= ~1; /* video has two pixels a colour; what is left over goes out as it is */
	hot.height &= ~1;
	if (hot.width < HOT_SIDE_MIN || hot.height < HOT_SIDE_MIN)
		hot = (struct rect){0};
	source->hot = hot;
	loop_timer_arm(source->cool_timer, ACTIVITY_COOL_US / 1000 + 5);
}

static bool covers(const struct rect *outer, const struct rect *inner)
{
	struct rect common = rect_intersect(outer, inner);
	return rect_equals(&common, inner);
}

/*
 * The damage comes in tiles. Around a video, and where a letter was typed, most of a tile has not
 * changed: there it is cut down to what did. Tiles of larger changes stay whole, since ragged boxes
 * compress worse than they save.
 */
static void sharpen(const struct live_source *source, const struct frame *before,
	const struct frame *after, pixman_region32_t *damage)
{
	pixman_region32_t sharp;
	int count;
	const pixman_box32_t *boxes = pixman_region32_rectangles(damage, &count);
	int area = 0;
	for (int i = 0; i < count; i++)
		area += (boxes[i].x2 - boxes[i].x1) * (boxes[i].y2 - boxes[i].y1);
	bool is_small = area <= SHARP_TILES * ACTIVITY_TILE * ACTIVITY_TILE;
	pixman_region32_init(&sharp);
	for (int i = 0; i < count; i++) {
		for (int y = boxes[i].y1; y < boxes[i].y2; y += ACTIVITY_TILE) {
			for (int x = boxes[i].x1; x < boxes[i].x2; x += ACTIVITY_TILE) {
				struct rect box = {x, y, boxes[i].x2 - x, boxes[i].y2 - y};
				struct rect tile = {x, y, ACTIVITY_TILE, ACTIVITY_TILE};
				tile = rect_intersect(&tile, &box);
				struct rect in_hot = rect_intersect(&tile, &source->hot);
				bool is_border = !rect_is_empty(&in_hot) && !covers(&source->hot, &tile);
				if (is_small || is_border)
					frame_diff_extents(before, after, &tile, &tile);
				if (!rect_is_empty(&tile))
					pixman_region32_union_rect(&sharp, &sharp, tile.x, tile.y,
						(unsigned)tile.width, (unsigned)tile.height);
			}
		}
	}
	pixman_region32_copy(damage, &sharp);
	pixman_region32_fini(&sharp);
}

static double frames_per_s(const struct live_source *source, const struct frame *frame)
{
	double part = (double)area_of(&source->hot) / ((double)frame->width * frame->height);
	double all = FRAMES_PER_S_PART - (FRAMES_PER_S_PART - FRAMES_PER_S_ALL) * (part < 1 ? part : 1);
	double most = 1;
	const struct live_watch *watch;
	list_for_each(watch, &source->watches, link) {
		double wanted = watch->fps > 0 ? watch->fps * FRAMES_SPARE : all;
		if (wanted > most)
			most = wanted;
	}
	return most;
}

/* Notes that this frame goes out, and sets when the next one may. */
static void pace(struct live_source *source, const struct frame *frame, int64_t now_us)
{
	double rate = frames_per_s(source, frame);
	double gained = (double)(now_us - source->frame_us) * rate / 1e6;
	source->frame_us = now_us;
	source->saved_frames += gained;
	if (source->saved_frames > FRAMES_SAVED)
		source->saved_frames = FRAMES_SAVED;
	source->saved_frames -= 1;
	if (now_us < source->answer_end_us) {
		if (source->saved_frames < 0)
			source->saved_frames = 0; /* what comes later does not pay for it */
		source->frame_watch.min_interval_ms = FRAME_LEAST_MS;
		return;
	}
	double wait_ms = (1 - source->saved_frames) * 1000 / rate;
	source->frame_watch.min_interval_ms =
		source->saved_frames >= 1 ? FRAME_LEAST_MS : (int)wait_ms + 1;
}

void live_source_expect_answer(struct live_source *source)
{
	int64_t now_us = clock_monotonic_us(), since_us = now_us - source->frame_us;
	bool is_expected = now_us < source->answer_end_us;
	source->answer_end_us = now_us + ANSWER_US;
	if (is_expected)
		return; /* what comes goes out; a stream of events must not put it off again and again */
	bool has_spare = source->saved_frames >= 1 || since_us >= 1000000 / FRAMES_PER_S_ALL;
	int drawn_ms = has_spare ? 0 : (int)(since_us / 1000) + ANSWER_DRAWN_MS;
	source->frame_watch.min_interval_ms = drawn_ms > FRAME_LEAST_MS ? drawn_ms : FRAME_LEAST_MS;
	frame_feed_hurry(source->feed);
}

static void on_frame(void *arg, struct frame *frame)
{
	struct live_source *source = arg;
	pace(source, frame, clock_monotonic_us());
	struct frame *before = source->last;
	pixman_region32_t damage;
	pixman_region32_init(&damage);
	bool is_same_size = before != NULL && before->width == frame->width &&
			    before->height == frame->height;
	if (!is_same_size) {
		pixman_region32_union_rect(&damage, &damage, 0, 0, (unsigned)frame->width,
			(unsigned)frame->height);
		forget_motion(source);
	} else if (before->serial + 1 == frame->serial) {
		pixman_region32_copy(&damage, &frame->damage);
	} else if (before->serial != frame->serial) {
		add_tiles_since(source, frame, before->serial, &damage);
	}
	source->last = frame_ref(frame);
	look_at_motion(source, is_same_size ? before : NULL, frame, clock_monotonic_us());
	if (is_same_size)
		sharpen(source, before, frame, &damage);
	tell(source, &damage);
	pixman_region32_fini(&damage);
	frame_unref(before);
}

/* The motion may have stopped: then nothing is hot any more, and no frame will say so. */
static void on_cool_timer(void *arg)
{
	struct live_source *source = arg;
	if (source->grabber == NULL || source->last == NULL)
		return;
	struct rect before = source->hot;
	look_at_motion(source, NULL, source->last, clock_monotonic_us());
	if (!rect_equals(&before, &source->hot))
		tell_without_damage(source);
}

/* The pointer and the lights */

static void on_pointer_timer(void *arg)
{
	struct live_source *source = arg;
	if (source->conn == NULL || list_is_empty(&source->watches))
		return;
	source->is_pointer_due = false;
	source->pointer_us = clock_monotonic_us();
	if (cursor_position(source->cursor, &source->pointer_x, &source->pointer_y))
		tell_without_damage(source);
}

static void ask_for_pointer(struct live_source *source)
{
	if (source->is_pointer_due)
		return;
	source->is_pointer_due = true;
	int64_t since_ms = (clock_monotonic_us() - source->pointer_us) / 1000;
	loop_timer_arm(source->pointer_timer,
		since_ms >= POINTER_INTERVAL_MS ? 0 : POINTER_INTERVAL_MS - since_ms);
}

static int read_lights(struct xconn *conn)
{
	unsigned state = 0;
	if (!conn->has_xkb || conn->is_broken ||
		XkbGetIndicatorState(conn->dpy, XkbUseCoreKbd, &state) != Success)
		return 0;
	/* The first three indicators of every X keymap: Caps, Num, Scroll. */
	return ((state & 1) != 0 ? LIVE_LIGHT_CAPS : 0) | ((state & 2) != 0 ? LIVE_LIGHT_NUM : 0) |
	       ((state & 4) != 0 ? LIVE_LIGHT_SCROLL : 0);
}

/* The clipboard */

static void read_clipboard(struct live_source *source);

static void on_clipboard_text(void *arg, int error, const char *data, size_t len)
{
	struct live_source *source = arg;
	source->is_clipboard_read = false;
	struct live_watch *watch;
	list_for_each(watch, &source->watches, link) {
		if (error == 0 && len > 0 && watch->wants_clipboard && watch->on_clipboard != NULL)
			watch->on_clipboard(watch->arg, data, len);
	}
	if (source->is_clipboard_stale && source->clipboard != NULL)
		read_clipboard(source);
}

static void read_clipboard(struct live_source *source)
{
	source->is_clipboard_stale = source->is_clipboard_read;
	if (source->is_clipboard_read)
		return;
	source->is_clipboard_read = true;
	clipboard_read(source->clipboard, CLIPBOARD_CLIPBOARD, CLIPBOARD_TEXT, on_clipboard_text,
		source);
}

static bool is_clipboard_wanted(const struct live_source *source)
{
	const struct live_watch *watch;
	list_for_each(watch, &source->watches, link) {
		if (watch->wants_clipboard)
			return true;
	}
	return false;
}

/* Whether a window is one of this connection's: what a viewer or the agent put on the clipboard. */
static bool is_ours(const struct xconn *conn, Window window)
{
	const XID client_bits = ~(XID)0x1fffff; /* as servers deal XIDs with up to 256 clients */
	XID own = XGContextFromGC(DefaultGC(conn->dpy, conn->screen));
	return (window & client_bits) == (own & client_bits);
}

static void on_event(void *arg, XEvent *event)
{
	struct live_source *source = arg;
	struct xconn *conn = source->conn;
	if (!source->is_watching)
		return;
	if (event->type == GenericEvent && event->xcookie.extension == conn->xi_opcode &&
		event->xcookie.evtype == XI_RawMotion) {
		ask_for_pointer(source);
	} else if (event->type == conn->fixes_event + XFixesCursorNotify) {
		ask_for_pointer(source);
	} else if (event->type == conn->fixes_event + XFixesSelectionNotify) {
		const XFixesSelectionNotifyEvent *notify = (const void *)event;
		if (notify->subtype == XFixesSetSelectionOwnerNotify &&
			notify->selection == xprop_atom(conn, "CLIPBOARD") &&
			notify->owner != None && !is_ours(conn, notify->owner) &&
			is_clipboard_wanted(source))
			read_clipboard(source);
	} else if (conn->has_xkb && event->type == conn->xkb_event &&
		   ((const XkbAnyEvent *)(const void *)event)->xkb_type == XkbIndicatorStateNotify) {
		source->lights = read_lights(conn);
		tell_without_damage(source);
	}
}

/* Events are asked for only while somebody looks: a still screen must not wake us. */
static void select_events(struct live_source *source, bool is_on)
{
	struct xconn *conn = source->conn;
	if (conn == NULL || conn->is_broken)
		return;
	if (conn->xi_opcode != 0) {
		int major = 2, minor = 2;
		unsigned char bits[XIMaskLen(XI_LASTEVENT)] = {0};
		if (is_on)
			XISetMask(bits, XI_RawMotion);
		XIEventMask mask = {
			.deviceid = XIAllMasterDevices, .mask_len = sizeof(bits), .mask = bits};
		XIQueryVersion(conn->dpy, &major, &minor);
		XISelectEvents(conn->dpy, conn->root, &mask, 1);
	}
	/* The clipboard keeper asks for the selection's events all the time. */
	if (conn->has_xkb)
		XkbSelectEventDetails(conn->dpy, XkbUseCoreKbd, XkbIndicatorStateNotify,
			XkbAllIndicatorEventsMask, is_on ? XkbAllIndicatorEventsMask : 0);
	if (is_on) {
		source->lights = read_lights(conn);
		cursor_position(source->cursor, &source->pointer_x, &source->pointer_y);
	}
}

void live_source_set_screen(struct live_source *source, struct xconn *conn,
	struct grabber *grabber, struct cursor *cursor, struct clipboard *clipboard)
{
	if (source->conn != NULL)
		xconn_unlisten(&source->listener);
	forget_frame(source);
	loop_timer_disarm(source->pointer_timer);
	loop_timer_disarm(source->cool_timer);
	source->is_pointer_due = false;
	source->conn = conn;
	source->grabber = grabber;
	source->cursor = cursor;
	source->clipboard = clipboard;
	if (conn == NULL)
		return;
	source->listener = (struct xconn_listener){.on_event = on_event, .arg = source};
	xconn_listen(conn, &source->listener);
	if (source->is_watching)
		select_events(source, true);
}

void live_source_add(struct live_source *source, struct live_watch *watch)
{
	watch->is_new = true;
	list_append(&source->watches, &watch->link);
	if (!source->is_watching) {
		source->is_watching = true;
		select_events(source, true);
		frame_feed_add(source->feed, &source->frame_watch);
		return;
	}
	/* Who was there before may want fewer. */
	source->frame_watch.min_interval_ms = FRAME_LEAST_MS;
	frame_feed_hurry(source->feed);
	if (source->last != NULL && !lacks_nobody(source))
		tell_without_damage(source);
}

void live_source_remove(struct live_source *source, struct live_watch *watch)
{
	list_remove(&watch->link);
	if (!list_is_empty(&source->watches) || !source->is_watching)
		return;
	source->is_watching = false;
	frame_feed_remove(source->feed, &source->frame_watch);
	select_events(source, false);
	forget_frame(source);
}
