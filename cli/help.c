/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"

static void print_options(FILE *out, const struct option *options)
{
	for (; options != NULL && options->name != NULL; options++) {
		char *letter = options->letter != 0 ? xasprintf("-%c, ", options->letter)
						    : xstrdup("    ");
		char *name = xasprintf("%s--%s%s%s", letter, options->name,
			options->value != NULL ? " " : "",
			options->value != NULL ? options->value : "");
		fprintf(out, "  %-32s %s\n", name, options->help);
		free(name);
		free(letter);
	}
}

void help_print_all(FILE *out)
{
	fputs("usage: boxscreen COMMAND [OPTIONS]\n\n"
	      "The eye and hand on the box's screen.\n\nCommands:\n",
		out);
	for (const struct command *command = commands; command->name != NULL; command++)
		fprintf(out, "  %-16s %s\n", command->name, command->summary);
	fputs("\nOptions of all commands:\n", out);
	print_options(out, global_options);
	fputs("\nExit status: 0 done, 1 error, 2 usage, 3 timed out, 4 locked by a person,\n"
	      "5 daemon or screen unavailable. \"boxscreen help COMMAND\" explains one command.\n",
		out);
}

void help_print_command(FILE *out, const struct command *command)
{
	bool has_options = command->options != NULL;
	fprintf(out, "usage: boxscreen %s%s%s%s\n\n%s.\n", command->name,
		has_options ? " [OPTIONS]" : "", command->operands != NULL ? " " : "",
		command->operands != NULL ? command->operands : "", command->summary);
	if (command->details != NULL)
		fprintf(out, "%s\n", command->details);
	if (has_options) {
		fputs("\nOptions:\n", out);
		print_options(out, command->options);
	}
	fputs("\nOptions of all commands:\n", out);
	print_options(out, global_options);
}

static void print_option_names(const char *command_name, const struct option *options)
{
	for (; options != NULL && options->name != NULL; options++) {
		printf("%s --%s%s%s\n", command_name, options->name,
			options->value != NULL ? " " : "",
			options->value != NULL ? options->value : "");
	}
}

/* "shot", then "shot --format png|jpeg|webp", …: read by completion and the man page check. */
static int print_names(void)
{
	for (const struct command *command = commands; command->name != NULL; command++) {
		printf("%s\n", command->name);
		print_option_names(command->name, command->options);
	}
	print_option_names("*", global_options);
	return EXIT_DONE;
}

static int print_group(const char *word)
{
	size_t len = strlen(word);
	for (const struct command *command = commands; command->name != NULL; command++) {
		if (strncmp(command->name, word, len) == 0 && command->name[len] == ' ')
			printf("%-16s %s\n", command->name, command->summary);
	}
	return EXIT_DONE;
}

int command_help(const struct invocation *call)
{
	if (invocation_value(call, "names") != NULL)
		return print_names();
	if (call->operand_count == 0) {
		help_print_all(stdout);
		return EXIT_DONE;
	}
	if (call->operand_count == 1 && command_is_group(call->operands[0]))
		return print_group(call->operands[0]);
	char *name = call->operand_count == 1
			     ? xstrdup(call->operands[0])
			     : xasprintf("%s %s", call->operands[0], call->operands[1]);
	const struct command *command = command_find(name);
	if (command != NULL) {
		help_print_command(stdout, command);
	} else {
		char *suggestion = suggest_command(name);
		complain("no command \"%s\"%s", name, suggestion);
		free(suggestion);
	}
	free(name);
	return command != NULL ? EXIT_DONE : EXIT_USAGE;
}
