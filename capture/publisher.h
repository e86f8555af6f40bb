/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A broadcast: a film's packets to a media server (rtmp, rtsp, srt) or an HLS playlist, through
 * libavformat, on a thread of its own. A target that is gone is tried again, with growing pauses; one
 * that hangs costs nobody else anything. Main thread only, but for the sink's callback.
 */
#ifndef CAPTURE_PUBLISHER_H
#define CAPTURE_PUBLISHER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct film;
struct loop;
struct publisher;

struct publisher_events {
	/* "connected" or "lost"; on the main thread. */
	void (*on_change)(void *arg, const char *what);
	/* The last call, after publisher_stop; then it is gone. */
	void (*on_stopped)(void *arg);
	void *arg;
};

/* Whether there can be a broadcast to the URL; else *advice says what it must be. */
bool publisher_check(const char *url, const char **advice);

/* NULL when no thread is to be had. */
struct publisher *publisher_create(
	struct loop *loop, struct film *film, const char *url, const struct publisher_events *events);
/* Ends it without waiting for the target. */
void publisher_stop(struct publisher *publisher);
/* Waits for one that was stopped; on_stopped is still to come by post. */
void publisher_join(struct publisher *publisher);

/* {"url" (without a stream key), "state", "packets", "bytes", "dropped", "reconnects"} */
json_t *publisher_json(struct publisher *publisher);

#endif
