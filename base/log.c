/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

#define MESSAGE_MAX 2000

static _Atomic int current_level = LOG_LEVEL_INFO;

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_set_level(enum log_level level)
{
	atomic_store(&current_level, (int)level);
}

bool log_is_enabled(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&current_level, memory_order_relaxed);
}

bool log_level_parse(const char *text, enum log_level *out)
{
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
		if (strcmp(text, level_names[i]) == 0) {
			*out = (enum log_level)i;
			return true;
		}
	}
	return false;
}

static bool is_token_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static void blank_long_words(char *line)
{
	for (char *p = line; *p != '\0';) {
		if (!is_token_char(*p)) {
			p++;
			continue;
		}
		size_t len = 0;
		bool has_upper = false, has_lower = false, has_digit = false;
		while (is_token_char(p[len])) {
			has_upper |= isupper((unsigned char)p[len]) != 0;
			has_lower |= islower((unsigned char)p[len]) != 0;
			has_digit |= isdigit((unsigned char)p[len]) != 0;
			len++;
		}
		if (len >= 32 && has_upper && has_lower && has_digit)
			memset(p, '*', len);
		p += len;
	}
}

/* Blanks the word after each place where `key` stands at the start of a word. */
static void blank_after(char *line, const char *key)
{
	size_t key_len = strlen(key);
	for (char *p = line; (p = strcasestr(p, key)) != NULL;) {
		bool at_start = p == line || !is_token_char(p[-1]);
		p += key_len;
		if (!at_start)
			continue;
		while (*p == ' ')
			p++;
		while (*p != '\0' && *p != ' ' && *p != '&' && *p != '"' && *p != '\'')
			*p++ = '*';
	}
}

void log_scrub(char *line)
{
	static const char *const keys[] = {"t=", "s=", "token=", "password=", "secret=",
		"authorization: bearer ", "authorization:", "bearer "};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		blank_after(line, keys[i]);
	blank_long_words(line);
}

static size_t escape(const char *in, char *out, size_t out_size)
{
	size_t used = 0;
	for (; *in != '\0' && used + 5 < out_size; in++) {
		unsigned char c = (unsigned char)*in;
		if (c < 0x20 || c == 0x7f)
			used += (size_t)snprintf(out + used, out_size - used, "\\x%02x", c);
		else
			out[used++] = (char)c;
	}
	out[used] = '\0';
	return used;
}

void log_vwrite(enum log_level level, const char *module, const char *format, va_list args)
{
	if (!log_is_enabled(level))
		return;
	char message[MESSAGE_MAX];
	int wanted = vsnprintf(message, sizeof(message), format, args);
	if (wanted < 0)
		return;
	size_t len = strlen(message);
	while (len > 0 && message[len - 1] == '\n')
		message[--len] = '\0';
	log_scrub(message);

	char when[CLOCK_RFC3339_SIZE];
	clock_format_rfc3339(clock_wall_us(), when);
	char line[MESSAGE_MAX * 4 + 128];
	size_t used = (size_t)snprintf(
		line, 120, "%s %s %.40s: ", when, level_names[level], module);
	used += escape(message, line + used, sizeof(line) - used - 8);
	if ((size_t)wanted >= sizeof(message))
		used += (size_t)snprintf(line + used, sizeof(line) - used, "…");
	line[used++] = '\n';
	/* One write per line, so that lines of several threads do not mix. */
	ssize_t written = write(STDERR_FILENO, line, used);
	(void)written; /* nowhere to report a broken log to */
}

void log_write(enum log_level level, const char *module, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	log_vwrite(level, module, format, args);
	va_end(args);
}
