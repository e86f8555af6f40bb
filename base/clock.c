/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_monotonic_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int64_t clock_boottime_us(void)
{
	return read_us(CLOCK_BOOTTIME);
}

int64_t clock_wall_us(void)
{
	return read_us(CLOCK_REALTIME);
}

void clock_format_rfc3339(int64_t wall_us, char out[CLOCK_RFC3339_SIZE])
{
	static const int64_t last_us = 253402300799999999; /* 9999-12-31T23:59:59.999999Z */
	if (wall_us < 0)
		wall_us = 0;
	if (wall_us > last_us)
		wall_us = last_us;
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	char date[32];
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, CLOCK_RFC3339_SIZE, "%s.%03dZ", date, (int)(wall_us % 1000000 / 1000));
}

struct deadline deadline_after(int64_t lifetime_us)
{
	return (struct deadline){
		.wall_us = clock_wall_us() + lifetime_us,
		.boottime_us = clock_boottime_us() + lifetime_us,
	};
}

bool deadline_has_passed(const struct deadline *deadline)
{
	return clock_wall_us() >= deadline->wall_us ||
	       clock_boottime_us() >= deadline->boottime_us;
}
