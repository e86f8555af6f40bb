/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/pacer.h"

int64_t awake_clock_now(struct awake_clock *clock, int64_t monotonic_us)
{
	int64_t silence_us = monotonic_us - clock->last_us;
	if (clock->last_us != 0 && silence_us > AWAKE_TICK_US + AWAKE_FREEZE_US)
		clock->frozen_us += silence_us - AWAKE_TICK_US;
	if (clock->last_us == 0 || silence_us > 0)
		clock->last_us = monotonic_us;
	return monotonic_us - clock->frozen_us;
}

void pacer_init(struct pacer *pacer, int64_t start_us, int64_t max_idle_us)
{
	*pacer = (struct pacer){.last_us = start_us, .max_idle_us = max_idle_us};
}

static void go_on(struct pacer *pacer, int64_t now_us)
{
	int64_t passed_us = now_us - pacer->last_us;
	if (passed_us <= 0)
		return;
	pacer->last_us = now_us;
	if (pacer->is_paused)
		return;
	int64_t counted_us = passed_us;
	int64_t left_us = pacer->max_idle_us - pacer->idle_us;
	if (pacer->max_idle_us > 0 && counted_us > left_us)
		counted_us = left_us > 0 ? left_us : 0;
	pacer->idle_us += counted_us;
	pacer->cut_us += passed_us - counted_us;
	pacer->pts_us += counted_us;
}

int64_t pacer_advance(struct pacer *pacer, int64_t now_us, bool is_change, int64_t *cut_us)
{
	go_on(pacer, now_us);
	if (is_change) {
		*cut_us = pacer->cut_us;
		pacer->cut_us = 0;
		pacer->idle_us = 0;
	}
	return pacer->pts_us;
}

void pacer_pause(struct pacer *pacer, int64_t now_us)
{
	go_on(pacer, now_us);
	pacer->is_paused = true;
}

void pacer_resume(struct pacer *pacer, int64_t now_us)
{
	go_on(pacer, now_us);
	pacer->is_paused = false;
	pacer->idle_us = 0;
	pacer->cut_us = 0;
}

bool pacer_is_cutting(const struct pacer *pacer)
{
	return pacer->max_idle_us > 0 && pacer->idle_us >= pacer->max_idle_us;
}

int64_t frame_grid_place(struct frame_grid *grid, int64_t pts_us)
{
	int64_t slot = (pts_us * grid->fps + 500000) / 1000000;
	if (slot <= grid->last_slot)
		slot = grid->last_slot + 1;
	grid->last_slot = slot;
	return (slot * FRAME_GRID_TICKS + grid->fps / 2) / grid->fps;
}
