/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that commands read for the daemon, which has no business in the caller's files. */
#ifndef CLI_INPUT_FILE_H
#define CLI_INPUT_FILE_H

#include "base/buffer.h"

/* What the daemon takes in one request, about. */
#define INPUT_FILE_MAX (16u << 20)

/*
 * Appends all of the file ("-": standard input) to out. Returns EXIT_DONE, or EXIT_ERROR after
 * saying why not.
 */
int input_file_read(const char *path, struct buffer *out);

#endif
