/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three clocks and what each is for. Any thread.
 *   monotonic: intervals, pacing, time stamps of frames; stands still while the machine is suspended
 *   boottime:  lifetimes that must survive a suspended or frozen machine
 *   wall:      what people and files read; may step either way
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t clock_monotonic_us(void);
int64_t clock_boottime_us(void);
int64_t clock_wall_us(void);

/* Room for the longest text of clock_format_rfc3339, its NUL included. */
#define CLOCK_RFC3339_SIZE 40

/*
 * Writes wall_us (microseconds since 1970, UTC) as RFC 3339 with milliseconds,
 * "2026-11-29T19:36:31.042Z", into out. Years past 9999 are written as 9999.
 */
void clock_format_rfc3339(int64_t wall_us, char out[CLOCK_RFC3339_SIZE]);

/* A point after which something is over, by whichever clock reaches it first. */
struct deadline {
	int64_t wall_us;
	int64_t boottime_us;
};

/* The deadline lifetime_us from now on both clocks; neither clock's step can lengthen it. */
struct deadline deadline_after(int64_t lifetime_us);
bool deadline_has_passed(const struct deadline *deadline);

#endif
