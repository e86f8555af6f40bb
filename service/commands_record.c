/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings, replay and broadcasts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "capture/library.h"
#include "capture/publisher.h"
#include "capture/replay.h"
#include "capture/studio.h"
#include "capture/thumbnail.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/file_path.h"
#include "service/recordings.h"
#include "service/reply.h"
#include "service/service.h"

#define FPS_DEFAULT      30
#define FPS_MAX          60
#define IDLE_MIN_MS      100
#define NAME_CHARS_MAX   200
#define MARK_CHARS_MAX   500
#define START_TIMEOUT_MS 10000
#define SAVE_TIMEOUT_MS  60000
#define THUMBNAIL_SIDE   320
#define THUMBNAIL_TIMEOUT_MS 10000

static struct studio *studio_of(const struct service *service)
{
	return recordings_studio(service->recordings);
}

/* Reading of bodies */

/* Answers what is wrong; true when all is well. */
static bool finish_reading(struct json_reader *reader, struct http_request *request)
{
	if (json_reader_finish(reader))
		return true;
	reply_error(request, REPLY_BAD_REQUEST, "%s", reader->error);
	return false;
}

static void read_text(struct json_reader *reader, const char *name, size_t chars_max, const char **out)
{
	if (!json_read_string(reader, name, out))
		return;
	size_t len = strlen(*out);
	if (utf8_count(*out, len) > chars_max)
		json_reader_fail(reader, name, "has more than %zu characters", chars_max);
	for (const unsigned char *p = (const unsigned char *)*out; *p != '\0'; p++) {
		if (*p < 0x20 || *p == 0x7f)
			json_reader_fail(reader, name, "must have no control characters or line breaks");
	}
}

static void read_path(struct json_reader *reader, const char *ending, const char **path)
{
	bool is_given = json_read_string(reader, "path", path);
	json_reader_explain(reader, "path", "{\"pattern\":\"^/.*[^/]\\\\.mp4$\"}");
	if (!is_given)
		return;
	size_t len = strlen(*path), ending_len = strlen(ending);
	const char *fault = file_path_fault(*path);
	if ((*path)[0] != '/')
		json_reader_fail(reader, "path", "must be an absolute path; leave it out for a place "
						 "of the daemon's own");
	else if (fault != NULL)
		json_reader_fail(reader, "path", "%s", fault);
	else if (len < ending_len || strcmp(*path + len - ending_len, ending) != 0 ||
		 strlen(strrchr(*path, '/')) - 1 <= ending_len)
		json_reader_fail(reader, "path", "must end in a file name with %s", ending);
}

static void read_region(struct json_reader *reader, struct rect *out)
{
	const json_t *value = NULL;
	bool is_given = json_read_any(reader, "region", &value);
	json_reader_explain(reader, "region",
		"{\"anyOf\":[{\"type\":\"string\",\"pattern\":\"^[0-9]+,[0-9]+,[0-9]+,[0-9]+$\"},{\"type\":\"array\","
		"\"items\":{\"type\":\"integer\",\"minimum\":0},\"minItems\":4,\"maxItems\":4}]}");
	if (!is_given)
		return;
	int numbers[4] = {0}, used = 0;
	bool is_good = false;
	if (json_is_string(value)) {
		is_good = sscanf(json_string_value(value), "%6d,%6d,%6d,%6d%n", &numbers[0],
				  &numbers[1], &numbers[2], &numbers[3], &used) == 4 &&
			  json_string_value(value)[used] == '\0';
	} else if (json_is_array(value) && json_array_size(value) == 4) {
		is_good = true;
		for (size_t i = 0; i < 4; i++) {
			const json_t *item = json_array_get(value, i);
			is_good &= json_is_integer(item) && json_integer_value(item) >= 0 &&
				   json_integer_value(item) <= 65535;
			numbers[i] = is_good ? (int)json_integer_value(item) : 0;
		}
	}
	*out = (struct rect){numbers[0], numbers[1], numbers[2], numbers[3]};
	if (!is_good || out->x < 0 || out->y < 0 || out->width < 2 || out->height < 2)
		json_reader_fail(reader, "region", "must be \"X,Y,W,H\" or [X,Y,W,H], 2 pixels at least each way");
}

/* What all that films has in common. */
static void read_film(struct json_reader *reader, struct film_settings *film)
{
	int quality = ENCODER_BALANCED;
	*film = (struct film_settings){.fps = FPS_DEFAULT, .shows_cursor = true};
	json_read_int(reader, "fps", 1, FPS_MAX, &film->fps);
	json_read_choice(reader, "quality", encoder_quality_names, &quality);
	film->quality = (enum encoder_quality)quality;
	json_read_bool(reader, "cursor", &film->shows_cursor);
	json_read_bool(reader, "show_clicks", &film->shows_clicks);
	json_read_bool(reader, "show_keys", &film->shows_keys);
	read_region(reader, &film->region);
}

/* Errors */

static void reply_file_error(struct http_request *request, const char *path, int error)
{
	const char *what = path != NULL ? path : "the recordings' folder";
	switch (error) {
	case -EBUSY:
		reply_error(request, REPLY_CONFLICT,
			"path: another recording is being written to %.200s; choose another path", path);
		break;
	case -EEXIST:
		reply_error(request, REPLY_CONFLICT,
			"path: there is a file at %.200s already; choose another path, or remove it", path);
		break;
	case -ENOENT:
	case -ENOTDIR:
		reply_error(request, REPLY_BAD_REQUEST,
			"path: the folder of %.200s does not exist; make it first", what);
		break;
	default:
		reply_error(request, REPLY_BAD_REQUEST,
			"path: cannot write %.200s: %s; choose another path", what, strerror(-error));
	}
}

static void reply_film_error(
	struct service *service, struct http_request *request, const char *path, int error)
{
	switch (error) {
	case -ENOTCONN:
		reply_no_screen(request, service->xserver_fault);
		break;
	case -EMFILE:
		reply_error(request, REPLY_TOO_MANY,
			"there are %d already; stop one first", STUDIO_RECORDINGS_MAX);
		break;
	case -ENOSPC:
	case -EDQUOT:
		reply_error(request, REPLY_NO_SPACE,
			"there are less than 64 MiB free where the video would go; make room, or choose "
			"another path");
		break;
	case -ERANGE:
		reply_error(request, REPLY_BAD_REQUEST,
			"region: lies outside the screen; GET /v1/status tells the screen's size");
		break;
	case -ENODATA:
		reply_error(request, REPLY_CONFLICT,
			"no replay is kept; turn it on with PUT /v1/replay {\"seconds\":60}");
		break;
	case -ENOMEM:
	case -EAGAIN:
		reply_error(request, REPLY_INTERNAL,
			"there is no memory or thread for another encoder; stop another recording first");
		break;
	default:
		reply_file_error(request, path, error);
	}
}

/* Starting */

struct start_job {
	struct service *service;
	struct call *call;
	char *path;
	int status; /* of the answer */
};

static void on_started(void *arg, struct entry *entry, int error)
{
	struct start_job *job = arg;
	struct http_request *request = call_request(job->call);
	if (request != NULL && entry != NULL)
		reply_json(request, job->status, recordings_entry_json(job->service->recordings, entry));
	else if (request != NULL)
		reply_film_error(job->service, request, job->path, error);
	else if (entry != NULL && entry_is_active(entry))
		studio_stop(studio_of(job->service), entry->id); /* nobody knows that it runs */
	call_end(job->call);
	free(job->path);
	free(job);
}

static struct start_job *job_create(struct service *service, struct http_request *request,
	const char *path, int status, int timeout_ms)
{
	struct start_job *job = xcalloc(1, sizeof(*job));
	job->service = service;
	job->path = path != NULL ? xstrdup(path) : NULL;
	job->status = status;
	job->call = call_begin(service, request, timeout_ms, NULL, NULL);
	return job;
}

static void read_recording(struct json_reader *reader, struct recording_wish *wish)
{
	int max_idle_ms = 0;
	*wish = (struct recording_wish){.name = "", .has_auto_marks = true};
	read_text(reader, "name", NAME_CHARS_MAX, &wish->name);
	read_path(reader, ".mp4", &wish->path);
	read_film(reader, &wish->film);
	if (json_read_int(reader, "max_idle_ms", 0, 86400000, &max_idle_ms) && max_idle_ms > 0 &&
		max_idle_ms < IDLE_MIN_MS)
		json_reader_fail(reader, "max_idle_ms", "must be 0 (no limit) or at least %d", IDLE_MIN_MS);
	json_read_bool(reader, "auto_marks", &wish->has_auto_marks);
	wish->max_idle_ms = max_idle_ms;
}

json_t *body_recording_start(void)
{
	struct recording_wish wish;
	struct json_reader reader;
	json_reader_describe(&reader);
	read_recording(&reader, &wish);
	return json_reader_take_schema(&reader);
}

void command_recording_start(struct service *service, struct http_request *request, const char *segment)
{
	struct recording_wish wish;
	struct json_reader reader;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return;
	json_reader_init(&reader, body, "");
	read_recording(&reader, &wish);
	if (finish_reading(&reader, request))
		studio_start(studio_of(service), &wish, on_started,
			job_create(service, request, wish.path, 201, START_TIMEOUT_MS));
	json_decref(body);
}

/* What runs */

static struct entry *find(struct service *service, struct http_request *request, const char *id)
{
	struct entry *entry = library_find(recordings_library(service->recordings), id);
	if (entry == NULL)
		reply_error(request, REPLY_NOT_FOUND,
			"there is no recording %.40s; GET /v1/recordings lists them", id);
	return entry;
}

static bool takes_empty_body(struct http_request *request)
{
	struct json_reader reader;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return false;
	json_reader_init(&reader, body, "");
	bool is_good = finish_reading(&reader, request);
	json_decref(body);
	return is_good;
}

static void reply_ended(struct http_request *request, const struct entry *entry)
{
	reply_error(request, REPLY_CONFLICT, "the recording %s has ended (%s)", entry->id,
		entry_state_name(entry->state));
}

void command_recording_pause(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL || !takes_empty_body(request))
		return;
	if (studio_pause(studio_of(service), segment))
		recordings_answer_when(service->recordings, request, segment, ENTRY_PAUSED);
	else
		reply_ended(request, entry);
}

void command_recording_resume(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL || !takes_empty_body(request))
		return;
	if (studio_resume(studio_of(service), segment))
		recordings_answer_when(service->recordings, request, segment, ENTRY_RECORDING);
	else
		reply_ended(request, entry);
}

/* One that has ended already is no error: whoever stops it wants the file. */
void command_recording_stop(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL || !takes_empty_body(request))
		return;
	studio_stop(studio_of(service), segment);
	recordings_answer_when(service->recordings, request, segment, ENTRY_DONE);
}

static void read_mark(struct json_reader *reader, const char **text)
{
	read_text(reader, "text", MARK_CHARS_MAX, text);
	if (*text == NULL || (*text)[0] == '\0')
		json_reader_fail(reader, "text", "is missing: what the chapter is called");
}

json_t *body_recording_mark(void)
{
	const char *text = NULL;
	struct json_reader reader;
	json_reader_describe(&reader);
	read_mark(&reader, &text);
	return json_reader_take_schema(&reader);
}

void command_recording_mark(struct service *service, struct http_request *request, const char *segment)
{
	struct json_reader reader;
	const char *text = NULL;
	struct entry *entry = find(service, request, segment);
	json_t *body = entry != NULL ? reply_read_body(request) : NULL;
	if (body == NULL)
		return;
	json_reader_init(&reader, body, "");
	read_mark(&reader, &text);
	if (finish_reading(&reader, request)) {
		if (studio_mark(studio_of(service), segment, text))
			reply_json(request, 201, json_pack("{s:s, s:s}", "id", segment, "text", text));
		else
			reply_ended(request, entry);
	}
	json_decref(body);
}

void command_recordings(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry;
	json_t *list = json_array();
	list_for_each(entry, library_entries(recordings_library(service->recordings)), link) {
		studio_refresh(studio_of(service), entry);
		json_t *json = entry_json(entry);
		json_object_del(json, "chapters");
		json_object_del(json, "subtitles");
		json_array_append_new(list, json);
	}
	reply_json(request, 200, json_pack("{s:o}", "recordings", list));
}

void command_recording(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry != NULL)
		reply_json(request, 200, recordings_entry_json(service->recordings, entry));
}

void command_recording_video(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL)
		return;
	int fd = open(entry->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0) {
		reply_error(request, REPLY_GONE, "the video %.200s is not there any more", entry->path);
		return;
	}
	char etag[64];
	snprintf(etag, sizeof(etag), "\"%llx-%llx\"", (unsigned long long)st.st_size,
		(unsigned long long)st.st_mtim.tv_sec * 1000000000ull + (unsigned long long)st.st_mtim.tv_nsec);
	http_request_add_header(request, "ETag", etag);
	http_reply_file(request, "video/mp4", fd);
}

void command_recording_delete(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL)
		return;
	if (entry_is_active(entry)) {
		reply_error(request, REPLY_CONFLICT, "the recording %s still runs; stop it first", segment);
		return;
	}
	int error = library_remove(recordings_library(service->recordings), entry);
	if (error == 0)
		http_reply(request, 204, NULL, NULL, 0);
	else
		reply_error(request, REPLY_INTERNAL, "cannot remove %.200s: %s", entry->path,
			strerror(-error));
}

/* Thumbnails */

struct thumbnail_job {
	struct call *call;
	char *path;
	int max_side;
	struct buffer picture;
	int error;
};

/* On a pool thread. */
static void make_thumbnail(void *arg)
{
	struct thumbnail_job *job = arg;
	job->error = thumbnail_make(job->path, job->max_side, &job->picture);
}

static void on_thumbnail(void *arg)
{
	struct thumbnail_job *job = arg;
	struct http_request *request = call_request(job->call);
	if (request != NULL && job->error == 0)
		http_reply(request, 200, "image/jpeg", job->picture.data, job->picture.len);
	else if (request != NULL)
		reply_error(request, REPLY_CONFLICT,
			"there is no picture in the recording yet; try again in a second");
	call_end(job->call);
	buffer_finish(&job->picture);
	free(job->path);
	free(job);
}

void command_recording_thumbnail(
	struct service *service, struct http_request *request, const char *segment)
{
	const char *side = http_request_query(request, "max_side");
	struct entry *entry = find(service, request, segment);
	if (entry == NULL)
		return;
	struct thumbnail_job *job = xcalloc(1, sizeof(*job));
	job->path = xstrdup(entry->path);
	job->max_side = side != NULL ? atoi(side) : THUMBNAIL_SIDE;
	job->call = call_begin(service, request, THUMBNAIL_TIMEOUT_MS, NULL, NULL);
	loop_work(service->loop, make_thumbnail, on_thumbnail, job);
}

/* The replay */

void command_replay_get(struct service *service, struct http_request *request, const char *segment)
{
	json_t *replay = studio_replay_json(studio_of(service));
	if (json_is_null(replay)) {
		json_decref(replay);
		replay = json_pack("{s:i}", "seconds", 0);
	}
	reply_json(request, 200, replay);
}

static void on_replay_set(void *arg, int error)
{
	struct start_job *job = arg;
	struct http_request *request = call_request(job->call);
	if (request != NULL && error == 0)
		command_replay_get(job->service, request, "");
	else if (request != NULL)
		reply_film_error(job->service, request, NULL, error);
	call_end(job->call);
	free(job);
}

static void read_replay(struct json_reader *reader, int *seconds, struct film_settings *film)
{
	if (!json_read_int(reader, "seconds", 0, REPLAY_SECONDS_MAX, seconds))
		json_reader_fail(reader, "seconds", "is missing: how much to keep; 0 keeps nothing more");
	read_film(reader, film);
}

json_t *body_replay_put(void)
{
	struct film_settings film;
	struct json_reader reader;
	int seconds = 0;
	json_reader_describe(&reader);
	read_replay(&reader, &seconds, &film);
	return json_reader_take_schema(&reader);
}

void command_replay_put(struct service *service, struct http_request *request, const char *segment)
{
	struct json_reader reader;
	struct film_settings film;
	int seconds = 0;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return;
	json_reader_init(&reader, body, "");
	read_replay(&reader, &seconds, &film);
	if (finish_reading(&reader, request))
		studio_replay(studio_of(service), seconds, &film, on_replay_set,
			job_create(service, request, NULL, 200, START_TIMEOUT_MS));
	json_decref(body);
}

static void read_replay_save(struct json_reader *reader, const char **name, const char **path)
{
	*name = "replay";
	read_text(reader, "name", NAME_CHARS_MAX, name);
	read_path(reader, ".mp4", path);
}

json_t *body_replay_save(void)
{
	const char *name, *path = NULL;
	struct json_reader reader;
	json_reader_describe(&reader);
	read_replay_save(&reader, &name, &path);
	return json_reader_take_schema(&reader);
}

void command_replay_save(struct service *service, struct http_request *request, const char *segment)
{
	struct json_reader reader;
	const char *name, *path = NULL;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return;
	json_reader_init(&reader, body, "");
	read_replay_save(&reader, &name, &path);
	if (finish_reading(&reader, request))
		studio_replay_save(studio_of(service), name, path, on_started,
			job_create(service, request, path, 201, SAVE_TIMEOUT_MS));
	json_decref(body);
}

/* Broadcasts */

static void on_published(void *arg, const char *id, int error)
{
	struct start_job *job = arg;
	struct http_request *request = call_request(job->call);
	if (request != NULL && error == 0)
		reply_json(request, 201, json_pack("{s:s, s:s}", "id", id, "state", "connecting"));
	else if (request != NULL)
		reply_film_error(job->service, request, NULL, error);
	else if (error == 0)
		studio_unpublish(studio_of(job->service), id);
	call_end(job->call);
	free(job);
}

/* The playlist's writer opens and renames by itself; what stands in its place is looked at before. */
static void check_playlist(struct json_reader *reader, const char *path)
{
	const char *fault = file_path_fault(path);
	int ret = fault == NULL ? file_path_check(path) : 0;
	if (ret < 0)
		fault = file_path_error(ret);
	if (fault != NULL)
		json_reader_fail(reader, "url", "%s", fault);
}

static void read_publish(struct json_reader *reader, const char **url, struct film_settings *film)
{
	const char *advice;
	if (!json_read_string(reader, "url", url))
		json_reader_fail(reader, "url", "is missing: where the picture shall go");
	else if (!publisher_check(*url, &advice))
		json_reader_fail(reader, "url", "%s", advice);
	else if ((*url)[0] == '/')
		check_playlist(reader, *url);
	read_film(reader, film);
	json_reader_explain(reader, "quality", "{\"not\":{\"const\":\"lossless\"}}");
	if (film->quality == ENCODER_LOSSLESS)
		json_reader_fail(reader, "quality", "must be small, balanced or sharp: few players take lossless");
}

json_t *body_publish(void)
{
	const char *url = NULL;
	struct film_settings film;
	struct json_reader reader;
	json_reader_describe(&reader);
	read_publish(&reader, &url, &film);
	return json_reader_take_schema(&reader);
}

void command_publish(struct service *service, struct http_request *request, const char *segment)
{
	struct json_reader reader;
	struct film_settings film;
	const char *url = NULL;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return;
	json_reader_init(&reader, body, "");
	read_publish(&reader, &url, &film);
	if (finish_reading(&reader, request))
		studio_publish(studio_of(service), url, &film, on_published,
			job_create(service, request, NULL, 201, START_TIMEOUT_MS));
	json_decref(body);
}

void command_publish_list(struct service *service, struct http_request *request, const char *segment)
{
	reply_json(request, 200, json_pack("{s:o}", "publish", studio_publish_json(studio_of(service))));
}

void command_publish_delete(struct service *service, struct http_request *request, const char *segment)
{
	if (studio_unpublish(studio_of(service), segment))
		http_reply(request, 204, NULL, NULL, 0);
	else
		reply_error(request, REPLY_NOT_FOUND,
			"there is no broadcast %.40s; GET /v1/publish lists them", segment);
}
