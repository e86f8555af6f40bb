/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells others of takeovers: each event is posted as JSON to every target, in order, signed, and
 * tried again with back-off until it is accepted or the takeover has ended. The last event of a
 * takeover is tried on for some minutes more, since nothing else would tell of the end. Main thread
 * only.
 *
 *   POST …                     Content-Type: application/json
 *   X-Boxscreen-Event:         takeover.opened
 *   X-Boxscreen-Delivery:      an id; the same for every try
 *   X-Boxscreen-Signature:     t=SECONDS,v1=HEX   HMAC-SHA-256 of "SECONDS.BODY"
 */
#ifndef TAKEOVER_NOTIFY_H
#define TAKEOVER_NOTIFY_H

#include <jansson.h>
#include <stdbool.h>

struct loop;
struct notify;

/* Whether text is https://… or unix:/path.sock:/route. */
bool notify_target_check(const char *text);

struct notify_config {
	struct loop *loop;
	const char *const *targets; /* ends with NULL; NULL: none */
	const char *secret;         /* NULL: one of our own, kept in state_dir */
	const char *state_dir;
	const char *box_id;
};

/* All borrowed. NULL, with a logged reason, when it cannot be. */
struct notify *notify_create(const struct notify_config *config);
/* What was not accepted yet is lost. Accepts NULL. */
void notify_destroy(struct notify *notify);

/* An event ("takeover.opened") with its data (borrowed). Others than takeover.* are not posted. */
void notify_send(struct notify *notify, const char *event, const json_t *data);

#endif
