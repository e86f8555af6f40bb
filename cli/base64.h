/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 (RFC 4648, section 4) into bytes. OpenSSL's would cost each start of the tool more time than all
   else that it does. Pure. */
#ifndef CLI_BASE64_H
#define CLI_BASE64_H

#include <stdbool.h>

struct buffer;

/* Appends what `text` stands for; false when it is not whole base64, with `out` as it was. */
bool base64_decode(const char *text, struct buffer *out);

#endif
