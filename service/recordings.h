/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's side of everything that films: library and studio (capture/), their events, and calls
 * that wait until a recording has come to a state. Main thread only.
 */
#ifndef SERVICE_RECORDINGS_H
#define SERVICE_RECORDINGS_H

#include <jansson.h>
#include <stdbool.h>

struct entry;
struct http_request;
struct library;
struct recordings;
struct screen;
struct service;
struct studio;

/* service has options, loop, events, downloads and privacy already. NULL (logged) without a folder. */
struct recordings *recordings_create(struct service *service);
/* Finishes what records. Before screen_destroy and events_destroy. Accepts NULL. */
void recordings_close(struct recordings *recordings);
/* After screen_destroy and loop_finish_work. Accepts NULL. */
void recordings_destroy(struct recordings *recordings);

struct studio *recordings_studio(struct recordings *recordings);
struct library *recordings_library(struct recordings *recordings);

/* To be told: the screen is known; it came, went or changed its size. */
void recordings_set_screen(struct recordings *recordings, struct screen *screen);
void recordings_on_screen(struct recordings *recordings, bool is_ready, int width, int height);

/* The entry as calls answer it: with a link when it is finished. */
json_t *recordings_entry_json(struct recordings *recordings, struct entry *entry);
/* All of them, or those that record now, oldest first, each without chapters and subtitles. */
json_t *recordings_list_json(struct recordings *recordings, bool only_active);

/*
 * Answers the request with the entry once it is in `wanted` state (entry_state of library.h) or
 * ended, or after a moment as it is then: stopping a long recording may still take a while.
 */
void recordings_answer_when(struct recordings *recordings, struct http_request *request,
	const char *id, int wanted);

#endif
