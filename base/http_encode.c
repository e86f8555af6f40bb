/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http_encode.h"

#include <ctype.h>
#include <string.h>

#include "base/buffer.h"

void http_encode(struct buffer *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
		if (isalnum(*p) || strchr("-._~,", *p) != NULL)
			buffer_append(out, p, 1);
		else
			buffer_printf(out, "%%%02X", *p);
	}
}
