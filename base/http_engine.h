/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of base/http_server.h: the structs that its files share. Nobody else includes this.
 * Loop thread only.
 *
 * All sockets are watched by one epoll set of the server's own, which the loop watches in turn:
 * libuv's poll handles can neither tell a peer that has gone from one that has only finished
 * sending, nor watch for the first alone.
 *
 * Calls from outside (http_reply, http_stream_write, ...) never close a connection or call a
 * handler: they mark the connection and put it on server->deferred, which the next turn of the loop
 * looks at. So on_gone and handlers only ever run from the loop or from http_server_destroy.
 */
#ifndef BASE_HTTP_ENGINE_H
#define BASE_HTTP_ENGINE_H

#include <netinet/in.h>

#include "base/http_output.h"
#include "base/http_parse.h"
#include "base/http_server.h"
#include "base/http_transport.h"
#include "base/list.h"

#define HTTP_NEVER_US INT64_MAX

/* An fd in the epoll set. */
struct http_watch {
	int fd;
	uint32_t events; /* what the kernel watches it for */
	void (*fn)(struct http_watch *watch, uint32_t events);
};

struct http_server {
	struct loop *loop;
	int epoll_fd;
	struct loop_io *epoll_io;
	struct loop_timer *timer;  /* the only one: deferred work and the nearest deadline */
	int64_t timer_due_us;      /* HTTP_NEVER_US: not armed; 0: on the next turn */
	int64_t nearest_due_us;    /* no deadline of a connection or listener is before this */
	struct list listeners;
	struct list deferred;      /* connections to run on the next turn */
	struct list dead;          /* closed connections that an event at hand may still name */
	struct list orphans;       /* requests whose peer went before they were answered */
	int spare_fd;              /* given up for a moment to refuse a peer when fds run out */
	bool is_dispatching;
	int64_t date_s;            /* the second that `date` tells */
	char date[40];
};

struct http_listener {
	struct http_watch watch;
	struct list link; /* in server->listeners */
	struct http_server *server;
	struct http_limits limits;
	http_handler handler;
	void *arg;
	bool is_unix;
	int port;
	struct http_tls *tls;      /* NULL: none */
	char *error_headers;       /* lines for answers of the server's own; NULL: none */
	char *path;                /* of a Unix socket */
	dev_t path_dev;
	ino_t path_ino;
	int64_t paused_until_us;   /* not accepting until then; 0: accepting */
	struct list connections;
	int connection_count;
	int answering_count;       /* of them: those in HTTP_PHASE_ANSWER */
	int turned_away_count;     /* of them: those that are only told that there is no room */
	struct list idle;          /* connections without a request, longest idle first */
};

enum http_phase {
	HTTP_PHASE_IDLE,    /* not a byte of a request is here */
	HTTP_PHASE_HEAD,    /* part of a head is */
	HTTP_PHASE_BODY,    /* the head is, the body is not */
	HTTP_PHASE_ANSWER,  /* the handler has the request; the answer is not complete */
	HTTP_PHASE_SENDING, /* the answer is complete but not sent */
	HTTP_PHASE_LINGER,  /* all is sent; what the peer still sends is thrown away */
};

struct http_connection {
	struct http_watch watch;
	struct list link;          /* in listener->connections, or server->dead */
	struct list idle_link;     /* in listener->idle */
	struct list deferred_link; /* in server->deferred */
	struct http_server *server;
	struct http_listener *listener;
	struct http_transport transport;
	enum http_phase phase;
	bool is_closed;            /* freed at the end of the dispatch */
	bool has_failed;           /* to be closed as soon as nobody is inside */
	bool is_half_closed;       /* the peer has finished sending */
	bool keeps_alive;
	bool is_turned_away;
	bool lingers;              /* closes by way of HTTP_PHASE_LINGER */
	struct buffer in;          /* read but not used */
	size_t head_scanned;
	struct http_chunked chunked;
	struct http_request *request; /* from its head until it is answered */
	struct http_output out;
	uint64_t sent;             /* bytes, ever */
	int64_t since_us;          /* when the phase began; while sending: the last progress */
	int64_t due_us;            /* deadline of the phase */
	char peer[INET6_ADDRSTRLEN];
};

struct http_request {
	struct list link;          /* in server->orphans once connection is NULL */
	struct http_server *server;
	struct http_connection *connection; /* NULL once the peer has gone */
	struct http_head head;
	struct buffer body;
	struct buffer headers;     /* added ones, as they will be sent */
	void (*on_gone)(void *arg);
	void *on_gone_arg;
	bool is_in_use;            /* its handler or on_gone is running: not to be freed */
	bool is_answered;
	bool is_stream;
	bool is_stream_chunked;
	size_t queue_max;
	char peer[INET6_ADDRSTRLEN];
};

/* --- http_server.c --- */
bool http_watch_add(struct http_server *server, struct http_watch *watch, uint32_t events);
void http_watch_set(struct http_server *server, struct http_watch *watch, uint32_t events);
void http_watch_remove(struct http_server *server, struct http_watch *watch);
/* A connection or listener has a deadline then: sees to it that expiry is looked at by then. */
void http_server_note_due(struct http_server *server, int64_t due_us);
void http_server_defer(struct http_server *server, struct http_connection *connection);
const char *http_server_date(struct http_server *server);

/* --- http_listen.c --- */
void http_listener_destroy(struct http_listener *listener);
/* Accepts again when the pause is over. */
void http_listener_resume(struct http_listener *listener, int64_t now_us);

/* --- http_connection.c --- */
/* Takes fd. Returns NULL (fd closed) when it cannot be watched. */
struct http_connection *http_connection_create(
	struct http_listener *listener, int fd, const char *peer);
/* Answers what comes first with the fault, unread, and closes after that. */
void http_connection_turn_away(struct http_connection *connection, const struct http_fault *fault);
/* Closes it now; calls on_gone for an unanswered request. Only when nobody is inside. */
void http_connection_close(struct http_connection *connection);
void http_connection_free(struct http_connection *connection);
/* Every change of phase: whoever counts or lists connections by it follows. */
void http_connection_set_phase(struct http_connection *connection, enum http_phase phase);
/* Goes on as far as what is here and what can be sent allow; may close it. */
void http_connection_run(struct http_connection *connection);
/* The deadline has come. */
void http_connection_expire(struct http_connection *connection);
/* Sends what can be sent; notes failure. Returns whether nothing waits any more. */
bool http_connection_flush(struct http_connection *connection);

/* --- http_request.c --- */
struct http_request *http_request_create(struct http_connection *connection);
void http_request_free(struct http_request *request);
/* Frees an answered request unless someone is inside, who then does it. */
void http_request_release(struct http_request *request);
/* It has no connection any more: on_gone is called on the next turn, or once it is set. */
void http_request_detach(struct http_request *request);
/* Its peer has gone: calls on_gone and frees it, or keeps it for the answer that will come. */
void http_request_lose(struct http_request *request);
/* Calls on_gone of all orphans that have one by now. */
void http_requests_run_orphans(struct http_server *server);

/* --- http_reply.c --- */
/* Queues the head of an answer; body_len < 0: a stream. */
void http_reply_put_head(struct http_connection *connection, const struct http_request *request,
	int status, const char *content_type, int64_t body_len);
/* Queues an answer of the server's own, for a request that may not be there. */
void http_reply_put_error(struct http_connection *connection, const struct http_request *request,
	const struct http_fault *fault);
/*
 * Begins the answer to a request: returns its connection, or NULL when the peer has gone, in which
 * case there is nothing to do but http_request_release.
 */
struct http_connection *http_reply_begin(struct http_request *request);
/* The answer is complete: sends what it can now and leaves the rest to the loop. */
void http_reply_end(struct http_request *request);

#endif
