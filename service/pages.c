/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/pages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/http_server.h"
#include "service/downloads.h"
#include "service/options.h"
#include "service/reply.h"
#include "service/service.h"
#include "takeover/page_server.h"

static const char policy_name[] = "Content-Security-Policy", cache_name[] = "Cache-Control";

static const struct {
	const char *name, *value;
} security_headers[] = {
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"Permissions-Policy", "clipboard-read=(self), clipboard-write=(self), fullscreen=(self), "
			       "screen-wake-lock=(self)"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"X-Robots-Tag", "noindex, nofollow, noarchive"},
};

char *pages_policy(const struct options *options)
{
	struct buffer policy = {0};
	buffer_printf(&policy,
		"default-src 'none'; script-src 'self'; style-src 'self'; "
		"img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; "
		"form-action 'none'; base-uri 'none'; frame-ancestors 'self'");
	char *const *origin = options->frame_ancestors;
	for (; origin != NULL && *origin != NULL; origin++)
		buffer_printf(&policy, " %s", *origin);
	buffer_append(&policy, "", 1);
	return (char *)policy.data;
}

char *pages_error_headers(const char *policy)
{
	struct buffer lines = {0};
	buffer_printf(&lines, "%s: %s\r\n%s: no-store\r\n", policy_name, policy, cache_name);
	for (size_t i = 0; i < ARRAY_LEN(security_headers); i++)
		buffer_printf(
			&lines, "%s: %s\r\n", security_headers[i].name, security_headers[i].value);
	buffer_append(&lines, "", 1);
	return (char *)lines.data;
}

void pages_dispatch(struct service *service, struct http_request *request)
{
	http_request_add_header(request, policy_name, service->page_policy);
	for (size_t i = 0; i < ARRAY_LEN(security_headers); i++)
		http_request_add_header(
			request, security_headers[i].name, security_headers[i].value);
	/* The names of these files hold a hash of their contents; that they are not there may
	 * change. */
	bool is_asset = page_server_has_asset(http_request_path(request));
	http_request_add_header(
		request, cache_name, is_asset ? "public, max-age=31536000, immutable" : "no-store");
	if (page_server_handle(service->page_server, request))
		return;
	if (strncmp(http_request_path(request), "/box/", 5) == 0)
		downloads_serve(service->downloads, request);
	else
		reply_error(request, REPLY_NOT_FOUND, "there is nothing at this address");
}
