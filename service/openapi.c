/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/openapi.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "base/value_rule.h"
#include "capture/shot.h"
#include "display/action.h"
#include "service/reply.h"
#include "service/routes.h"
#include "service/shot_json.h"

#define SCHEMAS "#/components/schemas/"

/* {"$ref": "…/name"} */
static json_t *reference(const char *folder, const char *name)
{
	return json_pack("{s:s++}", "$ref", "#/components/", folder, name);
}

/* The JSON of an embedded file. */
static json_t *load(const char *const *lines)
{
	struct buffer text = {0};
	for (size_t i = 0; lines[i] != NULL; i++)
		buffer_printf(&text, "%s\n", lines[i]);
	json_t *value = json_loadb((const char *)text.data, text.len, 0, NULL);
	buffer_finish(&text);
	assert(value != NULL);
	return value;
}

/* Words */

static const json_t *word_of(const json_t *words, const char *group, const char *name)
{
	const json_t *word = json_object_get(json_object_get(words, group), name);
	return word != NULL ? word : json_object_get(json_object_get(words, "any"), name);
}

/* Says of each member what it is; those of an inner object are in the group of its name. */
static void explain(json_t *schema, const json_t *words, const char *group)
{
	const char *name;
	json_t *property, *form;
	size_t i;
	json_object_foreach (json_object_get(schema, "properties"), name, property) {
		const json_t *word = word_of(words, group, name);
		explain(property, words, name);
		if (word != NULL && json_object_get(property, "description") == NULL)
			json_object_set(property, "description", (json_t *)(uintptr_t)word);
	}
	json_array_foreach (json_object_get(schema, "anyOf"), i, form)
		explain(form, words, group);
}

/* Names: "GET /v1/recordings/{id}" is get_recordings_id, and belongs to recordings. */

static char *operation_id(const struct route *route)
{
	struct buffer id = {0};
	const char *path = strncmp(route->path, "/v1", 3) == 0 ? route->path + 3 : route->path;
	for (const char *p = route->method; *p != '\0'; p++)
		buffer_printf(&id, "%c", tolower((unsigned char)*p));
	for (const char *p = path; *p != '\0'; p++) {
		if (*p == '/')
			buffer_append(&id, "_", 1);
		else if (isalnum((unsigned char)*p))
			buffer_append(&id, p, 1);
	}
	buffer_append(&id, "", 1);
	return (char *)id.data;
}

static json_t *tags(const struct route *route)
{
	const char *name = strncmp(route->path, "/v1/", 4) == 0 ? route->path + 4 : route->path + 1;
	return json_pack("[s#]", name, (int)strcspn(name, "/"));
}

/* Parameters */

static json_t *parameter(const struct value_rule *rule, const char *place)
{
	return json_pack("{s:s, s:s, s:s, s:o}", "name", rule->name, "in", place, "description",
		rule->help, "schema", value_rule_schema(rule));
}

static json_t *parameters(const struct route *route)
{
	json_t *list = json_array();
	if (strchr(route->path, '{') != NULL)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:b, s:{s:s}}", "name", "id", "in", "path",
				      "required", 1, "schema", "type", "string"));
	for (const struct value_rule *rule = route->query; rule != NULL && rule->name != NULL;
		rule++)
		json_array_append_new(list, parameter(rule, "query"));
	if (route->header != NULL)
		json_array_append_new(list, parameter(route->header, "header"));
	return list;
}

/* Bodies */

static json_t *request_body(const struct route *route, const char *operation, const json_t *words)
{
	if (route->body_types != NULL) {
		json_t *content = json_object();
		for (size_t i = 0; route->body_types[i] != NULL; i++)
			json_object_set_new(content, route->body_types[i], json_object());
		return json_pack("{s:b, s:o}", "required", 1, "content", content);
	}
	json_t *schema = route->body != NULL ? route->body() : json_schema_object();
	explain(schema, words, operation);
	/* An empty body is the empty object, which is enough when nothing is needed. */
	bool is_needed = json_object_get(schema, "required") != NULL ||
			 json_object_get(schema, "allOf") != NULL ||
			 json_object_get(schema, "anyOf") != NULL;
	return json_pack("{s:b, s:{s:{s:o}}}", "required", is_needed, "content", "application/json",
		"schema", schema);
}

/* Answers */

static json_t *answer_headers(const struct value_rule *rules)
{
	json_t *headers = json_object();
	for (; rules->name != NULL; rules++)
		json_object_set_new(headers, rules->name,
			json_pack("{s:s, s:o}", "description", rules->help, "schema",
				value_rule_schema(rules)));
	return headers;
}

/* What a status comes with: media types, or the name of a schema of answers.json. */
static json_t *answer_content(char *words)
{
	json_t *content = json_object();
	char *rest;
	for (char *word = strtok_r(words, " ", &rest); word != NULL;
		word = strtok_r(NULL, " ", &rest)) {
		if (strchr(word, '/') != NULL)
			json_object_set_new(content, word, json_object());
		else
			json_object_set_new(content, "application/json",
				json_pack("{s:o}", "schema", reference("schemas/", word)));
	}
	return content;
}

/* "201 Takeover, 200 Takeover", "204", "200 image/png image/jpeg" */
static void add_answers(json_t *responses, const struct route *route)
{
	char *copy = xstrdup(route->answers), *rest;
	for (char *part = strtok_r(copy, ",", &rest); part != NULL;
		part = strtok_r(NULL, ",", &rest)) {
		part += strspn(part, " ");
		char status[4] = {part[0], part[1], part[2]};
		json_t *content = answer_content(part + 3);
		json_t *response = json_pack("{s:s}", "description", route->help);
		if (json_object_size(content) > 0)
			json_object_set(response, "content", content);
		json_decref(content);
		if (route->answer_headers != NULL)
			json_object_set_new(
				response, "headers", answer_headers(route->answer_headers));
		json_object_set_new(responses, status, response);
	}
	free(copy);
}

static bool can_fail_with(const struct route *route, enum reply_code code)
{
	switch (code) {
	case REPLY_BAD_REQUEST: /* an unknown query parameter, a body that is not taken */
	case REPLY_INTERNAL:
		return true;
	case REPLY_TOO_LARGE:
		return route->has_body || (route->errors & 1u << code);
	case REPLY_TOO_MANY: /* no more places for what may last */
		return route->length != ROUTE_IS_SHORT || (route->errors & 1u << code);
	default:
		return route->errors & 1u << code;
	}
}

static json_t *responses(const struct route *route)
{
	json_t *object = json_object();
	add_answers(object, route);
	for (int code = 0; code < REPLY_CODE_COUNT; code++) {
		char status[12];
		snprintf(status, sizeof(status), "%d", reply_status((enum reply_code)code));
		if (can_fail_with(route, (enum reply_code)code))
			json_object_set_new(object, status,
				reference("responses/", reply_name((enum reply_code)code)));
	}
	return object;
}

static json_t *operation(const struct route *route, const json_t *words)
{
	char *id = operation_id(route);
	json_t *object = json_pack(
		"{s:s, s:s, s:o}", "operationId", id, "summary", route->help, "tags", tags(route));
	json_t *list = parameters(route);
	if (json_array_size(list) > 0)
		json_object_set(object, "parameters", list);
	json_decref(list);
	if (route->has_body)
		json_object_set_new(object, "requestBody", request_body(route, id, words));
	json_object_set_new(object, "responses", responses(route));
	free(id);
	return object;
}

static json_t *paths(const json_t *words)
{
	size_t count;
	const struct route *routes = routes_all(&count);
	json_t *object = json_object();
	for (size_t i = 0; i < count; i++) {
		if (json_object_get(object, routes[i].path) == NULL)
			json_object_set_new(object, routes[i].path, json_object());
		char method[8] = "";
		for (size_t n = 0; routes[i].method[n] != '\0' && n + 1 < sizeof(method); n++)
			method[n] = (char)tolower((unsigned char)routes[i].method[n]);
		json_object_set_new(json_object_get(object, routes[i].path), method,
			operation(&routes[i], words));
	}
	return object;
}

/* Components */

static json_t *error_responses(void)
{
	json_t *object = json_object();
	for (int i = 0; i < REPLY_CODE_COUNT; i++) {
		enum reply_code code = (enum reply_code)i;
		json_object_set_new(object, reply_name(code),
			json_pack("{s:s, s:{s:{s:o}}}", "description", reply_meaning(code),
				"content", "application/json", "schema",
				reference("schemas/", "Error")));
	}
	return object;
}

static json_t *error_codes(void)
{
	json_t *list = json_array();
	for (int i = 0; i < REPLY_CODE_COUNT; i++)
		json_array_append_new(list, json_string(reply_name((enum reply_code)i)));
	return json_pack("{s:o}", "enum", list);
}

static json_t *shot_options_schema(void)
{
	struct shot_options options = shot_defaults;
	struct json_reader reader;
	json_reader_describe(&reader);
	shot_options_read(&reader, &options);
	return json_reader_take_schema(&reader);
}

/* One action, a list, or what the vendors wrap either in (display/action.h). */
static json_t *actions_schema(void)
{
	json_t *one = json_pack(
		"[{s:s}, {s:s}]", "$ref", SCHEMAS "Action", "$ref", SCHEMAS "WrappedActions");
	json_t *list = json_pack("{s:s, s:{s:O}, s:i, s:i}", "type", "array", "items", "anyOf", one,
		"minItems", 1, "maxItems", ACTION_COUNT_MAX);
	json_t *forms = json_copy(one);
	json_decref(one);
	json_array_append_new(forms, list);
	return json_pack("{s:o}", "anyOf", forms);
}

static json_t *wrapped_schema(void)
{
	static const char *const members[] = {"actions", "input", "action"};
	json_t *schema = json_pack("{s:s, s:s, s:{}, s:[]}", "description",
		"A vendor's tool_use block with input, or computer_call with action or actions; "
		"its other members are not looked at.",
		"type", "object", "properties", "anyOf");
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json_object_set_new(json_object_get(schema, "properties"), members[i],
			reference("schemas/", "Actions"));
		json_array_append_new(json_object_get(schema, "anyOf"),
			json_pack("{s:[s]}", "required", members[i]));
	}
	return schema;
}

static json_t *named_action_schemas(const json_t *words)
{
	json_t *object = action_schemas(), *form;
	size_t i;
	json_array_foreach (json_object_get(json_object_get(object, "Action"), "oneOf"), i, form)
		explain(form, words, json_string_value(json_object_get(form, "title")));
	return object;
}

static json_t *schemas(const json_t *words)
{
	json_t *object = load(openapi_answers);
	json_object_set_new(object, "ErrorCode", error_codes());
	json_object_set_new(object, "ShotOptions", shot_options_schema());
	json_t *actions = named_action_schemas(words);
	json_object_update(object, actions);
	json_decref(actions);
	json_object_set_new(object, "Actions", actions_schema());
	json_object_set_new(object, "WrappedActions", wrapped_schema());
	return object;
}

json_t *openapi_document(void)
{
	json_t *info = json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "boxscreen", "version",
		BOXSCREEN_VERSION, "description",
		"The control socket of boxscreend: HTTP/1.1 over a Unix stream socket. What the "
		"calls "
		"do is in docs/control-api.md.",
		"license", "name", "GPL-2.0-or-later", "identifier", "GPL-2.0-or-later");
	json_t *servers = json_pack("[{s:s, s:s}]", "url", "http://boxscreen", "description",
		"The control socket; the host is not looked at.");
	json_t *words = load(openapi_members);
	json_t *document = json_pack("{s:s, s:o, s:o, s:o, s:{s:o, s:o}}", "openapi", "3.1.0",
		"info", info, "servers", servers, "paths", paths(words), "components", "schemas",
		schemas(words), "responses", error_responses());
	json_decref(words);
	return document;
}

const char *openapi_text(void)
{
	static char *text;
	if (text != NULL)
		return text;
	json_t *document = openapi_document();
	text = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	if (text == NULL)
		abort(); /* no memory for it, as xmalloc would */
	return text;
}

void openapi_print(void)
{
	json_t *document = openapi_document();
	json_dumpf(document, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(document);
}
