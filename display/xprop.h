/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Window properties as C values. Display thread only; a dying window reads as absent, never as an
 * X error.
 */
#ifndef DISPLAY_XPROP_H
#define DISPLAY_XPROP_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stddef.h>

struct xconn;

/* An atom by name, made when the server does not know it yet. Cached by Xlib. */
Atom xprop_atom(struct xconn *conn, const char *name);

/*
 * A property's items in Xlib's layout (format 32: unsigned long each; 8: bytes; a NUL byte is added
 * behind). Returns a block the caller frees with XFree, or NULL when it is absent, of another type
 * (AnyPropertyType accepts all) or format. At most 1 MiB is read.
 */
void *xprop_read(struct xconn *conn, Window window, const char *name, Atom type, int format,
	size_t *count);

/* A text property as UTF-8, NULL when absent: UTF8_STRING as it is, STRING from Latin-1, other
   encodings through Xlib's converters. The caller frees it. */
char *xprop_text(struct xconn *conn, Window window, const char *name);

#endif
