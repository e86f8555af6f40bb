/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_engine.h"

struct http_request *http_request_create(struct http_connection *connection)
{
	struct http_request *request = xcalloc(1, sizeof(*request));
	list_init(&request->link);
	request->server = connection->server;
	request->connection = connection;
	memcpy(request->peer, connection->peer, sizeof(request->peer));
	return request;
}

void http_request_free(struct http_request *request)
{
	list_remove(&request->link);
	http_head_finish(&request->head);
	buffer_finish(&request->body);
	buffer_finish(&request->headers);
	free(request);
}

void http_request_release(struct http_request *request)
{
	request->is_answered = true;
	if (!request->is_in_use)
		http_request_free(request);
}

static void call_on_gone(struct http_request *request)
{
	list_remove(&request->link);
	request->is_in_use = true; /* it may still be answered in there, to no effect */
	request->on_gone(request->on_gone_arg);
	http_request_free(request);
}

void http_request_detach(struct http_request *request)
{
	request->connection = NULL;
	list_append(&request->server->orphans, &request->link);
	http_server_defer(request->server, NULL);
}

void http_request_lose(struct http_request *request)
{
	request->connection = NULL;
	if (request->on_gone != NULL)
		call_on_gone(request);
	else
		list_append(&request->server->orphans, &request->link);
}

static struct http_request *find_orphan(struct http_server *server)
{
	struct http_request *request;
	list_for_each(request, &server->orphans, link) {
		if (request->on_gone != NULL && !request->is_in_use)
			return request;
	}
	return NULL;
}

void http_requests_run_orphans(struct http_server *server)
{
	/* From the start each time: on_gone may answer, and so free, other orphans. */
	struct http_request *request;
	while ((request = find_orphan(server)) != NULL)
		call_on_gone(request);
}

const char *http_request_method(const struct http_request *request)
{
	return request->head.method;
}

const char *http_request_path(const struct http_request *request)
{
	return request->head.path;
}

const char *http_request_query(const struct http_request *request, const char *name)
{
	for (size_t i = 0; i < request->head.query_count; i++) {
		if (strcmp(request->head.query[i].name, name) == 0)
			return request->head.query[i].value;
	}
	return NULL;
}

bool http_request_query_at(const struct http_request *request, size_t index, const char **name,
	const char **value)
{
	if (index >= request->head.query_count)
		return false;
	*name = request->head.query[index].name;
	*value = request->head.query[index].value;
	return true;
}

const char *http_request_header(const struct http_request *request, const char *name)
{
	return http_head_header(&request->head, name);
}

const char *http_request_body(const struct http_request *request, size_t *len)
{
	*len = request->body.len;
	return request->body.data != NULL ? (const char *)request->body.data : "";
}

bool http_request_is_one_too_many(const struct http_request *request)
{
	const struct http_connection *connection = request->connection;
	int max = connection != NULL ? connection->listener->limits.calls_max : 0;
	return max > 0 && connection->listener->answering_count > max;
}

const char *http_request_peer(const struct http_request *request)
{
	return request->peer;
}

void http_request_set_on_gone(
	struct http_request *request, void (*on_gone)(void *arg), void *arg)
{
	request->on_gone = on_gone;
	request->on_gone_arg = arg;
	/* The peer may have gone while nobody was there to be told. */
	if (request->connection == NULL)
		http_server_defer(request->server, NULL);
}

void http_request_add_header(struct http_request *request, const char *name, const char *value)
{
	assert(strpbrk(name, "\r\n:") == NULL && strpbrk(value, "\r\n") == NULL);
	buffer_printf(&request->headers, "%s: %s\r\n", name, value);
}
