/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/xprop.h"

#include <X11/Xatom.h>
#include <X11/Xutil.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "display/xconn.h"

#define READ_MAX_BYTES (1024 * 1024)

Atom xprop_atom(struct xconn *conn, const char *name)
{
	return XInternAtom(conn->dpy, name, False);
}

static void *read_raw(struct xconn *conn, Window window, Atom name, Atom type, Atom *actual_type,
	int *format, size_t *count)
{
	unsigned long items = 0, left = 0;
	unsigned char *data = NULL;
	if (conn->is_broken)
		return NULL;
	xconn_trap(conn);
	int status = XGetWindowProperty(conn->dpy, window, name, 0, READ_MAX_BYTES / 4, False, type,
		actual_type, format, &items, &left, &data);
	int error = xconn_untrap_replied(conn);
	if (error != 0 || status != Success || data == NULL || *actual_type == None) {
		if (error != -1 && data != NULL)
			XFree(data);
		return NULL;
	}
	*count = items;
	return data;
}

void *xprop_read(struct xconn *conn, Window window, const char *name, Atom type, int format,
	size_t *count)
{
	Atom actual_type = None;
	int actual_format = 0;
	void *data = read_raw(conn, window, xprop_atom(conn, name), type, &actual_type,
		&actual_format, count);
	if (data != NULL &&
		(actual_format != format || (type != AnyPropertyType && actual_type != type))) {
		XFree(data);
		return NULL;
	}
	return data;
}

static char *from_latin1(const char *text, size_t len)
{
	char *out = xmalloc(len * 2 + 1);
	size_t used = 0;
	for (size_t i = 0; i < len && text[i] != '\0'; i++)
		used += utf8_encode((unsigned char)text[i], out + used);
	out[used] = '\0';
	return out;
}

static char *from_other(struct xconn *conn, unsigned char *data, Atom type, int format, size_t count)
{
	XTextProperty property = {data, type, format, count};
	char **texts = NULL, *out = NULL;
	int text_count = 0;
	if (Xutf8TextPropertyToTextList(conn->dpy, &property, &texts, &text_count) >= 0 &&
		text_count > 0)
		out = utf8_sanitize(texts[0], strlen(texts[0]));
	if (texts != NULL)
		XFreeStringList(texts);
	return out;
}

char *xprop_text(struct xconn *conn, Window window, const char *name)
{
	Atom type = None;
	int format = 0;
	size_t count = 0;
	char *data = read_raw(conn, window, xprop_atom(conn, name), AnyPropertyType, &type, &format,
		&count);
	if (data == NULL)
		return NULL;
	char *out = NULL;
	if (format == 8 && type == xprop_atom(conn, "UTF8_STRING"))
		out = utf8_sanitize(data, strnlen(data, count));
	else if (format == 8 && type == XA_STRING)
		out = from_latin1(data, count);
	else if (format == 8)
		out = from_other(conn, (unsigned char *)data, type, format, count);
	XFree(data);
	return out;
}
