/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are either wholly there or not at all: written beside their final name, then renamed.
 * A reader never sees half a file, a crash leaves the old one. Any thread.
 */
#ifndef BASE_ATOMIC_FILE_H
#define BASE_ATOMIC_FILE_H

#include <stddef.h>
#include <sys/types.h>

enum atomic_file_flags {
	ATOMIC_FILE_SYNC = 1 << 0, /* fsync before the rename: for state that must survive power loss */
	ATOMIC_FILE_REGULAR = 1 << 1, /* only over a regular file: a path that others may lay traps in */
};

/*
 * Writes len bytes to path with the given permission bits (before umask), replacing what is there.
 * A symbolic link at path is replaced, not followed. Returns 0 or a negative errno; on error
 * nothing is left behind and an older file is untouched. -EISDIR when path is a folder (or a link
 * to one), -EEXIST when it is a device, a FIFO or a socket; with ATOMIC_FILE_REGULAR -ELOOP when it is
 * a symbolic link.
 */
int atomic_file_write(const char *path, const void *data, size_t len, mode_t mode, int flags);

/*
 * The same for text that must be kept even while the disk is full: the file has room to spare, filled
 * with line ends, and when there is no space for another beside it the text is written over the
 * old one, in one piece. Only a crash of the machine in that very moment can tear it then.
 */
int atomic_file_keep(const char *path, const char *text, size_t len, mode_t mode);

struct stat;

/*
 * The same for a name in a folder that is open (base/file_folder.h; AT_FDCWD: a path), without
 * ATOMIC_FILE_SYNC for the folder. *written (may be NULL) tells which file was put there; when another
 * has taken its place already it fits none.
 */
int atomic_file_write_at(int folder, const char *name, const void *data, size_t len, mode_t mode,
	int flags, struct stat *written);

/*
 * Whether atomic_file_write_at would put a file there: 0 when nothing or a regular file is, else
 * its error. atomic_file_write_at looks by itself; this is for who wants to know before there is data.
 */
int atomic_file_check_at(int folder, const char *name, int flags);

/*
 * Reads a whole file of at most max_len bytes into *out (NUL added behind, caller frees) and its
 * length into *len. Returns 0 or a negative errno; -EFBIG when it is larger.
 */
int file_read_all(const char *path, size_t max_len, char **out, size_t *len);

#endif
