/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growable run of bytes. Zero-initialise it; buffer_finish frees it. Not thread safe. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data;
	size_t len;
	size_t capacity;
};

void buffer_append(struct buffer *buffer, const void *data, size_t len);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Makes room for at least `extra` more bytes and returns where they go; the caller adds to len. */
uint8_t *buffer_reserve(struct buffer *buffer, size_t extra);
/* The same for large things: returns NULL and changes nothing when memory is short. */
uint8_t *buffer_try_reserve(struct buffer *buffer, size_t extra);
/* Drops the first `count` bytes (all, when there are fewer). */
void buffer_consume(struct buffer *buffer, size_t count);
void buffer_finish(struct buffer *buffer);

#endif
