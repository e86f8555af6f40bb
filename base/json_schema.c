/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json_schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

json_t *json_schema_object(void)
{
	return json_pack(
		"{s:s, s:{}, s:b}", "type", "object", "properties", "additionalProperties", 0);
}

static json_t *property_of(json_t *object, const char *name)
{
	return json_object_get(json_object_get(object, "properties"), name);
}

void json_schema_add(json_t *object, const char *name, json_t *property, json_t *fallback)
{
	if (fallback != NULL)
		json_object_set_new(property, "default", fallback);
	json_object_set_new(json_object_get(object, "properties"), name, property);
}

void json_schema_extend(json_t *object, const char *name, const char *text)
{
	json_t *more = json_loads(text, 0, NULL);
	assert(more != NULL && property_of(object, name) != NULL);
	json_object_update(property_of(object, name), more);
	json_decref(more);
}

/* The list of that name in the object, which is made when it is not there. */
static json_t *list_of(json_t *object, const char *name)
{
	if (json_object_get(object, name) == NULL)
		json_object_set_new(object, name, json_array());
	return json_object_get(object, name);
}

void json_schema_require(json_t *object, const char *name)
{
	json_t *property = property_of(object, name), *item;
	size_t i;
	if (property == NULL)
		return;
	json_object_del(property, "default");
	json_array_foreach (list_of(object, "required"), i, item) {
		if (strcmp(json_string_value(item), name) == 0)
			return;
	}
	json_array_append_new(list_of(object, "required"), json_string(name));
}

void json_schema_require_one(json_t *object, const char *groups)
{
	char *copy = xstrdup(groups), *next_group, *next_name;
	json_t *choices = json_array();
	for (char *group = strtok_r(copy, "|", &next_group); group != NULL;
		group = strtok_r(NULL, "|", &next_group)) {
		json_t *names = json_array();
		for (char *name = strtok_r(group, ",", &next_name); name != NULL;
			name = strtok_r(NULL, ",", &next_name)) {
			json_object_del(property_of(object, name), "default");
			json_array_append_new(names, json_string(name));
		}
		json_array_append_new(choices, json_pack("{s:o}", "required", names));
	}
	/* There may be several such needs. */
	json_array_append_new(list_of(object, "allOf"), json_pack("{s:o}", "anyOf", choices));
	free(copy);
}

json_t *json_schema_list(const char *const *texts)
{
	json_t *list = json_array();
	for (size_t i = 0; texts[i] != NULL; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}
