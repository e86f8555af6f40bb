/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lifetime.h"

#include "base/clock.h"

#define HOUR_US INT64_C(3600000000)
/* What a clock may drift, or be drawn by NTP, without having jumped. */
#define SLACK_US INT64_C(2000000)

void lifetime_init(struct lifetime *lifetime, int64_t now_us, int64_t wall_us, int64_t boot_us)
{
	lifetime->offset_us = wall_us - boot_us;
	lifetime->missed_us = now_us - boot_us;
}

int64_t lifetime_at(struct lifetime *lifetime, int64_t wall_us, int64_t boot_us)
{
	int64_t jump_us = wall_us - boot_us - lifetime->offset_us;
	lifetime->offset_us = wall_us - boot_us;
	if (jump_us > SLACK_US) {
		int64_t beside_us = (jump_us + HOUR_US / 2) % HOUR_US - HOUR_US / 2;
		if (beside_us > SLACK_US || beside_us < -SLACK_US)
			lifetime->missed_us += jump_us;
	}
	return boot_us + lifetime->missed_us;
}

int64_t lifetime_now(struct lifetime *lifetime)
{
	return lifetime_at(lifetime, clock_wall_us(), clock_boottime_us());
}
