/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libboxscreen: calls to a box's screen, through boxscreend's control socket.
 *
 * A call is one HTTP request with one answer, as docs/control-api.md describes them; what the calls
 * are, openapi.json has for machines. This library carries them over the Unix socket and brings
 * errors and events into C; what is in the JSON is left to the JSON library of your choice.
 *
 * Threads: a struct boxscreen may be used by several threads at once, since each call has a
 * connection of its own. A request and an answer belong to one thread at a time. Every call blocks.
 * No signal handler, global variable or thread is left behind; SIGPIPE is never raised, EINTR never
 * returned.
 *
 * Errors: functions that can fail return 0 or a negative errno, which boxscreen_strerror() turns
 * into a sentence. An answer with an HTTP error status is an answer (0 is returned): ask
 * boxscreen_answer_error(). Where the memory for a small object is not to be had, the process is
 * aborted, as in GLib; an answer that does not fit into memory is -ENOMEM.
 *
 * Texts are UTF-8 and end with NUL. Pointers that are passed in are only read during the call.
 */
#ifndef BOXSCREEN_H
#define BOXSCREEN_H

#include <stddef.h>

#if defined(__GNUC__)
#define BOXSCREEN_API __attribute__((visibility("default")))
#else
#define BOXSCREEN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct boxscreen;         /* where a daemon is, and how long to wait for it */
struct boxscreen_request; /* a call that has not been made yet */
struct boxscreen_answer;  /* what came of one */

/* The version of the library, such as "0.1.0". */
BOXSCREEN_API const char *boxscreen_version(void);

/* What a negative errno of these functions means, and what to do: a sentence, static. */
BOXSCREEN_API const char *boxscreen_strerror(int error);

/* The daemon */

/*
 * Names the daemon whose control socket is `socket_path`; NULL or "": the one that the command
 * boxscreen would use ($BOXSCREEN_SOCKET, else /run/boxscreen/control.sock for root, else
 * $XDG_RUNTIME_DIR/boxscreen/control.sock). Nothing is connected yet. Returns 0 and in *out what
 * boxscreen_close() frees; -ENXIO when there is no such default, -ENAMETOOLONG for more than 107
 * bytes. *out is NULL then.
 */
BOXSCREEN_API int boxscreen_open(const char *socket_path, struct boxscreen **out);
BOXSCREEN_API void boxscreen_close(struct boxscreen *boxscreen); /* accepts NULL */

/* The socket's path, until boxscreen_close(). */
BOXSCREEN_API const char *boxscreen_socket_path(const struct boxscreen *boxscreen);

/*
 * How long the daemon may say nothing before a call returns -ETIMEDOUT, in milliseconds; -1: for
 * ever. 30000 unless set. For a call that waits (timeout_ms, wait_s), add what it waits. Not while
 * another thread makes calls.
 */
BOXSCREEN_API void boxscreen_set_silence(struct boxscreen *boxscreen, int silence_max_ms);

/* Calls */

/*
 * The short forms: GET `target`, and POST of the JSON text `json` to it (NULL: "{}"). `target` is a
 * path with its query, percent-encoded. Else as boxscreen_send().
 */
BOXSCREEN_API int boxscreen_get(
	const struct boxscreen *boxscreen, const char *target, struct boxscreen_answer **out);
BOXSCREEN_API int boxscreen_post(const struct boxscreen *boxscreen, const char *target,
	const char *json, struct boxscreen_answer **out);

/*
 * A call with everything. `method` is GET, POST, PUT or DELETE; `target` as above. What is wrong
 * with these or with what is added later is told by boxscreen_send() (-EINVAL). Freed by
 * boxscreen_request_free(); may be sent more than once.
 */
BOXSCREEN_API struct boxscreen_request *boxscreen_request_new(
	const char *method, const char *target);
BOXSCREEN_API void boxscreen_request_free(struct boxscreen_request *request); /* accepts NULL */

/* Adds name=value to the query; both are percent-encoded here. */
BOXSCREEN_API void boxscreen_request_add_query(
	struct boxscreen_request *request, const char *name, const char *value);

/* Adds a header line. Names and values with control characters are -EINVAL when it is sent. */
BOXSCREEN_API void boxscreen_request_add_header(
	struct boxscreen_request *request, const char *name, const char *value);

/* The body, which is copied, and its media type; the daemon takes up to 16 MiB. */
BOXSCREEN_API void boxscreen_request_set_body(
	struct boxscreen_request *request, const char *media_type, const void *data, size_t len);

/* For this request instead of what boxscreen_set_silence() says. */
BOXSCREEN_API void boxscreen_request_set_silence(
	struct boxscreen_request *request, int silence_max_ms);

/*
 * Lets another thread, or a signal handler, end the call: as soon as `fd` (an eventfd, the reading
 * end of a pipe) is readable, boxscreen_send() closes its connection and returns -ECANCELED. The
 * daemon then does no more of what the call asked for. `fd` stays the caller's; -1: no such end.
 */
BOXSCREEN_API void boxscreen_request_set_cancel_fd(struct boxscreen_request *request, int fd);

/*
 * Gives the body of the answer to `on_body` as it comes, instead of collecting it: for videos and
 * streams. `data` is gone when it returns; returning 0 goes on, anything else ends the call with
 * -ECANCELED. The body of an HTTP error is collected all the same.
 */
BOXSCREEN_API void boxscreen_request_set_on_body(struct boxscreen_request *request,
	int (*on_body)(void *arg, const void *data, size_t len), void *arg);

/* One event; gone when the callback returns. The library may add members at the end. */
struct boxscreen_event {
	const char *id;   /* ask for what comes after it by this */
	const char *type; /* such as "screen.ready"; "gap" when events were lost */
	const char *data; /* a JSON object */
};

/*
 * The same for an answer that is a stream of events (GET /v1/events): `on_event` is called for
 * each, and ends the call like on_body. An event without an id has that of the one before, or of
 * the request's header Last-Event-ID, by which the daemon goes on behind an event.
 */
BOXSCREEN_API void boxscreen_request_set_on_event(struct boxscreen_request *request,
	int (*on_event)(void *arg, const struct boxscreen_event *event), void *arg);

/*
 * Makes the call and waits for its answer, whatever its status. Returns 0, or:
 *   -ENOENT, -ECONNREFUSED   no daemon is there
 *   -EACCES                  the socket belongs to others
 *   -ETIMEDOUT               the daemon said nothing for too long
 *   -ECONNRESET              it closed the connection before the answer was complete
 *   -EPROTO                  what answers does not speak HTTP/1.1
 *   -EMSGSIZE                headers over 64 KiB, or a collected body over 1 GiB
 *   -ENOMEM, -ECANCELED, -EINVAL (above), and what connect(2), send(2) and recv(2) say
 * *out receives the answer, which boxscreen_answer_free() frees; on an error what there is of it:
 * NULL, or an answer whose head came. Free it in any case.
 */
BOXSCREEN_API int boxscreen_send(const struct boxscreen *boxscreen,
	const struct boxscreen_request *request, struct boxscreen_answer **out);

/* Answers. What they return is good until the answer is freed. */

BOXSCREEN_API void boxscreen_answer_free(struct boxscreen_answer *answer); /* accepts NULL */

/* The HTTP status: 200, 201, 204 and 304 are good, 400 and up are errors. */
BOXSCREEN_API int boxscreen_answer_status(const struct boxscreen_answer *answer);

/* The first header of that name in any case, or NULL. */
BOXSCREEN_API const char *boxscreen_answer_header(
	const struct boxscreen_answer *answer, const char *name);

/* The body, *len bytes (len may be NULL) and a NUL behind them; never NULL. */
BOXSCREEN_API const char *boxscreen_answer_body(const struct boxscreen_answer *answer, size_t *len);

/*
 * The daemon's error: its code ("locked", "timeout", …, the table in control-api.md), NULL when the
 * status is no error. *message (may be NULL) receives the sentence that says what to do. An error
 * without a code, of something that is not boxscreend, is "unknown".
 */
BOXSCREEN_API const char *boxscreen_answer_error(
	const struct boxscreen_answer *answer, const char **message);

/* Events */

/*
 * Follows the events: calls on_event for each, from those after the event `last_id` on (NULL: from
 * now on). Returns only when on_event returned something else than 0 (-ECANCELED), or the
 * connection ended: what boxscreen_send() returns, and *out (may be NULL) as it gives it. A daemon
 * that ends, ends the stream: 0 with status 200, or -ECONNRESET. Call again with the last id to go
 * on. Silence does not end it; to end it from elsewhere, send a request with on_event and a
 * cancel fd.
 */
BOXSCREEN_API int boxscreen_events(const struct boxscreen *boxscreen, const char *last_id,
	int (*on_event)(void *arg, const struct boxscreen_event *event), void *arg,
	struct boxscreen_answer **out);

#ifdef __cplusplus
}
#endif

#endif
