/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What boxscreen run is made of: the guardian, a process that outlives the tool when that is killed, and
 * ends everything that was started. Main thread only.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>

struct run_wish {
	const char *record;      /* where the video goes; NULL: none */
	bool keeps_failures_only;
	const char *size;        /* "1280x800" */
	bool has_window_manager;
	bool is_live;            /* print a link to watch */
	const char *const *command; /* ends with NULL */
};

/*
 * The guardian's life: server, daemon and command are started, the command is waited for, all is ended
 * and cleaned up. `signals_fd` tells of signals as bytes: the tool's; its end means that the tool is
 * gone. Returns the exit status.
 */
int guardian_run(const struct run_wish *wish, int signals_fd);

#endif
