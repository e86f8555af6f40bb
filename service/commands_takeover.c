/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links to the live screen. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/json.h"
#include "service/commands.h"
#include "service/options.h"
#include "service/reply.h"
#include "service/service.h"
#include "takeover/links.h"
#include "takeover/viewers.h"

#define TTL_DEFAULT_S 1800

static void answer_link(struct service *service, struct http_request *request,
	enum viewer_role role, int ttl_s)
{
	char secret[LINK_SECRET_SIZE], expires[CLOCK_RFC3339_SIZE];
	struct link_info info;
	if (!links_mint(service->links, role, ttl_s, secret, &info)) {
		reply_error(request, REPLY_TOO_MANY,
			"there are too many links; revoke some with DELETE /v1/links/{id}");
		return;
	}
	char *url = xasprintf(
		"%s/box/%s?t=%s", service->public_url, service->options->box_id, secret);
	clock_format_rfc3339(info.expires_wall_us, expires);
	reply_json(request, 201,
		json_pack("{s:s, s:s, s:s, s:s}", "id", info.id, "role", viewer_role_name(role), "url",
			url, "expires_at", expires));
	free(url);
}

void command_link_create(struct service *service, struct http_request *request, const char *segment)
{
	char error[256];
	size_t len;
	const char *body = http_request_body(request, &len), *role_name = "view";
	int ttl_s = TTL_DEFAULT_S;
	enum viewer_role role = VIEWER_VIEW;
	struct json_reader reader;
	json_t *object = json_parse_body(body, len, error, sizeof(error));
	if (object == NULL) {
		reply_error(request, REPLY_BAD_REQUEST, "%s", error);
		return;
	}
	json_reader_init(&reader, object, "");
	if (json_read_string(&reader, "role", &role_name) && !viewer_role_parse(role_name, &role))
		json_reader_fail(&reader, "role", "must be \"view\" or \"control\"");
	json_read_int(&reader, "ttl_s", 1, LINK_TTL_MAX_S, &ttl_s);
	if (json_reader_finish(&reader))
		answer_link(service, request, role, ttl_s);
	else
		reply_error(request, REPLY_BAD_REQUEST, "%s", reader.error);
	json_decref(object);
}

void command_link_delete(struct service *service, struct http_request *request, const char *segment)
{
	if (links_revoke(service->links, segment))
		http_reply(request, 204, NULL, NULL, 0);
	else
		reply_error(request, REPLY_NOT_FOUND, "there is no link %.40s", segment);
}
