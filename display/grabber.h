/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the screen into frames: XDamage tells when, MIT-SHM (or XGetImage in strips) brings the
 * pixels, a comparison with the frame before tells what really changed. Display thread only.
 *
 * While nobody asks for frames nothing is read: the damage report level is NonEmpty, so the server
 * sends one event and then keeps still until the damage is fetched.
 */
#ifndef DISPLAY_GRABBER_H
#define DISPLAY_GRABBER_H

#include <stdbool.h>
#include <stdint.h>

struct activity;
struct frame;
struct grabber;
struct xconn;

/*
 * `on_damage` is called when the screen may have changed since the last grabber_update, once until
 * the next update; on_resize after the size of the screen changed. `first_serial` is the serial
 * before the first frame's, so that serials go on over a reattachment. NULL (logged) when the
 * screen's pixels cannot be read.
 */
struct grabber_events {
	void (*on_damage)(void *arg);
	void (*on_resize)(void *arg);
	void *arg;
};
struct grabber *grabber_create(
	struct xconn *conn, uint64_t first_serial, const struct grabber_events *events);
void grabber_destroy(struct grabber *grabber); /* accepts NULL */

int grabber_width(const struct grabber *grabber);
int grabber_height(const struct grabber *grabber);
int grabber_depth(const struct grabber *grabber);
bool grabber_uses_shm(const struct grabber *grabber);

/* Whether the screen may differ from grabber_frame(). Looks at events already read, no round trip. */
bool grabber_is_dirty(const struct grabber *grabber);

/*
 * Makes grabber_frame() show the screen as it is after everything the server had done by the time
 * of the call (one round trip when nothing changed). Returns 0; -ENOTCONN when the server went
 * away, -ENOMEM when there is no memory for a frame.
 */
int grabber_update(struct grabber *grabber);

/* The newest frame (borrowed; frame_ref it to keep), NULL before the first update. */
struct frame *grabber_frame(struct grabber *grabber);

/* When the server was last known to look like grabber_frame(): wall clock, microseconds. */
int64_t grabber_seen_wall_us(const struct grabber *grabber);

/* What changed when and where, for the screen's present size. Borrowed, replaced on a resize. */
struct activity *grabber_activity(struct grabber *grabber);

#endif
