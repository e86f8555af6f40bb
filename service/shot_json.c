/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/shot_json.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "capture/shot.h"

/* A JSON value as the text it would be in a query: numbers, flags and lists of numbers too. */
static char *value_text(const json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (json_is_boolean(value))
		return xstrdup(json_is_true(value) ? "1" : "0");
	if (json_is_integer(value))
		return xasprintf("%lld", (long long)json_integer_value(value));
	if (json_is_real(value))
		return xasprintf("%.17g", json_real_value(value));
	if (!json_is_array(value) || json_array_size(value) > 4)
		return NULL;
	char *text = xstrdup("");
	size_t i;
	json_t *item;
	json_array_foreach(value, i, item)
	{
		char *longer = json_is_integer(item)
				       ? xasprintf("%s%s%lld", text, i > 0 ? "," : "",
						 (long long)json_integer_value(item))
				       : NULL;
		free(text);
		text = longer;
		if (text == NULL)
			return NULL;
	}
	return text;
}

/* In JSON a region may be a list, and a window a number. */
static void explain_option(struct json_reader *reader, const struct value_rule *rule)
{
	json_t *schema = value_rule_schema(rule);
	if (strcmp(rule->name, "region") == 0)
		schema = json_pack("{s:[o, {s:s, s:{s:s}, s:i, s:i}]}", "anyOf", schema, "type", "array",
			"items", "type", "integer", "minItems", 4, "maxItems", 4);
	else if (strcmp(rule->name, "window") == 0)
		schema = json_pack("{s:[o, {s:s, s:i}]}", "anyOf", schema, "type", "integer", "minimum", 1);
	json_object_set_new(schema, "description", json_string(rule->help));
	char *text = json_dumps(schema, JSON_COMPACT);
	json_reader_explain(reader, rule->name, text);
	free(text);
	json_decref(schema);
}

static void read_option(
	struct json_reader *reader, struct shot_options *options, const struct value_rule *rule)
{
	const json_t *value = NULL;
	char error[160];
	bool is_given = json_read_any(reader, rule->name, &value);
	if (json_reader_is_describing(reader))
		explain_option(reader, rule);
	if (!is_given)
		return;
	char *text = value_text(value);
	const char *fault = text != NULL
				    ? shot_option_set(options, rule->name, text, error, sizeof(error))
				    : "has a value of the wrong type";
	if (fault != NULL)
		json_reader_fail(reader, rule->name, "%s", fault);
	free(text);
}

void shot_options_read(struct json_reader *reader, struct shot_options *options)
{
	for (const struct value_rule *rule = shot_option_rules; rule->name != NULL; rule++)
		read_option(reader, options, rule);
}

json_t *shot_picture_json(const struct shot_options *options, const struct shot_geometry *geometry,
	const struct buffer *picture)
{
	json_t *object = json_pack("{s:s, s:i, s:i, s:[ii], s:[ff]}", "format",
		picture_format_name(options->format), "width", geometry->width, "height",
		geometry->height, "origin", geometry->origin_x, geometry->origin_y, "scale",
		geometry->scale_x, geometry->scale_y);
	if (picture == NULL)
		return object;
	char *base64 = xmalloc((picture->len + 2) / 3 * 4 + 1);
	EVP_EncodeBlock((unsigned char *)base64, picture->data, (int)picture->len);
	json_object_set_new(object, "base64", json_string(base64));
	free(base64);
	return object;
}
