/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP/1.1 (and, for the page server, WebSocket) on libwebsockets, which runs on the main loop.
 * One http_server owns the lws context; each listener is an lws vhost on a Unix socket or a TCP
 * address. Main thread only.
 *
 * A request reaches the listener's handler once, with its whole body. The handler answers at once
 * or later; the request stays valid until it is answered AND the handler returned, or until
 * on_gone has been called, whichever comes first.
 */
#ifndef BASE_HTTP_SERVER_H
#define BASE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct http_server;
struct http_listener;
struct http_request;

struct http_limits {
	size_t body_max;       /* bytes; larger bodies are answered 413 before they are read */
	int header_max;        /* bytes of request line and headers together; over it: 4xx and close */
	int request_timeout_s; /* a request not wholly here by then is closed */
	int idle_timeout_s;    /* a connection without a request is closed after this */
	int connections_max;   /* further ones are closed at once (oldest idle one first, if any) */
};

struct http_server *http_server_create(struct loop *loop);
/* Closes all listeners and connections (on_gone is called for unanswered requests). */
void http_server_destroy(struct http_server *server);

typedef void (*http_handler)(void *arg, struct http_request *request);

/*
 * Listens on a Unix stream socket made with `mode`. A stale socket (nobody accepts) is replaced; a
 * live one gives -EADDRINUSE and is not touched. Anything at path that is no socket gives -EEXIST.
 * Returns 0 or a negative errno.
 */
int http_server_listen_unix(struct http_server *server, const char *path, mode_t mode,
	const struct http_limits *limits, http_handler handler, void *arg,
	struct http_listener **out);

/* Listens on a TCP address ("127.0.0.1", "::1", "0.0.0.0"); port 0 picks a free one. */
int http_server_listen_tcp(struct http_server *server, const char *address, int port,
	const struct http_limits *limits, http_handler handler, void *arg,
	struct http_listener **out);
int http_listener_port(const struct http_listener *listener);
int http_listener_connection_count(const struct http_listener *listener);

/* The request. Pointers stay valid as long as the request does. */
const char *http_request_method(const struct http_request *request);
/* Percent-decoded path, starting with '/', without the query; never holds NUL. */
const char *http_request_path(const struct http_request *request);
/* Percent-decoded query value of the first `name`, or NULL; "" for "?name" and "?name=". */
const char *http_request_query(const struct http_request *request, const char *name);
/* The index-th query parameter in order; false when there are fewer. */
bool http_request_query_at(const struct http_request *request, size_t index, const char **name,
	const char **value);
/* Header value by lower-case name ("if-none-match", "range", "last-event-id", "content-type",
   "host", "origin", "authorization", "accept", "user-agent"), or NULL. */
const char *http_request_header(const struct http_request *request, const char *name);
const char *http_request_body(const struct http_request *request, size_t *len);
/* Peer address in text for TCP, "" for Unix sockets. */
const char *http_request_peer(const struct http_request *request);

/*
 * Sets what to call when the peer goes away before the answer was sent (or, for a stream, at any
 * time before http_stream_close). The request is invalid afterwards. It is not called for a request
 * that was answered.
 */
void http_request_set_on_gone(
	struct http_request *request, void (*on_gone)(void *arg), void *arg);

/*
 * Adds a header to the coming answer; name in any case, value without CR or LF (asserted). Not
 * Content-Length, Content-Type, Connection.
 */
void http_request_add_header(struct http_request *request, const char *name, const char *value);

/*
 * Answers. `data` is copied unless http_reply_take is used, which takes a malloc'ed block. A HEAD
 * request sends the headers only. 304 and 204 send no body.
 */
void http_reply(struct http_request *request, int status, const char *content_type,
	const void *data, size_t len);
void http_reply_take(struct http_request *request, int status, const char *content_type,
	void *data, size_t len);

/*
 * Answers with an open-ended stream (Server-Sent Events). After http_stream_start, each
 * http_stream_write queues bytes; it returns false once more than queue_max bytes wait to be sent,
 * in which case nothing was queued and the stream should be closed. http_stream_close ends it
 * after what is queued has gone out; the request is invalid after that call.
 */
void http_stream_start(struct http_request *request, const char *content_type, size_t queue_max);
bool http_stream_write(struct http_request *request, const void *data, size_t len);
void http_stream_close(struct http_request *request);

/*
 * Answers with a regular file, honouring Range (single ranges; 206/416) and HEAD. `fd` is taken.
 * The size is the file's size now.
 */
void http_reply_file(struct http_request *request, const char *content_type, int fd);

#endif
