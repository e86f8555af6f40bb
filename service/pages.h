/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the TCP listener answers: the page, downloads under signed links, everything else 404; the
   security headers of takeover.md on all of it. Main thread only. */
#ifndef SERVICE_PAGES_H
#define SERVICE_PAGES_H

struct http_request;
struct options;
struct service;

/* The Content-Security-Policy; the caller frees it. */
char *pages_policy(const struct options *options);

/* The header lines of answers that no handler sees, with that policy; the caller frees them. */
char *pages_error_headers(const char *policy);

void pages_dispatch(struct service *service, struct http_request *request);

#endif
