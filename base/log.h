/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One log for the whole process, to stderr, one line per entry. Any thread.
 *
 * Redaction: text that people type, keysyms, clipboard contents and tokens are never passed to the
 * log by our code. As a second net, for library logs that are routed in here, log_scrub() blanks
 * whatever looks like a secret (token parameters, Authorization headers, long base64url words)
 * before a line is written.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* Lines above this level are dropped. Default: info. Set once at start, before other threads. */
void log_set_level(enum log_level level);
bool log_is_enabled(enum log_level level);

/* Parses "error", "warn", "info" or "debug". Returns false when text is none of them. */
bool log_level_parse(const char *text, enum log_level *out);

/*
 * Writes "2026-11-29T19:36:31.042Z level module: message". Control characters and newlines inside
 * the message are escaped, so one entry is always one line; over-long messages are cut at 2,000
 * bytes with "…".
 */
void log_write(enum log_level level, const char *module, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void log_vwrite(enum log_level level, const char *module, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* Each .c file that logs defines LOG_MODULE before including this header's macros in use. */
#define log_error(...) log_write(LOG_LEVEL_ERROR, LOG_MODULE, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_LEVEL_WARN, LOG_MODULE, __VA_ARGS__)
#define log_info(...)  log_write(LOG_LEVEL_INFO, LOG_MODULE, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, LOG_MODULE, __VA_ARGS__)

/*
 * Blanks, in place, what looks like a secret: the value after t=, s=, token=, password=, secret=,
 * after "authorization:" and "bearer ", and any run of 32 or more base64url characters that mixes
 * letter cases and digits. Pure.
 */
void log_scrub(char *line);

#endif
