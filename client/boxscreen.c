/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/boxscreen.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "base/control_socket.h"
#include "client/exchange.h"
#include "client/request.h"
#include "client/sse_reader.h"

#define SILENCE_DEFAULT_MS 30000

struct boxscreen {
	char *socket_path;
	int silence_max_ms;
};

struct boxscreen_answer {
	struct answer_reader reader;
	json_t *error; /* the body of an error; NULL when it is no JSON */
};

const char *boxscreen_version(void)
{
	return BOXSCREEN_VERSION;
}

const char *boxscreen_strerror(int error)
{
	switch (-error) {
	case ENOENT:
	case ECONNREFUSED:
		return "no boxscreend answers on the socket: start one, or name its socket with "
		       "$BOXSCREEN_SOCKET";
	case ENXIO:
		return "no socket is named: set $BOXSCREEN_SOCKET (or $XDG_RUNTIME_DIR)";
	case EACCES:
		return "permission denied: call as the user or in the group that owns the socket";
	case ENAMETOOLONG:
		return "the socket's path is longer than the 107 bytes that it may have";
	case ETIMEDOUT:
		return "the daemon does not answer in time";
	case ECONNRESET:
		return "the daemon closed the connection before its answer was complete";
	case EPROTO:
		return "what answers does not speak HTTP/1.1: is it boxscreend's socket?";
	case EMSGSIZE:
		return "the answer is too large to be collected";
	case ECANCELED:
		return "the call was ended from this side";
	case EINVAL:
		return "the request's method, target or headers cannot be sent";
	default:
		return strerrordesc_np(-error) != NULL ? strerrordesc_np(-error) : "unknown error";
	}
}

/* The daemon */

int boxscreen_open(const char *socket_path, struct boxscreen **out)
{
	*out = NULL;
	char *path = control_socket_path(socket_path);
	if (path == NULL)
		return -ENXIO;
	if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path)) {
		free(path);
		return -ENAMETOOLONG;
	}
	*out = xcalloc(1, sizeof(**out));
	(*out)->socket_path = path;
	(*out)->silence_max_ms = SILENCE_DEFAULT_MS;
	return 0;
}

void boxscreen_close(struct boxscreen *boxscreen)
{
	if (boxscreen == NULL)
		return;
	free(boxscreen->socket_path);
	free(boxscreen);
}

const char *boxscreen_socket_path(const struct boxscreen *boxscreen)
{
	return boxscreen->socket_path;
}

void boxscreen_set_silence(struct boxscreen *boxscreen, int silence_max_ms)
{
	boxscreen->silence_max_ms = silence_max_ms;
}

/* Calls */

/* Where the body of an answer goes, for requests that want it as it comes. */
struct body_taker {
	const struct boxscreen_request *request;
	struct sse_reader events;
	int stopped;     /* what on_event returned */
	bool is_garbled; /* lines without end: no event stream */
};

static bool take_body(void *arg, const void *data, size_t len)
{
	const struct body_taker *taker = arg;
	return taker->request->on_body(taker->request->on_body_arg, data, len) == 0;
}

static void take_event(void *arg, const struct sse_event *event)
{
	struct body_taker *taker = arg;
	const struct boxscreen_event told = {event->id, event->type, event->data};
	if (taker->stopped == 0)
		taker->stopped = taker->request->on_event(taker->request->on_event_arg, &told);
}

static bool take_events(void *arg, const void *data, size_t len)
{
	struct body_taker *taker = arg;
	taker->is_garbled = !sse_reader_feed(&taker->events, data, len);
	return !taker->is_garbled && taker->stopped == 0;
}

/* The taker is to be finished by sse_reader_finish. */
static void take_as_wanted(struct body_taker *taker, struct answer_reader *reader)
{
	const struct boxscreen_request *request = taker->request;
	reader->arg = taker;
	if (request->on_event != NULL) {
		taker->events = (struct sse_reader){.on_event = take_event, .arg = taker};
		if (request->last_id != NULL)
			sse_reader_resume(&taker->events, request->last_id);
		reader->on_body = take_events;
	} else if (request->on_body != NULL) {
		reader->on_body = take_body;
	}
}

int boxscreen_send(const struct boxscreen *boxscreen, const struct boxscreen_request *request,
	struct boxscreen_answer **out)
{
	*out = NULL;
	if (request->is_wrong)
		return -EINVAL;
	struct boxscreen_answer *answer = xcalloc(1, sizeof(*answer));
	struct body_taker taker = {.request = request};
	take_as_wanted(&taker, &answer->reader);
	const struct exchange exchange = {
		.method = request->method,
		.target = (const char *)request->target.data,
		.headers = (const char *)request->headers.data,
		.content_type = request->media_type,
		.body = request->body,
		.body_len = request->body_len,
		.silence_max_ms =
			request->has_silence ? request->silence_max_ms : boxscreen->silence_max_ms,
		.cancel_fd = request->cancel_fd,
	};
	int ret = exchange_run(boxscreen->socket_path, &exchange, &answer->reader);
	sse_reader_finish(&taker.events);
	if (taker.is_garbled)
		ret = -EPROTO;
	if (answer->reader.status < 200) { /* not even a head */
		boxscreen_answer_free(answer);
		return ret;
	}
	const struct buffer *body = &answer->reader.body;
	if (answer->reader.status >= 400)
		answer->error = json_loadb((const char *)body->data, body->len, 0, NULL);
	*out = answer;
	return ret;
}

int boxscreen_get(
	const struct boxscreen *boxscreen, const char *target, struct boxscreen_answer **out)
{
	struct boxscreen_request *request = boxscreen_request_new("GET", target);
	int ret = boxscreen_send(boxscreen, request, out);
	boxscreen_request_free(request);
	return ret;
}

int boxscreen_post(const struct boxscreen *boxscreen, const char *target, const char *json,
	struct boxscreen_answer **out)
{
	struct boxscreen_request *request = boxscreen_request_new("POST", target);
	const char *body = json != NULL ? json : "{}";
	boxscreen_request_set_body(request, "application/json", body, strlen(body));
	int ret = boxscreen_send(boxscreen, request, out);
	boxscreen_request_free(request);
	return ret;
}

/* Answers */

void boxscreen_answer_free(struct boxscreen_answer *answer)
{
	if (answer == NULL)
		return;
	answer_reader_finish(&answer->reader);
	json_decref(answer->error);
	free(answer);
}

int boxscreen_answer_status(const struct boxscreen_answer *answer)
{
	return answer->reader.status;
}

const char *boxscreen_answer_header(const struct boxscreen_answer *answer, const char *name)
{
	return answer_reader_header(&answer->reader, name);
}

const char *boxscreen_answer_body(const struct boxscreen_answer *answer, size_t *len)
{
	const struct buffer *body = &answer->reader.body;
	if (len != NULL)
		*len = body->len;
	return body->len > 0 ? (const char *)body->data : "";
}

const char *boxscreen_answer_error(const struct boxscreen_answer *answer, const char **message)
{
	const char *code = NULL, *sentence = NULL;
	if (answer->reader.status >= 400) {
		code = json_string_value(json_object_get(answer->error, "error"));
		sentence = json_string_value(json_object_get(answer->error, "message"));
		code = code != NULL ? code : "unknown";
	}
	if (message != NULL)
		*message = sentence != NULL ? sentence : "";
	return code;
}

/* Events */

int boxscreen_events(const struct boxscreen *boxscreen, const char *last_id,
	int (*on_event)(void *arg, const struct boxscreen_event *event), void *arg,
	struct boxscreen_answer **out)
{
	struct boxscreen_request *request = boxscreen_request_new("GET", "/v1/events");
	struct boxscreen_answer *answer = NULL;
	if (last_id != NULL && last_id[0] != '\0')
		boxscreen_request_add_header(request, "Last-Event-ID", last_id);
	boxscreen_request_set_silence(request, -1);
	boxscreen_request_set_on_event(request, on_event, arg);
	int ret = boxscreen_send(boxscreen, request, &answer);
	boxscreen_request_free(request);
	if (out != NULL)
		*out = answer;
	else
		boxscreen_answer_free(answer);
	return ret;
}
