/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters and gauges, told as Prometheus text (exposition format 0.0.4). Main thread only. */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct metrics;

enum metric {
	METRIC_SHOTS,            /* pictures answered, cached ones included */
	METRIC_SHOTS_CACHED,     /* of these, answered from the cache */
	METRIC_SHOTS_UNCHANGED,  /* 304 */
	METRIC_SHOT_ERRORS,
	METRIC_SHOT_BYTES,
	METRIC_SHOT_ENCODE_US,
	METRIC_REQUESTS,         /* on the control socket */
	METRIC_SCREEN_ATTACHES,
	METRIC_SCREEN_READY,     /* gauge, 0 or 1 */
	METRIC_EVENT_READERS,    /* gauge */
	METRIC_CONNECTIONS,      /* gauge, control socket */
	METRIC_COUNT,
};

struct metrics *metrics_create(void);
void metrics_destroy(struct metrics *metrics);
void metrics_add(struct metrics *metrics, enum metric metric, uint64_t amount);
void metrics_set(struct metrics *metrics, enum metric metric, uint64_t value);

/*
 * A person has the screen to themselves: what the process needs moves with each of their keys, so
 * those figures stand still until they are let go.
 */
void metrics_freeze(struct metrics *metrics, bool is_frozen);

/* Appends all of them, and the process's own (CPU seconds, resident bytes, open fds, threads). */
void metrics_write(const struct metrics *metrics, struct buffer *out);

#endif
