/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/damage_history.h"

void damage_history_init(struct damage_history *history, uint64_t last_serial)
{
	history->last = last_serial;
	for (int i = 0; i < DAMAGE_HISTORY_MAX; i++) {
		history->frames[i].serial = 0;
		pixman_region32_init(&history->frames[i].region);
	}
}

void damage_history_finish(struct damage_history *history)
{
	for (int i = 0; i < DAMAGE_HISTORY_MAX; i++)
		pixman_region32_fini(&history->frames[i].region);
}

void damage_history_add(struct damage_history *history, const pixman_region32_t *region)
{
	history->last++;
	history->frames[history->last % DAMAGE_HISTORY_MAX].serial = history->last;
	pixman_region32_copy(
		&history->frames[history->last % DAMAGE_HISTORY_MAX].region, region);
}

bool damage_history_since(
	const struct damage_history *history, uint64_t serial, pixman_region32_t *out)
{
	if (serial == 0 || serial > history->last || history->last - serial > DAMAGE_HISTORY_MAX)
		return false;
	for (uint64_t i = serial + 1; i <= history->last; i++) {
		if (history->frames[i % DAMAGE_HISTORY_MAX].serial != i)
			return false;
	}
	for (uint64_t i = serial + 1; i <= history->last; i++)
		pixman_region32_union(
			out, out, &history->frames[i % DAMAGE_HISTORY_MAX].region);
	return true;
}
