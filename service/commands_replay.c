/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The replay, and broadcasts: what films without a recording. */
#include <jansson.h>

#include "base/http_server.h"
#include "base/json.h"
#include "capture/publisher.h"
#include "capture/replay.h"
#include "capture/studio.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/file_path.h"
#include "service/film_request.h"
#include "service/recordings.h"
#include "service/reply.h"
#include "service/service.h"

#define SAVE_TIMEOUT_MS 60000

/* The replay */

void command_replay_get(struct service *service, struct http_request *request, const char *segment)
{
	json_t *replay = studio_replay_json(recordings_studio(service->recordings));
	if (json_is_null(replay)) {
		json_decref(replay);
		replay = json_pack("{s:i}", "seconds", 0);
	}
	reply_json(request, 200, replay);
}

static void on_replay_set(void *arg, int error)
{
	struct film_request *film = arg;
	struct http_request *request = call_request(film->call);
	if (request != NULL && error == 0)
		command_replay_get(film->service, request, "");
	else if (request != NULL)
		film_request_refuse(film, error);
	film_request_end(film);
}

static void read_replay(struct json_reader *reader, int *seconds, struct film_settings *film)
{
	if (!json_read_int(reader, "seconds", 0, REPLAY_SECONDS_MAX, seconds))
		json_reader_fail(reader, "seconds", "is missing: how much to keep; 0 keeps nothing more");
	film_request_read(reader, film);
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
	if (reply_finish_reading(request, &reader))
		studio_replay(recordings_studio(service->recordings), seconds, &film, on_replay_set,
			film_request_begin(service, request, NULL, 200, FILM_START_TIMEOUT_MS));
	json_decref(body);
}

static void read_replay_save(struct json_reader *reader, const char **name, const char **path)
{
	*name = "replay";
	film_request_read_text(reader, "name", FILM_NAME_CHARS_MAX, name);
	film_request_read_path(reader, path);
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
	if (reply_finish_reading(request, &reader))
		studio_replay_save(recordings_studio(service->recordings), name, path,
			film_request_on_started,
			film_request_begin(service, request, path, 201, SAVE_TIMEOUT_MS));
	json_decref(body);
}

/* Broadcasts */

static void on_published(void *arg, const char *id, int error)
{
	struct film_request *film = arg;
	struct http_request *request = call_request(film->call);
	if (request != NULL && error == 0)
		reply_json(request, 201, json_pack("{s:s, s:s}", "id", id, "state", "connecting"));
	else if (request != NULL)
		film_request_refuse(film, error);
	else if (error == 0)
		studio_unpublish(recordings_studio(film->service->recordings), id);
	film_request_end(film);
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
	film_request_read(reader, film);
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
	if (reply_finish_reading(request, &reader))
		studio_publish(recordings_studio(service->recordings), url, &film, on_published,
			film_request_begin(service, request, NULL, 201, FILM_START_TIMEOUT_MS));
	json_decref(body);
}

void command_publish_list(struct service *service, struct http_request *request, const char *segment)
{
	json_t *list = studio_publish_json(recordings_studio(service->recordings));
	reply_json(request, 200, json_pack("{s:o}", "publish", list));
}

void command_publish_delete(struct service *service, struct http_request *request, const char *segment)
{
	if (studio_unpublish(recordings_studio(service->recordings), segment))
		http_reply(request, 204, NULL, NULL, 0);
	else
		reply_error(request, REPLY_NOT_FOUND,
			"there is no broadcast %.40s; GET /v1/publish lists them", segment);
}
