/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 64

static int depth_of(const char *data, size_t len)
{
	int depth = 0, deepest = 0;
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
			if (++depth > deepest)
				deepest = depth;
		} else if (c == '}' || c == ']') {
			depth--;
		}
	}
	return deepest;
}

json_t *json_parse_object_or_list(const char *data, size_t len, char *error, size_t error_size)
{
	if (len == 0)
		return json_object();
	if (depth_of(data, len) > DEPTH_MAX) {
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

void json_reader_fail(struct json_reader *reader, const char *name, const char *format, ...)
{
	if (reader->error[0] != '\0')
		return;
	int used = snprintf(reader->error, sizeof(reader->error), "%s%s%s: ", reader->where,
		reader->where[0] != '\0' ? "." : "", name);
	if (used < 0 || (size_t)used >= sizeof(reader->error))
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(reader->error + used, sizeof(reader->error) - (size_t)used, format, args);
	va_end(args);
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

bool json_read_any(struct json_reader *reader, const char *name, const json_t **out)
{
	const json_t *value = member(reader, name);
	if (value == NULL)
		return false;
	*out = value;
	return true;
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
