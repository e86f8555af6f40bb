/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/page_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "takeover/page_assets.h"
#include "takeover/page_calls.h"
#include "takeover/page_guard.h"

struct page_server {
	struct page_calls calls;
	char *prefix; /* "/box/ID" */
};

struct page_server *page_server_create(const struct page_server_config *config)
{
	struct page_server *server = xcalloc(1, sizeof(*server));
	server->prefix = xasprintf("/box/%s", config->box_id);
	server->calls = (struct page_calls){.loop = config->loop,
		.takeovers = config->takeovers,
		.viewers = config->viewers,
		.guard = page_guard_create(config->loop, config->public_url, config->listen_address,
			config->has_tls, config->allowed_origins)};
	return server;
}

void page_server_destroy(struct page_server *server)
{
	if (server == NULL)
		return;
	page_guard_destroy(server->calls.guard);
	free(server->prefix);
	free(server);
}

/* The files */

static const struct page_asset *find_asset(const char *name)
{
	for (size_t i = 0; i < page_asset_count; i++) {
		if (strcmp(page_assets[i].name, name) == 0)
			return &page_assets[i];
	}
	return NULL;
}

static bool is_reading(const struct http_request *request)
{
	const char *method = http_request_method(request);
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static void serve_asset(struct http_request *request, const struct page_asset *asset)
{
	if (!is_reading(request)) {
		page_refuse_method(request, "GET, HEAD");
		return;
	}
	const char *accepted = http_request_header(request, "accept-encoding");
	const uint8_t *data = asset->data;
	size_t len = asset->len;
	http_request_add_header(request, "Vary", "Accept-Encoding");
	if (accepted != NULL && strstr(accepted, "br") != NULL) {
		http_request_add_header(request, "Content-Encoding", "br");
		data = asset->brotli;
		len = asset->brotli_len;
	} else if (accepted != NULL && strstr(accepted, "gzip") != NULL) {
		http_request_add_header(request, "Content-Encoding", "gzip");
		data = asset->gzip;
		len = asset->gzip_len;
	}
	http_reply(request, 200, asset->type, data, len);
}

bool page_server_has_asset(const char *path)
{
	return strncmp(path, "/assets/", 8) == 0 && strcmp(path + 8, "index.html") != 0 &&
	       find_asset(path + 8) != NULL;
}

bool page_server_handle(struct page_server *server, struct http_request *request)
{
	const char *path = http_request_path(request);
	size_t prefix_len = strlen(server->prefix);
	if (!page_guard_knows_host(server->calls.guard, request)) {
		page_refuse(request, 403, "forbidden", "this service does not go by that name");
		return true;
	}
	if (page_server_has_asset(path)) {
		serve_asset(request, find_asset(path + 8));
		return true;
	}
	if (strncmp(path, server->prefix, prefix_len) != 0)
		return false;
	if (path[prefix_len] == '\0') {
		serve_asset(request, find_asset("index.html"));
		return true;
	}
	return path[prefix_len] == '/' &&
	       page_calls_handle(&server->calls, request, path + prefix_len + 1);
}
