/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/studio.h"

#include <errno.h>
#include <libavutil/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "capture/library.h"
#include "capture/studio_private.h"
#include "display/frame.h"
#include "display/screen.h"
#define LOG_MODULE "studio"
#include "base/log.h"

void studio_tell(struct studio *studio, const char *event, struct entry *entry)
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
	studio_tell(studio, "recording.removed", (struct entry *)(uintptr_t)entry);
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
		if (recovery->result.inode != 0) { /* it was not finished before */
			entry->device = recovery->result.device;
			entry->inode = recovery->result.inode;
		}
	} else {
		log_warn("%s stays as it was left: %s", entry->path, strerror(-recovery->error));
	}
	if (entry->ended_wall_us == 0)
		entry->ended_wall_us = entry->created_wall_us + entry->duration_ms * 1000;
	library_save(studio->library, entry);
	log_info("recovered %s", entry->path);
	studio_tell(studio, "recording.recovered", entry);
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

/* What happens on the screen */

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
	studio_mark_all(studio,
		is_private ? "a person has the screen" : "the agent has the screen again");
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

void studio_on_screen_resized(struct studio *studio, int width, int height)
{
	char text[80];
	snprintf(text, sizeof(text), "the screen's size is %dx%d now", width, height);
	studio_mark_all(studio, text);
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
	studio->housekeeping = loop_timer_create(loop, studio_housekeep, studio);
	start_recovery(studio);
	return studio;
}

void studio_close(struct studio *studio)
{
	if (studio == NULL)
		return;
	studio->is_closing = true;
	loop_timer_destroy(studio->housekeeping);
	studio_close_recordings(studio);
	studio_close_extra(studio);
}

void studio_destroy(struct studio *studio)
{
	if (studio == NULL)
		return;
	/* The screen's thread has ended: frames that were asked for have come by now. */
	loop_run_posts(studio->loop);
	studio_free_recordings(studio);
	free(studio);
}
