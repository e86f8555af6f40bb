/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What live viewers see: frames as they change, with what changed since the last one, the hot
 * rectangle (where pixels keep moving: an encoder for motion may take it), the pointer and its
 * shape, the keyboard's lights, and the clipboard's text. Decided once here for all viewers.
 *
 * Display thread only. Watches are told from the loop; nothing runs and no event is asked for while
 * there is no watch.
 */
#ifndef DISPLAY_LIVE_SOURCE_H
#define DISPLAY_LIVE_SOURCE_H

#include <pixman.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "display/rect.h"

struct clipboard;
struct cursor;
struct cursor_image;
struct frame;
struct frame_feed;
struct grabber;
struct live_source;
struct loop;
struct xconn;

#define LIVE_LIGHT_SCROLL 1
#define LIVE_LIGHT_NUM    2
#define LIVE_LIGHT_CAPS   4

/* All borrowed for the time of the call; frame and cursor can be ref'ed. */
struct live_view {
	struct frame *frame;
	pixman_region32_t *damage;     /* since the watch's last view; all of it in the first one */
	struct rect hot;               /* empty when nothing keeps moving; even width and height */
	struct cursor_image *cursor;   /* NULL when there is none */
	int pointer_x, pointer_y;      /* root coordinates */
	int lights;                    /* LIVE_LIGHT_* that are on */
};

/* Embedded in the watcher. The callbacks may not add or remove watches. */
struct live_watch {
	struct list link;                                      /* private */
	bool is_new;                                           /* private */
	bool wants_clipboard;
	int fps;                                               /* wanted at most; 0: what there is */
	void (*on_view)(void *arg, const struct live_view *view);
	/* CLIPBOARD's new text in UTF-8, unless this process put it there. May be NULL. */
	void (*on_clipboard)(void *arg, const char *text, size_t len);
	void *arg;
};

struct live_source *live_source_create(struct loop *loop, struct frame_feed *feed);
void live_source_destroy(struct live_source *source); /* accepts NULL */

/* The connection to look at, all NULL while there is none. Watches stay over a change. */
void live_source_set_screen(struct live_source *source, struct xconn *conn,
	struct grabber *grabber, struct cursor *cursor, struct clipboard *clipboard);

/* Somebody has just done something to the screen who looks at it: what comes of it goes out at once. */
void live_source_expect_answer(struct live_source *source);

void live_source_add(struct live_source *source, struct live_watch *watch);
void live_source_remove(struct live_source *source, struct live_watch *watch);

#endif
