/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes below this one, by /proc. Main thread only. */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

#include <sys/types.h>

/*
 * Ends all descendants of this process but `spared` and those below it (0: none is spared): SIGTERM,
 * SIGKILL for those that are still there after patience_ms, and reaps them. This process should be
 * a subreaper, so that those whose parents have gone count too.
 */
void descendants_end(pid_t spared, int patience_ms);

#endif
