/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests that take their time: calls of tools, each on its thread, and subscriptions. */
#ifndef CLI_MCP_CALL_H
#define CLI_MCP_CALL_H

#include <jansson.h>

struct batch;
struct rpc_message;
struct server;
struct session_terms;

/* All with the server's lock held, on the main thread. */

/* Answers what is wrong with the request, or begins it. */
void call_start(struct server *server, const struct rpc_message *request,
	const struct session_terms *terms, struct batch *batch);
/* Nothing here ever changes: it is acknowledged and stays silent. */
void call_subscribe(struct server *server, const struct rpc_message *request,
	const struct session_terms *terms);
/* Ends what has that id, without an answer; harmless when there is none. */
void call_cancel(struct server *server, const json_t *id);
/* The server ends: cancels all, and tells subscribers. */
void call_end_all(struct server *server);

#endif
