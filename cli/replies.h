/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several commands read out of the daemon's replies. Pure. */
#ifndef CLI_REPLIES_H
#define CLI_REPLIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A member that is a text; "" when there is none. Borrowed. */
const char *reply_text(const json_t *object, const char *name);

/* A new object with the members of those names that are there and not null; `names` ends with NULL. */
json_t *reply_members(const json_t *object, const char *const *names);

/* How a takeover that has not ended stands, for people; NULL when it has ended. The caller frees it. */
char *reply_takeover_words(const json_t *takeover);

/*
 * The first recording that runs or is paused in a reply of GET /v1/recordings, borrowed; NULL when
 * there is none. *count receives how many there are.
 */
const json_t *reply_active_recording(const json_t *reply, size_t *count);

/* Whether the error is one of a daemon that is being started anew, or of a line that broke. */
bool reply_may_come_later(int error);

#endif
