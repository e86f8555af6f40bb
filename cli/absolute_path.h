/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file as the daemon must be told it, whose working folder is another one. */
#ifndef CLI_ABSOLUTE_PATH_H
#define CLI_ABSOLUTE_PATH_H

/*
 * The path from the root on, its folder without links, "." and ".."; as it is when the folder is not
 * there (the daemon says so). The caller frees it.
 */
char *absolute_path(const char *path);

#endif
