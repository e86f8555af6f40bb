/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An HTTP/1.1 server on a loop: listeners on Unix sockets and TCP addresses, requests with their
 * whole body, answers at once or later, streams, files. Loop thread only. What it makes of odd
 * requests is said in base/http_parse.h; what it refuses itself it answers with
 * {"error":code,"message":sentence}. It adds the headers Date, Content-Length or
 * Transfer-Encoding, Connection and (files) Accept-Ranges and Content-Range, and no others.
 *
 * A request reaches the listener's handler once, with its whole body. The handler answers at once
 * or later; the request stays valid until it is answered AND the handler returned, or until
 * on_gone has returned, whichever comes first. The requests of one connection are handled one
 * after another. handler and on_gone are called from the loop or from http_server_destroy, never
 * from inside another call of this module.
 *
 * A peer that is not there any more is noticed at once while its answer is pending. Over TCP a peer
 * that has finished sending counts as gone then (a browser tab that was closed looks no
 * different); over a Unix socket it still gets its answer (`printf ... | socat`) until it closes.
 */
#ifndef BASE_HTTP_SERVER_H
#define BASE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;
struct http_tls;
struct http_transport;
struct loop;
struct http_server;
struct http_listener;
struct http_request;

struct http_limits {
	size_t body_max;       /* bytes; larger bodies are answered 413 before they are read */
	int header_max;        /* bytes of request line and headers together; over it: 4xx and close */
	int request_timeout_s; /* a request not wholly here by then is closed */
	int idle_timeout_s;    /* a connection without a request is closed after this */
	int connections_max;   /* the oldest idle one makes room for a further one, else the one that has
	                          moved nothing for longest; when all are at work it is told 429 */
	int calls_max;         /* calls that wait for their answer before it gets crowded; 0: any number */
	int send_timeout_s;    /* a peer that takes no byte for so long is dropped; 0: 30 */
};

/* Ignores SIGPIPE from here on, unless the process handles it. NULL when fds have run out. */
struct http_server *http_server_create(struct loop *loop);
/*
 * Closes all listeners and connections (on_gone is called for unanswered requests). Requests
 * without on_gone end too. Not from inside a handler or on_gone. Accepts NULL.
 */
void http_server_destroy(struct http_server *server);

typedef void (*http_handler)(void *arg, struct http_request *request);

/*
 * Listens on a Unix stream socket made with `mode`. A stale socket (nobody accepts) is replaced; a
 * live one gives -EADDRINUSE and is not touched. Anything at path that is no socket gives -EEXIST.
 * The socket is removed by http_server_destroy, if it is still the same. Returns 0 or a negative
 * errno; *out (which may be NULL itself) is the server's.
 */
int http_server_listen_unix(struct http_server *server, const char *path, mode_t mode,
	const struct http_limits *limits, http_handler handler, void *arg,
	struct http_listener **out);

/* Listens on a TCP address ("127.0.0.1", "::1", "0.0.0.0"); port 0 picks a free one. */
int http_server_listen_tcp(struct http_server *server, const char *address, int port,
	const struct http_limits *limits, http_handler handler, void *arg,
	struct http_listener **out);
/* What is accepted from now on speaks TLS. Borrowed. */
void http_listener_set_tls(struct http_listener *listener, struct http_tls *tls);
/*
 * Header lines ("Name: value\r\n" each; copied) for the answers that the server gives itself and the
 * handler never sees: to what is no HTTP, too large or too late.
 */
void http_listener_set_error_headers(struct http_listener *listener, const char *lines);
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
/* Value of the first header of that name, which must be given in lower case, or NULL. */
const char *http_request_header(const struct http_request *request, const char *name);
const char *http_request_body(const struct http_request *request, size_t *len);
/*
 * Whether more than calls_max calls wait for their answer, this one included. One that may last is
 * better refused then: the connections that are left are what calls that end others come by.
 */
bool http_request_is_one_too_many(const struct http_request *request);
/* Peer address in text for TCP, "" for Unix sockets. */
const char *http_request_peer(const struct http_request *request);

/*
 * Sets what to call when the peer goes away before the answer was sent (or, for a stream, at any
 * time before http_stream_close). The request is invalid afterwards; answering it inside on_gone
 * has no effect. It is not called for a request that was answered. A request without on_gone stays
 * valid until it is answered, peer or not.
 */
void http_request_set_on_gone(
	struct http_request *request, void (*on_gone)(void *arg), void *arg);

/*
 * Adds a header to the coming answer; name in any case, value without CR or LF (asserted). Not
 * Content-Length, Content-Type, Connection. Before the answer, or http_stream_start.
 */
void http_request_add_header(struct http_request *request, const char *name, const char *value);

/*
 * Answers. What cannot be sent at once of `data` is copied, unless http_reply_take is used, which
 * takes a malloc'ed block. content_type may be NULL. A HEAD request sends the headers only. 304 and
 * 204 send no body.
 */
void http_reply(struct http_request *request, int status, const char *content_type,
	const void *data, size_t len);
void http_reply_take(struct http_request *request, int status, const char *content_type,
	void *data, size_t len);

/*
 * Answers with an open-ended stream (Server-Sent Events). After http_stream_start, each
 * http_stream_write sends or queues bytes; it returns false when more than queue_max bytes would
 * wait to be sent or the peer has gone, in which case nothing was queued and the stream should be
 * closed. http_stream_close ends it after what is queued has gone out; the request is invalid after
 * that call. For a HEAD request on_gone is called soon: there is nothing to stream.
 */
void http_stream_start(struct http_request *request, const char *content_type, size_t queue_max);
bool http_stream_write(struct http_request *request, const void *data, size_t len);
void http_stream_close(struct http_request *request);

/*
 * Answers with a regular file, honouring Range (single ranges; 206/416), If-Range (against an ETag
 * or Last-Modified that was added) and HEAD. `fd` is taken. The size is the file's size now; one
 * that gets shorter meanwhile ends the connection.
 */
void http_reply_file(struct http_request *request, const char *content_type, int fd);

/*
 * Answers 101 with the added headers (Upgrade and so on; Connection: Upgrade is there already) and
 * hands the connection over: *transport is the caller's to close (through its ops; its fd does not
 * block) and *early holds what the peer sent behind its request, to be finished by the caller.
 * False when that could not be done; then neither was touched. Either way the request is answered.
 * The connection no longer counts for connections_max or any time-out.
 */
bool http_request_upgrade(
	struct http_request *request, struct http_transport *transport, struct buffer *early);

#endif
