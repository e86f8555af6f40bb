/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strict reading of JSON requests. A json_reader looks at one object: each json_read_* notes that
 * the member is known, checks its type and range, and leaves *out untouched when the member is
 * absent or null. The first fault is kept as a sentence that names the member; json_reader_finish
 * adds the fault "unknown member". So a handler reads all members, finishes, and only then acts.
 *
 * A reader may also describe: no object is read then, all members are absent, and what is asked for
 * becomes a JSON Schema. Types, ranges and choices are those of the calls; what *out holds is the
 * default; a member whose absence is told as a fault is required. So openapi.json says what the code
 * checks. Not thread safe; pure.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define JSON_READER_MEMBERS_MAX 32

struct json_reader {
	const json_t *object;                        /* borrowed */
	const char *where;                           /* borrowed; prefix such as "actions[3]" or "" */
	const char *known[JSON_READER_MEMBERS_MAX];  /* borrowed names of members asked for */
	int known_count;
	char error[256];                             /* empty while all is well */
	json_t *schema;                              /* what is described; NULL while reading */
};

/*
 * Parses a request body. An empty body is the empty object. Returns NULL and a sentence in
 * error[error_size] when it is not valid JSON (bad UTF-8, lone surrogates, \u0000, duplicate
 * members, numbers out of range and nesting deeper than 64 are all errors). Caller: json_decref.
 */
json_t *json_parse_body(const char *data, size_t len, char *error, size_t error_size);

/* The same for a body that may be a list too. */
json_t *json_parse_object_or_list(const char *data, size_t len, char *error, size_t error_size);

/* `where` is "" for the outermost object. An `object` that is no JSON object is a fault. */
void json_reader_init(struct json_reader *reader, const json_t *object, const char *where);

/* Describes from now on: the same calls are to be made as for reading. */
void json_reader_describe(struct json_reader *reader);
bool json_reader_is_describing(const struct json_reader *reader);
/* The schema, the caller's; ends describing. */
json_t *json_reader_take_schema(struct json_reader *reader);

/* Each returns whether the member is present (and not null) and of the right type and range. */
bool json_read_bool(struct json_reader *reader, const char *name, bool *out);
bool json_read_int(struct json_reader *reader, const char *name, int min, int max, int *out);
bool json_read_double(
	struct json_reader *reader, const char *name, double min, double max, double *out);
/* *out borrows from the object. Strings never hold NUL. */
bool json_read_string(struct json_reader *reader, const char *name, const char **out);
/* Any type; *out borrows. */
bool json_read_any(struct json_reader *reader, const char *name, const json_t **out);

/* One of the texts of a list that ends with NULL; *out is its index (-1 before: no default). */
bool json_read_choice(
	struct json_reader *reader, const char *name, const char *const *choices, int *out);

/*
 * An object inside of the outermost one: true when it is there (or described), then read it by *inner and leave it, which
 * finishes it. `name` is borrowed until then.
 */
bool json_reader_enter(struct json_reader *reader, const char *name, struct json_reader *inner);
void json_reader_leave(struct json_reader *reader, const char *name, struct json_reader *inner);

/* What cannot be told by the calls: JSON that is added to the member's schema (json_schema_extend). */
void json_reader_explain(struct json_reader *reader, const char *name, const char *schema);

/* Notes a fault of the caller's own, "<where.>name: text"; the first one wins. */
void json_reader_fail(struct json_reader *reader, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same where one of several groups of members is needed: "x,y|coordinate". `name` is the one that
 * the fault is told of.
 */
void json_reader_fail_none(struct json_reader *reader, const char *name, const char *groups,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Returns whether no fault was noted, unknown members included; else reader->error says which. */
bool json_reader_finish(struct json_reader *reader);

/* A time as RFC 3339 has it (clock_format_rfc3339), null for 0; the caller's. */
json_t *json_time(int64_t wall_us);

#endif
