/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/mcp/server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "cli/mcp/call.h"
#include "cli/mcp/rpc.h"
#include "cli/mcp/server_private.h"
#include "cli/mcp/session.h"
#include "cli/mcp/tools.h"
#include "client/boxscreen.h"

#define READ_SIZE 65536
/* How long calls may still take once the client has closed its side: for what is piped in at once. */
#define GRACE_MS 1000

/* Output */

static bool write_all(const char *data, size_t len)
{
	while (len > 0) {
		ssize_t written = write(STDOUT_FILENO, data, len);
		if (written >= 0) {
			data += written;
			len -= (size_t)written;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

void server_write(struct server *server, json_t *message)
{
	struct buffer line = {0};
	char *text = server->is_broken ? NULL : json_dumps(message, JSON_COMPACT);
	json_decref(message);
	if (text == NULL)
		return;
	buffer_append(&line, text, strlen(text));
	buffer_append(&line, "\n", 1);
	if (!write_all((const char *)line.data, line.len)) {
		server->is_broken = true;
		eventfd_write(server->broken_fd, 1);
	}
	buffer_finish(&line);
	free(text);
}

void server_answer(struct server *server, struct batch *batch, json_t *message)
{
	if (batch == NULL)
		server_write(server, message);
	else
		json_array_append_new(batch->answers, message);
}

void server_release(struct server *server, struct batch *batch)
{
	if (batch == NULL || --batch->left > 0)
		return;
	if (json_array_size(batch->answers) > 0)
		server_write(server, batch->answers);
	else
		json_decref(batch->answers);
	free(batch);
}

/* Messages */

static void handle_request(
	struct server *server, const struct rpc_message *request, struct batch *batch)
{
	struct session_terms terms;
	json_t *answer = session_accept(&server->session, request, &terms);
	if (answer == NULL && batch != NULL && strcmp(request->method, "initialize") == 0)
		answer = rpc_error(request->id, RPC_INVALID_REQUEST,
			"\"initialize\" must not be part of a batch", NULL);
	if (answer == NULL)
		answer = session_answer(&server->session, request, &terms);
	if (answer != NULL)
		server_answer(server, batch, answer);
	else if (strcmp(request->method, "tools/call") == 0)
		call_start(server, request, &terms, batch);
	else
		call_subscribe(server, request, &terms);
}

static void handle_message(struct server *server, json_t *json, struct batch *batch)
{
	struct rpc_message message;
	rpc_read(json, &message);
	switch (message.kind) {
	case RPC_REQUEST:
		handle_request(server, &message, batch);
		break;
	case RPC_NOTIFICATION:
		if (strcmp(message.method, "notifications/cancelled") == 0)
			call_cancel(server, json_object_get(message.params, "requestId"));
		break;
	case RPC_FAULTY:
		server_answer(
			server, batch, rpc_error(message.id, message.code, message.fault, NULL));
		break;
	case RPC_RESPONSE:
		break;
	}
}

static void handle_batch(struct server *server, json_t *list)
{
	size_t i;
	json_t *json;
	if (!session_takes_batches(&server->session) || json_array_size(list) == 0) {
		server_write(server, rpc_error(NULL, RPC_INVALID_REQUEST,
					     "a list of messages must not be empty, and is of protocol "
					     "2025-03-26 alone: send each on a line of its own",
					     NULL));
		return;
	}
	struct batch *batch = xcalloc(1, sizeof(*batch));
	batch->answers = json_array();
	batch->left = 1; /* until all of it is read */
	json_array_foreach(list, i, json)
		handle_message(server, json, batch);
	server_release(server, batch);
}

/* A request that cannot be read is answered by its id if that can: its sender would wait for ever. */
static void refuse_line(struct server *server, const char *line, size_t len, enum rpc_code code,
	const char *text)
{
	json_t *id = rpc_find_id(line, len);
	server_write(server, rpc_error(id, code, text, NULL));
	json_decref(id);
}

static void on_line(void *arg, const char *line, size_t len, bool is_whole)
{
	struct server *server = arg;
	json_error_t error;
	if (is_whole && line[strspn(line, " \t\r")] == '\0' && len < 1024)
		return;
	json_t *json = is_whole ? json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error)
				: NULL;
	pthread_mutex_lock(&server->lock);
	if (!is_whole) {
		refuse_line(server, line, len, RPC_INVALID_REQUEST,
			"the message is longer than 16 MiB; nothing was done");
	} else if (json == NULL) {
		char *text = xasprintf(
			"not a JSON message on one line: %s; nothing was done", error.text);
		refuse_line(server, line, len, RPC_PARSE_ERROR, text);
		free(text);
	} else if (json_is_array(json)) {
		handle_batch(server, json);
	} else {
		handle_message(server, json, NULL);
	}
	pthread_mutex_unlock(&server->lock);
	json_decref(json);
}

/* Life */

/* Until the client goes away. Threads do not touch what is used here without the lock. */
static void read_until_end(struct server *server)
{
	char *space = xmalloc(READ_SIZE);
	for (;;) {
		/* stdout says when its reader has gone, also while nothing is written. */
		struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = server->broken_fd, .events = POLLIN}, {.fd = STDOUT_FILENO}};
		if (poll(polled, 3, -1) < 0 && errno != EINTR)
			break;
		if (polled[1].revents != 0 || polled[2].revents != 0)
			break;
		if (polled[0].revents == 0)
			continue;
		ssize_t got = read(STDIN_FILENO, space, READ_SIZE);
		if (got > 0)
			rpc_lines_feed(&server->lines, space, (size_t)got);
		else if (got == 0 || (errno != EINTR && errno != EAGAIN))
			break;
	}
	rpc_lines_feed(&server->lines, "\n", 1); /* the last line may lack its end */
	free(space);
}

/* Waits until no call runs any more, or for so long; -1: however long it takes. */
static void wait_for_calls(struct server *server, int timeout_ms)
{
	struct timespec end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += timeout_ms / 1000;
	end.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
	int ret = 0;
	while (server->running > 0 && ret == 0)
		ret = timeout_ms < 0 ? pthread_cond_wait(&server->ended, &server->lock)
				     : pthread_cond_timedwait(&server->ended, &server->lock, &end);
}

static void init(struct server *server, const struct mcp_options *options)
{
	pthread_condattr_t attributes;
	server->options = options;
	server->tools = tools_create(options);
	server->session.tools = server->tools;
	server->lines.on_line = on_line;
	server->lines.arg = server;
	server->broken_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	list_init(&server->calls);
	pthread_mutex_init(&server->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&server->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	if (options->socket_path != NULL)
		boxscreen_open(options->socket_path, &server->boxscreen);
}

void mcp_serve(const struct mcp_options *options)
{
	struct server server = {0};
	signal(SIGPIPE, SIG_IGN);
	init(&server, options);
	read_until_end(&server);
	pthread_mutex_lock(&server.lock);
	if (!server.is_broken)
		wait_for_calls(&server, GRACE_MS);
	call_end_all(&server);
	wait_for_calls(&server, -1);
	pthread_mutex_unlock(&server.lock);
	rpc_lines_finish(&server.lines);
	boxscreen_close(server.boxscreen);
	tools_destroy(server.tools);
	close(server.broken_fd);
	pthread_cond_destroy(&server.ended);
	pthread_mutex_destroy(&server.lock);
}
