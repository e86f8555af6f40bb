/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One POST /v1/act of a command, with what --settle and --shot-changed add to the batch and what they
 * print and write of the answer. Main thread only.
 */
#ifndef CLI_ACT_CALL_H
#define CLI_ACT_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct invocation;

/* Whether --settle or --shot-changed was given. */
bool act_call_looks(const struct invocation *call);

/* Sends the body as it is. With `prints_reply`, or --json, the answer is printed as it came. */
int act_call_send(
	const struct invocation *call, const void *body, size_t len, bool prints_reply);

/*
 * Sends the batch, an object with "actions", which is taken. With `prints_reply`, or --json, the answer
 * is printed, a picture that was written replaced by its path; else a line of what has changed.
 */
int act_call_send_batch(const struct invocation *call, json_t *batch, bool prints_reply);

#endif
