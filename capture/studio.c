/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/studio.h"

#include <errno.h>
#include <libavutil/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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

static void tell(struct studio *studio, const char *event, struct entry *entry)
{
	if (!studio->is_closing)
		studio->events.on_recording(studio->events.arg, event, entry);
}

/* Films */

/* The display thread tells of them only while some film shows them. */
static void look_at_deeds(struct studio *studio)
{
	bool is_wanted = false;
	const struct shared_film *shared;
	list_for_each(shared, &studio->films, link)
		is_wanted |= shared->shows_deeds;
	screen_want_deeds(studio->screen, is_wanted);
}

struct shared_film *studio_take_film(
	struct studio *studio, const struct film_settings *settings, struct frame *frame)
{
	struct shared_film *shared;
	list_for_each(shared, &studio->films, link) {
		if (film_fits(shared->film, settings, frame->width, frame->height)) {
			shared->users++;
			return shared;
		}
	}
	struct film *film = film_create(studio->screen, settings, frame);
	if (film == NULL)
		return NULL;
	if (studio->is_private)
		film_set_private(film, true);
	shared = xcalloc(1, sizeof(*shared));
	shared->film = film;
	shared->users = 1;
	shared->shows_deeds = settings->shows_clicks || settings->shows_keys;
	list_append(&studio->films, &shared->link);
	look_at_deeds(studio);
	return shared;
}

void studio_give_film_back(struct studio *studio, struct shared_film *shared)
{
	if (shared == NULL || --shared->users > 0)
		return;
	list_remove(&shared->link);
	look_at_deeds(studio);
	film_destroy(shared->film);
	free(shared);
}

int studio_check_region(const struct film_settings *settings, const struct frame *frame)
{
	struct rect whole = {0, 0, frame->width, frame->height};
	struct rect seen = rect_intersect(&settings->region, &whole);
	return rect_is_empty(&settings->region) || rect_equals(&seen, &settings->region) ? 0 : -ERANGE;
}

/* Files */

int studio_file_error(struct studio *studio, const char *path, int error)
{
	if (error == -EEXIST && path != NULL && library_find_active(studio->library, path) != NULL)
		return -EBUSY;
	return error;
}

int studio_check_space(const struct studio *studio, const char *path)
{
	struct statvfs room;
	char *folder = xstrdup(path != NULL ? path : library_folder(studio->library));
	char *slash = strrchr(folder, '/');
	if (path != NULL && slash != NULL)
		slash[slash == folder ? 1 : 0] = '\0';
	int ret = statvfs(folder, &room);
	free(folder);
	if (ret < 0)
		return 0; /* making the file tells better what is wrong */
	return (int64_t)room.f_bavail * (int64_t)room.f_frsize < RECORDER_SPACE_MIN ? -ENOSPC : 0;
}

static void on_trimmed(void *arg, const struct entry *entry)
{
	struct studio *studio = arg;
	tell(studio, "recording.removed", (struct entry *)(uintptr_t)entry);
}

void studio_trim(struct studio *studio)
{
	library_trim(studio->library, studio->max_bytes, on_trimmed, studio);
}

/* What an earlier run left */

struct recovery {
	struct studio *studio;
	struct entry *entry;
	char *path;
	struct mp4_notes chapters, subtitles;
	struct mp4_result result;
	int error;
};

/* On a pool thread. */
static void recover(void *arg)
{
	struct recovery *recovery = arg;
	recovery->error = mp4_finish(recovery->path, &recovery->chapters, &recovery->subtitles,
		&recovery->result);
	/* It had been finished, but the daemon ended before it could say so. */
	if (recovery->error == -ENODATA)
		recovery->error = mp4_probe(recovery->path, &recovery->result);
}

static void note_recovery(struct studio *studio, struct entry *entry, const struct recovery *recovery)
{
	if (entry->state == ENTRY_FINISHING)
		entry->state = ENTRY_RECOVERED;
	if (recovery->error == 0) {
		entry->is_seekable = true;
		entry->duration_ms = recovery->result.duration_ms;
		entry->bytes = recovery->result.bytes;
		entry->width = recovery->result.width;
		entry->height = recovery->result.height;
	} else {
		log_warn("%s stays as it was left: %s", entry->path, strerror(-recovery->error));
	}
	if (entry->ended_wall_us == 0)
		entry->ended_wall_us = entry->created_wall_us + entry->duration_ms * 1000;
	library_save(studio->library, entry);
	log_info("recovered %s", entry->path);
	tell(studio, "recording.recovered", entry);
}

static void on_recovered(void *arg)
{
	struct recovery *recovery = arg;
	struct studio *studio = recovery->studio;
	struct entry *entry = recovery->entry;
	if (recovery->error == -ENODATA) {
		log_info("%s holds no picture; it is removed", entry->path);
		library_remove(studio->library, entry);
	} else {
		note_recovery(studio, entry, recovery);
	}
	mp4_notes_finish(&recovery->chapters);
	mp4_notes_finish(&recovery->subtitles);
	free(recovery->path);
	free(recovery);
	studio_trim(studio);
}

static void start_recovery(struct studio *studio)
{
	struct entry *entry;
	list_for_each(entry, library_entries(studio->library), link) {
		if (entry->is_seekable || (entry->state == ENTRY_RECOVERED))
			continue;
		struct recovery *recovery = xcalloc(1, sizeof(*recovery));
		recovery->studio = studio;
		recovery->entry = entry;
		recovery->path = xstrdup(entry->path);
		mp4_notes_copy(&entry->chapters, &recovery->chapters);
		mp4_notes_copy(&entry->subtitles, &recovery->subtitles);
		if (entry->state != ENTRY_ERROR)
			entry->state = ENTRY_FINISHING;
		loop_work(studio->loop, recover, on_recovered, recovery);
	}
}

/* Recordings */

static struct recording *find(const struct studio *studio, const char *id)
{
	struct recording *recording;
	list_for_each(recording, &studio->recordings, link) {
		if (strcmp(recording->entry->id, id) == 0)
			return recording;
	}
	return NULL;
}

static void on_housekeeping(void *arg)
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
	tell(studio, "recording.finished", entry);
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
		tell(studio, status.state == RECORDER_PAUSED ? "recording.paused" : "recording.resumed",
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
		tell(studio, "recording.started", entry);
	start->done(start->arg, entry, error);
	free(start->name);
	free(start->path);
	free(start);
}

void studio_start(struct studio *studio, const struct recording_wish *wish, studio_started done, void *arg)
{
	static const struct frame_options whole = {.area = FRAME_AREA_SCREEN};
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
	static const struct frame_options whole = {.area = FRAME_AREA_SCREEN};
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

/* What happens around the recordings */

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

static void mark_all(struct studio *studio, const char *text)
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

static void on_public_frame(void *arg, struct frame_reply *reply)
{
	struct studio *studio = arg;
	struct shared_film *shared;
	if (reply->error == 0 && !studio->is_private && !studio->is_closing) {
		list_for_each(shared, &studio->films, link)
			film_offer(shared->film, reply->frame);
	}
	frame_reply_finish(reply);
}

void studio_set_private(struct studio *studio, bool is_private)
{
	static const struct frame_options whole = {.area = FRAME_AREA_SCREEN};
	struct shared_film *shared;
	if (studio->is_private == is_private)
		return;
	studio->is_private = is_private;
	list_for_each(shared, &studio->films, link)
		film_set_private(shared->film, is_private);
	mark_all(studio, is_private ? "a person has the screen" : "the agent has the screen again");
	/* Nothing may change now, so that no damage would bring the picture back. */
	if (!is_private && studio->screen != NULL)
		screen_request_frame(studio->screen, &whole, on_public_frame, studio);
}

static void on_click(void *arg, int x_root, int y_root)
{
	struct studio *studio = arg;
	struct shared_film *shared;
	list_for_each(shared, &studio->films, link)
		film_add_click(shared->film, x_root, y_root);
}

static void on_keys(void *arg, const char *text)
{
	struct studio *studio = arg;
	struct shared_film *shared;
	list_for_each(shared, &studio->films, link)
		film_add_key(shared->film, text);
}

void studio_set_screen(struct studio *studio, struct screen *screen)
{
	const struct screen_deeds deeds = {on_click, on_keys, studio};
	studio->screen = screen;
	screen_set_deeds(screen, &deeds);
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

void studio_on_screen_resized(struct studio *studio, int width, int height)
{
	char text[80];
	snprintf(text, sizeof(text), "the screen's size is %dx%d now", width, height);
	mark_all(studio, text);
}

struct studio *studio_create(struct loop *loop, struct library *library, int64_t max_bytes,
	const struct studio_events *events)
{
	struct studio *studio = xcalloc(1, sizeof(*studio));
	studio->loop = loop;
	studio->library = library;
	studio->max_bytes = max_bytes;
	studio->events = *events;
	av_log_set_level(AV_LOG_QUIET); /* it names URLs, with the keys of streams in them */
	list_init(&studio->films);
	list_init(&studio->recordings);
	list_init(&studio->broadcasts);
	studio->housekeeping = loop_timer_create(loop, on_housekeeping, studio);
	start_recovery(studio);
	return studio;
}

void studio_close(struct studio *studio)
{
	struct recording *recording;
	if (studio == NULL)
		return;
	studio->is_closing = true;
	loop_timer_destroy(studio->housekeeping);
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
	studio_close_extra(studio);
}

void studio_destroy(struct studio *studio)
{
	struct recording *recording, *tmp;
	if (studio == NULL)
		return;
	/* The screen's thread has ended: frames that were asked for have come by now. */
	loop_run_posts(studio->loop);
	list_for_each_safe(recording, tmp, &studio->recordings, link) {
		list_remove(&recording->link);
		free(recording);
	}
	free(studio);
}
