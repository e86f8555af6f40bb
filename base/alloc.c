/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *ptr)
{
	if (ptr == NULL) {
		fputs("boxscreen: out of memory\n", stderr);
		abort();
	}
	return ptr;
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *xmalloc(size_t size)
{
	return checked(malloc(size > 0 ? size : 1));
}

void *xrealloc(void *ptr, size_t size)
{
	return checked(realloc(ptr, size > 0 ? size : 1));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *xstrndup(const char *text, size_t max_len)
{
	return checked(strndup(text, max_len));
}

void *xmemdup(const void *data, size_t size)
{
	void *copy = xmalloc(size);
	if (size > 0)
		memcpy(copy, data, size);
	return copy;
}

char *xvasprintf(const char *format, va_list args)
{
	char *text = NULL;
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	return checked(text);
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	return text;
}
