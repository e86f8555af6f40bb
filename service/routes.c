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

static const struct route table[] = {
	{"GET", "/v1/status", NULL, false, "what the daemon and its screen are doing", command_status},
	{"GET", "/v1/events", NULL, false, "state changes as Server-Sent Events", command_events, ROUTE_LASTS},
	{"GET", "/v1/shot", shot_option_rules, false, "a picture of the screen", command_shot, ROUTE_LASTS},
	{"POST", "/v1/shots", NULL, true, "save a picture to a file", command_shot_save, ROUTE_LASTS},
	{"POST", "/v1/act", NULL, true, "run actions, wait for quiet, take a picture", command_act, ROUTE_LASTS},
	{"GET", "/v1/windows", NULL, false, "the windows, bottom first", command_windows},
	{"POST", "/v1/windows/{id}/activate", NULL, true, "give a window the focus",
		command_window_activate},
	{"POST", "/v1/windows/{id}/close", NULL, true, "close a window", command_window_close},
	{"POST", "/v1/windows/{id}/move", NULL, true, "move a window", command_window_move},
	{"POST", "/v1/windows/{id}/resize", NULL, true, "resize a window", command_window_resize},
	{"POST", "/v1/xdotool", NULL, true, "run a chain of the xdotool language", command_xdotool, ROUTE_LASTS},
	{"PUT", "/v1/clipboard", selection_query, true, "put text or a PNG on the clipboard",
		command_clipboard_put},
	{"GET", "/v1/clipboard", clipboard_query, false, "what is on the clipboard",
		command_clipboard_get},
	{"PUT", "/v1/screen", NULL, true, "change the screen's size", command_screen_put},
	{"POST", "/v1/links", NULL, true, "make a link to the live screen", command_link_create},
	{"DELETE", "/v1/links/{id}", NULL, false, "end a link", command_link_delete},
	{"POST", "/v1/takeovers", NULL, true, "ask a person to take the screen over",
		command_takeover_create},
	{"GET", "/v1/takeovers", NULL, false, "the takeovers, newest first", command_takeovers},
	{"GET", "/v1/takeovers/{id}", wait_query, false, "how a takeover stands; waits for its end",
		command_takeover_get, ROUTE_WAITS},
	{"POST", "/v1/takeovers/{id}/cancel", NULL, true, "give a takeover up",
		command_takeover_cancel},
	{"POST", "/v1/say", NULL, true, "write to the people at the page", command_say},
	{"GET", "/v1/notes", since_query, false, "what was said and noted", command_notes},
	{"POST", "/v1/recordings", NULL, true, "record the screen", command_recording_start},
	{"GET", "/v1/recordings", NULL, false, "the recordings, oldest first", command_recordings},
	{"GET", "/v1/recordings/{id}", NULL, false, "one recording", command_recording},
	{"DELETE", "/v1/recordings/{id}", NULL, false, "remove a recording and its video",
		command_recording_delete},
	{"POST", "/v1/recordings/{id}/pause", NULL, true, "let its time stand still",
		command_recording_pause},
	{"POST", "/v1/recordings/{id}/resume", NULL, true, "go on", command_recording_resume},
	{"POST", "/v1/recordings/{id}/stop", NULL, true, "end it and finish the video",
		command_recording_stop},
	{"POST", "/v1/recordings/{id}/marks", NULL, true, "begin a chapter",
		command_recording_mark},
	{"GET", "/v1/recordings/{id}/video", NULL, false, "the video", command_recording_video, ROUTE_LASTS},
	{"GET", "/v1/recordings/{id}/thumbnail", thumbnail_query, false, "a picture out of it",
		command_recording_thumbnail},
	{"PUT", "/v1/replay", NULL, true, "keep the last seconds in memory", command_replay_put},
	{"GET", "/v1/replay", NULL, false, "what is kept", command_replay_get},
	{"POST", "/v1/replay/save", NULL, true, "save it to a video", command_replay_save},
	{"POST", "/v1/publish", NULL, true, "send the picture to a media server", command_publish},
	{"GET", "/v1/publish", NULL, false, "where the picture is sent", command_publish_list},
	{"DELETE", "/v1/publish/{id}", NULL, false, "stop sending it there",
		command_publish_delete},
	{"GET", "/v1/doctor", NULL, false, "checks of the display and its server", command_doctor},
	{"GET", "/v1/routes", NULL, false, "this table", command_routes},
	{"GET", "/healthz", NULL, false, "200 when screenshots work", command_healthz},
	{"GET", "/metrics", NULL, false, "counters as Prometheus text", command_metrics},
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
	for (size_t i = 0; http_request_query_at(request, i, &name, &value); i++) {
	char error[200];
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
	}
		if (value_rule_fault(rule, value, error, sizeof(error)) != NULL) {
			reply_error(request, REPLY_BAD_REQUEST, "%s", error);
			return false;
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
