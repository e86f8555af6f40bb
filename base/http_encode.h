/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percent-encoding of what goes into a request's target. Pure. */
#ifndef BASE_HTTP_ENCODE_H
#define BASE_HTTP_ENCODE_H

struct buffer;

/* Appends `text` percent-encoded: the unreserved characters of RFC 3986 and commas stay. */
void http_encode(struct buffer *out, const char *text);

#endif
