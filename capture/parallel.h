/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doing two things at once for a few milliseconds, on any thread. */
#ifndef CAPTURE_PARALLEL_H
#define CAPTURE_PARALLEL_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Calls work(second) on a thread of its own while this one calls work(first), and returns true when
 * both are done. False, and nothing has been called, where no thread can be started.
 */
bool parallel_run_pair(void (*work)(void *arg), void *first, void *second);

/* Where the two wait for each other; set to {0} before. */
struct parallel_meeting {
	atomic_int arrivals;
};

/* Returns when the other of the two has called it as often as this one. */
void parallel_meet(struct parallel_meeting *meeting);

#endif
