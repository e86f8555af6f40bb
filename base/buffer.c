/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The capacity to grow to for `needed` bytes: doubles, so that appending costs little overall. */
static size_t grown_capacity(const struct buffer *buffer, size_t needed)
{
	size_t capacity = buffer->capacity > 0 ? buffer->capacity : 256;
	while (capacity < needed)
		capacity *= 2;
	return capacity;
}

uint8_t *buffer_reserve(struct buffer *buffer, size_t extra)
{
	size_t needed = buffer->len + extra;
	if (needed > buffer->capacity) {
		size_t capacity = grown_capacity(buffer, needed);
		buffer->data = xrealloc(buffer->data, capacity);
		buffer->capacity = capacity;
	}
	return buffer->data + buffer->len;
}

uint8_t *buffer_try_reserve(struct buffer *buffer, size_t extra)
{
	if (extra > SIZE_MAX / 2 - buffer->len)
		return NULL;
	size_t needed = buffer->len + extra;
	if (needed > buffer->capacity || buffer->data == NULL) {
		size_t capacity = grown_capacity(buffer, needed);
		uint8_t *data = realloc(buffer->data, capacity);
		if (data == NULL)
			return NULL;
		buffer->data = data;
		buffer->capacity = capacity;
	}
	return buffer->data + buffer->len;
}

void buffer_append(struct buffer *buffer, const void *data, size_t len)
{
	if (len == 0)
		return;
	memcpy(buffer_reserve(buffer, len), data, len);
	buffer->len += len;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	buffer_append(buffer, text, strlen(text));
	free(text);
}

void buffer_consume(struct buffer *buffer, size_t count)
{
	if (count >= buffer->len) {
		buffer->len = 0;
		return;
	}
	memmove(buffer->data, buffer->data + count, buffer->len - count);
	buffer->len -= count;
}

void buffer_finish(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}
