/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/arguments.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "cli/output.h"

#define NAME_MAX_LEN 63

void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	output_vline(stderr, "boxscreen: ", format, args);
	va_end(args);
}

static int min_of(int a, int b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance: insertions, deletions, replacements, swapped neighbours. */
static int slips_between(const char *a, const char *b)
{
	int a_len = (int)strlen(a), b_len = (int)strlen(b);
	if (a_len > NAME_MAX_LEN || b_len > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	int rows[3][NAME_MAX_LEN + 1];
	int *before = rows[0], *above = rows[1], *row = rows[2];
	for (int j = 0; j <= b_len; j++)
		above[j] = j;
	for (int i = 1; i <= a_len; i++) {
		row[0] = i;
		for (int j = 1; j <= b_len; j++) {
			int swap = above[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = min_of(swap, min_of(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min_of(row[j], before[j - 2] + 1);
		}
		int *spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[b_len];
}

int nearest_name(
	const char *word, const char *(*name_at)(const void *arg, int index), const void *arg)
{
	size_t len = strlen(word);
	int best = -1;
	int best_slips = len < 4 ? 2 : 3; /* one more than what still counts as near */
	for (int i = 0;; i++) {
		const char *name = name_at(arg, i);
		if (name == NULL)
			return best;
		int slips = slips_between(word, name);
		if (len >= 2 && strncmp(word, name, len) == 0)
			slips = 1;
		if (slips < best_slips) {
			best = i;
			best_slips = slips;
		}
	}
}

/* The command's name, cut to as many words as `words` has. */
static const char *command_name_at(const void *words, int index)
{
	static char name[NAME_MAX_LEN + 1];
	if (commands[index].name == NULL)
		return NULL;
	snprintf(name, sizeof(name), "%s", commands[index].name);
	char *space = strchr(name, ' ');
	if (space != NULL && strchr(words, ' ') == NULL)
		*space = '\0';
	return name;
}

char *suggest_command(const char *words)
{
	int nearest = nearest_name(words, command_name_at, words);
	if (nearest < 0)
		return xstrdup("");
	return xasprintf("; did you mean \"%s\"?", commands[nearest].name);
}

static const char *option_name_at(const void *arg, int index)
{
	const struct option *options = ((const struct command *)arg)->options;
	int own = 0;
	while (options != NULL && options[own].name != NULL)
		own++;
	return index < own ? options[index].name : global_options[index - own].name;
}

static bool fail_unknown_command(const char *words)
{
	char *suggestion = suggest_command(words);
	complain("unknown command \"%s\"%s", words,
		suggestion[0] != '\0' ? suggestion : "; \"boxscreen help\" lists all of them");
	free(suggestion);
	return false;
}

static bool fail_unknown_option(const struct command *command, const char *option)
{
	static const struct command none = {.name = ""};
	const char *bare = option + strspn(option, "-");
	char *name = xstrndup(bare, strcspn(bare, "="));
	if (command == NULL)
		command = &none;
	int nearest = nearest_name(name, option_name_at, command);
	if (nearest >= 0)
		complain("unknown option \"%s\"; did you mean \"--%s\"?", option,
			option_name_at(command, nearest));
	else
		complain("unknown option \"%s\"; \"boxscreen %s%s--help\" lists all", option,
			command->name, command == &none ? "" : " ");
	free(name);
	return false;
}

/* One pass over argv. */
struct scan {
	char **argv;
	int argc, next;
	struct arguments *out;
	char **words; /* what is no option, gathered at the front of argv */
	int word_count;
};

static const struct option *find_option(const struct option *options, const char *name, size_t len)
{
	for (; options != NULL && options->name != NULL; options++) {
		if (strlen(options->name) == len && strncmp(options->name, name, len) == 0)
			return options;
	}
	return NULL;
}

static const struct option *find_letter(const struct option *options, char letter)
{
	for (; options != NULL && options->name != NULL; options++) {
		if (options->letter == letter)
			return options;
	}
	return NULL;
}

static bool is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);
	for (const char *p = choices; *p != '\0'; p += *p == '|') {
		size_t choice_len = strcspn(p, "|");
		if (choice_len == len && strncmp(p, value, len) == 0)
			return true;
		p += choice_len;
	}
	return false;
}

static void store_global(struct arguments *out, const struct option *option, const char *value)
{
	if (strcmp(option->name, "socket") == 0)
		out->socket = value;
	else if (strcmp(option->name, "json") == 0)
		out->call.wants_json = true;
	else if (strcmp(option->name, "help") == 0)
		out->wants_help = true;
	else
		out->wants_version = true;
}

/* `attached` is the value written in the same word, or NULL. */
static bool store_option(struct scan *scan, const struct option *option, const char *attached)
{
	const char *value = attached;
	if (option->value == NULL && attached != NULL) {
		complain("--%s takes no value", option->name);
		return false;
	}
	if (option->value == NULL) {
		value = "1";
	} else if (value == NULL) {
		if (scan->next >= scan->argc) {
			complain("--%s wants a value: %s", option->name, option->value);
			return false;
		}
		value = scan->argv[scan->next++];
	}
	if ((option->flags & OPTION_CHOICE) && !is_choice(option->value, value)) {
		complain("--%s must be one of %s, not \"%s\"", option->name, option->value, value);
		return false;
	}
	const struct option *own =
		scan->out->call.command ? scan->out->call.command->options : NULL;
	if (find_option(own, option->name, strlen(option->name)) == option)
		scan->out->call.values[option - own] = value;
	else
		store_global(scan->out, option, value);
	return true;
}

static bool take_long(struct scan *scan, const char *word)
{
	const struct command *command = scan->out->call.command;
	size_t len = strcspn(word + 2, "=");
	const struct option *option = find_option(command ? command->options : NULL, word + 2, len);
	if (option == NULL)
		option = find_option(global_options, word + 2, len);
	if (option == NULL)
		return fail_unknown_option(command, word);
	return store_option(scan, option, word[2 + len] == '=' ? word + 2 + len + 1 : NULL);
}

/* "-o FILE", "-oFILE", "-c"; switches may share a word: "-co FILE". */
static bool take_short(struct scan *scan, const char *word)
{
	const struct command *command = scan->out->call.command;
	for (const char *p = word + 1; *p != '\0'; p++) {
		const struct option *option = find_letter(command ? command->options : NULL, *p);
		if (option == NULL)
			option = find_letter(global_options, *p);
		if (option == NULL)
			return fail_unknown_option(command, word);
		bool has_value = option->value != NULL;
		if (!store_option(scan, option, has_value && p[1] != '\0' ? p + 1 : NULL))
			return false;
		if (has_value)
			return true;
	}
	return true;
}

static bool fail_group(const char *group)
{
	size_t len = strlen(group);
	struct buffer names = {0};
	for (const struct command *command = commands; command->name != NULL; command++) {
		if (strncmp(command->name, group, len) == 0 && command->name[len] == ' ')
			buffer_printf(&names, "%s\"%s\"", names.len > 0 ? ", " : "", command->name);
	}
	complain("\"%s\" wants one more word: %.*s", group, (int)names.len,
		(const char *)names.data);
	buffer_finish(&names);
	return false;
}

/* Takes a word that is no option: the command's name, its second word, or an operand. */
static bool take_word(struct scan *scan, char *word)
{
	scan->words[scan->word_count++] = word;
	struct invocation *call = &scan->out->call;
	if (call->command != NULL)
		return true;
	if (scan->word_count == 1 && command_is_group(word))
		return true;
	char *name =
		scan->word_count == 1 ? xstrdup(word) : xasprintf("%s %s", scan->words[0], word);
	call->command = command_find(name);
	bool is_found = call->command != NULL || fail_unknown_command(name);
	free(name);
	scan->word_count = 0;
	return is_found;
}

static bool check_operands(const struct invocation *call)
{
	const struct command *command = call->command;
	if (call->operand_count > command->operands_max) {
		complain("%s: unexpected \"%s\"", command->name,
			call->operands[command->operands_max]);
		return false;
	}
	if (call->operand_count < command->operands_min) {
		complain("usage: boxscreen %s %s", command->name, command->operands);
		return false;
	}
	return true;
}

/* "-3" is an operand: no option has a digit for its letter. */
static bool is_negative_number(const char *word)
{
	return word[0] == '-' && (isdigit((unsigned char)word[1]) ||
					 (word[1] == '.' && isdigit((unsigned char)word[2])));
}

bool arguments_parse(int argc, char **argv, struct arguments *out)
{
	*out = (struct arguments){0};
	struct scan scan = {.argv = argv, .argc = argc, .next = 1, .out = out, .words = argv};
	bool is_options_over = false;
	while (scan.next < argc) {
		char *word = argv[scan.next++];
		bool is_fine;
		if (out->call.command != NULL && out->call.command->takes_rest)
			is_options_over = true;
		if (is_options_over || is_negative_number(word) || word[0] != '-' || word[1] == '\0')
			is_fine = take_word(&scan, word);
		else if (strcmp(word, "--") == 0)
			is_fine = is_options_over = true;
		else
			is_fine = word[1] == '-' ? take_long(&scan, word) : take_short(&scan, word);
		if (!is_fine)
			return false;
	}
	if (out->call.command == NULL && scan.word_count > 0)
		return fail_group(scan.words[0]);
	out->call.operands = (const char *const *)scan.words;
	out->call.operand_count = scan.word_count;
	if (out->call.command == NULL || out->wants_help)
		return true;
	return check_operands(&out->call);
}
