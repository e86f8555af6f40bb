/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/mcp/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/mcp/server_private.h"
#include "cli/mcp/tools.h"

/* More at once than any client has; each is a thread. */
#define CALLS_MAX 64
#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

/*
 * Clients that show the model nothing but structuredContent where there is one, so that pictures are lost
 * (anthropics/claude-code#54737, openai/codex#38287, anomalyco/opencode#32832), by their names' beginnings.
 */
static const char *const picture_droppers[] = {"claude-code", "codex", "opencode"};

struct call {
	struct list link;
	struct server *server;
	const struct tool *tool; /* NULL: a subscription */
	json_t *id, *token;      /* token: NULL when progress is not wanted */
	struct session_terms terms;
	char client[64];         /* terms.client */
	struct batch *batch;
	struct tool_call body;   /* its thread's */
	bool is_cancelled;       /* guarded by the server's lock */
};

static struct call *find(const struct server *server, const json_t *id)
{
	struct call *call;
	list_for_each(call, &server->calls, link) {
		if (!call->is_cancelled && rpc_id_equals(call->id, id))
			return call;
	}
	return NULL;
}

static struct call *create(
	struct server *server, const struct rpc_message *request, const struct session_terms *terms)
{
	const json_t *meta = json_object_get(request->params, "_meta");
	json_t *token = json_object_get(meta, "progressToken");
	struct call *call = xcalloc(1, sizeof(*call));
	call->server = server;
	/* Copies: the message that they came in is the main thread's. */
	call->id = json_copy(request->id);
	if (json_is_string(token) || json_is_integer(token))
		call->token = json_copy(token);
	snprintf(call->client, sizeof(call->client), "%s", terms->client);
	call->terms = *terms;
	call->terms.client = call->client;
	call->body.cancel_fd = -1;
	list_append(&server->calls, &call->link);
	return call;
}

static void destroy(struct call *call)
{
	list_remove(&call->link);
	json_decref(call->id);
	json_decref(call->token);
	json_decref(call->body.arguments);
	json_decref(call->body.content);
	json_decref(call->body.structured);
	if (call->body.cancel_fd >= 0)
		close(call->body.cancel_fd);
	free(call);
}

/* Results */

static bool drops_pictures(const char *client)
{
	for (size_t i = 0; i < ARRAY_LEN(picture_droppers); i++) {
		if (strncasecmp(client, picture_droppers[i], strlen(picture_droppers[i])) == 0)
			return true;
	}
	return false;
}

static bool shows_structured(const struct call *call)
{
	const struct tool_call *body = &call->body;
	if (!body->has_picture)
		return true;
	switch (body->options->structured) {
	case STRUCTURED_ALWAYS:
		return true;
	case STRUCTURED_NEVER:
		return false;
	default:
		return !drops_pictures(call->client);
	}
}

/* What the tool has made, as tools/call returns it. */
static json_t *take_result(struct call *call)
{
	struct tool_call *body = &call->body;
	json_t *result = json_pack("{s:O}", "content", body->content);
	if (body->is_error) {
		json_object_set_new(result, "isError", json_true());
	} else if (body->structured != NULL && shows_structured(call)) {
		json_object_set(result, "structuredContent", body->structured);
	} else if (body->structured != NULL) {
		char *text = json_dumps(body->structured, JSON_COMPACT);
		json_array_append_new(body->content, json_pack("{s:s, s:s}", "type", "text", "text", text));
		free(text);
	}
	return session_result(&call->terms, call->id, result);
}

static void finish(struct call *call)
{
	struct server *server = call->server;
	json_t *message = take_result(call);
	pthread_mutex_lock(&server->lock);
	if (call->is_cancelled)
		json_decref(message);
	else
		server_answer(server, call->batch, message);
	server_release(server, call->batch);
	destroy(call);
	server->running--;
	pthread_cond_signal(&server->ended);
	pthread_mutex_unlock(&server->lock);
}

/* A call's own thread. */
static void *run(void *arg)
{
	struct call *call = arg;
	if (tool_check_box(&call->body))
		call->tool->run(&call->body);
	finish(call);
	return NULL;
}

void tool_progress(struct tool_call *body, double progress, const char *message)
{
	struct call *call = container_of(body, struct call, body);
	struct server *server = call->server;
	pthread_mutex_lock(&server->lock);
	if (call->token != NULL && !call->is_cancelled)
		server_write(server, rpc_notification("notifications/progress",
					     json_pack("{s:O, s:f, s:s}", "progressToken", call->token,
						     "progress", progress, "message", message)));
	pthread_mutex_unlock(&server->lock);
}

/* Starting */

static void begin(struct call *call, const json_t *arguments)
{
	struct server *server = call->server;
	pthread_attr_t attributes;
	pthread_t thread;
	call->body.options = server->options;
	call->body.boxscreen = server->boxscreen;
	call->body.arguments = arguments != NULL ? json_deep_copy(arguments) : json_object();
	call->body.content = json_array();
	call->body.cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int error = call->body.cancel_fd < 0 ? errno : pthread_create(&thread, &attributes, run, call);
	pthread_attr_destroy(&attributes);
	if (error == 0) {
		server->running++;
		if (call->batch != NULL)
			call->batch->left++;
		return;
	}
	tool_fail(&call->body, "The call could not be begun: %s. Try again when others are done.",
		strerror(error));
	server_answer(server, call->batch, take_result(call));
	destroy(call);
}

static json_t *refuse(const struct rpc_message *request, enum rpc_code code, const char *text)
{
	return rpc_error(request->id, code, text, NULL);
}

static json_t *refuse_unknown(
	const struct server *server, const struct rpc_message *request, const char *name)
{
	char *names = tools_names(server->tools);
	char *text = xasprintf("Unknown tool: %.100s; there are %s", name, names);
	json_t *answer = refuse(request, RPC_INVALID_PARAMS, text);
	free(text);
	free(names);
	return answer;
}

void call_start(struct server *server, const struct rpc_message *request,
	const struct session_terms *terms, struct batch *batch)
{
	const char *name = json_string_value(json_object_get(request->params, "name"));
	const json_t *given = json_object_get(request->params, "arguments");
	const json_t *arguments = json_is_null(given) ? NULL : given;
	const struct tool *tool = name != NULL ? tools_find(server->tools, name) : NULL;
	json_t *refusal = NULL;
	if (name == NULL)
		refusal = refuse(request, RPC_INVALID_PARAMS, "params.name must be a tool's name");
	else if (tool == NULL)
		refusal = refuse_unknown(server, request, name);
	else if (arguments != NULL && !json_is_object(arguments))
		refusal = refuse(request, RPC_INVALID_PARAMS, "params.arguments must be an object");
	else if (find(server, request->id) != NULL)
		refusal = refuse(request, RPC_INVALID_REQUEST, "a request with this id is under way");
	else if (server->running >= CALLS_MAX)
		refusal = refuse(request, RPC_INVALID_REQUEST,
			"64 calls are under way already; wait for some of them, or cancel them");
	if (refusal != NULL) {
		server_answer(server, batch, refusal);
		return;
	}
	struct call *call = create(server, request, terms);
	call->tool = tool;
	call->batch = batch;
	begin(call, arguments);
}

void call_subscribe(struct server *server, const struct rpc_message *request,
	const struct session_terms *terms)
{
	if (find(server, request->id) != NULL) {
		server_write(server,
			refuse(request, RPC_INVALID_REQUEST, "a request with this id is under way"));
		return;
	}
	create(server, request, terms);
	server_write(server, rpc_notification("notifications/subscriptions/acknowledged",
				     json_pack("{s:{s:O}, s:{}}", "_meta", SUBSCRIPTION_ID, request->id,
					     "notifications")));
}

/* Ending */

static void cancel(struct call *call)
{
	call->is_cancelled = true;
	if (call->tool == NULL)
		destroy(call);
	else
		eventfd_write(call->body.cancel_fd, 1);
}

void call_cancel(struct server *server, const json_t *id)
{
	struct call *call = find(server, id);
	if (call != NULL)
		cancel(call);
}

void call_end_all(struct server *server)
{
	struct call *call, *tmp;
	list_for_each_safe(call, tmp, &server->calls, link) {
		if (call->tool == NULL)
			server_write(server, session_result(&call->terms, call->id,
						     json_pack("{s:{s:O}}", "_meta",
							     SUBSCRIPTION_ID, call->id)));
		if (!call->is_cancelled)
			cancel(call);
	}
}
