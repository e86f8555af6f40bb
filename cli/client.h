/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One request of a command to the daemon, with the errors told to the person and turned into the
 * exit status that control-api names for them. Main thread only.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/http_unix.h"

struct buffer;
struct invocation;

/* How long the daemon may say nothing when it has nothing to wait for. */
#define CLIENT_SILENCE_MAX_MS 30000

/*
 * Sends the call. Returns EXIT_DONE when the daemon answered with 2xx or 304; else the fault was
 * printed and the exit status that fits it is returned. The caller finishes *answer in any case.
 */
int client_call(
	const struct invocation *call, const struct http_call *http, struct http_answer *answer);

/* GET of `target`; else as client_call. */
int client_get(const struct invocation *call, const char *target, struct http_answer *answer);

/*
 * A call with a JSON body (taken; NULL: none), whose daemon may say nothing for `silence_max_ms`;
 * else as client_call.
 */
int client_send(const struct invocation *call, const char *method, const char *target, json_t *body,
	int silence_max_ms, struct http_answer *answer);

/*
 * Sets a member of such a body to a text of the command line. Returns false after saying that it is
 * no UTF-8, which JSON cannot hold: nothing is to be sent then.
 */
bool client_set_text(
	const struct invocation *call, json_t *body, const char *member, const char *text);

/* The same for a whole number; of what is none the daemon says what is wrong with it. */
bool client_set_number(
	const struct invocation *call, json_t *body, const char *member, const char *text);

/*
 * The JSON object in the answer's body (json_decref it), or NULL after saying that the daemon's
 * reply is not what was expected.
 */
json_t *client_parse(const struct http_answer *answer);

/*
 * What client_call does with the outcome of an http_unix_call of the command's own: prints the
 * fault, if any, and returns the exit status.
 */
int client_judge(const struct invocation *call, int ret, const struct http_answer *answer);

/* "BEFORE" "ID" "AFTER", the id percent-encoded: it may be anything that somebody typed. Caller frees. */
char *client_target(const char *before, const char *id, const char *after);

/* Appends "?a=1&b=2": all options of the invocation that are query parameters. */
void client_append_query(struct buffer *target, const struct invocation *call);

/* Writes to standard output; a newline is added behind text that has none where `ends_line`. */
int client_print(const void *data, size_t len, bool ends_line);

#endif
