/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The studio's recordings that run, from the first frame to the entry that says how they ended. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "capture/library.h"
#include "capture/studio_private.h"
#include "display/frame.h"
#include "display/screen.h"
#define LOG_MODULE "studio"
#include "base/log.h"

/* How often sizes are looked at while something records. */
#define HOUSEKEEPING_MS 5000
/* A server that does not answer cannot hold up a stop for longer. */
#define LAST_FRAME_MS   500
/* Chapters of actions: not more often than so, not more than so many. */
#define AUTO_MARK_US    2000000
#define CHAPTERS_MAX    1000

static const struct frame_options whole = {.area = FRAME_AREA_SCREEN};

static struct recording *find(const struct studio *studio, const char *id)
{
	struct recording *recording;
	list_for_each(recording, &studio->recordings, link) {
		if (strcmp(recording->entry->id, id) == 0)
			return recording;
	}
	return NULL;
}

void studio_housekeep(void *arg)
{
	struct studio *studio = arg;
	struct recording *recording;
	list_for_each(recording, &studio->recordings, link)
		studio_refresh(studio, recording->entry);
	studio_trim(studio);
	if (studio->recording_count > 0)
		loop_timer_arm(studio->housekeeping, HOUSEKEEPING_MS);
}

static void refresh(struct recording *recording)
{
	struct entry *entry = recording->entry;
	struct recorder_status status;
	recorder_status(recording->recorder, &status);
	entry->duration_ms = status.duration_ms;
	entry->bytes = status.bytes;
	entry->width = status.width;
	entry->height = status.height;
	entry->is_seekable = status.is_seekable;
	if (status.is_seekable) {
		entry->device = status.device;
		entry->inode = status.inode;
	}
	mp4_notes_finish(&entry->chapters);
	mp4_notes_finish(&entry->subtitles);
	recorder_notes(recording->recorder, &entry->chapters, &entry->subtitles);
}

/* Into the entry: how it ended. */
static void note_end(struct recording *recording)
{
	struct entry *entry = recording->entry;
	struct recorder_status status;
	recorder_status(recording->recorder, &status);
	const char *error = status.state == RECORDER_NO_SPACE ? "no_space"
			    : status.state == RECORDER_FAILED ? "failed"
							      : recording->end_reason;
	if (status.state == RECORDER_FAILED)
		log_warn("the recording %s ended: %s", entry->path, strerror(-status.error));
	entry->state = error != NULL ? ENTRY_ERROR : ENTRY_DONE;
	snprintf(entry->error, sizeof(entry->error), "%s", error != NULL ? error : "");
	entry->ended_wall_us = clock_wall_us();
}

/* It is over: out of the list, into the library for good. */
static void finish(struct recording *recording)
{
	struct studio *studio = recording->studio;
	struct entry *entry = recording->entry;
	note_end(recording);
	recorder_destroy(recording->recorder);
	studio_give_film_back(studio, recording->shared);
	list_remove(&recording->link);
	studio->recording_count--;
	free(recording);
	library_save(studio->library, entry);
	studio_tell(studio, "recording.finished", entry);
	studio_trim(studio);
}

static void on_recorder_change(void *arg)
{
	struct recording *recording = arg;
	struct studio *studio = recording->studio;
	struct recorder_status status;
	recorder_status(recording->recorder, &status);
	enum recorder_state before = recording->told;
	recording->told = status.state;
	refresh(recording);
	if (status.state >= RECORDER_DONE) {
		if (recording->syncs == 0 && !studio->is_closing)
			finish(recording);
		return;
	}
	recording->entry->state = status.state == RECORDER_PAUSED      ? ENTRY_PAUSED
				  : status.state == RECORDER_FINISHING ? ENTRY_FINISHING
								       : ENTRY_RECORDING;
	library_save(studio->library, recording->entry);
	if (before != status.state && status.state != RECORDER_FINISHING)
		studio_tell(studio,
			status.state == RECORDER_PAUSED ? "recording.paused" : "recording.resumed",
			recording->entry);
}

struct start {
	struct studio *studio;
	struct recording_wish wish;
	char *name, *path;
	studio_started done;
	void *arg;
};

/* Everything is there: the file, the film. Returns 0 or a negative errno. */
static int begin(struct start *start, struct frame *frame, struct entry **out)
{
	struct studio *studio = start->studio;
	int fd = -1, error = studio_check_region(&start->wish.film, frame);
	if (error == 0)
		error = studio_check_space(studio, start->path);
	if (error < 0)
		return error;
	struct entry *entry = library_add(studio->library, start->name, start->path, &fd, &error);
	if (entry == NULL)
		return studio_file_error(studio, start->path, error);
	struct recording *recording = xcalloc(1, sizeof(*recording));
	const struct recorder_events events = {on_recorder_change, recording};
	recording->studio = studio;
	recording->entry = entry;
	recording->has_auto_marks = start->wish.has_auto_marks;
	recording->shared = studio_take_film(studio, &start->wish.film, frame);
	if (recording->shared == NULL) {
		close(fd);
		error = -ENOMEM;
	} else {
		error = recorder_create(studio->loop, recording->shared->film, entry->path, fd,
			start->wish.max_idle_ms, &events, &recording->recorder);
	}
	if (error < 0) {
		studio_give_film_back(studio, recording->shared);
		library_drop(studio->library, entry);
		free(recording);
		return error;
	}
	entry->fps = start->wish.film.fps;
	entry->quality = encoder_quality_name(start->wish.film.quality);
	list_append(&studio->recordings, &recording->link);
	studio->recording_count++;
	refresh(recording);
	library_save(studio->library, entry);
	loop_timer_arm(studio->housekeeping, HOUSEKEEPING_MS);
	*out = entry;
	return 0;
}

static void on_first_frame(void *arg, struct frame_reply *reply)
{
	struct start *start = arg;
	struct studio *studio = start->studio;
	struct entry *entry = NULL;
	int error = reply->error;
	studio->starting_count--;
	if (error == 0)
		error = studio->is_closing ? -ENOTCONN : begin(start, reply->frame, &entry);
	frame_reply_finish(reply);
	if (entry != NULL)
		studio_tell(studio, "recording.started", entry);
	start->done(start->arg, entry, error);
	free(start->name);
	free(start->path);
	free(start);
}

void studio_start(struct studio *studio, const struct recording_wish *wish, studio_started done, void *arg)
{
	if (studio->screen == NULL) {
		done(arg, NULL, -ENOTCONN);
		return;
	}
	if (studio->recording_count + studio->starting_count >= STUDIO_RECORDINGS_MAX) {
		done(arg, NULL, -EMFILE);
		return;
	}
	struct start *start = xcalloc(1, sizeof(*start));
	start->studio = studio;
	start->wish = *wish;
	start->name = xstrdup(wish->name);
	start->path = wish->path != NULL ? xstrdup(wish->path) : NULL;
	start->done = done;
	start->arg = arg;
	studio->starting_count++;
	screen_request_frame(studio->screen, &whole, on_first_frame, start);
}

bool studio_pause(struct studio *studio, const char *id)
{
	struct recording *recording = find(studio, id);
	if (recording == NULL || recording->told > RECORDER_PAUSED)
		return false;
	recorder_pause(recording->recorder);
	return true;
}

bool studio_resume(struct studio *studio, const char *id)
{
	struct recording *recording = find(studio, id);
	if (recording == NULL || recording->told > RECORDER_PAUSED)
		return false;
	recorder_resume(recording->recorder);
	return true;
}

bool studio_mark(struct studio *studio, const char *id, const char *text)
{
	struct recording *recording = find(studio, id);
	if (recording == NULL || recording->told > RECORDER_PAUSED)
		return false;
	recorder_mark(recording->recorder, text);
	return true;
}

/* Stopping: with the screen as it is at that moment, if the server tells soon enough. */
struct stop {
	struct recording *recording;
	struct loop_timer *timer;
};

static void on_late_frame(void *arg)
{
	struct stop *stop = arg;
	recorder_stop(stop->recording->recorder);
}

static void on_last_frame(void *arg, struct frame_reply *reply)
{
	struct stop *stop = arg;
	struct recording *recording = stop->recording;
	loop_timer_destroy(stop->timer);
	free(stop);
	recording->syncs--;
	if (reply->error == 0 && !recording->studio->is_closing)
		film_offer(recording->shared->film, reply->frame);
	frame_reply_finish(reply);
	if (recording->studio->is_closing)
		return;
	recorder_stop(recording->recorder);
	if (recording->told >= RECORDER_DONE && recording->syncs == 0)
		finish(recording);
}

bool studio_stop(struct studio *studio, const char *id)
{
	struct recording *recording = find(studio, id);
	if (recording == NULL)
		return false;
	struct stop *stop = xcalloc(1, sizeof(*stop));
	stop->recording = recording;
	stop->timer = loop_timer_create(studio->loop, on_late_frame, stop);
	loop_timer_arm(stop->timer, LAST_FRAME_MS);
	recording->syncs++;
	screen_request_frame(studio->screen, &whole, on_last_frame, stop);
	return true;
}

void studio_refresh(struct studio *studio, struct entry *entry)
{
	struct recording *recording = find(studio, entry->id);
	if (recording != NULL)
		refresh(recording);
}

int studio_active_count(const struct studio *studio)
{
	return studio->recording_count;
}

/* What happens around them */

void studio_auto_mark(struct studio *studio, const char *text)
{
	struct recording *recording;
	int64_t now_us = clock_monotonic_us();
	list_for_each(recording, &studio->recordings, link) {
		if (!recording->has_auto_marks || recording->told != RECORDER_RECORDING ||
			now_us - recording->auto_mark_us < AUTO_MARK_US ||
			recording->entry->chapters.count >= CHAPTERS_MAX)
			continue;
		recording->auto_mark_us = now_us;
		recorder_mark(recording->recorder, text);
	}
}

void studio_mark_all(struct studio *studio, const char *text)
{
	struct recording *recording;
	list_for_each(recording, &studio->recordings, link)
		recorder_mark(recording->recorder, text);
}

void studio_say(struct studio *studio, const char *text)
{
	struct recording *recording;
	list_for_each(recording, &studio->recordings, link)
		recorder_say(recording->recorder, text);
}

void studio_on_screen_lost(struct studio *studio)
{
	struct recording *recording;
	list_for_each(recording, &studio->recordings, link) {
		recording->end_reason = "screen_lost";
		recorder_mark(recording->recorder, "the screen has gone");
		recorder_stop(recording->recorder);
	}
}

/* The end of the studio */

void studio_close_recordings(struct studio *studio)
{
	struct recording *recording;
	/* All are told first, so that they finish side by side. */
	list_for_each(recording, &studio->recordings, link)
		recorder_stop(recording->recorder);
	list_for_each(recording, &studio->recordings, link) {
		recorder_finish(recording->recorder);
		refresh(recording);
		note_end(recording);
		library_save(studio->library, recording->entry);
		recorder_destroy(recording->recorder);
		recording->recorder = NULL;
		studio_give_film_back(studio, recording->shared);
	}
}

void studio_free_recordings(struct studio *studio)
{
	struct recording *recording, *tmp;
	list_for_each_safe(recording, tmp, &studio->recordings, link) {
		list_remove(&recording->link);
		free(recording);
	}
}
