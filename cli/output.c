/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "cli/client.h"

/* Terminals take U+009B for the beginning of an escape sequence, as ESC [ is. */
static bool is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

/* Marks and overrides of direction, and separators of lines that are none for a program. */
static bool is_misleading(uint32_t character)
{
	return character == 0x061c || character == 0x200e || character == 0x200f ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2066 && character <= 0x2069);
}

static const char *name_of(uint32_t character)
{
	return character == '\n' ? "\\n" : character == '\r' ? "\\r" : character == '\t' ? "\\t" : NULL;
}

static void append_escaped(struct buffer *out, uint32_t character, enum output_style style)
{
	const char *name = style != OUTPUT_JSON ? name_of(character) : NULL;
	if (name != NULL)
		buffer_append(out, name, 2);
	else
		buffer_printf(out, style != OUTPUT_JSON && character < 0x80 ? "\\x%02x" : "\\u%04x",
			(unsigned)character);
}

char *output_escape(const char *text, size_t len, enum output_style style, size_t *out_len)
{
	struct buffer out = {0};
	for (size_t i = 0; i < len;) {
		uint32_t character = 0;
		size_t size = utf8_decode(text + i, len - i, &character);
		bool is_kept = style != OUTPUT_LINE && (character == '\n' || character == '\t');
		if (size == 0) /* no character at all: the byte */
			buffer_printf(&out, style == OUTPUT_JSON ? "\\ufffd" : "\\x%02x",
				(unsigned char)text[i]);
		else if (is_misleading(character) || (is_control(character) && !is_kept))
			append_escaped(&out, character, style);
		else
			buffer_append(&out, text + i, size);
		i += size > 0 ? size : 1;
	}
	if (out_len != NULL)
		*out_len = out.len;
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

void output_vline(FILE *file, const char *lead, const char *format, va_list args)
{
	char *text = xvasprintf(format, args);
	char *line = output_escape(text, strlen(text), OUTPUT_LINE, NULL);
	fprintf(file, "%s%s\n", lead, line);
	free(line);
	free(text);
}

void output_line(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	output_vline(stdout, "", format, args);
	va_end(args);
}

static int print_escaped(const void *data, size_t len, enum output_style style)
{
	size_t shown_len;
	char *shown = output_escape(data, len, style, &shown_len);
	int status = client_print(shown, shown_len, shown_len > 0);
	free(shown);
	return status;
}

int output_text(const char *text)
{
	return print_escaped(text, strlen(text), OUTPUT_LINES);
}

int output_data(const void *data, size_t len)
{
	return isatty(STDOUT_FILENO) ? print_escaped(data, len, OUTPUT_LINES)
				     : client_print(data, len, false);
}

int output_value(const char *text)
{
	return isatty(STDOUT_FILENO) ? print_escaped(text, strlen(text), OUTPUT_LINE)
				     : client_print(text, strlen(text), true);
}

void output_errors(const void *data, size_t len)
{
	char *shown = NULL;
	if (isatty(STDERR_FILENO))
		data = shown = output_escape(data, len, OUTPUT_LINES, &len);
	fwrite(data, 1, len, stderr);
	free(shown);
}

int output_json(const void *json, size_t len)
{
	return isatty(STDOUT_FILENO) ? print_escaped(json, len, OUTPUT_JSON)
				     : client_print(json, len, true);
}

int output_object(const json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);
	int status = output_json(text, strlen(text));
	free(text);
	return status;
}
