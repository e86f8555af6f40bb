/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From argv to an invocation, and clear words about what is wrong with it. Main thread only. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stdbool.h>

#include "cli/command.h"

struct arguments {
	struct invocation call; /* call.command is NULL when no command was named */
	const char *socket;     /* as given to --socket, or NULL */
	bool wants_help, wants_version;
};

/*
 * Reads the command line. Options may stand before and behind operands; "--" ends them. On a fault
 * it prints what is wrong, with the nearest right name where there is one, and returns false. argv
 * is reordered and must outlive *out.
 */
bool arguments_parse(int argc, char **argv, struct arguments *out);

/*
 * The index of the best of the names that `name_at` gives for `word`: a beginning of one, or one or
 * two slips of the finger away. -1 when nothing is near. name_at returns NULL behind the last; what
 * it returned may change with its next call.
 */
int nearest_name(
	const char *word, const char *(*name_at)(const void *arg, int index), const void *arg);

/* "; did you mean "NAME"?" for a command near the words that were given, or "". Caller frees. */
char *suggest_command(const char *words);

/* "boxscreen: …" on stderr, with a newline. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
