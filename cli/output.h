/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of others on its way out: what people wrote, titles of windows, names of files. A terminal
 * obeys control characters, so such text could move the cursor, change the window's title or put
 * words into a prompt. Control characters, and those that turn the direction of writing, are
 * written out instead (\x1b, \u202e). Main thread only.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum output_style {
	OUTPUT_LINE,  /* line breaks and tabs are written out too: \n, \t */
	OUTPUT_LINES, /* they stay */
	OUTPUT_JSON,  /* what stands in JSON that is one: all as \u001b, which means the same there */
};

/* A copy of text[0..len) made harmless, with a NUL behind; *out_len (may be NULL) is its length. */
char *output_escape(const char *text, size_t len, enum output_style style, size_t *out_len);

/* One line of a list or report, in a pipe too: what stands in it cannot begin another line. */
void output_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same to any file, behind `lead`. */
void output_vline(FILE *file, const char *lead, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* For people to read: harmless wherever it goes, with its line breaks, and one at its end. */
int output_text(const char *text);

/*
 * For programs: exactly as it is, unless standard output is a terminal; there OUTPUT_LINES makes it
 * harmless and adds a line break that is missing. Returns the exit status, like the others.
 */
int output_data(const void *data, size_t len);
/* One value, a path or an address, and a line break. */
int output_value(const char *text);
/* What belongs on standard error, exactly, unless that is a terminal. */
void output_errors(const void *data, size_t len);
/* The daemon's reply, as it came; on a terminal in a harmless way of writing the same. */
int output_json(const void *json, size_t len);
/* The same for an object of the command's own. */
int output_object(const json_t *object);

#endif
