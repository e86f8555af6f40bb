/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths of files that a caller wants written. The daemon often runs as root and the folders belong
 * to others, so what could lead it elsewhere is refused by its look alone, before anything is
 * done; whoever writes sees to links and devices, that of the folder too (file_folder_open,
 * atomic_file_write_at, O_EXCL). Any thread.
 */
#ifndef SERVICE_FILE_PATH_H
#define SERVICE_FILE_PATH_H

/* What is wrong with the path, as the rest of a sentence about it; NULL: nothing. */
const char *file_path_fault(const char *path);

/*
 * Whether a file may be put there: 0 when nothing or a regular file is there, -ELOOP for a symbolic
 * link, -EISDIR for a folder, -EEXIST for anything else that is no regular file, file_folder_open's
 * errors, or why that cannot be found out.
 */
int file_path_check(const char *path);

/* file_path_check's and atomic_file_write_at's errors as a sentence about the path, static. */
const char *file_path_error(int error);

#endif
