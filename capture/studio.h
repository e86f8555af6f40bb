/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that films the screen: recordings, the replay, broadcasts, and the films they share.
 * Recordings outlive it in the library. Main thread only; nothing here blocks but studio_close.
 */
#ifndef CAPTURE_STUDIO_H
#define CAPTURE_STUDIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/film.h"

struct entry;
struct library;
struct loop;
struct screen;
struct studio;

#define STUDIO_RECORDINGS_MAX 4
#define STUDIO_PUBLISH_MAX    4

struct studio_events {
	/* Something happened to an entry of the library, of which it is told: "recording.started",
	   "recording.finished" … The entry is as it is now. */
	void (*on_recording)(void *arg, const char *event, struct entry *entry);
	/* A broadcast connected, lost its target or ended; data is taken. */
	void (*on_publish)(void *arg, const char *event, json_t *data);
	void *arg;
};

/* Finishes what an earlier run left in the library, in the background. */
struct studio *studio_create(struct loop *loop, struct library *library, int64_t max_bytes,
	const struct studio_events *events);

/* Ends all recordings and waits until their files are finished. Before screen_destroy. */
void studio_close(struct studio *studio);
/* After screen_destroy. Accepts NULL. */
void studio_destroy(struct studio *studio);

void studio_set_screen(struct studio *studio, struct screen *screen);
/* The screen has gone: recordings end with what there is. */
void studio_on_screen_lost(struct studio *studio);
void studio_on_screen_resized(struct studio *studio, int width, int height);

struct recording_wish {
	const char *name;   /* "": none */
	const char *path;   /* NULL: in the library's folder */
	struct film_settings film;
	int64_t max_idle_ms; /* 0: no limit */
	bool has_auto_marks; /* a chapter for each batch of the agent's actions */
};

/*
 * Starts a recording; done is called later with its entry, or NULL and a negative errno: -ENOTCONN no
 * screen, -EMFILE too many, -EBUSY another recording writes there, -EEXIST there is a file, -ENOSPC,
 * -ERANGE the region is not on the screen, -ENOMEM no encoder, else why the file cannot be made.
 */
typedef void (*studio_started)(void *arg, struct entry *entry, int error);
void studio_start(struct studio *studio, const struct recording_wish *wish, studio_started done, void *arg);

/* Each returns whether the recording is one that is running. */
bool studio_pause(struct studio *studio, const char *id);
bool studio_resume(struct studio *studio, const char *id);
bool studio_mark(struct studio *studio, const char *id, const char *text);
/* on_recording tells "recording.finished" when the file is done. */
bool studio_stop(struct studio *studio, const char *id);

/* Brings the entry up to date with a recording that runs. */
void studio_refresh(struct studio *studio, struct entry *entry);
int studio_active_count(const struct studio *studio);

/* To all recordings: what the agent did (a chapter where wanted), what it says (a subtitle). */
void studio_auto_mark(struct studio *studio, const char *text);
void studio_say(struct studio *studio, const char *text);
/* Recordings, replay and broadcasts show a card instead of the screen, and a chapter says so. */
void studio_set_private(struct studio *studio, bool is_private);

/* Keeps the last seconds from now on; 0: no more. done with 0 or a negative errno as above. */
typedef void (*studio_done)(void *arg, int error);
void studio_replay(struct studio *studio, int seconds, const struct film_settings *settings,
	studio_done done, void *arg);
/* {"seconds","held_ms","bytes"} or null. */
json_t *studio_replay_json(struct studio *studio);
/* Saves them; errors as of studio_start, and -ENODATA: nothing is held. */
void studio_replay_save(struct studio *studio, const char *name, const char *path,
	studio_started done, void *arg);

/* Sends the picture to a media server or an HLS playlist; done with its id ("" on error). */
typedef void (*studio_published)(void *arg, const char *id, int error);
void studio_publish(struct studio *studio, const char *url, const struct film_settings *settings,
	studio_published done, void *arg);
bool studio_unpublish(struct studio *studio, const char *id);
json_t *studio_publish_json(struct studio *studio);

#endif
