/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What calls are answered while a person holds the screen. Main thread only. */
#ifndef SERVICE_LOCK_H
#define SERVICE_LOCK_H

#include <jansson.h>
#include <stdbool.h>

struct http_request;
struct service;

/* Answers 423 `locked`, with who holds the screen and since when. */
void lock_reply(struct service *service, struct http_request *request);
/* The same as an error to add to. */
json_t *lock_error_json(struct service *service, const char *message);

/* For calls that act: true when the request was refused. */
bool lock_refuses_acting(struct service *service, struct http_request *request);
/* Whether nobody but the person who holds the screen may see it. */
bool lock_hides(struct service *service);
/* For calls that look: a person may have their privacy turned off. */
bool lock_refuses_looking(struct service *service, struct http_request *request);

#endif
