/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools as clients see them: tools.json, which is compiled in, under the names and with the numbers
 * of this server's options. Immutable once made; any thread.
 */
#ifndef CLI_MCP_TOOLS_H
#define CLI_MCP_TOOLS_H

#include <jansson.h>

#include "cli/mcp/tool.h"

struct tools;

struct tools *tools_create(const struct mcp_options *options);
void tools_destroy(struct tools *tools); /* accepts NULL */

/* For tools/list; borrowed. */
json_t *tools_list(const struct tools *tools);
/* What is told to the model about all of them together. */
const char *tools_instructions(const struct tools *tools);
/* NULL when there is none of that name. */
const struct tool *tools_find(const struct tools *tools, const char *name);
/* All names with commas between. The caller frees it. */
char *tools_names(const struct tools *tools);

#endif
