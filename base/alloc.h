/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocation of ordinary objects: running out of memory for these aborts, so that no caller has to
 * carry a path that cannot be tested. Pixel buffers and packets are large and come in bursts; they
 * use malloc/mmap directly and are checked. Any thread.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Each returns memory the caller frees with free(); none returns NULL. xcalloc zeroes. */
void *xcalloc(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xrealloc(void *ptr, size_t size) __attribute__((alloc_size(2), returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t max_len) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *data, size_t size) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *format, va_list args)
	__attribute__((format(printf, 1, 0), returns_nonnull));

#endif
