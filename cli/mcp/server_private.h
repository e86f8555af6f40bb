/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What server.c and call.c share. */
#ifndef CLI_MCP_SERVER_PRIVATE_H
#define CLI_MCP_SERVER_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/list.h"
#include "cli/mcp/rpc.h"
#include "cli/mcp/session.h"
#include "cli/mcp/tool.h"

/* The requests of one list, which are answered by one list. Guarded by the server's lock. */
struct batch {
	json_t *answers;
	int left; /* calls under way, and one while the list is being read */
};

struct server {
	const struct mcp_options *options; /* immutable from here */
	struct boxscreen *boxscreen;       /* any thread; NULL without a socket_path */
	struct tools *tools;
	int broken_fd;           /* wakes the main thread once is_broken */
	struct session session;  /* main thread */
	struct rpc_lines lines;  /* main thread */
	pthread_mutex_t lock;    /* guards what follows, and writing to stdout */
	pthread_cond_t ended;    /* a call has ended */
	struct list calls;       /* of struct call */
	int running;             /* threads */
	bool is_broken;          /* nobody reads stdout */
};

/* All with the lock held. Messages are taken. */

void server_write(struct server *server, json_t *message);
/* Now, or with the batch (NULL: none). */
void server_answer(struct server *server, struct batch *batch, json_t *message);
/* One of the batch (NULL: none) is done with; the last one's answer sends it. */
void server_release(struct server *server, struct batch *batch);

#endif
