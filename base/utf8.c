/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include <string.h>

#include "base/alloc.h"

size_t utf8_decode(const char *text, size_t len, uint32_t *code_point)
{
	const unsigned char *bytes = (const unsigned char *)text;
	if (len == 0)
		return 0;
	if (bytes[0] < 0x80) {
		*code_point = bytes[0];
		return 1;
	}
	size_t size;
	uint32_t value, smallest;
	if ((bytes[0] & 0xe0) == 0xc0) {
		size = 2;
		value = bytes[0] & 0x1f;
		smallest = 0x80;
	} else if ((bytes[0] & 0xf0) == 0xe0) {
		size = 3;
		value = bytes[0] & 0x0f;
		smallest = 0x800;
	} else if ((bytes[0] & 0xf8) == 0xf0) {
		size = 4;
		value = bytes[0] & 0x07;
		smallest = 0x10000;
	} else {
		return 0;
	}
	if (len < size)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < smallest || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code_point = value;
	return size;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		if (cp >= 0xd800 && cp <= 0xdfff)
			return 0;
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	if (cp > 0x10ffff)
		return 0;
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

bool utf8_is_valid(const char *text, size_t len)
{
	while (len > 0) {
		uint32_t cp;
		size_t used = utf8_decode(text, len, &cp);
		if (used == 0)
			return false;
		text += used;
		len -= used;
	}
	return true;
}

size_t utf8_count(const char *text, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

char *utf8_sanitize(const char *text, size_t len)
{
	char *out = xmalloc(len * 3 + 1);
	size_t used = 0;
	while (len > 0) {
		uint32_t cp;
		size_t size = utf8_decode(text, len, &cp);
		if (size == 0 || cp == 0) {
			memcpy(out + used, "\xef\xbf\xbd", 3);
			used += 3;
			size = 1;
		} else {
			memcpy(out + used, text, size);
			used += size;
		}
		text += size;
		len -= size;
	}
	out[used] = '\0';
	return out;
}
