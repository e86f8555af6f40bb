/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stream of state changes (GET /v1/events), Server-Sent Events as the WHATWG HTML standard has
 * them. The last events are kept in a bounded ring, so that a reader that lost its connection goes
 * on where it was (Last-Event-ID); one that was away for too long is told by an event `gap`. Main
 * thread only.
 */
#ifndef SERVICE_EVENTS_H
#define SERVICE_EVENTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct events;
struct http_request;

/* How much is kept for readers that come back, whichever is reached first. */
#define EVENTS_KEPT_MAX   1024
#define EVENTS_KEPT_BYTES (1u << 20)
/* A reader with more than this unread is closed; it comes back and is told what it missed. */
#define EVENTS_QUEUE_BYTES (2u << 20)

/* boot_id tells ids of this run from those of an earlier one. */
struct events *events_create(uint64_t boot_id);
/* Ends all streams. */
void events_destroy(struct events *events);

/*
 * Publishes an event of `type` ("screen.ready"). `data` (taken; NULL for none) is a JSON object, to
 * which "type" and "time" are added.
 */
void events_publish(struct events *events, const char *type, json_t *data);

/* Answers the request with the stream, from Last-Event-ID on when it is given. */
void events_serve(struct events *events, struct http_request *request);

size_t events_reader_count(const struct events *events);

#endif
