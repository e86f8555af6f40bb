/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/value_rule.h"
#include "capture/shot.h"
#include "service/commands.h"
#include "service/metrics.h"
#include "service/reply.h"
#include "service/service.h"

/* What a double holds exactly. */
#define INT_RULE_MAX 9007199254740992.0

static const char *const selections[] = {"clipboard", "primary", NULL};
static const char *const clipboard_types[] = {"text/plain", "image/png", NULL};

static const struct value_rule clipboard_query[] = {
	{"selection", VALUE_CHOICE, .choices = selections, .fallback = "clipboard", .help = "which one"},
	{"type", VALUE_CHOICE, .choices = clipboard_types, .fallback = "text/plain",
		.help = "what to read; the header Accept: image/png does too"},
	{NULL},
};
static const struct value_rule selection_query[] = {
	{"selection", VALUE_CHOICE, .choices = selections, .fallback = "clipboard", .help = "which one"},
	{NULL},
};
static const struct value_rule thumbnail_query[] = {
	{"max_side", VALUE_INT, 16, 4096, .fallback = "320", .help = "no side is longer"},
	{NULL},
};
static const struct value_rule wait_query[] = {
	{"wait_s", VALUE_INT, 0, 3600, .fallback = "0", .help = "answer when it has ended, or after this"},
	{"since", VALUE_INT, 0, INT_RULE_MAX, .help = "answer as soon as its version is another"},
	{"shot", VALUE_FLAG, .help = "whether a picture comes with a hand back; 1 with wait_s"},
	{NULL},
};
static const struct value_rule since_query[] = {
	{"since", VALUE_INT, 0, INT_RULE_MAX, .fallback = "0", .help = "only what has a greater id"},
	{NULL},
};

static const struct value_rule if_none_match = {"If-None-Match", VALUE_TEXT,
	.help = "the ETag of a picture: the same one is answered 304, and wait=change returns at the "
		"first change since it"};
static const struct value_rule last_event_id = {
	"Last-Event-ID", VALUE_TEXT, .help = "go on behind that event"};
static const struct value_rule range = {"Range", VALUE_TEXT, .help = "a part of the file"};
static const struct value_rule accept_type = {
	"Accept", VALUE_TEXT, .help = "image/png asks for a picture"};

static const struct value_rule shot_headers[] = {
	{"X-Screen-Size", VALUE_TEXT, .help = "WIDTHxHEIGHT"},
	{"X-Shot-Origin", VALUE_TEXT, .help = "X,Y: the screen point of the top left corner"},
	{"X-Shot-Scale", VALUE_TEXT, .help = "SX,SY: picture pixels per screen pixel"},
	{"X-Shot-Clipped-From", VALUE_TEXT,
		.help = "X,Y,W,H: the wanted area, when it reached outside the screen"},
	{"X-Frame-Time", VALUE_TEXT, .help = "when the screen was last known to look like this"},
	{"X-Frame-Changed", VALUE_TEXT, .help = "when the area's last visible change was seen"},
	{"X-Wait-End", VALUE_TEXT, .help = "with wait: stable, changed or timeout"},
	{"X-Wait-Changed", VALUE_TEXT, .help = "with wait: 1 when the area changed meanwhile"},
	{"ETag", VALUE_TEXT, .help = "for If-None-Match"},
	{NULL},
};
static const char *const clipboard_body[] = {"text/plain", "image/png", NULL};

#define E(code)  (1u << REPLY_##code)
#define LOOKING  (E(LOCKED) | E(SCREEN_UNAVAILABLE) | E(TIMEOUT))
#define ACTING   (LOOKING | E(CONFLICT))
#define FILMING  (E(CONFLICT) | E(TOO_MANY) | E(SCREEN_UNAVAILABLE) | E(TIMEOUT) | E(NO_SPACE))

static const struct route table[] = {
	{"GET", "/v1/status", NULL, false, "what the daemon and its screen are doing", command_status,
		.answers = "200 Status"},
	{"GET", "/v1/events", NULL, false, "state changes as Server-Sent Events", command_events,
		ROUTE_LASTS, .answers = "200 text/event-stream", .header = &last_event_id},
	{"GET", "/v1/shot", shot_option_rules, false, "a picture of the screen", command_shot,
		ROUTE_LASTS, .answers = "200 image/png image/jpeg image/webp, 304",
		.errors = LOOKING | E(NOT_FOUND), .header = &if_none_match,
		.answer_headers = shot_headers},
	{"POST", "/v1/shots", NULL, true, "save a picture to a file", command_shot_save, ROUTE_LASTS,
		.answers = "200 SavedShot", .errors = LOOKING | E(NOT_FOUND) | E(NO_SPACE),
		.body = body_shot_save},
	{"POST", "/v1/act", NULL, true, "run actions, wait for quiet, take a picture", command_act,
		ROUTE_LASTS, .answers = "200 ActAnswer", .errors = ACTING | E(NOT_FOUND), .body = body_act},
	{"GET", "/v1/windows", NULL, false, "the windows, bottom first", command_windows,
		.answers = "200 Windows", .errors = LOOKING},
	{"POST", "/v1/windows/{id}/activate", NULL, true, "give a window the focus",
		command_window_activate, .answers = "200 Ok", .errors = ACTING | E(NOT_FOUND)},
	{"POST", "/v1/windows/{id}/close", NULL, true, "close a window", command_window_close,
		.answers = "200 Ok", .errors = ACTING | E(NOT_FOUND)},
	{"POST", "/v1/windows/{id}/move", NULL, true, "move a window", command_window_move,
		.answers = "200 Ok", .errors = ACTING | E(NOT_FOUND), .body = body_window_move},
	{"POST", "/v1/windows/{id}/resize", NULL, true, "resize a window", command_window_resize,
		.answers = "200 Ok", .errors = ACTING | E(NOT_FOUND), .body = body_window_resize},
	{"POST", "/v1/xdotool", NULL, true, "run a chain of the xdotool language", command_xdotool,
		ROUTE_LASTS, .answers = "200 XdotoolAnswer", .errors = LOOKING, .body = body_xdotool},
	{"PUT", "/v1/clipboard", selection_query, true, "put text or a PNG on the clipboard",
		command_clipboard_put, .answers = "204", .errors = ACTING, .body_types = clipboard_body},
	{"GET", "/v1/clipboard", clipboard_query, false, "what is on the clipboard",
		command_clipboard_get, .answers = "200 text/plain image/png",
		.errors = LOOKING | E(NOT_FOUND) | E(TOO_LARGE), .header = &accept_type},
	{"PUT", "/v1/screen", NULL, true, "change the screen's size", command_screen_put,
		.answers = "200 Size", .errors = ACTING, .body = body_screen_put},
	{"POST", "/v1/links", NULL, true, "make a link to the live screen", command_link_create,
		.answers = "201 Link", .errors = E(TOO_MANY), .body = body_link_create},
	{"DELETE", "/v1/links/{id}", NULL, false, "end a link", command_link_delete,
		.answers = "204", .errors = E(NOT_FOUND)},
	{"POST", "/v1/takeovers", NULL, true, "ask a person to take the screen over",
		command_takeover_create, .answers = "201 Takeover, 200 Takeover", .errors = E(TOO_MANY),
		.body = body_takeover_create},
	{"GET", "/v1/takeovers", NULL, false, "the takeovers, newest first", command_takeovers,
		.answers = "200 Takeovers"},
	{"GET", "/v1/takeovers/{id}", wait_query, false, "how a takeover stands; waits for its end",
		command_takeover_get, ROUTE_WAITS, .answers = "200 Takeover",
		.errors = E(NOT_FOUND) | E(GONE)},
	{"POST", "/v1/takeovers/{id}/cancel", NULL, true, "give a takeover up",
		command_takeover_cancel, .answers = "200 Takeover", .errors = E(NOT_FOUND) | E(CONFLICT)},
	{"POST", "/v1/say", NULL, true, "write to the people at the page", command_say,
		.answers = "201 Note", .body = body_say},
	{"GET", "/v1/notes", since_query, false, "what was said and noted", command_notes,
		.answers = "200 Notes"},
	{"POST", "/v1/recordings", NULL, true, "record the screen", command_recording_start,
		.answers = "201 Recording", .errors = FILMING, .body = body_recording_start},
	{"GET", "/v1/recordings", NULL, false, "the recordings, oldest first", command_recordings,
		.answers = "200 Recordings"},
	{"GET", "/v1/recordings/{id}", NULL, false, "one recording", command_recording,
		.answers = "200 Recording", .errors = E(NOT_FOUND)},
	{"DELETE", "/v1/recordings/{id}", NULL, false, "remove a recording and its video",
		command_recording_delete, .answers = "204", .errors = E(NOT_FOUND) | E(CONFLICT)},
	{"POST", "/v1/recordings/{id}/pause", NULL, true, "let its time stand still",
		command_recording_pause, .answers = "200 Recording",
		.errors = E(NOT_FOUND) | E(CONFLICT) | E(GONE)},
	{"POST", "/v1/recordings/{id}/resume", NULL, true, "go on", command_recording_resume,
		.answers = "200 Recording", .errors = E(NOT_FOUND) | E(CONFLICT) | E(GONE)},
	{"POST", "/v1/recordings/{id}/stop", NULL, true, "end it and finish the video",
		command_recording_stop, .answers = "200 Recording", .errors = E(NOT_FOUND) | E(GONE)},
	{"POST", "/v1/recordings/{id}/marks", NULL, true, "begin a chapter",
		command_recording_mark, .answers = "201 MarkAnswer",
		.errors = E(NOT_FOUND) | E(CONFLICT), .body = body_recording_mark},
	{"GET", "/v1/recordings/{id}/video", NULL, false, "the video", command_recording_video,
		ROUTE_LASTS, .answers = "200 video/mp4, 206 video/mp4, 304, 416",
		.errors = E(NOT_FOUND) | E(GONE), .header = &range},
	{"GET", "/v1/recordings/{id}/thumbnail", thumbnail_query, false, "a picture out of it",
		command_recording_thumbnail, .answers = "200 image/jpeg",
		.errors = E(NOT_FOUND) | E(CONFLICT) | E(TIMEOUT)},
	{"PUT", "/v1/replay", NULL, true, "keep the last seconds in memory", command_replay_put,
		.answers = "200 Replay", .errors = FILMING, .body = body_replay_put},
	{"GET", "/v1/replay", NULL, false, "what is kept", command_replay_get, .answers = "200 Replay"},
	{"POST", "/v1/replay/save", NULL, true, "save it to a video", command_replay_save,
		.answers = "201 Recording", .errors = FILMING, .body = body_replay_save},
	{"POST", "/v1/publish", NULL, true, "send the picture to a media server", command_publish,
		.answers = "201 Broadcast", .errors = FILMING, .body = body_publish},
	{"GET", "/v1/publish", NULL, false, "where the picture is sent", command_publish_list,
		.answers = "200 Broadcasts"},
	{"DELETE", "/v1/publish/{id}", NULL, false, "stop sending it there", command_publish_delete,
		.answers = "204", .errors = E(NOT_FOUND)},
	{"GET", "/v1/doctor", NULL, false, "checks of the display and its server", command_doctor,
		.answers = "200 Doctor"},
	{"GET", "/v1/routes", NULL, false, "this table", command_routes, .answers = "200 Routes"},
	{"GET", "/v1/openapi", NULL, false, "the calls for programs (OpenAPI 3.1)", command_openapi,
		.answers = "200 OpenApi"},
	{"GET", "/healthz", NULL, false, "200 when screenshots work", command_healthz,
		.answers = "200 text/plain", .errors = E(SCREEN_UNAVAILABLE) | E(TIMEOUT)},
	{"GET", "/metrics", NULL, false, "counters as Prometheus text", command_metrics,
		.answers = "200 text/plain"},
};

const struct route *routes_all(size_t *count)
{
	*count = ARRAY_LEN(table);
	return table;
}

/* Whether path fits the pattern; *segment (allocated) receives what stands for {…}. */
static bool path_fits(const char *pattern, const char *path, char **segment)
{
	const char *open = strchr(pattern, '{');
	if (open == NULL)
		return strcmp(pattern, path) == 0;
	size_t head = (size_t)(open - pattern);
	if (strncmp(pattern, path, head) != 0)
		return false;
	size_t len = strcspn(path + head, "/");
	const char *tail = strchr(open, '}') + 1;
	if (len == 0 || strcmp(tail, path + head + len) != 0)
		return false;
	free(*segment);
	*segment = xstrndup(path + head, len);
	return true;
}

/* Every query parameter must be one the route knows, stand there once, and fit its rule. */
static bool query_is_good(const struct route *route, struct http_request *request)
{
	const char *name, *value;
	char error[200];
	for (size_t i = 0; http_request_query_at(request, i, &name, &value); i++) {
		const struct value_rule *rule = value_rule_find(route->query, name);
		if (rule == NULL) {
			reply_error(request, REPLY_BAD_REQUEST, "unknown query parameter \"%.60s\"",
				name);
			return false;
		}
		if (http_request_query(request, name) != value) {
			reply_error(request, REPLY_BAD_REQUEST,
				"the query parameter \"%.60s\" is given twice", name);
			return false;
		}
		if (value_rule_fault(rule, value, error, sizeof(error)) != NULL) {
			reply_error(request, REPLY_BAD_REQUEST, "%s", error);
			return false;
		}
	}
	return true;
}

/* HEAD is answered like GET; the HTTP layer leaves the body out. */
static const char *method_of(const struct http_request *request)
{
	const char *method = http_request_method(request);
	return strcmp(method, "HEAD") == 0 ? "GET" : method;
}

/* When so many wait, the last places are for calls that are soon over, those that end others too. */
static bool is_too_long_now(const struct route *route, struct http_request *request)
{
	bool lasts = route->length == ROUTE_LASTS ||
		     (route->length == ROUTE_WAITS && http_request_query(request, "wait_s") != NULL);
	if (!lasts || !http_request_is_one_too_many(request))
		return false;
	http_request_add_header(request, "Retry-After", "1");
	reply_error(request, REPLY_TOO_MANY,
		"too many calls are under way; try again when some are done");
	return true;
}

static void call_route(
	const struct route *route, struct service *service, struct http_request *request, const char *segment)
{
	size_t body_len;
	http_request_body(request, &body_len);
	if (!route->has_body && body_len > 0)
		reply_error(request, REPLY_BAD_REQUEST, "%s %s takes no body", route->method,
			route->path);
	else if (query_is_good(route, request) && !is_too_long_now(route, request))
		route->handle(service, request, segment);
}

static void answer_unknown(struct http_request *request, const char *allowed)
{
	const char *path = http_request_path(request);
	if (allowed[0] == '\0') {
		reply_error(request, REPLY_NOT_FOUND,
			"there is no call %.100s; GET /v1/routes lists those there are", path);
		return;
	}
	http_request_add_header(request, "Allow", allowed);
	reply_error(request, REPLY_METHOD_NOT_ALLOWED, "%.100s can be called with %s, not with %.20s",
		path, allowed, http_request_method(request));
}

void routes_dispatch(struct service *service, struct http_request *request)
{
	const char *path = http_request_path(request), *method = method_of(request);
	char *segment = NULL;
	char allowed[64] = "";
	metrics_add(service->metrics, METRIC_REQUESTS, 1);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (!path_fits(table[i].path, path, &segment))
			continue;
		if (strcmp(table[i].method, method) == 0) {
			call_route(&table[i], service, request, segment != NULL ? segment : "");
			free(segment);
			return;
		}
		size_t used = strlen(allowed);
		snprintf(allowed + used, sizeof(allowed) - used, "%s%s", used > 0 ? ", " : "",
			table[i].method);
	}
	free(segment);
	answer_unknown(request, allowed);
}
