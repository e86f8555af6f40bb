/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secrets that let somebody see the screen: links (in an address, for people), sessions (what the page
 * exchanges a link for) and tickets (one WebSocket each, 30 s). Each is 32 random bytes in base64url;
 * only their SHA-256 is kept. Sessions and tickets end with the link that they came from. Main thread
 * only.
 */
#ifndef TAKEOVER_LINKS_H
#define TAKEOVER_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "takeover/viewers.h"

#define LINK_SECRET_SIZE 44 /* 43 characters and the NUL */
#define LINK_ID_SIZE     24
#define LINK_TTL_MAX_S   (7 * 24 * 3600)

struct links;

enum link_kind {
	LINK_KIND_LINK,
	LINK_KIND_SESSION,
	LINK_KIND_TICKET, /* good for one use */
};

struct link_info {
	char id[LINK_ID_SIZE]; /* of the link, also for what came from it */
	enum viewer_role role;
	int64_t expires_wall_us;
};

struct links *links_create(void);
void links_destroy(struct links *links); /* accepts NULL */

/* A new link. False when there are too many. */
bool links_mint(struct links *links, enum viewer_role role, int ttl_s,
	char secret[LINK_SECRET_SIZE], struct link_info *info);

/*
 * Whether `secret` is a valid one of that kind; a ticket is used up by it. Wrong, expired and used ones
 * look the same, and all are compared in constant time.
 */
bool links_check(
	struct links *links, enum link_kind kind, const char *secret, struct link_info *info);

/* A session or ticket from a link or session that was checked. False when there are too many. */
bool links_derive(struct links *links, enum link_kind kind, const struct link_info *from,
	char secret[LINK_SECRET_SIZE]);

/* The link and what came from it are valid no more. False: there is no such link. */
bool links_revoke(struct links *links, const char *id);

#endif
