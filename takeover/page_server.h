/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page that shows the screen, on the TCP listener:
 *   GET /box/ID          the page, the same bytes for everybody
 *   GET /assets/NAME     its files
 *   /box/ID/…            its calls (takeover/page_calls.h)
 * Main thread only.
 */
#ifndef TAKEOVER_PAGE_SERVER_H
#define TAKEOVER_PAGE_SERVER_H

#include <stdbool.h>

struct http_request;
struct loop;
struct page_server;
struct takeovers;
struct viewers;

struct page_server_config {
	struct loop *loop; /* all borrowed */
	struct takeovers *takeovers;
	struct viewers *viewers;
	const char *box_id;
	const char *public_url; /* what people reach it by, without a slash at the end */
	const char *listen_address;
	bool has_tls; /* the listener itself speaks it */
	const char *const *allowed_origins; /* ends with NULL */
};

struct page_server *page_server_create(const struct page_server_config *config);
/* Before the HTTP server ends. Accepts NULL. */
void page_server_destroy(struct page_server *server);

/* Whether the path is that of a file which never changes under its name. */
bool page_server_has_asset(const char *path);

/* Answers what is the page's business; false: it is somebody else's. */
bool page_server_handle(struct page_server *server, struct http_request *request);

#endif
