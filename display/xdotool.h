/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The xdotool language: chains of commands that move, click, type, and find and arrange windows,
 * as docs/xdotool.md has them. Runs on the display thread's loop without blocking it: delays are
 * timers, and --sync waits for X events, at most XDOTOOL_SYNC_MAX_MS.
 *
 * The program's caller has files and an environment, the one who runs the language has not: texts of
 * `type --file`, scripts and the variables of scripts come with the request.
 */
#ifndef DISPLAY_XDOTOOL_H
#define DISPLAY_XDOTOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "display/input_gate.h"

struct hand;
struct xdotool_run;

#define XDOTOOL_SYNC_MAX_MS 30000

/* A file that the caller has read. */
struct xdotool_file {
	const char *path;     /* as it is written behind --file; "-" is the standard input */
	const char *text;
	size_t len;
};

/* All of it is copied. */
struct xdotool_request {
	/*
	 * What stands behind "xdotool" on the command line. When the first word is "-", the script is
	 * the file "-" and the other words are its $1 …; so it is with `script`, all words then.
	 */
	const char *const *args;
	size_t arg_count;
	const char *script;   /* lines of commands; NULL: none, args are the chain */
	size_t script_len;
	const struct xdotool_file *files;
	size_t file_count;
	const char *const *environment; /* NAME=value, for the script */
	size_t environment_count;
};

struct xdotool_result {
	int exit_status;      /* 0, or that of the command that failed */
	bool is_locked;       /* the agent does not hold the screen (any more): nothing more was done */
	struct buffer out, err; /* what goes to stdout and stderr; UTF-8 except for what titles have in them */
};

/* What a chain is about to do: names of commands, never what is typed. */
struct xdotool_outline {
	char names[64]; /* "mousemove, click" */
	bool has_point;
	int x, y;       /* screen pixels: where it moves the pointer first */
};

/* A chain that acts begins. */
typedef void (*xdotool_chain_begins)(void *arg, const struct xdotool_outline *outline);

/* The result is the run's; it is freed when the callback returns. */
typedef void (*xdotool_done)(void *arg, const struct xdotool_result *result);

/*
 * Runs a request for the agent. `done` is called once, from the loop, never from inside this call;
 * the run is gone when it returns. `ticket` (input_gate_agent) is of the moment it was asked for: when
 * the screen has had another holder since, nothing is done and the result is "locked"; so it ends when
 * the holder changes in the middle. `hand` must live as long as the run: cancel what runs before the
 * connection is closed. on_chain (may be NULL) is called from the loop, once for each chain of a script
 * that acts, but twice a second at most.
 *
 * Keys and buttons that a chain leaves down stay down when it ends well, as with xdotool; one that
 * fails lets go of what it pressed.
 */
struct xdotool_run *xdotool_start(struct hand *hand, struct input_ticket ticket,
	const struct xdotool_request *request, xdotool_chain_begins on_chain, xdotool_done done, void *arg);

/*
 * Ends the run at once: everything it pressed is let go, done is not called any more. Not from
 * inside done.
 */
void xdotool_cancel(struct xdotool_run *run);

/*
 * To be called for each run when the holder of the screen has changed: one that waits or sleeps
 * would else notice only when it is about to do something. done follows, from the loop.
 */
void xdotool_holder_changed(struct xdotool_run *run);

#endif
