/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recordings on disk: one small JSON file each in the library's folder, which tells where the video
 * is and how it stands, written beside and renamed whenever that changes. What a crash left unfinished
 * is found at the next start. Main thread only.
 */
#ifndef CAPTURE_LIBRARY_H
#define CAPTURE_LIBRARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "capture/mp4_finish.h"

struct library;

enum entry_state {
	ENTRY_RECORDING,
	ENTRY_PAUSED,
	ENTRY_FINISHING,
	ENTRY_DONE,
	ENTRY_RECOVERED, /* finished after the daemon had ended in the middle of it */
	ENTRY_ERROR,     /* ended early; `error` says why */
};

struct entry {
	struct list link;
	char id[20];
	char *name;             /* "" when none was given */
	char *path;
	enum entry_state state;
	char error[24];         /* "no_space", "failed", "lost"; "" while all is well */
	int64_t created_wall_us, ended_wall_us; /* 0: not yet */
	int64_t duration_ms, bytes;
	int width, height, fps;
	const char *quality;    /* static */
	bool is_seekable;
	bool is_owned;          /* the file is in the library's own folder */
	struct mp4_notes chapters, subtitles;
	dev_t device;           /* which file the video is; of an earlier run: what was there at the start */
	ino_t inode;
};

const char *entry_state_name(enum entry_state state);
/* It may still change: recording, paused or finishing. */
bool entry_is_active(const struct entry *entry);

/* Reads what is there. NULL (logged) when the folder cannot be made. */
struct library *library_create(const char *folder);
void library_destroy(struct library *library); /* accepts NULL */
const char *library_folder(const struct library *library);

/*
 * A new entry for a video at `path` (NULL: in the library's folder, named after `name`), which is
 * created, empty, for reading and writing: *fd. NULL with a negative errno in *error when it cannot
 * be; -EEXIST: there is a file already. Not saved yet.
 */
struct entry *library_add(
	struct library *library, const char *name, const char *path, int *fd, int *error);

/*
 * Opens the video for reading. Returns the fd or a negative errno; -ESTALE when something else has its
 * place: another's file, a link, a pipe.
 */
int library_open(const struct entry *entry);

/* Saves the entry. Failure is logged: the video is there all the same. */
void library_save(struct library *library, const struct entry *entry);

/* Removes the entry, and the video unless something else has its place. Returns 0 or a negative errno
   (the entry stays then). */
int library_remove(struct library *library, struct entry *entry);
/* Removes an entry whose video was never begun. */
void library_drop(struct library *library, struct entry *entry);

struct entry *library_find(struct library *library, const char *id);
/* Whether an active entry writes to the path. */
struct entry *library_find_active(struct library *library, const char *path);
/* Oldest first; for list_for_each(entry, library_entries(library), link). */
struct list *library_entries(struct library *library);

/* Removes the oldest finished recordings until all together have max_bytes or less; `removed` is
   called for each before it goes. */
void library_trim(struct library *library, int64_t max_bytes,
	void (*removed)(void *arg, const struct entry *entry), void *arg);

/* All of the entry, as calls answer it (without links). */
json_t *entry_json(const struct entry *entry);

#endif
