/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Model Context Protocol but for the calls of tools: which revision a request speaks, the handshake of
 * the older ones, discovery of the newest, the list of tools. No I/O. Main thread only.
 *
 * Revision 2026-07-28 has no handshake: each request names its revision in _meta and is served by
 * itself. Older ones begin with `initialize`, which says the revision of all that follows. Both are
 * served at the same time.
 */
#ifndef CLI_MCP_SESSION_H
#define CLI_MCP_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/mcp/rpc.h"

struct tools;

struct session {
	const struct tools *tools;
	const char *version; /* of the handshake, static; NULL before it */
	char client[64];     /* the client's name, as it said it then */
};

/* How one request is to be served. */
struct session_terms {
	bool is_modern;      /* 2026-07-28 */
	const char *client;  /* its name, or ""; borrowed */
};

/* Whether requests may come as a list (revision 2025-03-26 alone). */
bool session_takes_batches(const struct session *session);

/* Finds the terms of a request. NULL, or the message that refuses it. */
json_t *session_accept(
	const struct session *session, const struct rpc_message *request, struct session_terms *terms);

/* The answer, or NULL for what is not answered here: tools/call and subscriptions/listen. */
json_t *session_answer(struct session *session, const struct rpc_message *request,
	const struct session_terms *terms);

/* The message with a result (taken), as the terms want it. */
json_t *session_result(const struct session_terms *terms, json_t *id, json_t *result);

#endif
