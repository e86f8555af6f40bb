/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/film_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/utf8.h"
#include "capture/library.h"
#include "capture/studio.h"
#include "service/call.h"
#include "service/file_path.h"
#include "service/recordings.h"
#include "service/reply.h"
#include "service/service.h"

#define FPS_DEFAULT 30
#define FPS_MAX     60

/* Reading of bodies */

void film_request_read_text(
	struct json_reader *reader, const char *name, size_t chars_max, const char **out)
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

void film_request_read_path(struct json_reader *reader, const char **path)
{
	static const char ending[] = ".mp4";
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
	else if (file_path_check(*path) == -EXDEV)
		json_reader_fail(reader, "path", "%s", file_path_error(-EXDEV));
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

void film_request_read(struct json_reader *reader, struct film_settings *film)
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
			"path: cannot write %.200s: %s; choose another path", what,
			file_path_error(error));
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

/* Waiting for the studio */

struct film_request *film_request_begin(struct service *service, struct http_request *request,
	const char *path, int status, int timeout_ms)
{
	struct film_request *film = xcalloc(1, sizeof(*film));
	film->service = service;
	film->path = path != NULL ? xstrdup(path) : NULL;
	film->status = status;
	film->call = call_begin(service, request, timeout_ms, NULL, NULL);
	return film;
}

void film_request_refuse(struct film_request *film, int error)
{
	reply_film_error(film->service, call_request(film->call), film->path, error);
}

void film_request_end(struct film_request *film)
{
	call_end(film->call);
	free(film->path);
	free(film);
}

void film_request_on_started(void *arg, struct entry *entry, int error)
{
	struct film_request *film = arg;
	struct recordings *recordings = film->service->recordings;
	struct http_request *request = call_request(film->call);
	if (request != NULL && entry != NULL)
		reply_json(request, film->status, recordings_entry_json(recordings, entry));
	else if (request != NULL)
		film_request_refuse(film, error);
	else if (entry != NULL && entry_is_active(entry))
		studio_stop(recordings_studio(recordings), entry->id); /* nobody knows it runs */
	film_request_end(film);
}
