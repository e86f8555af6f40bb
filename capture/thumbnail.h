/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A still picture out of a recording. Blocks on the disk: for pool threads. */
#ifndef CAPTURE_THUMBNAIL_H
#define CAPTURE_THUMBNAIL_H

struct buffer;

/*
 * A JPEG, no side longer than max_side, of the picture at which decoding can begin nearest before the
 * middle (in a file that still grows: its first). Returns 0 or a negative errno.
 */
int thumbnail_make(const char *path, int max_side, struct buffer *out);

#endif
