/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent (`say`) and people (notes) have written to each other: the last few, in memory
 * only. Main thread only.
 */
#ifndef TAKEOVER_MESSAGES_H
#define TAKEOVER_MESSAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define MESSAGES_KEPT_MAX  200
#define MESSAGE_LENGTH_MAX 4000 /* characters */
/* Notes of people in ten seconds: more would push everything else out of the event ring. */
#define MESSAGES_NOTES_MAX 20

struct messages;

struct messages *messages_create(void);
void messages_destroy(struct messages *messages); /* accepts NULL */

/* Whether the text may be sent: not empty, not too long. */
bool messages_text_is_good(const char *text);

/* Whether people may add one more note now (monotonic time). Counts it. */
bool messages_admit_note(struct messages *messages, int64_t now_us);

/* Adds one (text is copied); {"id","time","from","text"}, which the caller owns. */
json_t *messages_add(struct messages *messages, bool is_from_person, const char *text);

/*
 * A list of those with an id above `since`, oldest first, of the newest `max`. Of people's notes only
 * those with an id above `notes_since` (INT64_MAX: none).
 */
json_t *messages_json(
	const struct messages *messages, int64_t since, int64_t notes_since, int max);

/* The id of the newest; 0 before the first. */
int64_t messages_last_id(const struct messages *messages);

#endif
