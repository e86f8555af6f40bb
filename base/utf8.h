/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF. Pure. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at text[0..len). Returns its length in bytes (1 to 4) and stores the code
 * point, or returns 0 when len is 0 or the bytes there are not a valid character.
 */
size_t utf8_decode(const char *text, size_t len, uint32_t *code_point);

/* Encodes a code point into out (at least 4 bytes), returns the length; 0 for what is not a scalar. */
size_t utf8_encode(uint32_t code_point, char out[4]);

/* Whether text[0..len) is valid UTF-8 throughout (NUL bytes count as valid characters). */
bool utf8_is_valid(const char *text, size_t len);

/* The number of characters of valid UTF-8. */
size_t utf8_count(const char *text, size_t len);

/*
 * A copy of text[0..len) in which each invalid byte is replaced by U+FFFD and each NUL too.
 * The caller frees it.
 */
char *utf8_sanitize(const char *text, size_t len);

#endif
