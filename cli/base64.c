/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base64.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

/* 0..63, or -1. */
static int value_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c != '\0' ? strchr(digits, c) : NULL;
	return at != NULL ? (int)(at - digits) : -1;
}

bool base64_decode(const char *text, struct buffer *out)
{
	size_t len = strlen(text), digits = len;
	while (digits > 0 && len - digits < 2 && text[digits - 1] == '=')
		digits--;
	if (len % 4 != 0)
		return false;
	uint8_t *to = buffer_reserve(out, len / 4 * 3);
	uint32_t bits = 0;
	size_t count = 0;
	for (size_t i = 0; i < digits; i++) {
		int value = value_of(text[i]);
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		if (i % 4 != 0)
			to[count++] = (uint8_t)(bits >> (6 - i % 4 * 2));
	}
	out->len += count;
	return true;
}
