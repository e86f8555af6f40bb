/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time in recordings. awake_clock leaves out the time in which the whole box (or this process) was
 * frozen; a pacer turns its time into the time of one recording, which leaves out pauses and long
 * stretches in which nothing changed. Pure: the caller tells the time; one thread at a time.
 */
#ifndef CAPTURE_PACER_H
#define CAPTURE_PACER_H

#include <stdbool.h>
#include <stdint.h>

/* Its owner asks for the time at least so often. */
#define AWAKE_TICK_US 1000000
/* A longer silence than tick and this together was a frozen box, not a busy one. */
#define AWAKE_FREEZE_US 3000000

struct awake_clock {
	int64_t last_us;   /* monotonic, of the last question; 0: none yet */
	int64_t frozen_us; /* left out so far */
};

/* The awake time that `monotonic_us` stands for, and a note of it. */
int64_t awake_clock_now(struct awake_clock *clock, int64_t monotonic_us);

struct pacer {
	int64_t max_idle_us;  /* 0: no limit */
	int64_t last_us;      /* awake time of the last call */
	int64_t pts_us;       /* what the recording has come to then */
	int64_t idle_us;      /* of it, since the last change */
	int64_t cut_us;       /* left out of the present stretch without change */
	bool is_paused;
};

void pacer_init(struct pacer *pacer, int64_t start_us, int64_t max_idle_us);

/*
 * The time of the recording at awake time `now_us` (never less than what an earlier call returned).
 * With is_change something visible happened at that moment; *cut_us then receives how much of
 * the stretch without change before it was left out (0: none).
 */
int64_t pacer_advance(struct pacer *pacer, int64_t now_us, bool is_change, int64_t *cut_us);

/* Stops the recording's time, and lets it go on. */
void pacer_pause(struct pacer *pacer, int64_t now_us);
void pacer_resume(struct pacer *pacer, int64_t now_us);

/* Whether its time stands still by itself until something changes. */
bool pacer_is_cutting(const struct pacer *pacer);

/*
 * The places where pictures may stand in a file: multiples of the frame's time at the highest rate, so
 * that the file looks like one of that rate with pictures left out. Programs that guess a rate and put
 * pictures on its grid then lose none.
 */
struct frame_grid {
	int fps;
	int64_t last_slot; /* -1: none yet */
};

#define FRAME_GRID_TICKS 90000 /* ticks a second of what it returns */

/* The tick of a picture at pts_us: the nearest place behind the picture before. */
int64_t frame_grid_place(struct frame_grid *grid, int64_t pts_us);

#endif
