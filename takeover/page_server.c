/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/page_server.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/json.h"
#include "takeover/links.h"
#include "takeover/page_assets.h"
#include "takeover/peer_link.h"
#include "takeover/websocket.h"
#define LOG_MODULE "page"
#include "base/log.h"

struct page_server {
	struct loop *loop;
	struct links *links;
	struct viewers *viewers;
	const char *public_url;
	const char *listen_address;
	char *prefix; /* "/box/ID" */
};

struct page_server *page_server_create(struct loop *loop, struct links *links,
	struct viewers *viewers, const char *box_id, const char *public_url, const char *listen_address)
{
	struct page_server *server = xcalloc(1, sizeof(*server));
	server->loop = loop;
	server->links = links;
	server->viewers = viewers;
	server->public_url = public_url;
	server->listen_address = listen_address;
	server->prefix = xasprintf("/box/%s", box_id);
	return server;
}

void page_server_destroy(struct page_server *server)
{
	if (server == NULL)
		return;
	free(server->prefix);
	free(server);
}

static void answer_json(struct http_request *request, int status, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);
	http_reply_take(request, status, "application/json", text, strlen(text));
	json_decref(value);
}

static void refuse(struct http_request *request, int status, const char *code, const char *message)
{
	answer_json(request, status, json_pack("{s:s, s:s}", "error", code, "message", message));
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

static void serve_asset(struct http_request *request, const struct page_asset *asset)
{
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

static bool is_reading(const struct http_request *request)
{
	const char *method = http_request_method(request);
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* Who asks */

/* The host of "http://host:port/…", which is `len` long. */
static const char *host_of(const char *url, size_t *len)
{
	const char *begin = strstr(url, "://");
	begin = begin != NULL ? begin + 3 : url;
	*len = strcspn(begin, "/");
	return begin;
}

static bool host_is(const char *host, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	return len >= name_len && strncasecmp(host, name, name_len) == 0 &&
	       (host[name_len] == ':' || len == name_len);
}

/* Whether the Host header names us: another name that leads here is a rebinding attack. */
static bool host_is_ours(const struct page_server *server, const char *host)
{
	size_t public_len;
	const char *public_host = host_of(server->public_url, &public_len);
	size_t len = host != NULL ? strlen(host) : 0;
	if (len == 0)
		return false;
	if (len == public_len && strncasecmp(host, public_host, len) == 0)
		return true;
	return host_is(host, len, "localhost") || host_is(host, len, "127.0.0.1") ||
	       host_is(host, len, "[::1]") || host_is(host, len, server->listen_address);
}

/* Whether a page of that origin may talk to us: the public one, or the one it was loaded from. */
static bool origin_is_ours(const struct page_server *server, const char *origin, const char *host)
{
	size_t public_len, origin_len;
	const char *public_host = host_of(server->public_url, &public_len);
	const char *origin_host = host_of(origin, &origin_len);
	size_t scheme_len = (size_t)(origin_host - origin);
	if (origin_len == 0 || origin_host[origin_len] != '\0' || strstr(origin, "://") == NULL)
		return false; /* also "null" */
	bool is_public = origin_len == public_len && strncasecmp(origin_host, public_host, origin_len) == 0 &&
			 strncasecmp(origin, server->public_url, scheme_len) == 0;
	bool is_same = strncasecmp(origin, "http", 4) == 0 && strlen(host) == origin_len &&
		       strncasecmp(origin_host, host, origin_len) == 0;
	return is_public || is_same;
}

/* False: refused already. */
static bool check_origin(const struct page_server *server, struct http_request *request)
{
	const char *host = http_request_header(request, "host");
	const char *origin = http_request_header(request, "origin");
	if (!host_is_ours(server, host)) {
		refuse(request, 403, "forbidden", "this service does not go by that name");
		return false;
	}
	if (origin != NULL && !origin_is_ours(server, origin, host)) {
		refuse(request, 403, "forbidden", "pages from elsewhere may not use this service");
		return false;
	}
	return true;
}

/* What follows "Bearer " in the Authorization header, or NULL. */
static const char *bearer(const struct http_request *request)
{
	const char *value = http_request_header(request, "authorization");
	return value != NULL && strncasecmp(value, "Bearer ", 7) == 0 ? value + 7 : NULL;
}

static void refuse_secret(struct http_request *request)
{
	refuse(request, 401, "not_valid", "this link is not valid; ask for a new one");
}

/* The calls */

static void open_session(struct page_server *server, struct http_request *request)
{
	char error[256], secret[LINK_SECRET_SIZE], expires[CLOCK_RFC3339_SIZE];
	struct link_info info;
	size_t len;
	const char *body = http_request_body(request, &len);
	json_t *object = json_parse_body(body, len, error, sizeof(error));
	const char *token = json_string_value(json_object_get(object, "token"));
	if (token == NULL || !links_check(server->links, LINK_KIND_LINK, token, &info) ||
		!links_derive(server->links, LINK_KIND_SESSION, &info, secret)) {
		refuse_secret(request);
	} else {
		clock_format_rfc3339(info.expires_wall_us, expires);
		answer_json(request, 200,
			json_pack("{s:s, s:s, s:s}", "session", secret, "role",
				viewer_role_name(info.role), "expires_at", expires));
	}
	json_decref(object);
}

static void give_ticket(struct page_server *server, struct http_request *request)
{
	char secret[LINK_SECRET_SIZE];
	struct link_info info;
	const char *session = bearer(request);
	if (session == NULL || !links_check(server->links, LINK_KIND_SESSION, session, &info) ||
		!links_derive(server->links, LINK_KIND_TICKET, &info, secret))
		refuse_secret(request);
	else
		answer_json(request, 200, json_pack("{s:s}", "ticket", secret));
}

static void on_nothing(void *arg)
{
	(void)arg;
}

/* A browser is not told a status before the upgrade, but a close code. */
static void close_as_not_valid(struct peer_link *link)
{
	const struct peer_link_events nothing = {.on_drained = on_nothing, .on_closed = on_nothing};
	peer_link_start(link, &nothing);
	peer_link_close(link, PEER_CLOSE_NOT_VALID, "this link is not valid");
}

static void open_live(struct page_server *server, struct http_request *request)
{
	struct link_info info;
	if (!websocket_check(request))
		return;
	char *ticket = websocket_offered(request, "ticket.");
	const char *session = bearer(request);
	bool is_valid =
		(ticket != NULL && links_check(server->links, LINK_KIND_TICKET, ticket, &info)) ||
		(session != NULL && links_check(server->links, LINK_KIND_SESSION, session, &info));
	free(ticket);
	struct peer_link *link = websocket_accept(server->loop, request);
	if (link == NULL)
		return;
	if (is_valid)
		viewers_add(server->viewers, link, info.role, NULL, "websocket");
	else
		close_as_not_valid(link);
}

static bool handle_call(struct page_server *server, struct http_request *request, const char *name)
{
	static const struct {
		const char *method, *name;
		void (*handle)(struct page_server *server, struct http_request *request);
	} calls[] = {
		{"POST", "/session", open_session},
		{"POST", "/ticket", give_ticket},
		{"GET", "/live", open_live},
	};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		if (strcmp(http_request_method(request), calls[i].method) != 0) {
			http_request_add_header(request, "Allow", calls[i].method);
			refuse(request, 405, "method_not_allowed", "this address is called otherwise");
		} else if (check_origin(server, request)) {
			calls[i].handle(server, request);
		}
		return true;
	}
	return false;
}

bool page_server_handle(struct page_server *server, struct http_request *request)
{
	const char *path = http_request_path(request);
	size_t prefix_len = strlen(server->prefix);
	if (strncmp(path, "/assets/", 8) == 0 && is_reading(request)) {
		const struct page_asset *asset = find_asset(path + 8);
		if (asset == NULL || strcmp(asset->name, "index.html") == 0)
			return false;
		serve_asset(request, asset);
		return true;
	}
	if (strncmp(path, server->prefix, prefix_len) != 0)
		return false;
	if (path[prefix_len] == '\0' && is_reading(request)) {
		serve_asset(request, find_asset("index.html"));
		return true;
	}
	return handle_call(server, request, path + prefix_len);
}
