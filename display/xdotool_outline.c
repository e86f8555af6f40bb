/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a chain is about to do, in a few words, for those who watch the agent. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "display/xdotool_private.h"

/* A script's chains that follow each other faster are one deed to those who watch. */
#define PAUSE_US 500000

/* In this language what asks begins with get, but for these. */
static bool only_looks(const struct xdotool_command *command)
{
	static const char *const others[] = {"search", "sleep", "help", "version"};
	const char *name = command->spec->name;
	if (command->is_help || strncmp(name, "get", 3) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (strcmp(name, others[i]) == 0)
			return true;
	}
	return false;
}

/* Names only: what is typed is nobody's business. Each run of the same once. */
static void add_name(struct xdotool_outline *outline, const char *name, const char *last)
{
	size_t used = strlen(outline->names);
	bool has_room = used + strlen(name) + 3 < sizeof(outline->names);
	if (has_room && (last == NULL || strcmp(name, last) != 0))
		snprintf(outline->names + used, sizeof(outline->names) - used, "%s%s",
			used > 0 ? ", " : "", name);
}

/* Of a place on the screen; those within windows and by angles are known only when it is done. */
static void add_point(struct xdotool_outline *outline, const struct xdotool_command *command)
{
	if (outline->has_point || strcmp(command->spec->name, "mousemove") != 0 ||
		command->window != NULL || command->word_count != 2 ||
		xdotool_has_option(command, XDOTOOL_POLAR))
		return;
	outline->has_point = xdotool_parse_coordinate(command->words[0], &outline->x) &&
			     xdotool_parse_coordinate(command->words[1], &outline->y);
}

void xdotool_tell_chain(struct xdotool_run *run)
{
	struct xdotool_outline outline = {0};
	const char *last = NULL;
	int64_t now_us = clock_monotonic_us();
	if (run->on_chain == NULL || (run->told_us != 0 && now_us - run->told_us < PAUSE_US))
		return;
	for (size_t i = 0; i < run->chain.count; i++) {
		const struct xdotool_command *command = &run->chain.commands[i];
		if (only_looks(command))
			continue;
		add_name(&outline, command->spec->name, last);
		add_point(&outline, command);
		last = command->spec->name;
	}
	if (last == NULL)
		return;
	run->told_us = now_us;
	run->on_chain(run->done_arg, &outline);
}
