/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/loop.h"
#include "capture/library.h"
#include "capture/studio.h"
#include "capture/thumbnail.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/film_request.h"
#include "service/recordings.h"
#include "service/reply.h"
#include "service/service.h"

#define IDLE_MIN_MS          100
#define MARK_CHARS_MAX       500
#define THUMBNAIL_SIDE       320
#define THUMBNAIL_TIMEOUT_MS 10000

static struct studio *studio_of(const struct service *service)
{
	return recordings_studio(service->recordings);
}

/* Starting */

static void read_recording(struct json_reader *reader, struct recording_wish *wish)
{
	int max_idle_ms = 0;
	*wish = (struct recording_wish){.name = "", .has_auto_marks = true};
	film_request_read_text(reader, "name", FILM_NAME_CHARS_MAX, &wish->name);
	film_request_read_path(reader, &wish->path);
	film_request_read(reader, &wish->film);
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
	if (reply_finish_reading(request, &reader))
		studio_start(studio_of(service), &wish, film_request_on_started,
			film_request_begin(service, request, wish.path, 201, FILM_START_TIMEOUT_MS));
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

static void reply_ended(struct http_request *request, const struct entry *entry)
{
	reply_error(request, REPLY_CONFLICT, "the recording %s has ended (%s)", entry->id,
		entry_state_name(entry->state));
}

void command_recording_pause(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL || !reply_takes_empty_body(request))
		return;
	if (studio_pause(studio_of(service), segment))
		recordings_answer_when(service->recordings, request, segment, ENTRY_PAUSED);
	else
		reply_ended(request, entry);
}

void command_recording_resume(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL || !reply_takes_empty_body(request))
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
	if (entry == NULL || !reply_takes_empty_body(request))
		return;
	studio_stop(studio_of(service), segment);
	recordings_answer_when(service->recordings, request, segment, ENTRY_DONE);
}

static void read_mark(struct json_reader *reader, const char **text)
{
	film_request_read_text(reader, "text", MARK_CHARS_MAX, text);
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
	if (reply_finish_reading(request, &reader)) {
		if (studio_mark(studio_of(service), segment, text))
			reply_json(request, 201, json_pack("{s:s, s:s}", "id", segment, "text", text));
		else
			reply_ended(request, entry);
	}
	json_decref(body);
}

void command_recordings(struct service *service, struct http_request *request, const char *segment)
{
	reply_json(request, 200,
		json_pack("{s:o}", "recordings", recordings_list_json(service->recordings, false)));
}

void command_recording(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry != NULL)
		reply_json(request, 200, recordings_entry_json(service->recordings, entry));
}

/* Its fd, or -1, and the request is answered. */
static int open_video(struct http_request *request, const struct entry *entry)
{
	int fd = library_open(entry);
	if (fd >= 0)
		return fd;
	reply_error(request, REPLY_GONE,
		fd == -ESTALE ? "something else is at %.200s, in the video's place"
			      : "the video %.200s is not there any more",
		entry->path);
	return -1;
}

void command_recording_video(struct service *service, struct http_request *request, const char *segment)
{
	struct entry *entry = find(service, request, segment);
	if (entry == NULL)
		return;
	int fd = open_video(request, entry);
	struct stat st;
	if (fd < 0)
		return;
	fstat(fd, &st);
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
	int fd; /* of the video: what has its name may be another by the time */
	int max_side;
	struct buffer picture;
	int error;
};

/* On a pool thread. */
static void make_thumbnail(void *arg)
{
	struct thumbnail_job *job = arg;
	char path[40];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", job->fd);
	job->error = thumbnail_make(path, job->max_side, &job->picture);
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
	close(job->fd);
	free(job);
}

void command_recording_thumbnail(
	struct service *service, struct http_request *request, const char *segment)
{
	const char *side = http_request_query(request, "max_side");
	struct entry *entry = find(service, request, segment);
	int fd = entry != NULL ? open_video(request, entry) : -1;
	if (fd < 0)
		return;
	struct thumbnail_job *job = xcalloc(1, sizeof(*job));
	job->fd = fd;
	job->max_side = side != NULL ? atoi(side) : THUMBNAIL_SIDE;
	job->call = call_begin(service, request, THUMBNAIL_TIMEOUT_MS, NULL, NULL);
	loop_work(service->loop, make_thumbnail, on_thumbnail, job);
}
