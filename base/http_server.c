/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http_server.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_engine.h"
#include "base/loop.h"

#define EVENTS_AT_ONCE 64

/* Deadlines are rounded up to this, so that many connections share one wake-up. */
#define DUE_GRAIN_US 100000

/* --- what is watched ------------------------------------------------------------------------- */

static bool control(struct http_server *server, int op, struct http_watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	watch->events = events;
	return epoll_ctl(server->epoll_fd, op, watch->fd, &event) == 0;
}

bool http_watch_add(struct http_server *server, struct http_watch *watch, uint32_t events)
{
	return control(server, EPOLL_CTL_ADD, watch, events);
}

void http_watch_set(struct http_server *server, struct http_watch *watch, uint32_t events)
{
	if (watch->events != events)
		control(server, EPOLL_CTL_MOD, watch, events);
}

void http_watch_remove(struct http_server *server, struct http_watch *watch)
{
	control(server, EPOLL_CTL_DEL, watch, 0);
}

static void free_dead(struct http_server *server)
{
	struct http_connection *connection, *tmp;
	list_for_each_safe(connection, tmp, &server->dead, link)
		http_connection_free(connection);
}

static void on_epoll(void *arg, int events)
{
	struct http_server *server = arg;
	struct epoll_event ready[EVENTS_AT_ONCE];
	int count = epoll_wait(server->epoll_fd, ready, EVENTS_AT_ONCE, 0);
	server->is_dispatching = true;
	for (int i = 0; i < count; i++) {
		struct http_watch *watch = ready[i].data.ptr;
		watch->fn(watch, ready[i].events);
	}
	server->is_dispatching = false;
	free_dead(server);
}

/* --- deadlines and deferred work -------------------------------------------------------------- */

static void arm(struct http_server *server, int64_t due_us)
{
	if (due_us >= server->timer_due_us)
		return;
	server->timer_due_us = due_us;
	int64_t delay_us = due_us > 0 ? due_us - clock_monotonic_us() : 0;
	loop_timer_arm(server->timer, delay_us > 0 ? (delay_us + 999) / 1000 : 0);
}

void http_server_note_due(struct http_server *server, int64_t due_us)
{
	if (due_us >= server->nearest_due_us)
		return;
	server->nearest_due_us = due_us;
	arm(server, due_us);
}

void http_server_defer(struct http_server *server, struct http_connection *connection)
{
	if (connection != NULL && list_is_empty(&connection->deferred_link))
		list_append(&server->deferred, &connection->deferred_link);
	arm(server, 0);
}

static void run_deferred(struct http_server *server)
{
	/* Only those of now: what they defer in turn waits for the next turn of the loop. */
	struct list batch;
	list_init(&batch);
	while (!list_is_empty(&server->deferred)) {
		struct list *first = server->deferred.next;
		list_remove(first);
		list_append(&batch, first);
	}
	while (!list_is_empty(&batch)) {
		struct http_connection *connection =
			container_of(batch.next, struct http_connection, deferred_link);
		list_remove(&connection->deferred_link);
		http_connection_run(connection);
	}
}

/* Ends what is over and finds out when to look again. */
static void expire(struct http_server *server, int64_t now_us)
{
	int64_t next_us = HTTP_NEVER_US;
	struct http_listener *listener;
	list_for_each(listener, &server->listeners, link) {
		if (listener->paused_until_us != 0) {
			http_listener_resume(listener, now_us);
			if (listener->paused_until_us != 0 && listener->paused_until_us < next_us)
				next_us = listener->paused_until_us;
		}
		struct http_connection *connection, *tmp;
		list_for_each_safe(connection, tmp, &listener->connections, link) {
			if (connection->due_us <= now_us)
				http_connection_expire(connection);
			if (!connection->is_closed && connection->due_us < next_us)
				next_us = connection->due_us;
		}
	}
	server->nearest_due_us = next_us == HTTP_NEVER_US
					 ? next_us
					 : (next_us / DUE_GRAIN_US + 1) * DUE_GRAIN_US;
}

static void on_timer(void *arg)
{
	struct http_server *server = arg;
	server->timer_due_us = HTTP_NEVER_US;
	server->is_dispatching = true;
	run_deferred(server);
	http_requests_run_orphans(server);
	int64_t now_us = clock_monotonic_us();
	if (server->nearest_due_us <= now_us)
		expire(server, now_us);
	server->is_dispatching = false;
	free_dead(server);
	if (server->nearest_due_us != HTTP_NEVER_US)
		arm(server, server->nearest_due_us);
}

const char *http_server_date(struct http_server *server)
{
	time_t now = time(NULL);
	if (now != server->date_s) {
		struct tm utc;
		gmtime_r(&now, &utc);
		/* The process keeps the C locale for times; names of days are English. */
		strftime(server->date, sizeof(server->date), "%a, %d %b %Y %H:%M:%S GMT", &utc);
		server->date_s = now;
	}
	return server->date;
}

/* --- life ------------------------------------------------------------------------------------ */

/* sendfile to a peer that has gone raises it, and has no flag against that as sendmsg has. */
static void ignore_sigpipe(void)
{
	struct sigaction old;
	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

struct http_server *http_server_create(struct loop *loop)
{
	ignore_sigpipe();
	struct http_server *server = xcalloc(1, sizeof(*server));
	server->loop = loop;
	list_init(&server->listeners);
	list_init(&server->deferred);
	list_init(&server->dead);
	list_init(&server->orphans);
	server->timer_due_us = HTTP_NEVER_US;
	server->nearest_due_us = HTTP_NEVER_US;
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll_fd >= 0)
		server->epoll_io = loop_io_create(
			loop, server->epoll_fd, LOOP_READABLE, on_epoll, server);
	server->timer = loop_timer_create(loop, on_timer, server);
	if (server->epoll_io == NULL) {
		http_server_destroy(server);
		return NULL;
	}
	return server;
}

static void end_orphans(struct http_server *server)
{
	http_requests_run_orphans(server);
	while (!list_is_empty(&server->orphans))
		http_request_free(container_of(server->orphans.next, struct http_request, link));
}

void http_server_destroy(struct http_server *server)
{
	if (server == NULL)
		return;
	assert(!server->is_dispatching); /* not from a handler or on_gone: post it */
	server->is_dispatching = true;
	while (!list_is_empty(&server->listeners))
		http_listener_destroy(
			container_of(server->listeners.next, struct http_listener, link));
	end_orphans(server);
	free_dead(server);
	loop_timer_destroy(server->timer);
	loop_io_destroy(server->epoll_io);
	if (server->epoll_fd >= 0)
		close(server->epoll_fd);
	if (server->spare_fd >= 0)
		close(server->spare_fd);
	free(server);
}
