/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What viewer_thread.c (the thread) and viewer_thread_calls.c (what it is told) share. */
#ifndef TAKEOVER_VIEWER_THREAD_PRIVATE_H
#define TAKEOVER_VIEWER_THREAD_PRIVATE_H

#include <pixman.h>
#include <pthread.h>

#include "base/buffer.h"
#include "display/live_source.h"
#include "takeover/link_rate.h"
#include "takeover/live_encoder.h"
#include "takeover/rfb_update.h"
#include "takeover/viewer_thread.h"

/* Packets that wait for one viewer; more says that it does not keep up. */
#define PACKETS_MAX 4
/* The tag of our fences' payloads; the number of the message follows. */
#define FENCE_TAG 0x62787331u /* "bxs1" */

/* Over what the figures in the status are taken. */
#define STATS_SPAN_US 2000000

/* The picture's part of what the display thread tells. */
struct view {
	struct frame *frame;        /* reference; NULL before the first */
	pixman_region32_t damage;   /* since the thread looked last */
	struct rect hot;
	struct cursor_image *cursor; /* reference or NULL */
	int pointer_x, pointer_y;
	int lights;
	bool is_new;
};

struct span {
	int64_t begin_us;
	uint64_t updates, bytes;
	double fps, kbps;
};

struct viewer_thread {
	struct viewer_thread_config config; /* immutable */
	struct viewer_thread_events events; /* immutable; called on the main thread */
	struct live_watch watch;            /* the display thread's */
	pthread_t thread;
	bool is_joined;                     /* the main thread's */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* guarded by lock */
	bool is_ending;
	struct view view;
	struct rfb_caps caps;
	bool has_new_caps;
	struct rfb_pixel_format format;
	bool has_new_format;
	pixman_region32_t requested;   /* asked for and not answered */
	pixman_region32_t anew;        /* asked for as if nothing were known */
	bool is_continuous;
	struct rect continuous_area;
	int answer_status;             /* to SetDesktopSize; -1: none */
	struct buffer messages;
	bool is_covered;               /* the viewer is shown the card */
	bool is_output_full;           /* what was made last has not gone to the kernel */
	struct link_rate link;
	struct live_packet *packets[PACKETS_MAX];
	int packet_count;
	uint64_t next_sequence;        /* of the packet that fits; 0: an IDR is needed */
	struct viewer_stats stats;
	struct span span;
	struct {
		int64_t begin_us;
		int shown, missed;     /* views in which something moved; those never taken */
	} keeping;                     /* whether the viewer keeps up */

	/* the thread's own */
	struct rfb_update update;
	struct live_subscriber subscriber;
	struct live_encoder *encoder;  /* subscribed to */
};

/* The lock is held. */
void viewer_thread_drop_packets(struct viewer_thread *thread);

#endif
