/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording: takes a film's packets, gives them the recording's own time (pauses, idle stretches and
 * frozen time left out) and writes them to a file that can be played at every moment; at the end
 * makes it seekable in its place. Has a thread of its own, so that a slow disk holds nobody up.
 *
 * Main thread only, but for the sink's callback.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/mp4_finish.h"

struct film;
struct loop;
struct recorder;

/* Less free space than this ends a recording while there is room to close it. */
#define RECORDER_SPACE_MIN (64ll << 20)

enum recorder_state {
	RECORDER_RECORDING,
	RECORDER_PAUSED,
	RECORDER_FINISHING, /* the file is being made seekable; it can be played already */
	RECORDER_DONE,
	RECORDER_NO_SPACE,  /* ended early: the disk is full. What was recorded can be played. */
	RECORDER_FAILED,    /* ended early, as `error` says. Likewise. */
};

struct recorder_status {
	enum recorder_state state;
	int error;            /* negative errno of RECORDER_FAILED and RECORDER_NO_SPACE */
	int64_t duration_ms, bytes;
	uint64_t lost;        /* packets that were never written (a disk that hung) */
	bool is_seekable;     /* mp4_finish is done */
	dev_t device;         /* then: which file that has made */
	ino_t inode;
	int width, height;
};

struct recorder_events {
	/* State, chapters or subtitles changed by themselves; on the main thread. */
	void (*on_change)(void *arg);
	void *arg;
};

/*
 * Records the film into `fd` (taken: the new empty file at `path`) from now on. Returns 0 with *out or
 * a negative errno.
 */
int recorder_create(struct loop *loop, struct film *film, const char *path, int fd,
	int64_t max_idle_ms, const struct recorder_events *events, struct recorder **out);

void recorder_pause(struct recorder *recorder);
void recorder_resume(struct recorder *recorder);
/* A chapter, or a subtitle, from the present moment on. */
void recorder_mark(struct recorder *recorder, const char *text);
void recorder_say(struct recorder *recorder, const char *text);
/* Ends it with the picture that was shown last: on_change tells RECORDER_FINISHING, then DONE. */
void recorder_stop(struct recorder *recorder);

void recorder_status(struct recorder *recorder, struct recorder_status *out);
/* Copies; mp4_notes_finish them. */
void recorder_notes(struct recorder *recorder, struct mp4_notes *chapters, struct mp4_notes *subtitles);

/* Ends it as recorder_stop does and waits until its file is finished; the status is final then. */
void recorder_finish(struct recorder *recorder);
/* Frees it, after recorder_finish. Accepts NULL. */
void recorder_destroy(struct recorder *recorder);

#endif
