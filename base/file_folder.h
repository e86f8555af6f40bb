/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder that a file is to be put in, opened once and judged by where it really is: what its path
 * leads to may be turned elsewhere by a symbolic link between a look at the path and its use. Any
 * thread.
 */
#ifndef BASE_FILE_FOLDER_H
#define BASE_FILE_FOLDER_H

#include <stdbool.h>

/* Whether the path is below /proc, /sys or /dev by its look: files there are the kernel's. */
bool file_is_kernels(const char *path);

/*
 * Opens the folder of `path` for openat and the like, with *name (within path) the file's name in it.
 * Returns the fd or a negative errno: -ENOENT and -ENOTDIR when there is none, -EXDEV when links lead
 * to below /proc, /sys or /dev, or through what only looks like a link there ("/proc/self/cwd").
 */
int file_folder_open(const char *path, const char **name);

#endif
