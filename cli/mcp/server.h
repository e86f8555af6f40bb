/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MCP server: lines from stdin, a thread for each call of a tool, lines to stdout. So a takeover that
 * waits for half an hour holds up neither other calls, nor pings, nor its own cancellation.
 */
#ifndef CLI_MCP_SERVER_H
#define CLI_MCP_SERVER_H

struct mcp_options;

/*
 * Serves until the client goes away: stdin ends, or nobody reads stdout. Calls under way then get a moment
 * to end. Main thread, once.
 */
void mcp_serve(const struct mcp_options *options);

#endif
