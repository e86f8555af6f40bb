/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/xdotool_parse.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buffer.h"

static const struct xdotool_option_spec all_options[] = {
	{XDOTOOL_ADD, "add", 0, XDOTOOL_TEXT},
	{XDOTOOL_ALL, "all", 0, XDOTOOL_FLAG},
	{XDOTOOL_ANY, "any", 0, XDOTOOL_FLAG},
	{XDOTOOL_ARGS, "args", 0, XDOTOOL_COUNT},
	{XDOTOOL_CLASS, "class", 0, XDOTOOL_FLAG},
	{XDOTOOL_CLASSNAME, "classname", 0, XDOTOOL_FLAG},
	{XDOTOOL_CLEAR_MODIFIERS, "clearmodifiers", 'c', XDOTOOL_FLAG},
	{XDOTOOL_DELAY, "delay", 0, XDOTOOL_COUNT},
	{XDOTOOL_DESKTOP, "desktop", 0, XDOTOOL_NUMBER},
	{XDOTOOL_FILE, "file", 0, XDOTOOL_TEXT},
	{XDOTOOL_VERY_WINDOW, "f", 'f', XDOTOOL_FLAG},
	{XDOTOOL_HELP, "help", 'h', XDOTOOL_FLAG},
	{XDOTOOL_ICON_NAME, "icon-name", 0, XDOTOOL_TEXT},
	{XDOTOOL_LIMIT, "limit", 0, XDOTOOL_COUNT},
	{XDOTOOL_MAX_DEPTH, "maxdepth", 0, XDOTOOL_NUMBER},
	{XDOTOOL_NAME, "name", 0, XDOTOOL_FLAG},
	{XDOTOOL_ONLY_VISIBLE, "onlyvisible", 0, XDOTOOL_FLAG},
	{XDOTOOL_OVERRIDE_REDIRECT, "overrideredirect", 0, XDOTOOL_COUNT},
	{XDOTOOL_PID, "pid", 0, XDOTOOL_COUNT},
	{XDOTOOL_POLAR, "polar", 'p', XDOTOOL_FLAG},
	{XDOTOOL_PREFIX, "prefix", 0, XDOTOOL_TEXT},
	{XDOTOOL_RELATIVE, "relative", 0, XDOTOOL_FLAG},
	{XDOTOOL_REMOVE, "remove", 0, XDOTOOL_TEXT},
	{XDOTOOL_REPEAT, "repeat", 0, XDOTOOL_COUNT},
	{XDOTOOL_REPEAT_DELAY, "repeat-delay", 0, XDOTOOL_COUNT},
	{XDOTOOL_ROLE, "role", 0, XDOTOOL_FLAG},
	{XDOTOOL_SCREEN, "screen", 0, XDOTOOL_COUNT},
	{XDOTOOL_SHELL, "shell", 0, XDOTOOL_FLAG},
	{XDOTOOL_SYNC, "sync", 0, XDOTOOL_FLAG},
	{XDOTOOL_TERMINATOR, "terminator", 0, XDOTOOL_TEXT},
	{XDOTOOL_TITLE, "title", 0, XDOTOOL_FLAG},
	{XDOTOOL_TOGGLE, "toggle", 0, XDOTOOL_TEXT},
	{XDOTOOL_URGENCY, "urgency", 0, XDOTOOL_COUNT},
	{XDOTOOL_USE_HINTS, "usehints", 'u', XDOTOOL_FLAG},
	{XDOTOOL_WINDOW, "window", 'w', XDOTOOL_TEXT},
	/* set_window gives the names that search only asks by. */
	{XDOTOOL_SET_NAME, "name", 0, XDOTOOL_TEXT},
	{XDOTOOL_SET_ROLE, "role", 0, XDOTOOL_TEXT},
	{XDOTOOL_SET_CLASS, "class", 0, XDOTOOL_TEXT},
	{XDOTOOL_SET_CLASSNAME, "classname", 0, XDOTOOL_TEXT},
};

struct parser {
	const struct xdotool_spec *specs;
	size_t spec_count;
	const char *const *words;
	size_t count;
	size_t at;             /* the next word */
	struct buffer error;
};

static void complain(struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(struct parser *parser, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	buffer_printf(&parser->error, "%s\n", text);
	free(text);
}

static const struct xdotool_spec *find_spec(const struct parser *parser, const char *name)
{
	for (size_t i = 0; i < parser->spec_count; i++) {
		if (strcasecmp(parser->specs[i].name, name) == 0)
			return &parser->specs[i];
	}
	return NULL;
}

/* Numbers */

bool xdotool_parse_number(const char *text, long *out)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 0);
	if (end == text || *end != '\0' || errno != 0 || value > UINT32_MAX || value < INT_MIN)
		return false;
	*out = value;
	return true;
}

bool xdotool_parse_coordinate(const char *text, int *out)
{
	char *end;
	double value = strtod(text, &end);
	/* "nan", "0x10" and "1e3" are numbers to strtod, but no coordinates. */
	if (end == text || *end != '\0' || strspn(text, "+-.0123456789") != strlen(text) ||
		fabs(value) > 1000000)
		return false;
	*out = (int)value;
	return true;
}

/* Options */

static const struct xdotool_option_spec *option_spec(enum xdotool_option option)
{
	for (size_t i = 0; i < ARRAY_LEN(all_options); i++) {
		if (all_options[i].option == option)
			return &all_options[i];
	}
	return NULL;
}

/* The options a command takes; every one takes --help. Returns NULL behind the last. */
static const struct xdotool_option_spec *nth_option(const struct xdotool_spec *spec, size_t n)
{
	static const enum xdotool_option none[] = {XDOTOOL_NO_OPTION};
	const enum xdotool_option *options = spec->options != NULL ? spec->options : none;
	for (size_t i = 0;; i++) {
		bool is_end = options[i] == XDOTOOL_NO_OPTION;
		if (i == n)
			return option_spec(is_end ? XDOTOOL_HELP : options[i]);
		if (is_end)
			return NULL;
	}
}

static const struct xdotool_option_spec *find_letter(const struct xdotool_spec *spec, char letter)
{
	const struct xdotool_option_spec *option;
	for (size_t i = 0; (option = nth_option(spec, i)) != NULL; i++) {
		if (option->letter == letter)
			return option;
	}
	return NULL;
}

/* An exact name, or the only one that begins so. *is_ambiguous tells why NULL was returned. */
static const struct xdotool_option_spec *find_name(
	const struct xdotool_spec *spec, const char *name, size_t len, bool *is_ambiguous)
{
	const struct xdotool_option_spec *option, *found = NULL;
	*is_ambiguous = false;
	for (size_t i = 0; (option = nth_option(spec, i)) != NULL; i++) {
		if (strncmp(option->name, name, len) != 0)
			continue;
		if (option->name[len] == '\0')
			return option;
		*is_ambiguous = found != NULL;
		if (*is_ambiguous)
			break;
		found = option;
	}
	return *is_ambiguous ? NULL : found;
}

static bool add_given(struct parser *parser, struct xdotool_command *command,
	const struct xdotool_option_spec *option, const char *value)
{
	long number;
	bool is_number = option->value == XDOTOOL_NUMBER || option->value == XDOTOOL_COUNT;
	if (is_number && (!xdotool_parse_number(value, &number) || number > INT_MAX ||
				 (option->value == XDOTOOL_COUNT && number < 0))) {
		complain(parser, "%s: option '--%s' wants a number, not '%s'", command->spec->name,
			option->name, value);
		return false;
	}
	command->given = xrealloc(
		command->given, (command->given_count + 1) * sizeof(command->given[0]));
	command->given[command->given_count++] =
		(struct xdotool_given){option->option, value};
	command->is_help |= option->option == XDOTOOL_HELP;
	return true;
}

/* Adds an option whose value, when it wants one, is `value` or else the next word. */
static bool take_option(struct parser *parser, struct xdotool_command *command,
	const struct xdotool_option_spec *option, const char *value)
{
	if (option->value == XDOTOOL_FLAG) {
		if (value == NULL)
			return add_given(parser, command, option, "");
		complain(parser, "%s: option '--%s' doesn't allow an argument",
			command->spec->name, option->name);
		return false;
	}
	if (value == NULL && parser->at < parser->count)
		value = parser->words[parser->at++];
	if (value != NULL)
		return add_given(parser, command, option, value);
	complain(parser, "%s: option '--%s' requires an argument", command->spec->name,
		option->name);
	return false;
}

static bool take_letters(
	struct parser *parser, struct xdotool_command *command, const char *letters)
{
	for (; *letters != '\0'; letters++) {
		const struct xdotool_option_spec *option =
			find_letter(command->spec, *letters);
		if (option == NULL) {
			complain(parser, "%s: invalid option -- '%c'", command->spec->name,
				*letters);
			return false;
		}
		bool has_value = option->value != XDOTOOL_FLAG && letters[1] != '\0';
		if (!take_option(parser, command, option, has_value ? letters + 1 : NULL))
			return false;
		if (has_value)
			break;
	}
	return true;
}

static void complain_ambiguous(struct parser *parser, const struct xdotool_spec *spec,
	const char *word, const char *name, size_t len)
{
	const struct xdotool_option_spec *option;
	buffer_printf(&parser->error, "%s: option '%s' is ambiguous; possibilities:", spec->name,
		word);
	for (size_t i = 0; (option = nth_option(spec, i)) != NULL; i++) {
		if (strncmp(option->name, name, len) == 0)
			buffer_printf(&parser->error, " '--%s'", option->name);
	}
	buffer_printf(&parser->error, "\n");
}

static bool take_option_word(
	struct parser *parser, struct xdotool_command *command, const char *word)
{
	const struct xdotool_spec *spec = command->spec;
	bool is_long = word[1] == '-';
	const char *name = word + (is_long ? 2 : 1);
	size_t len = strcspn(name, "=");
	const char *value = name[len] == '=' ? name + len + 1 : NULL;
	bool is_ambiguous = false;
	const struct xdotool_option_spec *option = NULL;
	/* A single letter behind a single dash is a letter first. */
	if (is_long || name[1] != '\0' || find_letter(spec, name[0]) == NULL)
		option = find_name(spec, name, len, &is_ambiguous);
	if (option != NULL)
		return take_option(parser, command, option, value);
	if (!is_long && !is_ambiguous && find_letter(spec, name[0]) != NULL)
		return take_letters(parser, command, name);
	if (is_ambiguous) {
		complain_ambiguous(parser, spec, word, name, len);
		return false;
	}
	complain(parser, "%s: unrecognized option '%s'", spec->name, word);
	if (strspn(name, "0123456789.") == strlen(name))
		complain(parser, "%s: a negative number stands behind '--': %s -- %s", spec->name,
			spec->name, word);
	return false;
}

static bool take_options(struct parser *parser, struct xdotool_command *command)
{
	while (parser->at < parser->count && !command->is_help) {
		const char *word = parser->words[parser->at];
		if (word[0] != '-' || word[1] == '\0')
			return true;
		parser->at++;
		if (strcmp(word, "--") == 0)
			return true;
		if (!take_option_word(parser, command, word))
			return false;
	}
	return true;
}

const char *xdotool_option(const struct xdotool_command *command, enum xdotool_option option)
{
	const char *value = NULL;
	for (size_t i = 0; i < command->given_count; i++) {
		if (command->given[i].option == option)
			value = command->given[i].value;
	}
	return value;
}

bool xdotool_has_option(const struct xdotool_command *command, enum xdotool_option option)
{
	return xdotool_option(command, option) != NULL;
}

long xdotool_option_number(
	const struct xdotool_command *command, enum xdotool_option option, long otherwise)
{
	const char *value = xdotool_option(command, option);
	long number;
	return value != NULL && xdotool_parse_number(value, &number) ? number : otherwise;
}

/* Words */

static size_t words_left(const struct parser *parser)
{
	return parser->count - parser->at;
}

/* The words up to the next one that names a command. */
static size_t words_to_command(const struct parser *parser)
{
	size_t count = 0;
	while (count < words_left(parser) &&
		find_spec(parser, parser->words[parser->at + count]) == NULL)
		count++;
	return count;
}

static void take_words(struct parser *parser, struct xdotool_command *command, size_t count)
{
	command->words = parser->words + parser->at;
	command->word_count = count;
	parser->at += count;
}

static void take_rest(struct parser *parser, struct xdotool_command *command)
{
	size_t count = words_left(parser);
	const char *terminator = xdotool_option(command, XDOTOOL_TERMINATOR);
	long wanted = xdotool_option_number(command, XDOTOOL_ARGS, -1);
	bool is_terminated = false;
	if (wanted >= 0 && (size_t)wanted < count)
		count = (size_t)wanted;
	for (size_t i = 0; terminator != NULL && i < count; i++) {
		if (strcmp(parser->words[parser->at + i], terminator) == 0) {
			count = i;
			is_terminated = true;
		}
	}
	take_words(parser, command, count);
	parser->at += is_terminated;
}

static bool has_enough_words(struct parser *parser, const struct xdotool_command *command, size_t got)
{
	size_t wanted = (size_t)command->spec->min_words;
	if (got >= wanted)
		return true;
	complain(parser, "%s: too few arguments (got %zu, wants %zu)", command->spec->name, got,
		wanted);
	return false;
}

/* A window may stand in front of the other words, when behind as many as are needed no command begins. */
static bool take_fixed(struct parser *parser, struct xdotool_command *command)
{
	size_t wanted = (size_t)command->spec->min_words;
	if (!has_enough_words(parser, command, words_left(parser)))
		return false;
	if (command->spec->window_use == XDOTOOL_WINDOW_WORD && words_left(parser) > wanted &&
		strcmp(parser->words[parser->at + wanted], "--") != 0 &&
		find_spec(parser, parser->words[parser->at + wanted]) == NULL)
		command->window = parser->words[parser->at++];
	take_words(parser, command, wanted);
	return true;
}

static bool take_command_words(struct parser *parser, struct xdotool_command *command)
{
	size_t count;
	switch (command->spec->words) {
	case XDOTOOL_PLACE:
		count = words_left(parser) > 0 &&
				strcmp(parser->words[parser->at], "restore") == 0
			? 1
			: 2;
		if (count == 2 && !has_enough_words(parser, command, words_left(parser)))
			return false;
		take_words(parser, command, count);
		return true;
	case XDOTOOL_PATTERN:
		count = words_left(parser) > 0 &&
			!(xdotool_has_option(command, XDOTOOL_PID) && words_to_command(parser) == 0);
		if (count == 0 && !xdotool_has_option(command, XDOTOOL_PID))
			return has_enough_words(parser, command, 0);
		take_words(parser, command, count);
		return true;
	case XDOTOOL_KEYS:
		count = words_to_command(parser);
		if (!has_enough_words(parser, command, count))
			return false;
		take_words(parser, command, count);
		return true;
	case XDOTOOL_REST:
		take_rest(parser, command);
		return xdotool_has_option(command, XDOTOOL_FILE) ||
		       has_enough_words(parser, command, command->word_count);
	case XDOTOOL_FIXED:
		break;
	}
	return take_fixed(parser, command);
}

/* Chains */

static bool parse_command(
	struct parser *parser, const struct xdotool_spec *spec, struct xdotool_command *command)
{
	*command = (struct xdotool_command){.spec = spec};
	if (!take_options(parser, command))
		return false;
	if (command->is_help) {
		parser->at = parser->count;
		return true;
	}
	if (!take_command_words(parser, command))
		return false;
	if (xdotool_has_option(command, XDOTOOL_WINDOW))
		command->window = xdotool_option(command, XDOTOOL_WINDOW);
	char *wrong = spec->check != NULL ? spec->check(command) : NULL;
	if (wrong != NULL)
		complain(parser, "%s: %s", spec->name, wrong);
	free(wrong);
	return wrong == NULL;
}

static bool parse_next(struct parser *parser, struct xdotool_chain *out)
{
	const char *name = parser->words[parser->at++];
	if (strcmp(name, "--") == 0)
		return true; /* `search NAME -- windowsize …`, as the manual writes it */
	const struct xdotool_spec *spec = find_spec(parser, name);
	if (spec == NULL) {
		complain(parser, "xdotool: Unknown command: %s", name);
		complain(parser, "Run 'xdotool help' if you want a command list");
		return false;
	}
	out->commands = xrealloc(out->commands, (out->count + 1) * sizeof(out->commands[0]));
	struct xdotool_command *command = &out->commands[out->count++];
	if (parse_command(parser, spec, command))
		return true;
	char *usage = xdotool_usage(spec);
	buffer_printf(&parser->error, "%s", usage);
	free(usage);
	return false;
}

void xdotool_parse(const struct xdotool_spec *specs, size_t spec_count, const char *const *words,
	size_t count, struct xdotool_chain *out)
{
	*out = (struct xdotool_chain){0};
	struct parser parser = {specs, spec_count, words, count, 0, {0}};
	bool is_good = true;
	while (is_good && parser.at < count)
		is_good = parse_next(&parser, out);
	if (!is_good) {
		char *error = xstrndup((char *)parser.error.data, parser.error.len);
		xdotool_chain_finish(out);
		out->error = error;
	} else if (out->count > 0) {
		out->commands[out->count - 1].is_last = true;
	}
	buffer_finish(&parser.error);
}

void xdotool_chain_finish(struct xdotool_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		free(chain->commands[i].given);
	free(chain->commands);
	free(chain->error);
	*chain = (struct xdotool_chain){0};
}

char *xdotool_usage(const struct xdotool_spec *spec)
{
	struct buffer text = {0};
	const char *gap = spec->usage[0] != '\0' ? " " : "";
	buffer_printf(&text, "Usage: %s%s%s\n%s\n", spec->name, gap, spec->usage, spec->help);
	if (spec->window_use == XDOTOOL_WINDOW_WORD)
		buffer_printf(&text, "Without a window it works on %%1, the first one found before.\n");
	const struct xdotool_option_spec *option;
	for (size_t i = 0; (option = nth_option(spec, i)) != NULL; i++) {
		const char *dashes = option->name[1] == '\0' ? "-" : "--";
		const char *value = option->value == XDOTOOL_FLAG   ? ""
				    : option->value == XDOTOOL_TEXT ? " TEXT"
								    : " N";
		buffer_printf(&text, "  %s%s%s\n", dashes, option->name, value);
	}
	buffer_append(&text, "", 1);
	return (char *)text.data;
}
