/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON Schemas of requests (draft 2020-12, as OpenAPI 3.1 takes them), put together by the very
 * code that checks the requests: see json_reader_describe in base/json.h and value_rule in
 * base/value_rule.h. Not thread safe; pure.
 */
#ifndef BASE_JSON_SCHEMA_H
#define BASE_JSON_SCHEMA_H

#include <jansson.h>

/* An object without members, which takes no others than those added. The caller's. */
json_t *json_schema_object(void);

/* Adds a member; `property` is taken, as is its default value `fallback`, which may be NULL. */
void json_schema_add(json_t *object, const char *name, json_t *property, json_t *fallback);

/* Adds to what a member may be: `text` is a JSON object whose members replace those of that name.
 */
void json_schema_extend(json_t *object, const char *name, const char *text);

/* The member must be there (and so has no default). Names that were not added are ignored. */
void json_schema_require(json_t *object, const char *name);

/* One of some groups of members must be there: "x,y|coordinate". */
void json_schema_require_one(json_t *object, const char *groups);

/* ["a", "b"] of a list that ends with NULL. */
json_t *json_schema_list(const char *const *texts);

#endif
