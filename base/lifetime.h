/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock for what must end in time: links, takeovers. It goes on while the machine is suspended,
 * stopped or frozen, and whoever sets the wall clock can neither lengthen nor (within reason)
 * shorten what is measured by it.
 *
 * It is the boot-time clock, which knows of suspensions, plus what that clock has missed: a virtual
 * machine that was frozen and thawed finds only its wall clock moved on. So a jump of the wall
 * clock forwards counts as time that has passed, unless it is a whole number of hours, give or take
 * two seconds: that is a clock that was put right (a time zone, summer time). Jumps backwards count
 * for nothing. One thread at a time.
 */
#ifndef BASE_LIFETIME_H
#define BASE_LIFETIME_H

#include <stdint.h>

struct lifetime {
	int64_t offset_us; /* wall clock - boot-time clock, when last looked */
	int64_t missed_us; /* what is to be added to the boot-time clock */
};

/* Begins at now_us on its own scale. */
void lifetime_init(struct lifetime *lifetime, int64_t now_us, int64_t wall_us, int64_t boot_us);

/* The time on its scale when the two clocks show these; notes jumps since the last call. Pure. */
int64_t lifetime_at(struct lifetime *lifetime, int64_t wall_us, int64_t boot_us);

/* The same, now. */
int64_t lifetime_now(struct lifetime *lifetime);

#endif
