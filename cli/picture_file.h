/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that commands write pictures to. Main thread only. */
#ifndef CLI_PICTURE_FILE_H
#define CLI_PICTURE_FILE_H

#include <jansson.h>
#include <stdbool.h>

struct buffer;

/*
 * The format that the file's ending names; "" when it has no ending (the daemon's default then),
 * NULL when the ending is another one's.
 */
const char *picture_file_format(const char *path);

/* Whether the ending names a format or there is none; else says so, for `command`. `way_out` ends the
   sentence: what to do instead, or "". */
bool picture_file_check(const char *command, const char *path, const char *way_out);

/* The path as JSON can tell it, which holds no bytes that are no UTF-8. The caller's. */
json_t *picture_file_name(const char *path);

/* Writes the picture, whole or not at all. Returns EXIT_DONE, or EXIT_ERROR after saying why not. */
int picture_file_write(const char *path, const struct buffer *picture);

#endif
