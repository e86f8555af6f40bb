/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command is. There is one table of them (command_table.c); parsing, help, near-miss
 * suggestions, shell completion and the check of the man page all read it, so adding a command is
 * one row and one function.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit status of every command. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_TIMED_OUT = 3,
	EXIT_LOCKED = 4,
	EXIT_UNAVAILABLE = 5, /* no daemon, or no screen */
};

enum option_flags {
	OPTION_QUERY = 1 << 0,  /* goes along as query parameter: --max-side 9 as max_side=9 */
	OPTION_CHOICE = 1 << 1, /* `value` lists all that is allowed: "png|jpeg|webp" */
};

struct option {
	const char *name;  /* the long name, without dashes; NULL ends a list */
	char letter;       /* the short name, or 0 */
	const char *value; /* what help calls its value; NULL for a switch (sent as "1") */
	const char *help;  /* half a sentence */
	int flags;
};

#define OPTIONS_MAX 24

struct invocation;

struct command {
	const char *name;     /* one word, or two: "clipboard get" */
	const char *operands; /* as help writes them: "X Y"; NULL for none */
	int operands_min, operands_max;
	const char *summary; /* half a sentence for the list of commands */
	const char *details; /* paragraphs for `help NAME` */
	const struct option *options;
	bool is_offline; /* it needs no daemon that runs already */
	bool takes_rest; /* everything behind its name is an operand, options too */
	int (*run)(const struct invocation *call); /* returns an exit_status */
};

/* A command with what was given to it. Everything is borrowed from argv and the table. */
struct invocation {
	const struct command *command;
	const char *values[OPTIONS_MAX]; /* by index in command->options; NULL: not given */
	const char *const *operands;
	int operand_count;
	const char *socket_path;
	bool wants_json; /* print the daemon's reply as it came */
};

extern const struct command commands[]; /* ends with a row without name */
extern const struct option global_options[];

/* The value given to the option, "1" for a switch, NULL when it was not given. */
const char *invocation_value(const struct invocation *call, const char *option_name);

/* Finds a command by its whole name ("shot", "clipboard get"); NULL when there is none. */
const struct command *command_find(const char *name);

/* Whether `word` is the first word of commands with two words ("clipboard"). */
bool command_is_group(const char *word);

/* Each command's function. */
int command_act(const struct invocation *call);
int command_click(const struct invocation *call);
int command_clipboard_get(const struct invocation *call);
int command_clipboard_set(const struct invocation *call);
int command_doctor(const struct invocation *call);
int command_drag(const struct invocation *call);
int command_events(const struct invocation *call);
int command_help(const struct invocation *call);
int command_key(const struct invocation *call);
int command_mcp(const struct invocation *call);
int command_move(const struct invocation *call);
int command_publish(const struct invocation *call);
int command_record_delete(const struct invocation *call);
int command_record_get(const struct invocation *call);
int command_record_link(const struct invocation *call);
int command_record_list(const struct invocation *call);
int command_record_mark(const struct invocation *call);
int command_record_pause(const struct invocation *call);
int command_record_resume(const struct invocation *call);
int command_record_start(const struct invocation *call);
int command_record_stop(const struct invocation *call);
int command_replay_off(const struct invocation *call);
int command_replay_on(const struct invocation *call);
int command_replay_save(const struct invocation *call);
int command_run(const struct invocation *call);
int command_scroll(const struct invocation *call);
int command_shot(const struct invocation *call);
int command_status(const struct invocation *call);
int command_type(const struct invocation *call);
int command_link(const struct invocation *call);
int command_notes(const struct invocation *call);
int command_say(const struct invocation *call);
int command_takeover(const struct invocation *call);
int command_windows(const struct invocation *call);
int command_xdotool(const struct invocation *call);

#endif
