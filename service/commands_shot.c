/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GET /v1/shot and POST /v1/shots. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/file_folder.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/loop.h"
#include "capture/shot.h"
#include "display/frame.h"
#include "display/screen.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/downloads.h"
#include "service/events.h"
#include "service/file_path.h"
#include "service/lock.h"
#include "service/metrics.h"
#include "service/reply.h"
#include "service/service.h"
#include "service/shot_cache.h"
#include "service/shot_json.h"
#define LOG_MODULE "shot"
#include "base/log.h"

/* On top of the caller's own time-out: for the screen to answer and the picture to be encoded. */
#define GRACE_MS 10000
/* Pictures that may wait for the pool at once: a bound on memory and on how long the last one waits. */
#define ENCODES_MAX 32

/* What becomes of the picture besides being the answer. */
struct save_wish {
	bool is_saved;    /* into a file, and told as JSON */
	const char *path; /* NULL: into one that the daemon keeps for as long as its link is good */
	bool is_inline;   /* the JSON holds the picture too */
};

/* One screenshot on its way. Main thread, but for `picture` and `error` while the pool encodes. */
struct shot_job {
	struct service *service;
	struct call *call;
	uint64_t frame_request;
	struct shot_options options;
	struct save_wish save;   /* save.path is its own */
	struct frame_reply reply;
	struct shot_geometry geometry;
	char *key;
	struct buffer picture;
	int error;
	int64_t encode_start_us;
	_Atomic bool is_abandoned; /* nobody waits for the picture any more */
};

/* Encodes that run or wait for a pool thread. Main thread. */
static int encode_count;

static void job_free(struct shot_job *job)
{
	call_end(job->call);
	frame_reply_finish(&job->reply);
	buffer_finish(&job->picture);
	free((char *)(uintptr_t)job->save.path);
	free(job->key);
	free(job);
}

/* Stops waiting for a frame that nobody will look at. */
static void on_gone(void *arg)
{
	struct shot_job *job = arg;
	job->is_abandoned = true;
	if (job->reply.frame == NULL)
		screen_cancel_frame(job->service->screen, job->frame_request);
}

static void fail(struct shot_job *job)
{
	struct http_request *request = call_request(job->call);
	metrics_add(job->service->metrics, METRIC_SHOT_ERRORS, 1);
	if (request == NULL)
		return;
	switch (job->error) {
	case -ENOTCONN:
		reply_no_screen(request, job->service->xserver_fault);
		break;
	case -ENOENT:
		reply_error(request, REPLY_NOT_FOUND,
			job->options.frame.area == FRAME_AREA_ACTIVE_WINDOW
				? "no window is active; take the whole screen, or name a window "
				  "(GET /v1/windows lists them)"
				: "there is no such window; GET /v1/windows lists them");
		break;
	case -ENXIO:
		reply_error(request, REPLY_CONFLICT,
			"the window is not shown (it is unmapped or minimised); activate it first");
		break;
	case -ERANGE:
		reply_error(request, REPLY_BAD_REQUEST,
			"the %s lies outside the screen; GET /v1/status tells the screen's size",
			job->options.frame.area == FRAME_AREA_REGION ? "region" : "window");
		break;
	case -EOVERFLOW:
		reply_error(request, REPLY_BAD_REQUEST,
			"the picture would be larger than %s allows; use a smaller scale or another "
			"format",
			picture_format_name(job->options.format));
		break;
	default:
		reply_error(request, REPLY_INTERNAL,
			"the picture could not be made: %s; try a smaller region or scale",
			strerror(-job->error));
	}
}

static void add_time_header(struct http_request *request, const char *name, int64_t wall_us)
{
	char when[CLOCK_RFC3339_SIZE];
	clock_format_rfc3339(wall_us, when);
	http_request_add_header(request, name, when);
}

static const char *wait_end_name(enum frame_wait_end end)
{
	static const char *const names[] = {
		[FRAME_END_NONE] = "none",
		[FRAME_END_STABLE] = "stable",
		[FRAME_END_CHANGED] = "changed",
		[FRAME_END_TIMEOUT] = "timeout",
	};
	return names[end];
}

static uint64_t fnv1a(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

/* "<boot>-<serial>-<hash>": the serial stands for itself, since wait=change goes on from it. */
static void make_etag(const struct shot_job *job, char *out, size_t size)
{
	snprintf(out, size, "\"%08" PRIx64 "-%" PRIx64 "-%016" PRIx64 "\"",
		job->service->boot_id & 0xffffffff, job->reply.area_serial, fnv1a(job->key));
}

static void add_headers(const struct shot_job *job, struct http_request *request)
{
	const struct frame_reply *reply = &job->reply;
	const struct shot_geometry *geometry = &job->geometry;
	char text[96];
	snprintf(text, sizeof(text), "%dx%d", reply->frame->width, reply->frame->height);
	http_request_add_header(request, "X-Screen-Size", text);
	snprintf(text, sizeof(text), "%d,%d", geometry->origin_x, geometry->origin_y);
	http_request_add_header(request, "X-Shot-Origin", text);
	snprintf(text, sizeof(text), "%.10g,%.10g", geometry->scale_x, geometry->scale_y);
	http_request_add_header(request, "X-Shot-Scale", text);
	if (!rect_equals(&reply->area, &reply->wanted)) {
		snprintf(text, sizeof(text), "%d,%d,%d,%d", reply->wanted.x, reply->wanted.y,
			reply->wanted.width, reply->wanted.height);
		http_request_add_header(request, "X-Shot-Clipped-From", text);
	}
	add_time_header(request, "X-Frame-Time", reply->seen_wall_us);
	add_time_header(request, "X-Frame-Changed", reply->changed_wall_us);
	if (job->options.frame.wait != FRAME_WAIT_NONE) {
		http_request_add_header(request, "X-Wait-End", wait_end_name(reply->end));
		http_request_add_header(
			request, "X-Wait-Changed", reply->is_changed ? "1" : "0");
	}
	make_etag(job, text, sizeof(text));
	http_request_add_header(request, "ETag", text);
	http_request_add_header(request, "Cache-Control", "no-cache");
}

static void tell_event(const struct shot_job *job, const char *path, size_t bytes)
{
	json_t *data = json_pack("{s:s, s:i, s:i, s:I}", "format",
		picture_format_name(job->options.format), "width", job->geometry.width, "height",
		job->geometry.height, "bytes", (json_int_t)bytes);
	if (path != NULL)
		json_object_set_new(data, "path", json_string(path));
	events_publish(job->service->events, "shot", data);
}

static void count_shot(const struct shot_job *job, size_t bytes)
{
	metrics_add(job->service->metrics, METRIC_SHOTS, 1);
	metrics_add(job->service->metrics, METRIC_SHOT_BYTES, bytes);
}

/* path: NULL for a file of the daemon's own. */
static void reply_path_error(struct http_request *request, const char *path, int error)
{
	bool is_full = error == -ENOSPC || error == -EDQUOT;
	if (path == NULL)
		reply_error(request, is_full ? REPLY_NO_SPACE : REPLY_INTERNAL,
			"the picture cannot be kept in the daemon's state folder: %s; give a path",
			file_path_error(error));
	else
		reply_error(request, is_full ? REPLY_NO_SPACE : REPLY_BAD_REQUEST,
			"path: cannot write %.200s: %s; choose another path", path, file_path_error(error));
}

/* Returns 0 or a negative errno; *url and *path (the caller's) tell where it is. */
static int save(struct shot_job *job, const struct buffer *picture, char **url, char **path,
	int64_t *expires_wall_us)
{
	struct downloads *downloads = job->service->downloads;
	const char *mime = picture_format_mime(job->options.format);
	if (job->save.path == NULL)
		return downloads_add_own(downloads, picture, picture_format_name(job->options.format),
			mime, url, path, expires_wall_us);
	const char *name;
	struct stat written;
	int folder = file_folder_open(job->save.path, &name);
	if (folder < 0)
		return folder;
	int ret = atomic_file_write_at(
		folder, name, picture->data, picture->len, 0644, ATOMIC_FILE_REGULAR, &written);
	close(folder);
	if (ret < 0)
		return ret;
	*path = xstrdup(job->save.path);
	*url = downloads_add(downloads, *path, &written, mime, expires_wall_us);
	return 0;
}

static json_t *saved_json(const struct shot_job *job, const struct buffer *picture)
{
	json_t *answer = shot_picture_json(
		&job->options, &job->geometry, job->save.is_inline ? picture : NULL);
	json_object_set_new(answer, "bytes", json_integer((json_int_t)picture->len));
	if (job->options.frame.wait != FRAME_WAIT_NONE)
		json_object_set_new(
			answer, "wait_end", json_string(wait_end_name(job->reply.end)));
	return answer;
}

static void save_and_answer(struct shot_job *job, const struct buffer *picture)
{
	struct http_request *request = call_request(job->call);
	char *url = NULL, *path = NULL;
	int64_t expires_wall_us;
	if (request == NULL)
		return; /* whoever asked for the file has gone: no file */
	int ret = save(job, picture, &url, &path, &expires_wall_us);
	if (ret < 0) {
		metrics_add(job->service->metrics, METRIC_SHOT_ERRORS, 1);
		reply_path_error(request, job->save.path, ret);
		return;
	}
	count_shot(job, picture->len);
	tell_event(job, path, picture->len);
	json_t *answer = saved_json(job, picture);
	json_object_set_new(answer, "path", json_string(path));
	json_object_set_new(answer, "url", json_string(url));
	json_object_set_new(answer, "expires_at", json_time(expires_wall_us));
	free(url);
	free(path);
	reply_json(request, 200, answer);
}

/* The picture is there, fresh or from the cache. */
static void finish(struct shot_job *job, const struct buffer *picture)
{
	if (job->save.is_saved) {
		save_and_answer(job, picture);
		return;
	}
	struct http_request *request = call_request(job->call);
	if (request == NULL)
		return;
	add_headers(job, request);
	count_shot(job, picture->len);
	tell_event(job, NULL, picture->len);
	http_reply(request, 200, picture_format_mime(job->options.format), picture->data,
		picture->len);
}

/* On a pool thread. */
static void encode(void *arg)
{
	struct shot_job *job = arg;
	job->error = job->is_abandoned ? -ECANCELED
				       : shot_render(&job->options, &job->reply, &job->geometry,
						 &job->picture);
}

static void on_encoded(void *arg)
{
	struct shot_job *job = arg;
	struct service *service = job->service;
	encode_count--;
	metrics_add(service->metrics, METRIC_SHOT_ENCODE_US,
		(uint64_t)(clock_monotonic_us() - job->encode_start_us));
	if (job->error != 0) {
		fail(job);
	} else {
		shot_cache_put(service->shot_cache, job->key, &job->picture);
		finish(job, &job->picture);
	}
	job_free(job);
}

/* Whether the caller has this very picture already. */
static bool is_known_to_caller(struct shot_job *job, struct http_request *request)
{
	char etag[64];
	if (request == NULL || job->save.is_saved)
		return false;
	const char *known = http_request_header(request, "if-none-match");
	make_etag(job, etag, sizeof(etag));
	return known != NULL && (strstr(known, etag) != NULL || strcmp(known, "*") == 0);
}

static void on_frame(void *arg, struct frame_reply *reply)
{
	struct shot_job *job = arg;
	struct service *service = job->service;
	struct http_request *request = call_request(job->call);
	job->reply = *reply;
	job->error = reply->error;
	if (job->error == 0 && !shot_plan(&job->options, &job->reply, &job->geometry))
		job->error = -EOVERFLOW;
	if (job->error != 0 || request == NULL) {
		if (job->error != 0)
			fail(job);
		job_free(job);
		return;
	}
	job->key = shot_key(&job->options, &job->reply);
	if (is_known_to_caller(job, request)) {
		metrics_add(service->metrics, METRIC_SHOTS_UNCHANGED, 1);
		add_headers(job, request);
		http_reply(request, 304, NULL, NULL, 0);
		job_free(job);
		return;
	}
	const struct buffer *cached = shot_cache_get(service->shot_cache, job->key);
	if (cached != NULL) {
		metrics_add(service->metrics, METRIC_SHOTS_CACHED, 1);
		finish(job, cached);
		job_free(job);
		return;
	}
	if (encode_count >= ENCODES_MAX) {
		reply_error(request, REPLY_TOO_MANY,
			"%d pictures are being encoded already; try again when some are done",
			ENCODES_MAX);
		job_free(job);
		return;
	}
	encode_count++;
	job->encode_start_us = clock_monotonic_us();
	loop_work(service->loop, encode, on_encoded, job);
}

/* wait=change with an ETag of ours waits for a change since that picture. */
static void resume_from_etag(
	struct service *service, struct http_request *request, struct shot_options *options)
{
	const char *known = http_request_header(request, "if-none-match");
	uint64_t boot, serial;
	if (known != NULL && options->frame.wait == FRAME_WAIT_CHANGE &&
		sscanf(known, "\"%" SCNx64 "-%" SCNx64 "-", &boot, &serial) == 2 &&
		boot == (service->boot_id & 0xffffffff))
		options->frame.since_serial = serial;
}

static void start(struct service *service, struct http_request *request,
	const struct shot_options *options, const struct save_wish *save)
{
	const char *fault = shot_options_check(options);
	if (fault != NULL) {
		reply_error(request, REPLY_BAD_REQUEST, "%s", fault);
		return;
	}
	if (service->screen == NULL) {
		reply_no_screen(request, service->xserver_fault);
		return;
	}
	if (lock_refuses_looking(service, request))
		return;
	struct shot_job *job = xcalloc(1, sizeof(*job));
	job->service = service;
	job->options = *options;
	job->save = *save;
	job->save.path = save->path != NULL ? xstrdup(save->path) : NULL;
	resume_from_etag(service, request, &job->options);
	job->call = call_begin_looking(service, request,
		(options->frame.wait != FRAME_WAIT_NONE ? options->frame.timeout_ms : 0) + GRACE_MS,
		on_gone, job);
	job->frame_request =
		screen_request_frame(service->screen, &job->options.frame, on_frame, job);
}

void command_shot(struct service *service, struct http_request *request, const char *segment)
{
	struct shot_options options = shot_defaults;
	const char *name, *value;
	for (size_t i = 0; http_request_query_at(request, i, &name, &value); i++) {
		char error[160];
		const char *fault = shot_option_set(&options, name, value, error, sizeof(error));
		if (fault != NULL) {
			reply_error(request, REPLY_BAD_REQUEST, "%s", fault);
			return;
		}
	}
	start(service, request, &options, &(struct save_wish){0});
}

/* The picture's format follows the file's ending when it is not named. */
static bool format_from_path(const char *path, enum picture_format *out)
{
	const char *name = strrchr(path, '/') + 1;
	const char *dot = strrchr(name, '.');
	char ending[8] = "";
	if (dot == NULL || dot == name)
		return true; /* without an ending: PNG, or what is named */
	for (size_t i = 0; dot[1 + i] != '\0' && i + 1 < sizeof(ending); i++)
		ending[i] = (char)tolower((unsigned char)dot[1 + i]);
	return picture_format_parse(ending, out);
}

static void read_save(
	struct json_reader *reader, struct save_wish *save, enum picture_format *format)
{
	const char *fault;
	json_read_bool(reader, "inline", &save->is_inline);
	if (!json_read_string(reader, "path", &save->path)) {
		if (!save->is_inline)
			json_reader_fail_none(reader, "path", "path|inline",
				"is missing: the file to write, an absolute path; or inline, to "
				"have the picture here");
		return;
	}
	if ((fault = file_path_fault(save->path)) != NULL)
		json_reader_fail(reader, "path", "%s", fault);
	else if (!format_from_path(save->path, format) &&
		 json_object_get(reader->object, "format") == NULL)
		json_reader_fail(reader, "path",
			"has an ending that names no format: end it in .png, .jpg or .webp, or give "
			"format");
}

json_t *body_shot_save(void)
{
	struct shot_options options = shot_defaults;
	struct save_wish save = {0};
	struct json_reader reader;
	json_reader_describe(&reader);
	read_save(&reader, &save, &options.format);
	shot_options_read(&reader, &options);
	return json_reader_take_schema(&reader);
}

void command_shot_save(struct service *service, struct http_request *request, const char *segment)
{
	struct shot_options options = shot_defaults;
	struct save_wish save = {.is_saved = true};
	struct json_reader reader;
	int ret = 0;
	json_t *object = reply_read_body(request);
	if (object == NULL)
		return;
	json_reader_init(&reader, object, "");
	read_save(&reader, &save, &options.format);
	shot_options_read(&reader, &options);
	if (reply_finish_reading(request, &reader)) {
		if (save.path != NULL && (ret = file_path_check(save.path)) < 0)
			reply_path_error(request, save.path, ret); /* now, not when a long wait is over */
		else
			start(service, request, &options, &save);
	}
	json_decref(object);
}
