/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much a program and its children work. A browser answers for its pages, which draw in
 * processes of their own and may be seconds behind; from outside only their work shows it. Any
 * thread; takes well below a millisecond for a browser.
 */
#ifndef DISPLAY_FAMILY_LOAD_H
#define DISPLAY_FAMILY_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct family_load {
	int64_t used_us;  /* processor time used so far, in steps of 10 ms on most kernels */
	bool is_runnable; /* a main thread runs or waits for a processor (used_us stands still then)
			   */
};

/* Looks at the process and its descendants. False when it cannot be seen. */
bool family_load_look(pid_t pid, struct family_load *out);

#endif
