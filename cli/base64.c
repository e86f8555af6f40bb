/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base64.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *data, size_t len, struct buffer *out)
{
	const uint8_t *from = data;
	char *to = (char *)buffer_reserve(out, (len + 2) / 3 * 4);
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t bits = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
				(left > 2 ? from[i + 2] : 0);
		*to++ = digits[bits >> 18];
		*to++ = digits[bits >> 12 & 63];
		*to++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*to++ = left > 2 ? digits[bits & 63] : '=';
	}
	out->len += (len + 2) / 3 * 4;
}

/* 0..63, or -1. */
static int value_of(char c)
{
	const char *at = c != '\0' ? strchr(digits, c) : NULL;
	return at != NULL ? (int)(at - digits) : -1;
}

bool base64_decode(const char *text, struct buffer *out)
{
	size_t len = strlen(text), count_in = len;
	while (count_in > 0 && len - count_in < 2 && text[count_in - 1] == '=')
		count_in--;
	if (len % 4 != 0)
		return false;
	uint8_t *to = buffer_reserve(out, len / 4 * 3);
	uint32_t bits = 0;
	size_t count = 0;
	for (size_t i = 0; i < count_in; i++) {
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
