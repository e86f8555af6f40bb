/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen mcp: the tools of an agent, by the Model Context Protocol on stdin and stdout. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/mcp/server.h"
#include "cli/mcp/tool.h"

/* What the large models' vendors shrink larger pictures to by themselves. */
#define MAX_SIDE_DEFAULT 1568
#define MAX_SIDE_LEAST   200
#define MAX_SIDE_MOST    8000

static bool read_max_side(const struct invocation *call, int *out)
{
	const char *text = invocation_value(call, "max-side");
	char *end;
	long side = text != NULL ? strtol(text, &end, 10) : MAX_SIDE_DEFAULT;
	if (text != NULL && (end == text || *end != '\0' || side < MAX_SIDE_LEAST || side > MAX_SIDE_MOST)) {
		complain("mcp: --max-side must be a whole number from %d to %d", MAX_SIDE_LEAST,
			MAX_SIDE_MOST);
		return false;
	}
	*out = (int)side;
	return true;
}

static enum structured structured_of(const char *name)
{
	return name == NULL || strcmp(name, "auto") == 0 ? STRUCTURED_AUTO
	       : strcmp(name, "always") == 0             ? STRUCTURED_ALWAYS
							 : STRUCTURED_NEVER;
}

int command_mcp(const struct invocation *call)
{
	const char *names = invocation_value(call, "names");
	struct mcp_options options = {
		.socket_path = call->socket_path,
		.is_sandbox = names != NULL && strcmp(names, "sandbox") == 0,
		.structured = structured_of(invocation_value(call, "structured")),
	};
	options.prefix = options.is_sandbox ? "sandbox_" : "screen_";
	if (!read_max_side(call, &options.max_side))
		return EXIT_USAGE;
	if (isatty(STDIN_FILENO))
		complain("mcp: this speaks JSON-RPC with a program that starts it (docs/mcp.md shows "
			 "how to tell an agent of it); Ctrl+D ends it");
	mcp_serve(&options);
	return EXIT_DONE;
}
