/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of base/http_server.h share: a server on a thread of its own with a handler that
 * does what the path says, and a raw client that sends bytes and reads answers. For one test
 * program each (all is static).
 */
#ifndef TESTS_UNIT_HTTP_RIG_H
#define TESTS_UNIT_HTTP_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/http_transport.h"
#include "base/list.h"
#include "base/loop.h"

/* Not each program uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* A wait that should be short is given up after this; enough for sanitizers on a busy machine. */
#define RIG_WAIT_MS 20000

struct rig {
	struct loop *loop;
	struct http_server *server;
	struct http_listener *unix_listener;
	struct http_listener *tcp_listener;
	pthread_t thread;
	char dir[64];
	char path[96]; /* of the Unix socket */
	int port;
	struct list pending; /* requests that wait; loop thread only */
	atomic_int pending_count;
	atomic_int gone_count;
	atomic_int handled_count;
	atomic_int connection_count;
	atomic_int burst_count; /* streams that were written full */
};

/* A request that waits for something: a timer, another thread, or for ever. */
struct pending {
	struct list link;
	struct rig *rig;
	struct http_request *request;
	struct loop_timer *timer;
	bool answers_when_gone;
	int ticks; /* of a stream */
};

static const struct http_limits rig_limits = {
	.body_max = 1 << 20,
	.header_max = 8192,
	.request_timeout_s = 30,
	.idle_timeout_s = 60,
	.connections_max = 200,
};

/* --- the handler ------------------------------------------------------------------------------ */

static void pending_free(struct pending *pending)
{
	list_remove(&pending->link);
	atomic_fetch_sub(&pending->rig->pending_count, 1);
	loop_timer_destroy(pending->timer);
	free(pending);
}

static void pending_on_gone(void *arg)
{
	struct pending *pending = arg;
	atomic_fetch_add(&pending->rig->gone_count, 1);
	if (pending->answers_when_gone)
		http_reply(pending->request, 200, "text/plain", "too late", 8);
	pending_free(pending);
}

static struct pending *pending_create(
	struct rig *rig, struct http_request *request, void (*fn)(void *arg))
{
	struct pending *pending = xcalloc(1, sizeof(*pending));
	list_append(&rig->pending, &pending->link);
	atomic_fetch_add(&rig->pending_count, 1);
	pending->rig = rig;
	pending->request = request;
	pending->timer = fn != NULL ? loop_timer_create(rig->loop, fn, pending) : NULL;
	http_request_set_on_gone(request, pending_on_gone, pending);
	return pending;
}

static void answer_late(void *arg)
{
	struct pending *pending = arg;
	http_reply(pending->request, 200, "text/plain", "late\n", 5);
	pending_free(pending);
}

static void stream_tick(void *arg)
{
	struct pending *pending = arg;
	char text[40];
	int len = snprintf(text, sizeof(text), "data: %d\n\n", pending->ticks);
	http_stream_write(pending->request, text, (size_t)len);
	if (--pending->ticks > 0) {
		loop_timer_arm(pending->timer, 5);
		return;
	}
	http_stream_close(pending->request);
	pending_free(pending);
}

static long rig_number(struct http_request *request, const char *name, long otherwise)
{
	const char *text = http_request_query(request, name);
	return text != NULL ? atol(text) : otherwise;
}

static void reply_echo(struct http_request *request)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s %s", http_request_method(request), http_request_path(request));
	const char *name, *value;
	for (size_t i = 0; http_request_query_at(request, i, &name, &value); i++)
		buffer_printf(&text, " [%s=%s]", name, value);
	size_t len;
	const char *body = http_request_body(request, &len);
	buffer_printf(&text, " %zu:", len);
	buffer_append(&text, body, len);
	http_request_add_header(request, "X-Peer", http_request_peer(request));
	http_reply(request, 200, "text/plain", text.data, text.len);
	/* Still valid until the handler returns. */
	assert_string_equal(http_request_path(request), "/echo");
	buffer_finish(&text);
}

static void reply_big(struct http_request *request)
{
	size_t len = (size_t)rig_number(request, "len", 1000);
	char *data = malloc(len + 1);
	memset(data, 'x', len);
	for (size_t i = 0; http_request_query(request, "pattern") != NULL && i < len; i++)
		data[i] = (char)(i * 7 + i / 251);
	if (http_request_query(request, "copy") == NULL) {
		http_reply_take(request, 200, "application/octet-stream", data, len);
		return;
	}
	http_reply(request, 200, "application/octet-stream", data, len);
	free(data);
}

static void start_stream(struct rig *rig, struct http_request *request)
{
	http_stream_start(request, "text/event-stream", (size_t)rig_number(request, "max", 1 << 20));
	size_t burst = (size_t)rig_number(request, "burst", 0);
	struct pending *pending = pending_create(rig, request, stream_tick);
	pending->ticks = (int)rig_number(request, "ticks", 3);
	if (burst > 0) {
		char *block = xcalloc(1, burst);
		memset(block, 'x', burst);
		while (http_stream_write(request, block, burst))
			;
		free(block);
		atomic_fetch_add(&rig->burst_count, 1);
		if (http_request_query(request, "hold") != NULL)
			return;
		pending->ticks = 1;
	}
	if (pending->ticks > 0)
		loop_timer_arm(pending->timer, 5);
}

static void upgrade(struct http_request *request)
{
	struct http_transport transport;
	struct buffer early = {0};
	http_request_add_header(request, "Upgrade", "echo");
	if (!http_request_upgrade(request, &transport, &early))
		return;
	/* Says back what came early, then ends. */
	struct iovec part = {early.data, early.len};
	if (early.len > 0)
		transport.ops->writev(&transport, &part, 1);
	transport.ops->close(&transport);
	buffer_finish(&early);
}

static void rig_handler(void *arg, struct http_request *request)
{
	struct rig *rig = arg;
	const char *path = http_request_path(request);
	atomic_fetch_add(&rig->handled_count, 1);
	if (strcmp(path, "/echo") == 0) {
		reply_echo(request);
	} else if (strcmp(path, "/late") == 0) {
		struct pending *pending = pending_create(rig, request, answer_late);
		loop_timer_arm(pending->timer, rig_number(request, "ms", 20));
	} else if (strcmp(path, "/never") == 0) {
		struct pending *pending = pending_create(rig, request, NULL);
		pending->answers_when_gone = http_request_query(request, "answer") != NULL;
	} else if (strcmp(path, "/silent") == 0) {
		/* Without on_gone: answered later all the same, peer or not. */
		struct pending *pending = pending_create(rig, request, answer_late);
		http_request_set_on_gone(request, NULL, NULL);
		loop_timer_arm(pending->timer, rig_number(request, "ms", 20));
	} else if (strcmp(path, "/big") == 0) {
		reply_big(request);
	} else if (strcmp(path, "/stream") == 0) {
		start_stream(rig, request);
	} else if (strcmp(path, "/file") == 0) {
		http_request_add_header(request, "ETag", "\"v1\"");
		http_reply_file(request, "text/plain",
			open(http_request_query(request, "name"), O_RDONLY | O_CLOEXEC));
	} else if (strcmp(path, "/304") == 0) {
		http_request_add_header(request, "ETag", "\"v1\"");
		http_reply(request, 304, NULL, NULL, 0);
	} else if (strcmp(path, "/upgrade") == 0) {
		upgrade(request);
	} else {
		http_reply(request, 404, "text/plain", "no\n", 3);
	}
}

/* --- the server ------------------------------------------------------------------------------- */

static void *rig_thread(void *arg)
{
	struct rig *rig = arg;
	loop_run(rig->loop);
	return NULL;
}

static struct rig *rig_start_with(const struct http_limits *limits)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));
	list_init(&rig->pending);
	strcpy(rig->dir, "/tmp/http_rig_XXXXXX");
	assert_non_null(mkdtemp(rig->dir));
	snprintf(rig->path, sizeof(rig->path), "%s/s", rig->dir);
	rig->loop = loop_create();
	rig->server = http_server_create(rig->loop);
	assert_non_null(rig->server);
	assert_int_equal(http_server_listen_unix(rig->server, rig->path, 0660, limits, rig_handler,
				 rig, &rig->unix_listener), 0);
	assert_int_equal(http_server_listen_tcp(rig->server, "127.0.0.1", 0, limits, rig_handler,
				 rig, &rig->tcp_listener), 0);
	rig->port = http_listener_port(rig->tcp_listener);
	assert_int_equal(pthread_create(&rig->thread, NULL, rig_thread, rig), 0);
	return rig;
}

static struct rig *rig_start(void)
{
	return rig_start_with(&rig_limits);
}

static void rig_stop_loop(void *arg)
{
	loop_stop(arg);
}

static void rig_stop(struct rig *rig)
{
	loop_post(rig->loop, rig_stop_loop, rig->loop);
	pthread_join(rig->thread, NULL);
	http_server_destroy(rig->server);
	/* Those without on_gone are over with the server. */
	struct pending *pending, *tmp;
	list_for_each_safe(pending, tmp, &rig->pending, link)
		pending_free(pending);
	loop_destroy(rig->loop);
	assert_int_equal(access(rig->path, F_OK), -1);
	assert_int_equal(rmdir(rig->dir), 0);
	free(rig);
}

/* Waits until *counter is at least `value`; false when it does not get there. */
static bool rig_wait(atomic_int *counter, int value)
{
	int64_t end_us = clock_monotonic_us() + RIG_WAIT_MS * 1000;
	while (atomic_load(counter) < value) {
		if (clock_monotonic_us() > end_us)
			return false;
		usleep(500);
	}
	return true;
}

static void rig_count(void *arg)
{
	struct rig *rig = arg;
	atomic_store(&rig->connection_count, http_listener_connection_count(rig->unix_listener));
}

/* How many Unix connections the server has, asked on its own thread. */
static int rig_connection_count(struct rig *rig)
{
	atomic_store(&rig->connection_count, -1);
	loop_post(rig->loop, rig_count, rig);
	assert_true(rig_wait(&rig->connection_count, 0));
	return atomic_load(&rig->connection_count);
}

/* --- the client ------------------------------------------------------------------------------- */

static int connect_unix(const struct rig *rig)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, rig->path, sizeof(address.sun_path) - 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int connect_tcp(const struct rig *rig)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)rig->port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void send_all(int fd, const void *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t count = send(fd, (const char *)data + at, len - at, MSG_NOSIGNAL);
		assert_true(count > 0);
		at += (size_t)count;
	}
}

static void send_text(int fd, const char *text)
{
	send_all(fd, text, strlen(text));
}

/* Reads more. Returns false at the end or when the peer has reset. */
static bool read_more(int fd, struct buffer *in)
{
	struct pollfd ready = {fd, POLLIN, 0};
	if (poll(&ready, 1, RIG_WAIT_MS) != 1)
		fail_msg("no answer within %d ms", RIG_WAIT_MS);
	uint8_t *place = buffer_reserve(in, 65536);
	ssize_t count = recv(fd, place, 65536, 0);
	if (count <= 0)
		return false;
	in->len += (size_t)count;
	return true;
}

/* Reads to the end of the connection; NUL-ended. The caller frees it. */
static char *read_all(int fd)
{
	struct buffer in = {0};
	while (read_more(fd, &in))
		;
	buffer_append(&in, "", 1);
	return (char *)in.data;
}

struct answer {
	int status;
	struct buffer in;  /* head, body and what follows them */
	size_t head_len;
	size_t body_len;
	char *body;        /* NUL-ended copy */
};

static void answer_finish(struct answer *answer)
{
	buffer_finish(&answer->in);
	free(answer->body);
	memset(answer, 0, sizeof(*answer));
}

/* The value of a header of the answer; "" when it is not there. Valid until the next call. */
static const char *answer_header(const struct answer *answer, const char *name)
{
	static char value[512];
	char *head = xstrndup((char *)answer->in.data, answer->head_len);
	char *rest = head, *line;
	value[0] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		size_t len = strlen(name);
		if (strncasecmp(line, name, len) == 0 && line[len] == ':')
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(line + len + 2, "\r"),
				line + len + 2);
	}
	free(head);
	return value;
}

/*
 * Reads one answer, whose length its Content-Length tells; is_head: it has no body. `answer` may
 * hold what was read behind the answer before.
 */
static void read_answer_to(int fd, struct answer *answer, bool is_head)
{
	buffer_consume(&answer->in, answer->head_len + answer->body_len);
	free(answer->body);
	answer->body = NULL;
	answer->head_len = answer->body_len = 0;
	const char *end;
	while (answer->in.len == 0 ||
		(end = memmem(answer->in.data, answer->in.len, "\r\n\r\n", 4)) == NULL) {
		if (!read_more(fd, &answer->in))
			fail_msg("the connection ended before an answer");
	}
	answer->head_len = (size_t)(end - (char *)answer->in.data) + 4;
	assert_memory_equal(answer->in.data, "HTTP/1.1 ", 9);
	answer->status = atoi((char *)answer->in.data + 9);
	bool has_body = !is_head && answer->status != 304 && answer->status != 204 &&
			answer->status >= 200;
	size_t len = has_body ? (size_t)atol(answer_header(answer, "content-length")) : 0;
	while (answer->in.len < answer->head_len + len) {
		if (!read_more(fd, &answer->in))
			fail_msg("the connection ended in an answer");
	}
	answer->body_len = len;
	answer->body = xstrndup((char *)answer->in.data + answer->head_len, len);
}

static void read_answer(int fd, struct answer *answer)
{
	read_answer_to(fd, answer, false);
}

/* Sends text on a new Unix connection and returns all that comes back. The caller frees it. */
static char *ask(const struct rig *rig, const char *text)
{
	int fd = connect_unix(rig);
	send_text(fd, text);
	char *answer = read_all(fd);
	close(fd);
	return answer;
}

static void expect_alive(const struct rig *rig)
{
	char *all = ask(rig, "GET /echo HTTP/1.1\r\nConnection: close\r\n\r\n");
	assert_non_null(strstr(all, "GET /echo 0:"));
	free(all);
}

/* Waits until the server has that many connections. */
static void expect_connections(struct rig *rig, int count)
{
	int64_t end_us = clock_monotonic_us() + RIG_WAIT_MS * 1000;
	while (rig_connection_count(rig) != count) {
		assert_true(clock_monotonic_us() < end_us);
		usleep(500);
	}
}

static int64_t cpu_us(pthread_t thread)
{
	clockid_t clock;
	struct timespec now;
	assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
	assert_int_equal(clock_gettime(clock, &now), 0);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The server's thread sleeps. Nothing to wait for here: time passing is what is looked at. */
static void expect_idle(const struct rig *rig)
{
	usleep(50000);
	int64_t before_us = cpu_us(rig->thread);
	usleep(300000);
	assert_in_range(cpu_us(rig->thread) - before_us, 0, 5000);
}

#endif
