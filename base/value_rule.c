/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/value_rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_schema.h"

static const char *const flags[] = {"0", "1", "false", "true", NULL};

const struct value_rule *value_rule_find(const struct value_rule *rules, const char *name)
{
	for (; rules != NULL && rules->name != NULL; rules++) {
		if (strcmp(rules->name, name) == 0)
			return rules;
	}
	return NULL;
}

/* Its index in the list, or -1. */
static int index_of(const char *const *choices, const char *text)
{
	for (int i = 0; choices[i] != NULL; i++) {
		if (strcmp(choices[i], text) == 0)
			return i;
	}
	return -1;
}

static bool parse_int(const char *text, double min, double max)
{
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	return end != text && *end == '\0' && errno == 0 && (double)value >= min &&
	       (double)value <= max;
}

static bool parse_number(const char *text, double min, double max)
{
	char *end;
	double value = strtod(text, &end);
	return end != text && *end == '\0' && value >= min && value <= max;
}

void value_choices_write(const char *const *choices, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = 0; choices[i] != NULL && used < size; i++) {
		const char *separator = i == 0 ? "" : choices[i + 1] != NULL ? ", " : " or ";
		used += (size_t)snprintf(out + used, size - used, "%s%s", separator, choices[i]);
	}
}

const char *value_rule_fault(
	const struct value_rule *rule, const char *text, char *error, size_t error_size)
{
	char list[120];
	switch (rule->kind) {
	case VALUE_INT:
		if (parse_int(text, rule->min, rule->max))
			return NULL;
		snprintf(error, error_size, "%s must be a whole number from %.0f to %.0f",
			rule->name, rule->min, rule->max);
		return error;
	case VALUE_NUMBER:
		if (parse_number(text, rule->min, rule->max))
			return NULL;
		snprintf(error, error_size, "%s must be a number from %g to %g", rule->name,
			rule->min, rule->max);
		return error;
	case VALUE_FLAG:
		if (index_of(flags, text) >= 0)
			return NULL;
		snprintf(error, error_size, "%s must be 1 or 0", rule->name);
		return error;
	case VALUE_CHOICE:
		if (index_of(rule->choices, text) >= 0)
			return NULL;
		value_choices_write(rule->choices, list, sizeof(list));
		snprintf(error, error_size, "%s must be %s", rule->name, list);
		return error;
	case VALUE_TEXT:
		break;
	}
	return NULL;
}

double value_rule_value(const struct value_rule *rule, const char *text)
{
	switch (rule->kind) {
	case VALUE_FLAG:
		return index_of(flags, text) % 2;
	case VALUE_CHOICE:
		return index_of(rule->choices, text);
	default:
		return strtod(text, NULL);
	}
}

static json_t *fallback_json(const struct value_rule *rule)
{
	double value = value_rule_value(rule, rule->fallback);
	switch (rule->kind) {
	case VALUE_INT:
	case VALUE_FLAG:
		return json_integer((json_int_t)value);
	case VALUE_NUMBER:
		return value == (double)(json_int_t)value ? json_integer((json_int_t)value)
							  : json_real(value);
	default:
		return json_string(rule->fallback);
	}
}

json_t *value_rule_schema(const struct value_rule *rule)
{
	json_t *schema = json_object();
	switch (rule->kind) {
	case VALUE_INT:
	case VALUE_NUMBER:
		json_object_set_new(schema, "type",
			json_string(rule->kind == VALUE_INT ? "integer" : "number"));
		json_object_set_new(schema, "minimum",
			rule->kind == VALUE_INT ? json_integer((json_int_t)rule->min)
						: json_real(rule->min));
		json_object_set_new(schema, "maximum", json_integer((json_int_t)rule->max));
		break;
	case VALUE_FLAG:
		json_object_set_new(schema, "enum", json_pack("[i, i, b, b]", 0, 1, 0, 1));
		break;
	case VALUE_CHOICE:
		json_object_set_new(schema, "enum", json_schema_list(rule->choices));
		break;
	case VALUE_TEXT:
		json_object_set_new(schema, "type", json_string("string"));
		if (rule->pattern != NULL)
			json_object_set_new(schema, "pattern", json_string(rule->pattern));
		break;
	}
	if (rule->fallback != NULL)
		json_object_set_new(schema, "default", fallback_json(rule));
	return schema;
}
