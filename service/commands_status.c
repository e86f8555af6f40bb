/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the daemon says of itself: status, health, metrics, checks, the list of calls, events. */
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/value_rule.h"
#include "display/screen.h"
#include "capture/studio.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/events.h"
#include "service/metrics.h"
#include "service/openapi.h"
#include "service/options.h"
#include "service/recordings.h"
#include "service/reply.h"
#include "service/routes.h"
#include "service/service.h"
#include "takeover/takeovers.h"
#include "takeover/viewers.h"

#define HEALTH_TIMEOUT_MS 3000

/* What an older client may look for before it uses it. */
static const char *const features[] = {"shot", "shot.wait", "shot.etag", "shot.annotate", "shots",
	"act", "act.settle", "act.changed_only", "xdotool", "windows", "windows.change", "clipboard", "screen.resize", "events", "events.resume", "downloads", "links", "live", "recordings", "replay", "publish", "takeovers", "takeovers.wait", "say", "notify"};

static struct screen_info read_info(const struct service *service)
{
	struct screen_info info = {0};
	if (service->screen != NULL)
		screen_info(service->screen, &info);
	return info;
}

static json_t *screen_json(const struct service *service, const struct screen_info *info)
{
	json_t *screen = json_pack("{s:s}", "state", info->is_ready ? "ready" : "waiting");
	if (info->width > 0) {
		json_object_set_new(screen, "width", json_integer(info->width));
		json_object_set_new(screen, "height", json_integer(info->height));
		json_object_set_new(screen, "depth", json_integer(info->depth));
	}
	if (!info->is_ready)
		json_object_set_new(screen, "message",
			json_string(service->xserver_fault != NULL
					    ? service->xserver_fault
					    : "display not ready: waiting for its X server"));
	return screen;
}

void command_status(struct service *service, struct http_request *request, const char *segment)
{
	struct screen_info info = read_info(service);
	int64_t uptime_us = clock_monotonic_us() - service->started_us;
	json_t *feature_list = json_array();
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		json_array_append_new(feature_list, json_string(features[i]));
	json_t *status = json_pack(
		"{s:s, s:s, s:o, s:s, s:o, s:o, s:o?, s:o, s:o, s:o, s:o, s:I, s:i}",
		"version", BOXSCREEN_VERSION, "box_id", service->options->box_id, "display",
		info.display[0] != '\0' ? json_string(info.display) : json_null(), "url",
		service->public_url, "screen", screen_json(service, &info), "control",
		takeovers_control_json(service->takeovers), "takeover",
		takeovers_json(service->takeovers, NULL), "recording", recordings_list_json(service->recordings, true), "replay",
		studio_replay_json(recordings_studio(service->recordings)), "viewers",
		viewers_json(service->viewers), "features", feature_list, "uptime_s", (json_int_t)(uptime_us / 1000000), "pid",
		(int)getpid());
	reply_json(request, 200, status);
}

struct health_job {
	struct service *service;
	struct call *call;
};

static void on_health_frame(void *arg, struct frame_reply *reply)
{
	struct health_job *job = arg;
	struct http_request *request = call_request(job->call);
	if (request != NULL && reply->error == 0)
		http_reply(request, 200, "text/plain; charset=utf-8", "ok\n", 3);
	else if (request != NULL)
		reply_no_screen(request, job->service->xserver_fault);
	frame_reply_finish(reply);
	call_end(job->call);
	free(job);
}

void command_healthz(struct service *service, struct http_request *request, const char *segment)
{
	if (service->screen == NULL) {
		reply_no_screen(request, service->xserver_fault);
		return;
	}
	struct health_job *job = xcalloc(1, sizeof(*job));
	job->service = service;
	job->call = call_begin(service, request, HEALTH_TIMEOUT_MS, NULL, NULL);
	const struct frame_options options = {.area = FRAME_AREA_SCREEN};
	screen_request_frame(service->screen, &options, on_health_frame, job);
}

void command_metrics(struct service *service, struct http_request *request, const char *segment)
{
	struct screen_info info = read_info(service);
	struct buffer text = {0};
	metrics_set(service->metrics, METRIC_SCREEN_READY, info.is_ready);
	metrics_set(service->metrics, METRIC_SCREEN_ATTACHES, info.attach_count);
	metrics_set(service->metrics, METRIC_EVENT_READERS, events_reader_count(service->events));
	metrics_set(service->metrics, METRIC_CONNECTIONS,
		(uint64_t)http_listener_connection_count(service->control));
	metrics_write(service->metrics, &text);
	viewers_write_metrics(service->viewers, &text);
	http_reply(request, 200, "text/plain; version=0.0.4; charset=utf-8", text.data, text.len);
	buffer_finish(&text);
}

void command_events(struct service *service, struct http_request *request, const char *segment)
{
	events_serve(service->events, request);
}

void command_routes(struct service *service, struct http_request *request, const char *segment)
{
	size_t count;
	const struct route *routes = routes_all(&count);
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++) {
		json_t *query = json_array();
		for (const struct value_rule *rule = routes[i].query;
			rule != NULL && rule->name != NULL; rule++)
			json_array_append_new(query, json_string(rule->name));
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:o, s:b, s:s}", "method", routes[i].method, "path",
				routes[i].path, "query", query, "body", routes[i].has_body, "help",
				routes[i].help));
	}
	reply_json(request, 200, json_pack("{s:o}", "routes", list));
}

void command_openapi(struct service *service, struct http_request *request, const char *segment)
{
	const char *text = openapi_text();
	http_reply(request, 200, "application/json", text, strlen(text));
}

static void add_check(json_t *checks, const char *name, const char *state, const char *detail,
	const char *advice)
{
	json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:s}", "name", name, "state", state,
					      "detail", detail, "advice", advice));
}

static void add_extension(
	json_t *checks, const char *name, bool is_there, const char *fail_state, const char *loss)
{
	char *detail = is_there ? xasprintf("%s is there", name)
				: xasprintf("%s is missing: %s", name, loss);
	char *advice = xasprintf("start the X server without \"-extension %s\"", name);
	add_check(checks, name, is_there ? "ok" : fail_state, detail, is_there ? "" : advice);
	free(detail);
	free(advice);
}

static void check_segment_size(json_t *checks, const struct screen_info *info)
{
	size_t size = (size_t)info->width * (size_t)info->height * 4;
	int id = shmget(IPC_PRIVATE, size > 0 ? size : 4096, IPC_CREAT | 0600);
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	add_check(checks, "shared memory", id >= 0 ? "ok" : "warn",
		id >= 0 ? "a segment for the whole screen can be had"
			: "no segment for the whole screen can be had: pictures take longer",
		id >= 0 ? "" : "raise kernel.shmmax and kernel.shmall (sysctl)");
}

static void check_state(json_t *checks, const struct service *service)
{
	int error = takeovers_save_error(service->takeovers);
	char *detail = error == 0 ? xstrdup("takeovers, locks and links survive a restart")
				  : xasprintf("takeovers, locks and links cannot be kept: %s",
					    strerror(-error));
	add_check(checks, "state folder", error == 0 ? "ok" : "fail", detail,
		error == 0 ? "" : "make room on the disk of --state-dir, and see that it can be written to");
	free(detail);
}

void command_doctor(struct service *service, struct http_request *request, const char *segment)
{
	struct screen_info info = read_info(service);
	json_t *checks = json_array();
	char *detail = info.is_ready
			       ? xasprintf("%s, %dx%d, depth %d", info.display, info.width,
					 info.height, info.depth)
			       : xstrdup(service->xserver_fault != NULL ? service->xserver_fault
									: "its X server is not up");
	add_check(checks, "display", info.is_ready ? "ok" : "fail", detail,
		info.is_ready ? "" : "start the X server, or boxscreend with --xvfb");
	free(detail);
	if (info.is_ready) {
		add_extension(checks, "MIT-SHM", info.has_shm, "warn", "pictures take longer");
		add_extension(checks, "DAMAGE", info.has_damage, "warn",
			"the screen must be read again and again to see changes");
		add_extension(checks, "XFIXES", info.has_fixes, "warn", "the pointer cannot be seen");
		add_extension(checks, "RANDR", info.has_randr, "warn", "the screen cannot be resized");
		add_extension(checks, "XTEST", info.has_xtest, "fail", "input is not possible");
		add_extension(checks, "X-Resource", info.has_xres, "warn",
			"the processes of windows may stay unknown");
		check_segment_size(checks, &info);
	}
	check_state(checks, service);
	reply_json(request, 200, json_pack("{s:o}", "checks", checks));
}
