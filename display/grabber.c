/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/grabber.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/Xdamage.h>
#include <X11/extensions/Xfixes.h>
#include <X11/extensions/Xrandr.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "display/activity.h"
#include "display/damage_history.h"
#include "display/frame.h"
#include "display/frame_diff.h"
#include "display/frame_pool.h"
#include "display/pixel_format.h"
#include "display/xconn.h"
#define LOG_MODULE "grabber"
#include "base/log.h"

/* Rows fetched by one XGetImage where there is no shared memory: bounds the reply's size. */
#define STRIP_ROWS 128
/* A grab that fails because the screen was resized meanwhile is tried again this often. */
#define RESIZE_TRIES 5

struct grabber {
	struct xconn *conn;
	struct xconn_listener listener;
	struct grabber_events events;
	struct pixel_format format;
	int width, height;
	struct frame_pool *pool;
	struct shm_image *staging; /* server pixels before conversion; NULL without SHM or need */
	bool has_shm;              /* shared memory works with this server */
	Damage damage;             /* None without the extension: then always dirty */
	XserverRegion region;
	bool is_dirty;
	bool is_damage_lost;       /* fetched, but not on any frame: compare everything next time */
	struct frame *frame;
	uint64_t serial;
	int64_t seen_wall_us;
	unsigned long fetch_serial; /* of the request that last took the damage */
	bool is_damaged_since;      /* since then */
	struct damage_history history; /* of the frames of this size */
	struct activity *activity;
};

static void drop_buffers(struct grabber *grabber)
{
	frame_pool_destroy(grabber->pool);
	grabber->pool = NULL;
	shm_image_destroy(grabber->conn, grabber->staging);
	grabber->staging = NULL;
}

static void make_buffers(struct grabber *grabber)
{
	struct xconn *conn = grabber->conn;
	bool is_direct = grabber->format.is_bgrx;
	if (grabber->has_shm && !is_direct) {
		grabber->staging = shm_image_create(conn, grabber->format.visual,
			grabber->format.depth, grabber->width, grabber->height);
		if (grabber->staging == NULL)
			grabber->has_shm = false;
	}
	grabber->pool = frame_pool_create(conn, grabber->format.visual, grabber->format.depth,
		grabber->width, grabber->height, grabber->has_shm && is_direct);
}

static void set_size(struct grabber *grabber, int width, int height)
{
	grabber->width = width;
	grabber->height = height;
	drop_buffers(grabber);
	make_buffers(grabber);
	damage_history_finish(&grabber->history);
	damage_history_init(&grabber->history, grabber->serial);
	activity_destroy(grabber->activity);
	grabber->activity = activity_create(width, height);
	grabber->is_dirty = true;
}

static void on_root_size(struct grabber *grabber, int width, int height)
{
	if (width <= 0 || height <= 0 || (width == grabber->width && height == grabber->height))
		return;
	log_info("screen is now %dx%d", width, height);
	set_size(grabber, width, height);
	grabber->events.on_resize(grabber->events.arg);
	grabber->events.on_damage(grabber->events.arg);
}

static void on_event(void *arg, XEvent *event)
{
	struct grabber *grabber = arg;
	struct xconn *conn = grabber->conn;
	if (conn->has_damage && event->type == conn->damage_event + XDamageNotify) {
		if ((long)(event->xany.serial - grabber->fetch_serial) >= 0)
			grabber->is_damaged_since = true;
		if (!grabber->is_dirty) {
			grabber->is_dirty = true;
			grabber->events.on_damage(grabber->events.arg);
		}
	} else if (event->type == ConfigureNotify && event->xconfigure.window == conn->root) {
		on_root_size(grabber, event->xconfigure.width, event->xconfigure.height);
	} else if (conn->has_randr && event->type == conn->randr_event + RRScreenChangeNotify) {
		XRRUpdateConfiguration(event);
	}
}

struct grabber *grabber_create(
	struct xconn *conn, uint64_t first_serial, const struct grabber_events *events)
{
	XWindowAttributes attributes;
	xconn_trap(conn);
	Status is_read = XGetWindowAttributes(conn->dpy, conn->root, &attributes);
	if (xconn_untrap(conn) != 0 || !is_read)
		return NULL;
	struct grabber *grabber = xcalloc(1, sizeof(*grabber));
	grabber->conn = conn;
	grabber->events = *events;
	grabber->serial = first_serial;
	grabber->has_shm = conn->has_shm;
	damage_history_init(&grabber->history, first_serial);
	if (!pixel_format_init(&grabber->format, conn, attributes.visual, attributes.depth)) {
		free(grabber);
		return NULL;
	}
	set_size(grabber, attributes.width, attributes.height);
	grabber->listener = (struct xconn_listener){.on_event = on_event, .arg = grabber};
	xconn_listen(conn, &grabber->listener);
	/* Keep what others may have selected on this connection (windows.c selects too). */
	XSelectInput(conn->dpy, conn->root, attributes.your_event_mask | StructureNotifyMask);
	if (conn->has_randr)
		XRRSelectInput(conn->dpy, conn->root, RRScreenChangeNotifyMask);
	if (conn->has_damage && conn->has_fixes) {
		grabber->damage = XDamageCreate(conn->dpy, conn->root, XDamageReportNonEmpty);
		grabber->region = XFixesCreateRegion(conn->dpy, NULL, 0);
	}
	return grabber;
}

void grabber_destroy(struct grabber *grabber)
{
	if (grabber == NULL)
		return;
	xconn_unlisten(&grabber->listener);
	if (!grabber->conn->is_broken && grabber->damage != None) {
		XDamageDestroy(grabber->conn->dpy, grabber->damage);
		XFixesDestroyRegion(grabber->conn->dpy, grabber->region);
	}
	frame_unref(grabber->frame);
	drop_buffers(grabber);
	activity_destroy(grabber->activity);
	damage_history_finish(&grabber->history);
	free(grabber);
}

int grabber_width(const struct grabber *grabber)
{
	return grabber->width;
}

int grabber_height(const struct grabber *grabber)
{
	return grabber->height;
}

int grabber_depth(const struct grabber *grabber)
{
	return grabber->format.depth;
}

bool grabber_uses_shm(const struct grabber *grabber)
{
	return grabber->has_shm;
}

bool grabber_is_dirty(const struct grabber *grabber)
{
	return grabber->is_dirty || grabber->damage == None || grabber->format.has_colormap ||
	       grabber->frame == NULL;
}

struct frame *grabber_frame(struct grabber *grabber)
{
	return grabber->frame;
}

int64_t grabber_seen_wall_us(const struct grabber *grabber)
{
	return grabber->seen_wall_us;
}

struct activity *grabber_activity(struct grabber *grabber)
{
	return grabber->activity;
}

static void whole_screen(struct grabber *grabber, pixman_region32_t *region)
{
	pixman_region32_union_rect(
		region, region, 0, 0, (unsigned)grabber->width, (unsigned)grabber->height);
}

/*
 * Takes the damage so far out of the server, so that anything drawn after this is told anew, and adds
 * it to `out`. is_dirty says afterwards whether anything has been.
 */
static void fetch_damage(struct grabber *grabber, pixman_region32_t *out)
{
	Display *dpy = grabber->conn->dpy;
	grabber->is_dirty = false;
	if (grabber->damage == None) {
		whole_screen(grabber, out);
		return;
	}
	grabber->is_damaged_since = false;
	grabber->fetch_serial = NextRequest(dpy);
	XDamageSubtract(dpy, grabber->damage, None, grabber->region);
	int count = 0;
	XRectangle *rects = XFixesFetchRegion(dpy, grabber->region, &count);
	for (int i = 0; rects != NULL && i < count; i++)
		pixman_region32_union_rect(
			out, out, rects[i].x, rects[i].y, rects[i].width, rects[i].height);
	if (rects != NULL)
		XFree(rects);
	/* Brings the news of this very damage too, which the listeners may not have heard yet. */
	xconn_dispatch_pending(grabber->conn);
	grabber->is_dirty = grabber->is_damaged_since;
}

static bool read_strips(struct grabber *grabber, uint8_t *dst, int stride)
{
	struct xconn *conn = grabber->conn;
	for (int y = 0; y < grabber->height; y += STRIP_ROWS) {
		int rows = grabber->height - y < STRIP_ROWS ? grabber->height - y : STRIP_ROWS;
		XImage *image = XGetImage(conn->dpy, conn->root, 0, y, (unsigned)grabber->width,
			(unsigned)rows, AllPlanes, ZPixmap);
		if (image == NULL)
			return false;
		pixel_format_convert(&grabber->format, image, dst + (size_t)y * (size_t)stride,
			stride);
		XDestroyImage(image);
	}
	return true;
}

/* Reads the whole screen into frame. */
static bool read_screen(struct grabber *grabber, struct frame *frame)
{
	struct xconn *conn = grabber->conn;
	uint8_t *dst = frame_writable_pixels(frame);
	XImage *direct = frame_ximage(frame);
	bool is_read;
	xconn_trap(conn);
	if (direct != NULL) {
		is_read = XShmGetImage(conn->dpy, conn->root, direct, 0, 0, AllPlanes);
	} else if (grabber->staging != NULL) {
		XImage *staging = shm_image_ximage(grabber->staging);
		is_read = XShmGetImage(conn->dpy, conn->root, staging, 0, 0, AllPlanes);
		if (is_read)
			pixel_format_convert(&grabber->format, staging, dst, frame->stride);
	} else {
		is_read = read_strips(grabber, dst, frame->stride);
	}
	/* Each read above waits for its own reply. */
	return xconn_untrap_replied(conn) == 0 && is_read;
}

/* Reads rows from y1 up to y2 into the same rows of the frame. */
static bool read_rows(struct grabber *grabber, struct frame *frame, int y1, int y2)
{
	struct xconn *conn = grabber->conn;
	XImage rows = *frame_ximage(frame);
	rows.data += (size_t)y1 * (size_t)frame->stride;
	rows.height = y2 - y1;
	xconn_trap(conn);
	bool is_read = XShmGetImage(conn->dpy, conn->root, &rows, 0, y1, AllPlanes);
	return xconn_untrap_replied(conn) == 0 && is_read;
}

/*
 * A frame's memory still holds the picture that it was last used for. When little has changed since,
 * only that is read: of 4 MB that have left the caches (a picture after a pause) reading
 * takes 1.4 ms, in a stream 0.12. True when the frame is now as the screen is.
 */
static bool patch_frame(
	struct grabber *grabber, struct frame *frame, const pixman_region32_t *damage)
{
	if (frame_ximage(frame) == NULL)
		return false;
	pixman_region32_t stale;
	pixman_region32_init(&stale);
	pixman_region32_copy(&stale, damage);
	bool is_known = damage_history_since(&grabber->history, frame->serial, &stale);
	const pixman_box32_t *extents = pixman_region32_extents(&stale);
	int y1 = extents->y1 > 0 ? extents->y1 : 0;
	int y2 = extents->y2 < frame->height ? extents->y2 : frame->height;
	pixman_region32_fini(&stale);
	if (!is_known || y2 - y1 > frame->height / 2 || y1 >= y2 ||
		!read_rows(grabber, frame, y1, y2))
		return false;
	/* Something drawn before these rows were read may be missing beside them: a torn picture. */
	xconn_dispatch_pending(grabber->conn);
	return !grabber->is_dirty;
}

/*
 * Makes the frame a picture of the screen; adds to `damage` where it may differ from the last one.
 * False when it could not be read or the screen has another size by now.
 */
static bool fill_frame(struct grabber *grabber, struct frame *frame, pixman_region32_t *damage)
{
	uint64_t serial = frame->serial;
	if (patch_frame(grabber, frame, damage))
		return true;
	frame->serial = 0; /* whatever its memory holds now */
	if (frame->width != grabber->width || frame->height != grabber->height)
		return false;
	if (!read_screen(grabber, frame))
		return false;
	frame->serial = serial;
	/* A change of size was told before the reply. */
	xconn_dispatch_pending(grabber->conn);
	/* What was drawn meanwhile is in the picture, or some of it, and its damage comes later. */
	if (grabber->is_dirty)
		whole_screen(grabber, damage);
	return frame->width == grabber->width && frame->height == grabber->height;
}

static void restart_without_shm(struct grabber *grabber)
{
	log_warn("shared memory is short: reading the screen by XGetImage instead");
	grabber->has_shm = false;
	drop_buffers(grabber);
	make_buffers(grabber);
}

static struct frame *acquire_frame(struct grabber *grabber)
{
	struct frame *frame = frame_pool_acquire(grabber->pool);
	if (frame == NULL && grabber->has_shm && !grabber->conn->is_broken) {
		restart_without_shm(grabber);
		frame = frame_pool_acquire(grabber->pool);
	}
	return frame;
}

/* Compares the new frame with the last one; becomes the current frame only if it differs. */
static void take_frame(struct grabber *grabber, struct frame *frame, pixman_region32_t *damage)
{
	struct frame *old = grabber->frame;
	frame->taken_us = clock_monotonic_us();
	frame->taken_wall_us = clock_wall_us();
	grabber->seen_wall_us = frame->taken_wall_us;
	if (old != NULL && old->width == frame->width && old->height == frame->height) {
		frame_diff(old, frame, damage, &frame->damage);
	} else {
		pixman_region32_union_rect(&frame->damage, &frame->damage, 0, 0,
			(unsigned)frame->width, (unsigned)frame->height);
	}
	if (!pixman_region32_not_empty(&frame->damage)) {
		frame->serial = grabber->serial; /* the same picture */
		frame_unref(frame);
		return;
	}
	frame->serial = ++grabber->serial;
	damage_history_add(&grabber->history, &frame->damage);
	activity_note(grabber->activity, &frame->damage, frame->serial, frame->taken_us);
	grabber->frame = frame;
	frame_unref(old);
}

/* Whether the picture is the same as before for all we know. */
static bool is_unchanged(const struct grabber *grabber, pixman_region32_t *damage)
{
	const struct frame *frame = grabber->frame;
	return grabber->damage != None && !grabber->format.has_colormap && frame != NULL &&
	       frame->width == grabber->width && frame->height == grabber->height &&
	       !pixman_region32_not_empty(damage);
}

/* One try: 0, -EAGAIN when the size changed under it, -ENOMEM. */
static int update_once(struct grabber *grabber, pixman_region32_t *damage)
{
	if (pixel_format_refresh_colors(&grabber->format, grabber->conn))
		whole_screen(grabber, damage);
	fetch_damage(grabber, damage);
	if (is_unchanged(grabber, damage)) {
		grabber->seen_wall_us = clock_wall_us();
		return 0;
	}
	struct frame *frame = acquire_frame(grabber);
	if (frame == NULL)
		return -ENOMEM;
	if (!fill_frame(grabber, frame, damage)) {
		frame->serial = 0;
		frame_unref(frame);
		return -EAGAIN;
	}
	take_frame(grabber, frame, damage);
	return 0;
}

int grabber_update(struct grabber *grabber)
{
	struct xconn *conn = grabber->conn;
	xconn_dispatch_pending(conn);
	if (conn->is_broken)
		return -ENOTCONN;
	int ret = -EAGAIN;
	pixman_region32_t damage;
	pixman_region32_init(&damage);
	if (grabber->is_damage_lost)
		whole_screen(grabber, &damage);
	for (int i = 0; i < RESIZE_TRIES && ret == -EAGAIN && !conn->is_broken; i++)
		ret = update_once(grabber, &damage);
	pixman_region32_fini(&damage);
	grabber->is_damage_lost = ret != 0;
	if (ret != 0)
		grabber->is_dirty = true;
	return conn->is_broken ? -ENOTCONN : ret;
}
