/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signed links to files: "/box/<box-id>/files/<id>/<name>?e=<unix time>&s=<signature>", good for a
 * limited time, without signing in. The signature is an HMAC-SHA-256 over box id, file id, name and
 * expiry under a random key; links survive a restart of the daemon (key and table are kept in the
 * state folder), and neither a step of the wall clock nor a frozen box lengthens their life. Main
 * thread only.
 */
#ifndef SERVICE_DOWNLOADS_H
#define SERVICE_DOWNLOADS_H

#include <stdint.h>

#include "base/clock.h"

struct buffer;
struct downloads;
struct http_request;
struct stat;

#define DOWNLOADS_LIFETIME_S 3600
/* Further links push out the oldest. */
#define DOWNLOADS_MAX 1000
/* Files of the daemon's own: the oldest go, and their links with them, when all are larger than this. */
#define DOWNLOADS_OWN_BYTES_MAX (256 << 20)

/* state_dir exists already; box_id and public_url are borrowed. NULL (logged) without a key. */
struct downloads *downloads_create(const char *state_dir, const char *box_id, const char *public_url);
void downloads_destroy(struct downloads *downloads);

/*
 * Makes a link to `file` at path. Returns the URL (the caller frees it) and in *expires_wall_us
 * when it ends. What is changed, touched or replaced later is not served (410), also when its size
 * and time have been put back; nor is what is no regular file.
 */
char *downloads_add(struct downloads *downloads, const char *path, const struct stat *file,
	const char *content_type, int64_t *expires_wall_us);

/*
 * Writes the file itself, into a folder of the daemon's own, under a name that ends in `ending` ("png"),
 * and makes a link to it. It is removed once the link is over: when the next link is made or followed,
 * or the daemon starts. Returns 0, the URL in *url and its path in *path (the caller frees both), or a
 * negative errno.
 */
int downloads_add_own(struct downloads *downloads, const struct buffer *data, const char *ending,
	const char *content_type, char **url, char **path, int64_t *expires_wall_us);

/*
 * Answers a request whose path begins with "/box/": the file; 404 for another path and for a link
 * that is wrong or over (the same words for all of these); 410 when the link is good but the file
 * has gone.
 */
void downloads_serve(struct downloads *downloads, struct http_request *request);

#endif
