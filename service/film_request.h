/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the calls that film share: how their bodies are read, the wait for the studio, and what is
 * answered when it cannot. Main thread only.
 */
#ifndef SERVICE_FILM_REQUEST_H
#define SERVICE_FILM_REQUEST_H

#include <stddef.h>

struct call;
struct entry;
struct film_settings;
struct http_request;
struct json_reader;
struct service;

#define FILM_NAME_CHARS_MAX   200
#define FILM_START_TIMEOUT_MS 10000

/* What all that films has in common: fps, quality, region, what is drawn over it. */
void film_request_read(struct json_reader *reader, struct film_settings *film);

/* A text of one line; *out stays as it is when there is none. Borrowed from the body. */
void film_request_read_text(
	struct json_reader *reader, const char *name, size_t chars_max, const char **out);

/* "path": where the .mp4 is to go; *path stays as it is when there is none. Borrowed from the body.
 */
void film_request_read_path(struct json_reader *reader, const char **path);

/* A call that waits for the studio. */
struct film_request {
	struct service *service;
	struct call *call;
	char *path; /* of the file; NULL: none was named */
	int status; /* of the answer */
};

struct film_request *film_request_begin(struct service *service, struct http_request *request,
	const char *path, int status, int timeout_ms);
/* Answers why the studio could not; the caller must still be there. */
void film_request_refuse(struct film_request *film, int error);
void film_request_end(struct film_request *film);

/* A studio_started; arg is the film_request, which it answers with the entry and ends. */
void film_request_on_started(void *arg, struct entry *entry, int error);

#endif
