/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket's calls in one table: method, path, query, what it does, who does it.
 * Validation, the description for programs (openapi.c) and the list of calls all read it. Main thread
 * only.
 */
#ifndef SERVICE_ROUTES_H
#define SERVICE_ROUTES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct http_request;
struct service;
struct value_rule;

/* Whether a call may go on for as long as its caller likes. */
enum route_length {
	ROUTE_IS_SHORT,
	ROUTE_LASTS,
	ROUTE_WAITS, /* only when it is asked to wait: with `wait_s` */
};

struct route {
	const char *method;
	const char *path;               /* "{name}" stands for one path segment */
	const struct value_rule *query; /* ends with a rule without a name; NULL: none */
	bool has_body;
	const char *help;
	/* Answers the request, now or later. `segment` is what stood for {…}, "" without. */
	void (*handle)(struct service *service, struct http_request *request, const char *segment);
	enum route_length length;

	/* What openapi.c tells besides. */
	const char *answers;             /* "201 Takeover, 200 Takeover": names of answers.json or media types */
	unsigned errors;                 /* 1 << REPLY_…, besides those that every call can have */
	json_t *(*body)(void);           /* the schema of its JSON; NULL: an object without members */
	const char *const *body_types;   /* of a body that is no JSON; ends with NULL */
	const struct value_rule *header; /* one that it looks at; NULL: none */
	const struct value_rule *answer_headers; /* ends with a rule without a name */
};

/* The table; *count receives its length. */
const struct route *routes_all(size_t *count);

/* Finds the route and calls it, or answers 404, 405 or (a query that breaks its rules) 400. */
void routes_dispatch(struct service *service, struct http_request *request);

#endif
