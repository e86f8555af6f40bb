/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/page_calls.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "takeover/links.h"
#include "takeover/messages.h"
#include "takeover/page_guard.h"
#include "takeover/peer_link.h"
#include "takeover/takeovers.h"
#include "takeover/websocket.h"

/* One call on its way. */
struct page_call {
	const struct page_calls *calls;
	struct http_request *request;
	struct json_reader reader; /* of the body */
	struct link_info session;  /* checked, except for the call `session` */
};

static void answer_json(struct http_request *request, int status, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);
	http_reply_take(request, status, "application/json", text, strlen(text));
	json_decref(value);
}

void page_refuse(struct http_request *request, int status, const char *code, const char *message)
{
	answer_json(request, status, json_pack("{s:s, s:s}", "error", code, "message", message));
}

/* The faults that takeovers.c names, with their HTTP status. */
static void answer_fault(struct page_call *call, const char *fault, const char *why)
{
	page_refuse(call->request, strcmp(fault, "view_only") == 0 ? 403 : 409, fault, why);
}

/* Whether the body held what it may; else it is answered. */
static bool body_is_good(struct page_call *call)
{
	if (json_reader_finish(&call->reader))
		return true;
	page_refuse(call->request, 400, "bad_request", call->reader.error);
	return false;
}

static void open_session(struct page_call *call)
{
	struct takeovers *takeovers = call->calls->takeovers;
	char secret[LINK_SECRET_SIZE];
	struct link_info info;
	const char *token = NULL;
	json_read_string(&call->reader, "token", &token);
	/* A body that is wrong looks like a secret that is. */
	bool is_valid = json_reader_finish(&call->reader) && token != NULL &&
			links_check(takeovers_links(takeovers), LINK_KIND_LINK, token, &info);
	if (!is_valid)
		page_guard_refuse_secret(call->calls->guard, call->request);
	else if (!takeovers_open_session(takeovers, &info, secret))
		page_refuse(call->request, 429, "too_many",
			"this link is in use too often; close some of its pages");
	else
		answer_json(call->request, 200,
			json_pack("{s:s, s:o}", "session", secret, "state",
				takeovers_state_json(takeovers, info.session, info.role, true)));
}

static void tell_state(struct page_call *call)
{
	answer_json(call->request, 200,
		takeovers_state_json(
			call->calls->takeovers, call->session.session, call->session.role, true));
}

static void give_ticket(struct page_call *call)
{
	char secret[LINK_SECRET_SIZE];
	if (!body_is_good(call))
		return;
	if (links_give_ticket(takeovers_links(call->calls->takeovers), &call->session, secret))
		answer_json(call->request, 200, json_pack("{s:s}", "ticket", secret));
	else
		page_refuse(call->request, 429, "too_many", "too many links are in use");
}

/* Another person holds it: since when, so that the page can ask whether to take it from them. */
static void answer_held(struct page_call *call, const char *why)
{
	json_t *state = takeovers_state_json(
		call->calls->takeovers, call->session.session, call->session.role, false);
	answer_json(call->request, 409,
		json_pack("{s:s, s:s, s:O, s:O}", "error", "held", "message", why, "held_since",
			json_object_get(state, "held_since"), "is_away",
			json_object_get(state, "is_away")));
	json_decref(state);
}

static void take_over(struct page_call *call)
{
	struct takeovers *takeovers = call->calls->takeovers;
	bool confirm = false;
	const char *why;
	json_read_bool(&call->reader, "confirm", &confirm);
	if (!body_is_good(call))
		return;
	const char *fault = takeovers_take(takeovers, &call->session, confirm, &why);
	if (fault == NULL)
		answer_json(call->request, 200,
			json_pack("{s:o}", "state",
				takeovers_state_json(takeovers, call->session.session,
					call->session.role, true)));
	else if (strcmp(fault, "held") == 0)
		answer_held(call, why);
	else
		answer_fault(call, fault, why);
}

static void hand_back(struct page_call *call)
{
	const char *outcome, *message, *why;
	json_t *reply = NULL;
	takeovers_read_hand_back(&call->reader, &outcome, &message);
	if (!body_is_good(call))
		return;
	const char *fault = takeovers_hand_back(
		call->calls->takeovers, call->session.session, outcome, message, &why, &reply);
	if (fault == NULL)
		answer_json(call->request, 200, reply);
	else
		answer_fault(call, fault, why);
}

static void extend(struct page_call *call)
{
	const char *why;
	json_t *reply = NULL;
	if (!body_is_good(call))
		return;
	const char *fault =
		takeovers_extend(call->calls->takeovers, call->session.session, &why, &reply);
	if (fault == NULL)
		answer_json(call->request, 200, reply);
	else
		answer_fault(call, fault, why);
}

static void add_note(struct page_call *call)
{
	const char *text = "";
	json_read_string(&call->reader, "text", &text);
	if (!messages_text_is_good(text))
		json_reader_fail(
			&call->reader, "text", "must have 1 to %d characters", MESSAGE_LENGTH_MAX);
	if (!body_is_good(call))
		return;
	if (call->session.role != VIEWER_CONTROL) {
		answer_fault(call, "view_only", "this link is for watching");
		return;
	}
	int64_t id = takeovers_note(call->calls->takeovers, text);
	if (id != 0)
		answer_json(call->request, 200, json_pack("{s:I}", "id", (json_int_t)id));
	else
		page_refuse(
			call->request, 429, "too_many", "too many notes at once; wait a little");
}

static void allow_watchers(struct page_call *call)
{
	bool is_allowed = false;
	const char *why;
	if (!json_read_bool(&call->reader, "allow", &is_allowed))
		json_reader_fail(&call->reader, "allow", "is missing: true or false");
	if (!body_is_good(call))
		return;
	const char *fault = takeovers_allow_watchers(
		call->calls->takeovers, call->session.session, is_allowed, &why);
	if (fault == NULL)
		answer_json(call->request, 200, json_pack("{s:b}", "watchers_allowed", is_allowed));
	else
		answer_fault(call, fault, why);
}

static void share(struct page_call *call)
{
	struct takeovers *takeovers = call->calls->takeovers;
	char secret[LINK_SECRET_SIZE];
	struct link_info info;
	if (!body_is_good(call))
		return;
	if (call->session.role != VIEWER_CONTROL) {
		answer_fault(call, "view_only", "this link is for watching");
	} else if (!takeovers_share(takeovers, &call->session, secret, &info)) {
		page_refuse(call->request, 429, "too_many",
			"this link was shared often enough; share one of the links that there are");
	} else {
		char *url = takeovers_url(takeovers, secret);
		answer_json(call->request, 201,
			json_pack("{s:s, s:s, s:o}", "url", url, "role", "view", "expires_at",
				json_time(takeovers_wall_us(takeovers, info.ends_us))));
		free(url);
	}
}

/* What follows "Bearer " in the Authorization header, or NULL. */
static const char *bearer(const struct http_request *request)
{
	const char *value = http_request_header(request, "authorization");
	return value != NULL && strncasecmp(value, "Bearer ", 7) == 0 ? value + 7 : NULL;
}

static void open_live(const struct page_calls *calls, struct http_request *request)
{
	struct link_info info;
	struct links *links = takeovers_links(calls->takeovers);
	if (!websocket_check(request))
		return;
	char *ticket = websocket_offered(request, "ticket.");
	const char *session = bearer(request);
	bool is_valid = (ticket != NULL && links_check(links, LINK_KIND_TICKET, ticket, &info)) ||
			(session != NULL && links_check(links, LINK_KIND_SESSION, session, &info));
	free(ticket);
	if (!is_valid && page_guard_note_guess(calls->guard, request) > 0) {
		page_guard_refuse_secret(calls->guard, request);
		return;
	}
	struct peer_link *link = websocket_accept(calls->loop, request);
	if (link == NULL)
		return;
	/* A browser is not told a status before the upgrade, but a close code. */
	if (!is_valid) {
		peer_link_refuse(link, PEER_CLOSE_NOT_VALID, "this link is not valid");
		return;
	}
	const struct viewer_pass pass = {info.role, info.session, info.id};
	viewers_add(calls->viewers, link, &pass, NULL, "websocket");
}

static const struct call_row {
	const char *method, *name;
	bool needs_session;
	bool is_change; /* counted: so many of a session in ten seconds */
	void (*handle)(struct page_call *call);
} table[] = {
	{"POST", "session", false, false, open_session},
	{"GET", "state", true, false, tell_state},
	{"POST", "ticket", true, false, give_ticket},
	{"POST", "takeover", true, true, take_over},
	{"POST", "hand_back", true, true, hand_back},
	{"POST", "extend", true, true, extend},
	{"POST", "note", true, true, add_note},
	{"POST", "watchers", true, true, allow_watchers},
	{"POST", "share", true, true, share},
};

static void run(
	const struct page_calls *calls, struct http_request *request, const struct call_row *row)
{
	struct page_call call = {.calls = calls, .request = request};
	char error[256];
	size_t len;
	const char *body = http_request_body(request, &len), *session = bearer(request);
	if (row->needs_session &&
		(session == NULL || !links_check(takeovers_links(calls->takeovers),
					    LINK_KIND_SESSION, session, &call.session))) {
		page_guard_refuse_secret(calls->guard, request);
		return;
	}
	if (row->is_change &&
		!links_admit_change(takeovers_links(calls->takeovers), call.session.session)) {
		page_refuse(request, 429, "too_many", "too much at once; wait a little");
		return;
	}
	json_t *object = json_parse_body(body, len, error, sizeof(error));
	json_reader_init(&call.reader, object, "");
	row->handle(&call);
	json_decref(object);
}

/* A native tool has no Origin; what it has is a secret. Tickets are for browsers, which have one.
 */
static bool has_secret(const struct http_request *request, const char *name)
{
	return bearer(request) != NULL || strcmp(name, "session") == 0;
}

static bool is_allowed(
	const struct page_calls *calls, struct http_request *request, const char *name)
{
	const char *origin = page_guard_allowed_origin(calls->guard, request);
	if (origin != NULL) {
		http_request_add_header(request, "Access-Control-Allow-Origin", origin);
		http_request_add_header(request, "Vary", "Origin");
	}
	if (page_guard_admits_origin(calls->guard, request, has_secret(request, name)))
		return true;
	page_refuse(request, 403, "forbidden", "pages from elsewhere may not use this service");
	return false;
}

/* A browser asks whether a page of an allowed origin may call (CORS); without cookies, ever. */
static bool answer_preflight(const struct page_calls *calls, struct http_request *request)
{
	const char *origin = page_guard_allowed_origin(calls->guard, request);
	if (origin == NULL || strcmp(http_request_method(request), "OPTIONS") != 0)
		return false;
	http_request_add_header(request, "Access-Control-Allow-Origin", origin);
	http_request_add_header(request, "Access-Control-Allow-Methods", "GET, POST");
	http_request_add_header(
		request, "Access-Control-Allow-Headers", "authorization, content-type");
	http_request_add_header(request, "Access-Control-Max-Age", "600");
	http_request_add_header(request, "Vary", "Origin");
	http_reply(request, 204, NULL, NULL, 0);
	return true;
}

void page_refuse_method(struct http_request *request, const char *allowed)
{
	http_request_add_header(request, "Allow", allowed);
	page_refuse(request, 405, "method_not_allowed", "this address is called otherwise");
}

bool page_calls_handle(
	const struct page_calls *calls, struct http_request *request, const char *name)
{
	const char *method = http_request_method(request);
	takeovers_tick(calls->takeovers);
	if (strcmp(name, "live") == 0) {
		if (strcmp(method, "GET") != 0)
			page_refuse_method(request, "GET");
		else if (is_allowed(calls, request, name))
			open_live(calls, request);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (strcmp(table[i].name, name) != 0)
			continue;
		if (answer_preflight(calls, request))
			return true;
		if (strcmp(table[i].method, method) != 0)
			page_refuse_method(request, table[i].method);
		else if (is_allowed(calls, request, name))
			run(calls, request, &table[i]);
		return true;
	}
	return false;
}
