/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a file of fragments to one that every player takes and can seek in: moov first, a finite
 * duration, chapters, subtitles. Nothing is encoded again. Blocks on the disk: not for the main
 * thread; any other.
 */
#ifndef CAPTURE_MP4_FINISH_H
#define CAPTURE_MP4_FINISH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A moment with a name, or something said from then on. Texts are UTF-8. */
struct mp4_note {
	int64_t at_ms;
	char *text;
};

struct mp4_notes {
	struct mp4_note *items; /* in the order of their times */
	size_t count;
};

/* Adds a note (text copied), in its place. */
void mp4_notes_add(struct mp4_notes *notes, int64_t at_ms, const char *text);
void mp4_notes_copy(const struct mp4_notes *from, struct mp4_notes *to);
void mp4_notes_finish(struct mp4_notes *notes);

struct mp4_result {
	int64_t duration_ms;
	int64_t bytes;
	int width, height;
	dev_t device; /* which file it is; of mp4_finish */
	ino_t inode;
};

/*
 * Replaces the file of fragments at `path` by the finished one, written beside it and renamed.
 * Chapters last until the next, a subtitle until the next or SUBTITLE_MS. Returns 0 with *result,
 * or a negative errno: the file is then as it was (-ENODATA: there is no sample in it).
 */
#define SUBTITLE_MS 6000
int mp4_finish(const char *path, const struct mp4_notes *chapters,
	const struct mp4_notes *subtitles, struct mp4_result *result);

/* What a finished file is. Returns 0 or a negative errno (-ENODATA: it is none). */
int mp4_probe(const char *path, struct mp4_result *result);

#endif
