/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that makes one viewer's picture. It holds the newest view of the screen (older ones that
 * were not sent are dropped: nothing queues up), and makes an update when the viewer may have one:
 * what was made before has gone to the kernel, and less than a window is on its way (link_rate.h), or,
 * without continuous updates, the viewer has asked. What it makes goes to the main thread by post.
 *
 * Everything here is called on the main thread, except the callbacks of the watch and the subscriber,
 * which are the display thread's and the encoders'.
 */
#ifndef TAKEOVER_VIEWER_THREAD_H
#define TAKEOVER_VIEWER_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "takeover/rfb_caps.h"
#include "takeover/rfb_protocol.h"

struct buffer;
struct jpeg_share;
struct live_encoder;
struct live_watch;
struct loop;
struct privacy_card;
struct rect;
struct viewer_thread;

struct viewer_thread_config {
	struct loop *main_loop;
	struct jpeg_share *jpegs;
	struct live_encoder *const *encoders; /* LINK_TIERS of them; NULL: no H.264 */
	const char *name;                     /* of the desktop */
	int width, height;                    /* as told in ServerInit */
	bool wants_clipboard;
	struct privacy_card *card;            /* borrowed */
	bool is_covered;                      /* as viewer_thread_cover says, from the first picture on */
};

struct viewer_thread_events {
	/* Bytes for the viewer; data is malloc'ed and taken. Call viewer_thread_drained once they (and
	   all before) have gone to the kernel. */
	void (*on_output)(void *arg, uint8_t *data, size_t len);
	/* The clipboard's new text (malloc'ed, taken). */
	void (*on_clipboard)(void *arg, char *text, size_t len);
	/* It cannot go on; the reason is a sentence. Nothing follows. */
	void (*on_failed)(void *arg, const char *reason);
	/* The last call, after viewer_thread_stop. */
	void (*on_stopped)(void *arg);
	void *arg;
};

struct viewer_stats {
	uint64_t updates, bytes;    /* made so far */
	uint64_t motion;            /* updates with moving picture in them */
	uint64_t dropped;           /* views and packets that the viewer never got */
	double fps, kbps;           /* over the last seconds */
	int64_t rtt_us;             /* 0: not known */
	int tier;
	bool is_continuous;
};

/* NULL when there are no resources for one more. */
struct viewer_thread *viewer_thread_start(
	const struct viewer_thread_config *config, const struct viewer_thread_events *events);
/* Ends the thread without waiting for it: on_stopped comes by post, then it is gone. The watch must
   have been taken away before. */
void viewer_thread_stop(struct viewer_thread *thread);
/* The same, and waits for its end; for shutting down, when there is no display thread any more. */
void viewer_thread_join(struct viewer_thread *thread);

/* What is to be given to screen_watch_live. */
struct live_watch *viewer_thread_watch(struct viewer_thread *thread);

void viewer_thread_set_caps(struct viewer_thread *thread, const struct rfb_caps *caps);
void viewer_thread_set_format(struct viewer_thread *thread, const struct rfb_pixel_format *format);
void viewer_thread_request(struct viewer_thread *thread, const struct rect *area, bool is_incremental);
/* Continuous updates of `area`, or no more. */
void viewer_thread_set_continuous(struct viewer_thread *thread, bool is_on, const struct rect *area);
/* Shows a card (display/privacy_card.h) instead of the screen, the pointer and the lights, or no more. */
void viewer_thread_cover(struct viewer_thread *thread, bool is_covered);
/* The answer to a SetDesktopSize: 0 done, 1 prohibited, 3 invalid. */
void viewer_thread_answer_size(struct viewer_thread *thread, int status);
/* Whole messages to go out between updates, in order. False: too many wait, the viewer does not read. */
bool viewer_thread_send(struct viewer_thread *thread, const void *data, size_t len);
/* The answer to one of our fences. */
void viewer_thread_fence_answered(struct viewer_thread *thread, const uint8_t *payload, size_t len);
/* All output so far has gone to the kernel. */
void viewer_thread_drained(struct viewer_thread *thread);

void viewer_thread_stats(struct viewer_thread *thread, struct viewer_stats *out);

#endif
