/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of capture/studio.h, for its own files: studio.c (films, files, what happens on the
   screen), studio_recordings.c (recordings that run) and studio_extra.c (replay, broadcasts). Main
   thread only. */
#ifndef CAPTURE_STUDIO_PRIVATE_H
#define CAPTURE_STUDIO_PRIVATE_H

#include "base/list.h"
#include "capture/recorder.h"
#include "capture/studio.h"

struct frame_reply;
struct loop_timer;
struct replay;

/* A film and how many use it. */
struct shared_film {
	struct list link;
	struct film *film;
	int users;
	bool shows_deeds;
};

struct recording {
	struct list link;
	struct studio *studio;
	struct entry *entry;
	struct recorder *recorder;
	struct shared_film *shared;
	enum recorder_state told;   /* last state that events told of */
	bool has_auto_marks;
	int64_t auto_mark_us;       /* when the last one was set */
	const char *end_reason;     /* NULL: it was stopped */
	int syncs;                  /* frames asked for on its behalf: it stays until they came */
};

struct studio {
	struct loop *loop;
	struct library *library;
	int64_t max_bytes;
	struct studio_events events;
	struct screen *screen;
	struct list films;          /* of shared_film */
	struct list recordings;     /* those that run or are being finished */
	int recording_count, starting_count;
	struct loop_timer *housekeeping;
	bool is_private, is_closing;

	struct replay *replay;
	struct shared_film *replay_film;
	struct list broadcasts;
	int broadcast_count;
	unsigned next_broadcast;
};

/* The film with these settings and the frame's size, made if it is not there; NULL: it cannot be. */
struct shared_film *studio_take_film(
	struct studio *studio, const struct film_settings *settings, struct frame *frame);
void studio_give_film_back(struct studio *studio, struct shared_film *shared);

/* 0, or -ERANGE when the settings' region is not within the frame. */
int studio_check_region(const struct film_settings *settings, const struct frame *frame);

/* The error of making a file, as studio_started tells it. */
int studio_file_error(struct studio *studio, const char *path, int error);
/* -ENOSPC when there is too little room at the path to begin. */
int studio_check_space(const struct studio *studio, const char *path);

void studio_trim(struct studio *studio);

/* Tells of a recording, unless the studio is being closed. */
void studio_tell(struct studio *studio, const char *event, struct entry *entry);

/* studio_recordings.c: the timer's call while something records; arg is the studio. */
void studio_housekeep(void *arg);
/* A chapter in each recording. */
void studio_mark_all(struct studio *studio, const char *text);
/* Finishes the files of all that run; the recordings stay until no frame can come for them. */
void studio_close_recordings(struct studio *studio);
void studio_free_recordings(struct studio *studio);

/* studio_extra.c */
void studio_close_extra(struct studio *studio);

#endif
