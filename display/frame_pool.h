/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for frames of one size: SysV shared memory that the X server writes into, or ordinary
 * memory where it cannot. Segments are reused; a segment is removed from the system's table as soon
 * as the server has attached it, so that nothing is left behind by a crash.
 *
 * Display thread only, but for the last frame_unref of a frame, which may come from any thread.
 */
#ifndef DISPLAY_FRAME_POOL_H
#define DISPLAY_FRAME_POOL_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stdint.h>

struct frame;
struct frame_pool;
struct xconn;

/*
 * A pool of width x height frames. With `shm`, pixels live in shared memory that XShmGetImage can
 * fill (only for visuals whose pixels are B,G,R,X in memory).
 */
struct frame_pool *frame_pool_create(
	struct xconn *conn, Visual *visual, int depth, int width, int height, bool shm);

/*
 * Gives up the pool: the server lets go of the segments at once (unless the connection is broken),
 * the memory stays until the last frame of it is gone. Accepts NULL.
 */
void frame_pool_destroy(struct frame_pool *pool);

/*
 * A fresh frame with one reference, its damage empty, its pixels undefined; the display thread
 * fills it before it hands it out. NULL when memory (or, with shm, a segment the server can attach)
 * is not to be had.
 */
struct frame *frame_pool_acquire(struct frame_pool *pool);

/* The writable side of an acquired frame, valid until it is handed out. */
uint8_t *frame_writable_pixels(struct frame *frame);
/* The XImage over the frame's segment; NULL in a pool without shm. */
XImage *frame_ximage(struct frame *frame);

/*
 * An XImage in shared memory outside any pool (a staging area in the server's own pixel format).
 * NULL when there is none to be had. shm_image_destroy accepts NULL.
 */
struct shm_image;
struct shm_image *shm_image_create(
	struct xconn *conn, Visual *visual, int depth, int width, int height);
void shm_image_destroy(struct xconn *conn, struct shm_image *image);
XImage *shm_image_ximage(struct shm_image *image);

#endif
