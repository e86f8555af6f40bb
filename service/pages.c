/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/pages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "service/downloads.h"
#include "service/reply.h"
#include "service/service.h"
#include "takeover/page_server.h"

static const struct {
	const char *name, *value;
} security_headers[] = {
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
		"connect-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; "
		"frame-ancestors 'self'"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"Permissions-Policy",
		"clipboard-read=(self), clipboard-write=(self), fullscreen=(self), "
		"screen-wake-lock=(self)"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"X-Robots-Tag", "noindex, nofollow, noarchive"},
};

void pages_dispatch(struct service *service, struct http_request *request)
{
	for (size_t i = 0; i < ARRAY_LEN(security_headers); i++)
		http_request_add_header(
			request, security_headers[i].name, security_headers[i].value);
	/* The names of these files hold a hash of their contents. */
	bool is_asset = strncmp(http_request_path(request), "/assets/", 8) == 0;
	http_request_add_header(request, "Cache-Control",
		is_asset ? "public, max-age=31536000, immutable" : "no-store");
	if (page_server_handle(service->page_server, request))
		return;
	if (strncmp(http_request_path(request), "/box/", 5) == 0)
		downloads_serve(service->downloads, request);
	else
		reply_error(request, REPLY_NOT_FOUND, "there is nothing at this address");
}
