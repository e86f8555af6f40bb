/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of display/screen.h, for its own files: screen.c (its life), screen_calls.c (what can be
   asked of it) and screen_hand.c (what can be done on it). */
#ifndef DISPLAY_SCREEN_PRIVATE_H
#define DISPLAY_SCREEN_PRIVATE_H

#include <pthread.h>

#include "base/list.h"
#include "display/deeds.h"
#include "display/frame_request.h"
#include "display/hand.h"
#include "display/input_gate.h"
#include "display/screen.h"

struct screen {
	char *display;               /* immutable */
	struct loop *main_loop;      /* immutable */
	struct screen_events events; /* immutable; called on the main thread */
	struct loop *loop;           /* the display thread's; immutable */
	pthread_t thread;
	uint64_t next_id;            /* main thread */
	bool is_ending;              /* main thread: no more on_change */

	struct input_gate gate;      /* atomic; changed on the main thread */
	struct screen_deeds deed_events; /* main thread */
	_Atomic bool are_deeds_wanted;   /* set on the main thread */
	struct deeds deeds;              /* immutable */
	_Atomic int viewer_events;   /* that wait for the display thread */

	pthread_mutex_t lock;
	struct screen_info info;     /* guarded by lock */
	int x_fd;                    /* a duplicate of the connection's, -1 without; guarded by lock */

	/* the rest belongs to the display thread */
	struct xconn *conn;
	struct grabber *grabber;
	struct cursor *cursor;
	struct clipboard *clipboard;
	struct frame_feed *feed;
	struct frame_requests requests;
	struct hand hand;            /* its conn is NULL while there is no screen */
	struct act_runner *runner;
	struct viewer_input *viewer_input;
	unsigned viewer_buttons; /* that were down in a viewer's last event */
	struct clipboard_keeper *keeper;
	struct selection_owner *selections; /* what PUT /v1/clipboard has put there */
	struct live_source *live;
	struct list lane;            /* of struct hand_job: what acts, one at a time; the first runs */
	bool lane_waits;             /* the next is started by a post that is on its way */
	struct loop_timer *probe_timer;
	uint64_t last_serial;
};

/* screen_deeds.c */
void screen_deeds_init(struct screen *screen);

/* screen_hand.c, display thread: ends what acts and what waits to, before the connection closes; tells
   it that the holder of the screen has changed. */
void screen_end_lane(struct screen *screen);
void screen_lock_out_lane(struct screen *screen);

#endif
