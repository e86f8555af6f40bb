/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of the control socket: JSON bodies and the one error form. Main thread only. */
#ifndef SERVICE_REPLY_H
#define SERVICE_REPLY_H

#include <jansson.h>
#include <stdbool.h>

struct http_request;
struct json_reader;

/* The stable codes of control-api.md, in its order. */
enum reply_code {
	REPLY_BAD_REQUEST,
	REPLY_NOT_FOUND,
	REPLY_METHOD_NOT_ALLOWED,
	REPLY_CONFLICT,
	REPLY_GONE,
	REPLY_TOO_LARGE,
	REPLY_LOCKED,
	REPLY_TOO_MANY,
	REPLY_INTERNAL,
	REPLY_SCREEN_UNAVAILABLE,
	REPLY_TIMEOUT,
	REPLY_NO_SPACE,
};
#define REPLY_CODE_COUNT (REPLY_NO_SPACE + 1)

/* Answers {"error","message"} with the code's HTTP status. The message says what to do. */
void reply_error(struct http_request *request, enum reply_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same as a JSON object to add to, and its status, for errors that tell more. */
json_t *reply_error_json(enum reply_code code, const char *message);
int reply_status(enum reply_code code);
/* The code as it is in JSON, and what it says in general. Static. */
const char *reply_name(enum reply_code code);
const char *reply_meaning(enum reply_code code);

/* Answers with a JSON value, which is taken (decref'ed). */
void reply_json(struct http_request *request, int status, json_t *value);

/* The usual sentence for a call that needs the screen while there is none. `fault` (or NULL) says
   why there will be none. */
void reply_no_screen(struct http_request *request, const char *fault);

/* The call's body as a JSON object, the caller's; NULL when it is none, which was answered then. */
json_t *reply_read_body(struct http_request *request);
/* Whether all of a body was read well; what is wrong with it is answered. */
bool reply_finish_reading(struct http_request *request, struct json_reader *reader);
/* Whether the call's body is an object without members, as is needed; answered when it is not. */
bool reply_takes_empty_body(struct http_request *request);

#endif
