/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_schema.h"
#include "base/value_rule.h"

#define DEPTH_MAX 64
/*
 * Each value costs some 100 bytes and a microsecond, during which nobody else is served: 1.5 million in
 * 12 MB took 1.6 s and 500 MB. So many are done in a fifth of a second at the very worst.
 */
#define VALUES_MAX 100000

struct shape {
	int deepest;
	size_t values; /* about: what commas and brackets part */
};

static struct shape shape_of(const char *data, size_t len)
{
	struct shape shape = {0};
	int depth = 0;
	bool in_string = false;
	for (size_t i = 0; i < len; i++) {
		char c = data[i];
		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			shape.values++;
			if (++depth > shape.deepest)
				shape.deepest = depth;
		} else if (c == ',') {
			shape.values++;
		} else if (c == '}' || c == ']') {
			depth--;
		}
	}
	return shape;
}

json_t *json_parse_object_or_list(const char *data, size_t len, char *error, size_t error_size)
{
	if (len == 0)
		return json_object();
	struct shape shape = shape_of(data, len);
	if (shape.values > VALUES_MAX) {
		snprintf(error, error_size, "the body has more than %d values; send it in parts",
			VALUES_MAX);
		return NULL;
	}
	if (shape.deepest > DEPTH_MAX) {
		snprintf(error, error_size, "the body nests deeper than %d levels", DEPTH_MAX);
		return NULL;
	}
	json_error_t fault;
	json_t *value = json_loadb(data, len, JSON_REJECT_DUPLICATES, &fault);
	if (value == NULL) {
		snprintf(error, error_size, "the body is not valid JSON: %.120s (line %d, column %d)",
			fault.text, fault.line, fault.column);
		return NULL;
	}
	if (!json_is_object(value) && !json_is_array(value)) {
		json_decref(value);
		snprintf(error, error_size, "the body must be a JSON object or a list");
		return NULL;
	}
	return value;
}

json_t *json_parse_body(const char *data, size_t len, char *error, size_t error_size)
{
	json_t *value = json_parse_object_or_list(data, len, error, error_size);
	if (value != NULL && !json_is_object(value)) {
		json_decref(value);
		snprintf(error, error_size, "the body must be a JSON object");
		return NULL;
	}
	return value;
}

void json_reader_init(struct json_reader *reader, const json_t *object, const char *where)
{
	*reader = (struct json_reader){.object = object, .where = where};
	if (!json_is_object(object))
		snprintf(reader->error, sizeof(reader->error), "%s must be a JSON object",
			where[0] != '\0' ? where : "the body");
}

void json_reader_describe(struct json_reader *reader)
{
	*reader = (struct json_reader){.where = "", .schema = json_schema_object()};
}

bool json_reader_is_describing(const struct json_reader *reader)
{
	return reader->schema != NULL;
}

json_t *json_reader_take_schema(struct json_reader *reader)
{
	json_t *schema = reader->schema;
	reader->schema = NULL;
	return schema;
}

__attribute__((format(printf, 3, 0))) static void fail(
	struct json_reader *reader, const char *name, const char *format, va_list args)
{
	if (reader->error[0] != '\0')
		return;
	int used = snprintf(reader->error, sizeof(reader->error), "%s%s%s: ", reader->where,
		reader->where[0] != '\0' ? "." : "", name);
	if (used >= 0 && (size_t)used < sizeof(reader->error))
		vsnprintf(reader->error + used, sizeof(reader->error) - (size_t)used, format, args);
}

void json_reader_fail(struct json_reader *reader, const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (reader->schema != NULL)
		json_schema_require(reader->schema, name); /* it is absent, and that is a fault */
	else
		fail(reader, name, format, args);
	va_end(args);
}

void json_reader_fail_none(struct json_reader *reader, const char *name, const char *groups,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (reader->schema != NULL)
		json_schema_require_one(reader->schema, groups);
	else
		fail(reader, name, format, args);
	va_end(args);
}

void json_reader_explain(struct json_reader *reader, const char *name, const char *schema)
{
	if (reader->schema != NULL)
		json_schema_extend(reader->schema, name, schema);
}

/* Notes a member of what is described. False: it is not there. */
static bool note(struct json_reader *reader, const char *name, json_t *property, json_t *fallback)
{
	json_schema_add(reader->schema, name, property, fallback);
	return false;
}

static const json_t *member(struct json_reader *reader, const char *name)
{
	assert(reader->known_count < JSON_READER_MEMBERS_MAX);
	reader->known[reader->known_count++] = name;
	const json_t *value = json_object_get(reader->object, name);
	return json_is_null(value) ? NULL : value;
}

bool json_read_bool(struct json_reader *reader, const char *name, bool *out)
{
	if (reader->schema != NULL)
		return note(reader, name, json_pack("{s:s}", "type", "boolean"), json_boolean(*out));
	const json_t *value = member(reader, name);
	if (value == NULL)
		return false;
	if (!json_is_boolean(value)) {
		json_reader_fail(reader, name, "must be true or false");
		return false;
	}
	*out = json_is_true(value);
	return true;
}

bool json_read_int(struct json_reader *reader, const char *name, int min, int max, int *out)
{
	if (reader->schema != NULL)
		return note(reader, name,
			json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", min, "maximum", max),
			*out >= min && *out <= max ? json_integer(*out) : NULL);
	const json_t *value = member(reader, name);
	if (value == NULL)
		return false;
	double number = json_number_value(value);
	if (!json_is_number(value) || number != floor(number)) {
		json_reader_fail(reader, name, "must be a whole number");
		return false;
	}
	if (number < min || number > max) {
		json_reader_fail(reader, name, "must be from %d to %d", min, max);
		return false;
	}
	*out = (int)number;
	return true;
}

bool json_read_double(
	struct json_reader *reader, const char *name, double min, double max, double *out)
{
	if (reader->schema != NULL)
		return note(reader, name,
			json_pack("{s:s, s:f, s:f}", "type", "number", "minimum", min, "maximum", max),
			NULL);
	const json_t *value = member(reader, name);
	if (value == NULL)
		return false;
	if (!json_is_number(value)) {
		json_reader_fail(reader, name, "must be a number");
		return false;
	}
	double number = json_number_value(value);
	if (!(number >= min && number <= max)) {
		json_reader_fail(reader, name, "must be from %g to %g", min, max);
		return false;
	}
	*out = number;
	return true;
}

bool json_read_string(struct json_reader *reader, const char *name, const char **out)
{
	if (reader->schema != NULL)
		return note(reader, name, json_pack("{s:s}", "type", "string"),
			*out != NULL ? json_string(*out) : NULL);
	const json_t *value = member(reader, name);
	if (value == NULL)
		return false;
	if (!json_is_string(value)) {
		json_reader_fail(reader, name, "must be a string");
		return false;
	}
	*out = json_string_value(value);
	return true;
}

bool json_read_choice(
	struct json_reader *reader, const char *name, const char *const *choices, int *out)
{
	char list[120];
	const char *text = NULL;
	if (reader->schema != NULL)
		return note(reader, name, json_pack("{s:o}", "enum", json_schema_list(choices)),
			*out >= 0 ? json_string(choices[*out]) : NULL);
	if (!json_read_string(reader, name, &text))
		return false;
	for (int i = 0; choices[i] != NULL; i++) {
		if (strcmp(text, choices[i]) == 0) {
			*out = i;
			return true;
		}
	}
	value_choices_write(choices, list, sizeof(list));
	json_reader_fail(reader, name, "must be %s", list);
	return false;
}

bool json_read_any(struct json_reader *reader, const char *name, const json_t **out)
{
	if (reader->schema != NULL)
		return note(reader, name, json_object(), NULL);
	const json_t *value = member(reader, name);
	if (value == NULL)
		return false;
	*out = value;
	return true;
}

bool json_reader_enter(struct json_reader *reader, const char *name, struct json_reader *inner)
{
	const json_t *value = NULL;
	assert(reader->where[0] == '\0');
	if (reader->schema != NULL) {
		json_reader_describe(inner);
		return true;
	}
	if (!json_read_any(reader, name, &value))
		return false;
	json_reader_init(inner, value, name);
	return true;
}

void json_reader_leave(struct json_reader *reader, const char *name, struct json_reader *inner)
{
	if (reader->schema != NULL)
		note(reader, name, json_reader_take_schema(inner), NULL);
	else if (!json_reader_finish(inner) && reader->error[0] == '\0')
		memcpy(reader->error, inner->error, sizeof(reader->error)); /* it begins with name */
}

bool json_reader_finish(struct json_reader *reader)
{
	if (reader->error[0] != '\0')
		return false;
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)reader->object, name, value)
	{
		bool is_known = false;
		for (int i = 0; i < reader->known_count && !is_known; i++)
			is_known = strcmp(name, reader->known[i]) == 0;
		if (!is_known) {
			json_reader_fail(reader, name, "unknown member");
			return false;
		}
	}
	return true;
}

json_t *json_time(int64_t wall_us)
{
	char text[CLOCK_RFC3339_SIZE];
	if (wall_us == 0)
		return json_null();
	clock_format_rfc3339(wall_us, text);
	return json_string(text);
}
