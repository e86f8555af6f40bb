/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/mcp/tools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"

/* Of the names in tools.json. */
#define PREFIX "screen_"

/* tools.json, made into C by `embed`. */
extern const unsigned char mcp_tools_json[];
extern const size_t mcp_tools_json_len;

static const struct tool bodies[] = {
	{"shot", tool_shot},
	{"act", tool_act},
	{"type", tool_type},
	{"record", tool_record},
	{"takeover", tool_takeover},
	{"say", tool_say},
	{"status", tool_status},
	{"clipboard", tool_clipboard},
	{"run", tool_run},
};

struct tools {
	json_t *root;
	const char *prefix;
};

/* As the box's users know it: with the box's id, and what the tool can do more there. */
static void make_sandbox(json_t *tool, const json_t *more)
{
	json_t *properties = json_object_get(json_object_get(tool, "inputSchema"), "properties");
	json_t *description = json_object_get(more, "description");
	json_object_set_new(properties, "id",
		json_pack("{s:s, s:s}", "type", "string", "description",
			"The box's id. A call for another box is refused."));
	json_object_update(properties, json_object_get(more, "properties"));
	if (description != NULL)
		json_object_set(tool, "description", description);
}

struct tools *tools_create(const struct mcp_options *options)
{
	struct tools *tools = xcalloc(1, sizeof(*tools));
	char *source = xstrndup((const char *)mcp_tools_json, mcp_tools_json_len);
	char *max_side = xasprintf("%d", options->max_side);
	tools->prefix = options->prefix;
	char *sized = tool_replace_all(source, "$MAX_SIDE", max_side);
	char *named = tool_replace_all(sized, PREFIX, tools->prefix);
	tools->root = json_loads(named, 0, NULL);
	assert(tools->root != NULL); /* it is compiled in, and tests list it */
	size_t i;
	json_t *tool;
	json_array_foreach(tools_list(tools), i, tool)
	{
		if (options->is_sandbox)
			make_sandbox(tool, json_object_get(tool, "sandbox"));
		json_object_del(tool, "sandbox");
	}
	free(named);
	free(sized);
	free(max_side);
	free(source);
	return tools;
}

void tools_destroy(struct tools *tools)
{
	if (tools == NULL)
		return;
	json_decref(tools->root);
	free(tools);
}

json_t *tools_list(const struct tools *tools)
{
	return json_object_get(tools->root, "tools");
}

const char *tools_instructions(const struct tools *tools)
{
	return json_string_value(json_object_get(tools->root, "instructions"));
}

const struct tool *tools_find(const struct tools *tools, const char *name)
{
	size_t len = strlen(tools->prefix);
	if (strncmp(name, tools->prefix, len) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		if (strcmp(bodies[i].name, name + len) == 0)
			return &bodies[i];
	}
	return NULL;
}

char *tools_names(const struct tools *tools)
{
	struct buffer names = {0};
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
		buffer_printf(&names, "%s%s%s", i > 0 ? ", " : "", tools->prefix, bodies[i].name);
	buffer_append(&names, "", 1);
	return (char *)names.data;
}
