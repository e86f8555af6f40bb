/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/xdotool_script.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

struct splitter {
	const char *const *args;
	size_t arg_count;
	const char *const *environment;
	size_t environment_count;
	int number;              /* of the line */
	struct xdotool_script *script;
};

/* "line 3: BEFORE name AFTER" */
static void fail(struct splitter *splitter, const char *before, const char *name, size_t len,
	const char *after)
{
	splitter->script->error = xasprintf("xdotool: line %d: %s%.*s%s\n", splitter->number, before,
		(int)len, name, after);
}

static void add_word(struct splitter *splitter, struct xdotool_line *line, char *word)
{
	line->words = xrealloc(line->words, (line->count + 1) * sizeof(line->words[0]));
	line->words[line->count++] = word;
}

static const char *argument(const struct splitter *splitter, const char *digits)
{
	size_t index = strtoul(digits, NULL, 10);
	return index >= 1 && index <= splitter->arg_count ? splitter->args[index - 1] : NULL;
}

static const char *variable(const struct splitter *splitter, const char *name, size_t len)
{
	for (size_t i = 0; i < splitter->environment_count; i++) {
		const char *entry = splitter->environment[i];
		if (strncmp(entry, name, len) == 0 && entry[len] == '=')
			return entry + len + 1;
	}
	return NULL;
}

/* A word "$NAME…" without its end; returns NULL and fails when there is no such value. */
static char *expand(struct splitter *splitter, const char *word, size_t len)
{
	char *text = xstrndup(word + 1, len - 1);
	size_t digits = strspn(text, "0123456789");
	size_t name_len = digits > 0 ? digits : strspn(text, NAME_CHARS);
	char *out = NULL;
	if (name_len == 0) { /* a lone dollar sign */
		out = xstrndup(word, len);
	} else {
		const char *value = digits > 0 ? argument(splitter, text)
					       : variable(splitter, text, name_len);
		if (value != NULL)
			out = xasprintf("%s%s", value, text + name_len);
		else
			fail(splitter, digits > 0 ? "argument $" : "environment variable $", text,
				name_len, digits > 0 ? " was not given" : " is not set");
	}
	free(text);
	return out;
}

/* Takes one word from text[0..len), which does not begin with a blank; what is left, or NULL. */
static const char *take_word(
	struct splitter *splitter, struct xdotool_line *line, const char *text, const char *end)
{
	if (*text == '\'' || *text == '"') {
		const char *close = memchr(text + 1, *text, (size_t)(end - text) - 1);
		if (close == NULL) {
			fail(splitter, "the quote ", text, 1, " is not closed on its line");
			return NULL;
		}
		add_word(splitter, line, xstrndup(text + 1, (size_t)(close - text) - 1));
		return close + 1;
	}
	const char *word = text;
	while (text < end && *text != ' ' && *text != '\t')
		text++;
	size_t len = (size_t)(text - word);
	char *copy = *word == '$' ? expand(splitter, word, len) : xstrndup(word, len);
	if (copy == NULL)
		return NULL;
	add_word(splitter, line, copy);
	return text;
}

static bool split_line(
	struct splitter *splitter, struct xdotool_line *line, const char *text, const char *end)
{
	if (end > text && end[-1] == '\r')
		end--;
	for (;;) {
		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		if (text == end || *text == '#')
			return true;
		text = take_word(splitter, line, text, end);
		if (text == NULL)
			return false;
	}
}

static void line_finish(struct xdotool_line *line)
{
	for (size_t i = 0; i < line->count; i++)
		free(line->words[i]);
	free(line->words);
}

void xdotool_script_parse(const char *text, size_t len, const char *const *args, size_t arg_count,
	const char *const *environment, size_t environment_count, struct xdotool_script *out)
{
	*out = (struct xdotool_script){0};
	struct splitter splitter = {args, arg_count, environment, environment_count, 0, out};
	if (memchr(text, '\0', len) != NULL) {
		out->error = xstrdup("xdotool: the script has a NUL byte in it\n");
		return;
	}
	const char *end = text + len;
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		if (line_end == NULL)
			line_end = end;
		struct xdotool_line line = {.number = ++splitter.number};
		if (!split_line(&splitter, &line, text, line_end)) {
			char *error = out->error;
			out->error = NULL;
			line_finish(&line);
			xdotool_script_finish(out);
			out->error = error;
			return;
		}
		if (line.count > 0) {
			out->lines =
				xrealloc(out->lines, (out->count + 1) * sizeof(out->lines[0]));
			out->lines[out->count++] = line;
		}
		text = line_end < end ? line_end + 1 : end;
	}
}

void xdotool_script_finish(struct xdotool_script *script)
{
	for (size_t i = 0; i < script->count; i++)
		line_finish(&script->lines[i]);
	free(script->lines);
	free(script->error);
	*script = (struct xdotool_script){0};
}
