/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takeovers, links to the live screen, messages between the agent and people. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "capture/studio.h"
#include "capture/shot.h"
#include "service/commands.h"
#include "service/recordings.h"
#include "service/reply.h"
#include "service/service.h"
#include "service/shot_json.h"
#include "service/takeover_wait.h"
#include "takeover/links.h"
#include "takeover/messages.h"
#include "takeover/takeovers.h"
#include "takeover/viewers.h"

#define TTL_DEFAULT_S     1800
#define TIMEOUT_DEFAULT_S 1800
#define INSTRUCTIONS_MAX  50

/* Takeovers */

static void read_instructions(struct json_reader *reader, json_t **out)
{
	const json_t *list;
	bool is_given = json_read_any(reader, "instructions", &list);
	json_reader_explain(reader, "instructions",
		"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"maxItems\":50}");
	if (!is_given)
		return;
	bool is_good = json_is_array(list) && json_array_size(list) <= INSTRUCTIONS_MAX;
	for (size_t i = 0; is_good && i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		is_good = text != NULL && messages_text_is_good(text);
	}
	if (!is_good)
		json_reader_fail(reader, "instructions",
			"must be a list of up to %d texts of 1 to %d characters", INSTRUCTIONS_MAX,
			MESSAGE_LENGTH_MAX);
	*out = (json_t *)(uintptr_t)list;
}

/* Options of the picture that comes with the outcome; false or null: none. */
static void read_shot(struct json_reader *reader, struct takeover_request *wanted)
{
	const json_t *value = json_object_get(reader->object, "shot"), *ignored;
	struct shot_options options = shot_defaults;
	struct json_reader inner;
	json_read_any(reader, "shot", &ignored);
	json_reader_explain(reader, "shot",
		"{\"anyOf\":[{\"type\":\"boolean\"},{\"$ref\":\"#/components/schemas/ShotOptions\"}]}");
	wanted->has_shot = value != NULL;
	if (value == NULL)
		wanted->shot = json_object();
	if (value == NULL || json_is_null(value) || json_is_false(value))
		return;
	wanted->shot =
		json_is_true(value) ? json_object() : json_incref((json_t *)(uintptr_t)value);
	json_reader_init(&inner, wanted->shot, "shot");
	shot_options_read(&inner, &options);
	const char *fault = shot_options_check(&options);
	if (fault != NULL)
		json_reader_fail(&inner, "timeout_ms", "%s", fault);
	if (!json_reader_finish(&inner))
		json_reader_fail(reader, "shot", "%s", inner.error);
}

static void read_takeover(struct json_reader *reader, struct takeover_request *wanted)
{
	*wanted = (struct takeover_request){.timeout_s = TIMEOUT_DEFAULT_S};
	if (!json_read_string(reader, "note", &wanted->note) || !messages_text_is_good(wanted->note))
		json_reader_fail(reader, "note",
			"must say in 1 to %d characters what the person is to do, and why",
			MESSAGE_LENGTH_MAX);
	wanted->has_timeout = json_read_int(
		reader, "timeout_s", 1, TAKEOVER_TIMEOUT_MAX_S, &wanted->timeout_s);
	read_instructions(reader, &wanted->instructions);
	read_shot(reader, wanted);
}

json_t *body_takeover_create(void)
{
	struct takeover_request wanted;
	struct json_reader reader;
	json_reader_describe(&reader);
	read_takeover(&reader, &wanted);
	json_decref(wanted.shot);
	return json_reader_take_schema(&reader);
}

void command_takeover_create(
	struct service *service, struct http_request *request, const char *segment)
{
	struct takeover_request wanted;
	struct json_reader reader;
	bool is_new;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return;
	json_reader_init(&reader, body, "");
	read_takeover(&reader, &wanted);
	if (reply_finish_reading(request, &reader)) {
		json_t *answer = takeovers_open(service->takeovers, &wanted, &is_new);
		if (answer != NULL)
			reply_json(request, is_new ? 201 : 200, answer);
		else
			reply_error(request, REPLY_TOO_MANY,
				"there are too many links; revoke some with DELETE /v1/links/{id}");
	}
	json_decref(wanted.shot);
	json_decref(body);
}

static bool has_takeover(struct service *service, const char *id)
{
	json_t *json = takeovers_json(service->takeovers, id);
	json_decref(json);
	return json != NULL;
}

static void reply_no_takeover(struct http_request *request, const char *id)
{
	reply_error(request, REPLY_NOT_FOUND,
		"there is no takeover %.40s; GET /v1/status shows the one that is open", id);
}

/* A number of the query, which is checked by the route's rules; `missing` without it. */
static int64_t query_number(const struct http_request *request, const char *name, int64_t missing)
{
	const char *text = http_request_query(request, name);
	return text != NULL ? strtoll(text, NULL, 10) : missing;
}

void command_takeover_get(struct service *service, struct http_request *request, const char *segment)
{
	struct takeover_wait_options options = {.id = segment};
	const char *shot = http_request_query(request, "shot");
	options.wait_s = (int)query_number(request, "wait_s", 0);
	options.since = query_number(request, "since", -1);
	options.wants_shot = shot != NULL ? shot[0] == '1' || shot[0] == 't' : options.wait_s > 0;
	if (has_takeover(service, segment))
		takeover_waits_add(service->takeover_waits, request, &options);
	else
		reply_no_takeover(request, segment);
}

void command_takeovers(struct service *service, struct http_request *request, const char *segment)
{
	reply_json(request, 200,
		json_pack("{s:o}", "takeovers", takeovers_list_json(service->takeovers)));
}

void command_takeover_cancel(
	struct service *service, struct http_request *request, const char *segment)
{
	if (!reply_takes_empty_body(request))
		return;
	switch (takeovers_cancel(service->takeovers, segment)) {
	case 0:
		reply_json(request, 200, takeovers_json(service->takeovers, segment));
		break;
	case -ENOENT:
		reply_no_takeover(request, segment);
		break;
	default:
		reply_error(request, REPLY_CONFLICT, "that takeover has ended already");
	}
}

/* Links */

static void answer_link(struct service *service, struct http_request *request,
	enum viewer_role role, int ttl_s)
{
	char secret[LINK_SECRET_SIZE];
	struct link_info info;
	if (!takeovers_mint(service->takeovers, role, ttl_s, secret, &info)) {
		reply_error(request, REPLY_TOO_MANY,
			"there are too many links; revoke some with DELETE /v1/links/{id}");
		return;
	}
	char *url = takeovers_url(service->takeovers, secret);
	reply_json(request, 201,
		json_pack("{s:s, s:s, s:s, s:o}", "id", info.id, "role", viewer_role_name(role), "url",
			url, "expires_at",
			json_time(takeovers_wall_us(service->takeovers, info.ends_us))));
	free(url);
}

static void read_link(struct json_reader *reader, enum viewer_role *role, int *ttl_s)
{
	int number = VIEWER_VIEW;
	*ttl_s = TTL_DEFAULT_S;
	json_read_choice(reader, "role", viewer_role_names, &number);
	json_read_int(reader, "ttl_s", 1, LINK_TTL_MAX_S, ttl_s);
	*role = (enum viewer_role)number;
}

json_t *body_link_create(void)
{
	enum viewer_role role;
	struct json_reader reader;
	int ttl_s;
	json_reader_describe(&reader);
	read_link(&reader, &role, &ttl_s);
	return json_reader_take_schema(&reader);
}

void command_link_create(struct service *service, struct http_request *request, const char *segment)
{
	enum viewer_role role;
	struct json_reader reader;
	int ttl_s;
	json_t *object = reply_read_body(request);
	if (object == NULL)
		return;
	json_reader_init(&reader, object, "");
	read_link(&reader, &role, &ttl_s);
	if (reply_finish_reading(request, &reader))
		answer_link(service, request, role, ttl_s);
	json_decref(object);
}

void command_link_delete(struct service *service, struct http_request *request, const char *segment)
{
	if (takeovers_revoke(service->takeovers, segment))
		http_reply(request, 204, NULL, NULL, 0);
	else
		reply_error(request, REPLY_NOT_FOUND, "there is no link %.40s", segment);
}

/* Messages */

static void read_say(struct json_reader *reader, const char **text)
{
	if (!json_read_string(reader, "text", text) || !messages_text_is_good(*text))
		json_reader_fail(reader, "text", "must have 1 to %d characters", MESSAGE_LENGTH_MAX);
}

json_t *body_say(void)
{
	const char *text = NULL;
	struct json_reader reader;
	json_reader_describe(&reader);
	read_say(&reader, &text);
	return json_reader_take_schema(&reader);
}

void command_say(struct service *service, struct http_request *request, const char *segment)
{
	const char *text = NULL;
	struct json_reader reader;
	json_t *object = reply_read_body(request);
	if (object == NULL)
		return;
	json_reader_init(&reader, object, "");
	read_say(&reader, &text);
	if (reply_finish_reading(request, &reader)) {
		studio_say(recordings_studio(service->recordings), text);
		reply_json(request, 201, takeovers_say(service->takeovers, text));
	}
	json_decref(object);
}

void command_notes(struct service *service, struct http_request *request, const char *segment)
{
	int64_t since = query_number(request, "since", 0);
	reply_json(request, 200,
		json_pack("{s:o}", "notes", takeovers_notes_json(service->takeovers, since)));
}
