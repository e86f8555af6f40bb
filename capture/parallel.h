/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doing two things at once for a few milliseconds, on any thread. */
#ifndef CAPTURE_PARALLEL_H
#define CAPTURE_PARALLEL_H

/*
 * Calls work(second) on a thread of its own while this one calls work(first), and returns when both
 * are done. Where no thread can be started, calls one after the other.
 */
void parallel_run_pair(void (*work)(void *arg), void *first, void *second);

#endif
