/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON-RPC 2.0 as MCP uses it: one message a line, ids that are texts or whole numbers, parameters
 * that are objects. What is read borrows from the message, what is made is the caller's. Pure.
 */
#ifndef CLI_MCP_RPC_H
#define CLI_MCP_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_UNSUPPORTED_VERSION = -32022, /* MCP 2026-07-28 */
};

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESPONSE, /* to a request that we never make */
	RPC_FAULTY,
};

struct rpc_message {
	enum rpc_kind kind;
	json_t *id;          /* of a request; of a faulty message where it could be read; else NULL */
	const char *method;  /* of requests and notifications */
	const json_t *params; /* an object, or NULL */
	enum rpc_code code;  /* of a faulty message, with a static sentence */
	const char *fault;
};

void rpc_read(json_t *message, struct rpc_message *out);

/*
 * The id in a line that the JSON reader refuses: one that is cut, or that has what other languages'
 * JSON may have (a NUL in a text, half of a surrogate pair, a huge number). Who sent it waits for
 * an answer with that id. NULL where there is none, or more than one. The caller's.
 */
json_t *rpc_find_id(const char *line, size_t len);

/* Whether two ids are the same. NULL is equal to nothing. */
bool rpc_id_equals(const json_t *a, const json_t *b);

/* Messages. `id` is borrowed (NULL: it could not be read), results, data and params are taken. */
json_t *rpc_result(json_t *id, json_t *result);
json_t *rpc_error(json_t *id, enum rpc_code code, const char *message, json_t *data);
json_t *rpc_notification(const char *method, json_t *params);

/*
 * Lines out of bytes as they come. A line longer than RPC_LINE_MAX is told once, by its beginning, and
 * skipped to its end. Zero-initialise; finish frees.
 */
#define RPC_LINE_MAX (16u << 20)

struct rpc_lines {
	/* line: without its newline, and NUL behind it if it is whole. Gone when it returns. */
	void (*on_line)(void *arg, const char *line, size_t len, bool is_whole);
	void *arg;

	/* private */
	struct buffer line;
	bool is_skipping;
};

void rpc_lines_feed(struct rpc_lines *lines, const char *data, size_t len);
void rpc_lines_finish(struct rpc_lines *lines);

#endif
