/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 (RFC 4648, section 4) into bytes and back. OpenSSL's would cost each start of the tool more time than all
   else that it does. Pure. */
#ifndef CLI_BASE64_H
#define CLI_BASE64_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* Appends the bytes as base64, without a newline or a NUL. */
void base64_encode(const void *data, size_t len, struct buffer *out);

/* Appends what `text` stands for; false when it is not whole base64, with `out` as it was. */
bool base64_decode(const char *text, struct buffer *out);

#endif
