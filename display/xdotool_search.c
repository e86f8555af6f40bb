/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/xdotool_private.h"

/* While it waits for a window to appear, the tree is not walked more often than this. */
#define SYNC_PAUSE_MS 50

#define WATCHED_MASK (SubstructureNotifyMask | PropertyChangeMask)

/* Returns NULL, or what is wrong; the caller frees it. */
static char *compile(const char *pattern, regex_t *out)
{
	char error[200];
	int result = regcomp(out, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (result == 0)
		return NULL;
	regerror(result, out, error, sizeof(error));
	return xasprintf("Failed to compile regex '%s': %s", pattern, error);
}

char *xdotool_check_search(const struct xdotool_command *command)
{
	regex_t regex;
	if (xdotool_option_number(command, XDOTOOL_SCREEN, 0) != 0)
		return xstrdup("there is one screen, 0");
	if (command->word_count == 0)
		return NULL;
	char *error = compile(command->words[0], &regex);
	if (error == NULL)
		regfree(&regex);
	return error;
}

static void on_visit(void *arg, Window window)
{
	xdotool_watch(arg, window, WATCHED_MASK);
}

static void fill_criteria(
	struct xdotool_run *run, const regex_t *regex, struct window_search *out)
{
	const struct xdotool_command *command = run->command;
	*out = (struct window_search){
		.pattern = regex,
		.by_name = xdotool_has_option(command, XDOTOOL_NAME) ||
			   xdotool_has_option(command, XDOTOOL_TITLE),
		.by_class = xdotool_has_option(command, XDOTOOL_CLASS),
		.by_classname = xdotool_has_option(command, XDOTOOL_CLASSNAME),
		.by_role = xdotool_has_option(command, XDOTOOL_ROLE),
		.pid = (int)xdotool_option_number(command, XDOTOOL_PID, 0),
		.wants_all = xdotool_has_option(command, XDOTOOL_ALL),
		.only_visible = xdotool_has_option(command, XDOTOOL_ONLY_VISIBLE),
		.desktop = (int)xdotool_option_number(command, XDOTOOL_DESKTOP, -1),
		.max_depth = (int)xdotool_option_number(command, XDOTOOL_MAX_DEPTH, -1),
		.limit = (size_t)xdotool_option_number(command, XDOTOOL_LIMIT, 0),
	};
	if (!out->by_name && !out->by_class && !out->by_classname && !out->by_role) {
		out->by_name = out->by_class = out->by_classname = true;
		out->by_role = !out->wants_all; /* most windows have none */
	}
	if (xdotool_has_option(command, XDOTOOL_SYNC)) {
		out->visit = on_visit;
		out->visit_arg = run;
	}
}

/* Fills the stack. Returns whether anything was found. */
static bool look(struct xdotool_run *run)
{
	regex_t regex;
	struct window_search search;
	const char *pattern = run->command->word_count > 0 ? run->command->words[0] : NULL;
	char *error = pattern != NULL ? compile(pattern, &regex) : NULL;
	run->stack.count = 0;
	if (error == NULL) {
		fill_criteria(run, pattern != NULL ? &regex : NULL, &search);
		window_search(run->conn, &search, &run->stack);
		if (pattern != NULL)
			regfree(&regex);
	}
	free(error);
	return run->stack.count > 0;
}

static void print_hits(struct xdotool_run *run)
{
	const char *prefix = xdotool_option(run->command, XDOTOOL_PREFIX);
	bool is_shell = xdotool_has_option(run->command, XDOTOOL_SHELL);
	if (!is_shell && !run->command->is_last)
		return;
	if (is_shell)
		xdotool_print(run, "%.16sWINDOWS=(", prefix != NULL ? prefix : "");
	for (size_t i = 0; i < run->stack.count; i++)
		xdotool_print(run, "%lu\n", run->stack.items[i]);
	if (is_shell)
		xdotool_print(run, ")\n");
}

static void finish(struct xdotool_run *run, bool is_found)
{
	print_hits(run);
	if (is_found || xdotool_has_option(run->command, XDOTOOL_SHELL))
		xdotool_succeed(run);
	else if (xdotool_has_option(run->command, XDOTOOL_SYNC))
		xdotool_fail(run, "no such window has appeared within %d s",
			XDOTOOL_SYNC_MAX_MS / 1000);
	else
		xdotool_fail_silently(run);
}

static void warn_of_defaults(struct xdotool_run *run)
{
	static const enum xdotool_option kinds[] = {XDOTOOL_NAME, XDOTOOL_TITLE, XDOTOOL_CLASS,
		XDOTOOL_CLASSNAME, XDOTOOL_ROLE};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (xdotool_has_option(run->command, kinds[i]))
			return;
	}
	if (run->command->word_count > 0)
		xdotool_warn(run, "Defaulting to search window name, class, classname and role");
}

void xdotool_do_search(struct xdotool_run *run)
{
	warn_of_defaults(run);
	if (!xdotool_has_option(run->command, XDOTOOL_SYNC)) {
		finish(run, look(run));
		return;
	}
	run->wait.pause_ms = SYNC_PAUSE_MS;
	xdotool_await(run, XDOTOOL_SYNC_MAX_MS, look, finish);
}
