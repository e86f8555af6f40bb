/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secrets that let somebody see the screen: links (in an address, for people), sessions (what the
 * page exchanges a link for) and tickets (one WebSocket each, 30 s). Each is 32 random bytes in
 * base64url; only their SHA-256 is kept. Sessions and tickets end with the link that they came
 * from; the links of a takeover end with it. All times are on the scale of base/lifetime.h. Main
 * thread only.
 */
#ifndef TAKEOVER_LINKS_H
#define TAKEOVER_LINKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "takeover/viewers.h"

#define LINK_SECRET_SIZE 44 /* 43 characters and the NUL */
#define LINK_ID_SIZE     24
#define LINK_TTL_MAX_S   (7 * 24 * 3600)

struct lifetime;
struct links;

enum link_kind {
	LINK_KIND_LINK,
	LINK_KIND_SESSION,
	LINK_KIND_TICKET, /* good for one use */
};

struct link_info {
	char id[LINK_ID_SIZE];       /* of the link, also for what came from it */
	char takeover[LINK_ID_SIZE]; /* whose link it is; "" for a plain one */
	char parent[LINK_ID_SIZE]; /* the link that it was shared from, whose end is its own; "" */
	enum viewer_role role;
	uint32_t session; /* of sessions and tickets: a number that is never reused */
	int64_t ends_us;
};

struct links_events {
	/* A session is valid no more. Not from inside a call that is about that session. */
	void (*on_session_end)(void *arg, uint32_t session);
	/* Whether somebody uses it at the moment: it is not dropped for a newer one then. */
	bool (*is_session_busy)(void *arg, uint32_t session);
	void *arg;
};

struct links *links_create(struct lifetime *lifetime, const struct links_events *events);
void links_destroy(struct links *links); /* accepts NULL */

/* A fresh id such as "l-0123456789abcdef". False when there is no randomness. */
bool links_make_id(char prefix, char out[LINK_ID_SIZE]);

/*
 * A new link until ends_us; takeover: an id or "". False when there are too many. A takeover keeps
 * its first link and the newest few, and those that were opened.
 */
bool links_mint(struct links *links, enum viewer_role role, int64_t ends_us, const char *takeover,
	char secret[LINK_SECRET_SIZE], struct link_info *info);

/* A view link shared from a session's link, good as long as that. False: that one has enough. */
bool links_share(struct links *links, const struct link_info *session,
	char secret[LINK_SECRET_SIZE], struct link_info *info);

/* Whether the session may change one more thing now: a bound on how often a page presses buttons.
 */
bool links_admit_change(struct links *links, uint32_t session);

/*
 * Whether `secret` is a valid one of that kind; a ticket is used up by it. Wrong, expired and used
 * ones look the same, and all are compared in constant time.
 */
bool links_check(
	struct links *links, enum link_kind kind, const char *secret, struct link_info *info);

/* A new session from a checked link; *info becomes the session's. False when there are too many. */
bool links_open_session(struct links *links, struct link_info *info, char secret[LINK_SECRET_SIZE]);
/* A ticket for a checked session. False when there are too many. */
bool links_give_ticket(
	struct links *links, const struct link_info *session, char secret[LINK_SECRET_SIZE]);

/* A number that no session has or will have. */
uint32_t links_next_session(struct links *links);
/* The session of that number; false when there is none. */
bool links_find_session(struct links *links, uint32_t session, struct link_info *info);

/* The link, what came from it and what was shared from it are valid no more. False: there is no
 * such link. */
bool links_revoke(struct links *links, const char *id);
void links_end_takeover(struct links *links, const char *takeover);
/* The takeover's links are good until then. */
void links_move_takeover(struct links *links, const char *takeover, int64_t ends_us);

/* Drops what has ended; when the next ends (INT64_MAX: none). */
int64_t links_tick(struct links *links);

/* Everything but tickets, to be kept over a restart. Loading adds to what is there; entries that
   make no sense are left out. */
json_t *links_save(const struct links *links);
void links_load(struct links *links, const json_t *saved);

#endif
