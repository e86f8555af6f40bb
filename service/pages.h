/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the TCP listener answers: downloads under signed links, everything else 404; the security
   headers of takeover.md on all of it. Main thread only. */
#ifndef SERVICE_PAGES_H
#define SERVICE_PAGES_H

struct http_request;
struct service;

void pages_dispatch(struct service *service, struct http_request *request);

#endif
