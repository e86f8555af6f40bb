/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of an xdotool command line to commands: names without case, options by the rules of
 * getopt_long_only with "+" (one dash does for long names, prefixes that are unambiguous do, "--name=value",
 * "--" ends them, the first other word too), the arity of each command, and where its words end. A
 * chain is checked whole, so that a mistake in it is found before anything is done. Pure, any thread.
 */
#ifndef DISPLAY_XDOTOOL_PARSE_H
#define DISPLAY_XDOTOOL_PARSE_H

#include <stdbool.h>
#include <stddef.h>

struct xdotool_run;
struct xdotool_command;

/* Options of all commands; each command names those it takes. */
enum xdotool_option {
	XDOTOOL_NO_OPTION, /* ends a list */
	XDOTOOL_ADD, XDOTOOL_ALL, XDOTOOL_ANY, XDOTOOL_ARGS, XDOTOOL_CLASS, XDOTOOL_CLASSNAME,
	XDOTOOL_CLEAR_MODIFIERS, XDOTOOL_DELAY, XDOTOOL_DESKTOP, XDOTOOL_FILE, XDOTOOL_VERY_WINDOW,
	XDOTOOL_HELP, XDOTOOL_ICON_NAME, XDOTOOL_LIMIT, XDOTOOL_MAX_DEPTH, XDOTOOL_NAME,
	XDOTOOL_ONLY_VISIBLE, XDOTOOL_OVERRIDE_REDIRECT, XDOTOOL_PID, XDOTOOL_POLAR, XDOTOOL_PREFIX,
	XDOTOOL_RELATIVE, XDOTOOL_REMOVE, XDOTOOL_REPEAT, XDOTOOL_REPEAT_DELAY, XDOTOOL_ROLE,
	XDOTOOL_SCREEN, XDOTOOL_SET_CLASS, XDOTOOL_SET_CLASSNAME, XDOTOOL_SET_NAME,
	XDOTOOL_SET_ROLE, XDOTOOL_SHELL, XDOTOOL_SYNC, XDOTOOL_TERMINATOR, XDOTOOL_TITLE,
	XDOTOOL_TOGGLE, XDOTOOL_URGENCY, XDOTOOL_USE_HINTS, XDOTOOL_WINDOW,
};

/* What an option's value must be. */
enum xdotool_value {
	XDOTOOL_FLAG,    /* it has none */
	XDOTOOL_TEXT,
	XDOTOOL_NUMBER,  /* decimal, 0x…, 0…; may be negative */
	XDOTOOL_COUNT,   /* the same, not negative */
};

struct xdotool_option_spec {
	enum xdotool_option option;
	const char *name;        /* without dashes */
	char letter;             /* or 0 */
	enum xdotool_value value;
};

/* Where the words of a command end. */
enum xdotool_words {
	XDOTOOL_FIXED,     /* min_words of them */
	XDOTOOL_PLACE,     /* two, or the word "restore" */
	XDOTOOL_PATTERN,   /* one; none will do when another option of search says what is looked for */
	XDOTOOL_KEYS,      /* up to the next word that is a command, at least one */
	XDOTOOL_REST,      /* all that is left, or as --args or --terminator say */
};

/* What window a command works on. */
enum xdotool_window_use {
	XDOTOOL_NO_WINDOW,
	XDOTOOL_WINDOW_WORD,            /* an optional word in front of the others; else %1 */
	XDOTOOL_WINDOW_OPTION,          /* --window; else none */
	XDOTOOL_WINDOW_OPTION_OR_STACK, /* --window; else %1 when there are windows in the stack */
};

struct xdotool_spec {
	const char *name;
	const char *usage;              /* what stands behind the name */
	const char *help;               /* one line */
	const enum xdotool_option *options; /* ended by XDOTOOL_NO_OPTION; NULL: only --help */
	enum xdotool_words words;
	int min_words;
	enum xdotool_window_use window_use;
	/*
	 * Checks the words of a command that is complete otherwise, without looking at the screen.
	 * Returns NULL, or what is wrong (the caller frees it). May be NULL.
	 */
	char *(*check)(const struct xdotool_command *command);
	/* Does it, on run->window for commands with a window; ends with xdotool_succeed or _fail. */
	void (*start)(struct xdotool_run *run);
};

struct xdotool_given {
	enum xdotool_option option;
	const char *value;              /* "" for flags */
};

/* All words are borrowed from the arguments of xdotool_parse. */
struct xdotool_command {
	const struct xdotool_spec *spec;
	struct xdotool_given *given;    /* in the order of the command line */
	size_t given_count;
	const char *window;             /* as written; NULL when not given */
	const char *const *words;
	size_t word_count;
	bool is_help;                   /* only its usage is wanted */
	bool is_last;                   /* nothing follows in the chain */
};

struct xdotool_chain {
	struct xdotool_command *commands;
	size_t count;
	char *error;                    /* lines for stderr, when not NULL: count is 0 then */
};

/* Parses words[0..count) with the table specs[0..spec_count). xdotool_chain_finish frees *out. */
void xdotool_parse(const struct xdotool_spec *specs, size_t spec_count, const char *const *words,
	size_t count, struct xdotool_chain *out);
void xdotool_chain_finish(struct xdotool_chain *chain);

/* The value of the option's last use ("" for a flag), NULL when it was not given. */
const char *xdotool_option(const struct xdotool_command *command, enum xdotool_option option);
bool xdotool_has_option(const struct xdotool_command *command, enum xdotool_option option);
/* The same as a number that is known to be one. */
long xdotool_option_number(
	const struct xdotool_command *command, enum xdotool_option option, long otherwise);

/* Whole numbers: decimal, 0x…, and 0… as octal. False for anything else and out of range. */
bool xdotool_parse_number(const char *text, long *out);
/* Coordinates: decimal, a fraction is cut off. */
bool xdotool_parse_coordinate(const char *text, int *out);

/* The usage text of a command. The caller frees it. */
char *xdotool_usage(const struct xdotool_spec *spec);

#endif
