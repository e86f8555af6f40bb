/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xdotool script files to words. Each line is a chain of commands of its own. The rules:
 *   - Words are parted by spaces and tabs; a carriage return at the end of a line is dropped.
 *   - A word that begins with ' or " goes on to the next quote of the same kind, blanks included;
 *     there are no escapes, and quotes inside a word are characters like others.
 *   - A word that begins with # ends its line.
 *   - A word that begins with $ and digits is that argument of the script; one that begins with $
 *     and a name is that environment variable; what stands behind the name stays. One that is
 *     missing is an error. The value is one word, whatever is in it. Quoted words are not expanded.
 * A script with a mistake of this kind is refused whole. Pure, any thread.
 */
#ifndef DISPLAY_XDOTOOL_SCRIPT_H
#define DISPLAY_XDOTOOL_SCRIPT_H

#include <stddef.h>

struct xdotool_line {
	int number;          /* from 1 */
	char **words;        /* owned */
	size_t count;        /* at least 1: lines without words are left out */
};

struct xdotool_script {
	struct xdotool_line *lines;
	size_t count;
	char *error;         /* a line for stderr, when not NULL: count is 0 then */
};

/*
 * Splits text[0..len). args[0..arg_count) are $1 …; environment[0..environment_count) are NAME=value.
 * xdotool_script_finish frees *out.
 */
void xdotool_script_parse(const char *text, size_t len, const char *const *args, size_t arg_count,
	const char *const *environment, size_t environment_count, struct xdotool_script *out);
void xdotool_script_finish(struct xdotool_script *script);

#endif
