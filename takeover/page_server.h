/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page that shows the screen, on the TCP listener:
 *   GET  /box/ID             the page, the same bytes for everybody
 *   GET  /assets/NAME        its files
 *   POST /box/ID/session     {"token"} → {"session","role","expires_at"}
 *   POST /box/ID/ticket      Authorization: Bearer SESSION → {"ticket"}
 *   GET  /box/ID/live        WebSocket; the ticket as second subprotocol, "ticket.TICKET", or
 *                            Authorization: Bearer SESSION from native tools
 * Main thread only.
 */
#ifndef TAKEOVER_PAGE_SERVER_H
#define TAKEOVER_PAGE_SERVER_H

#include <stdbool.h>

#include "takeover/viewers.h"

struct http_request;
struct links;
struct loop;
struct page_server;

/* All borrowed. public_url is what people reach it by, without a slash at the end. */
struct page_server *page_server_create(struct loop *loop, struct links *links,
	struct viewers *viewers, const char *box_id, const char *public_url, const char *listen_address);
void page_server_destroy(struct page_server *server); /* accepts NULL */

/* Answers what is the page's business; false: it is somebody else's. */
bool page_server_handle(struct page_server *server, struct http_request *request);

#endif
