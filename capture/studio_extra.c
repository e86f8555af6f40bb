/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The studio's replay and broadcasts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "capture/library.h"
#include "capture/publisher.h"
#include "capture/replay.h"
#include "capture/studio_private.h"
#include "display/frame.h"
#include "display/screen.h"

static const struct frame_options whole = {.area = FRAME_AREA_SCREEN};

/* The replay */

static void end_replay(struct studio *studio)
{
	replay_destroy(studio->replay);
	studio_give_film_back(studio, studio->replay_film);
	studio->replay = NULL;
	studio->replay_film = NULL;
}

struct replay_job {
	struct studio *studio;
	int seconds;
	struct film_settings settings;
	studio_done done;
	void *arg;
};

static void on_replay_frame(void *arg, struct frame_reply *reply)
{
	struct replay_job *job = arg;
	struct studio *studio = job->studio;
	int error = reply->error;
	if (error == 0 && studio->is_closing)
		error = -ENOTCONN;
	if (error == 0)
		error = studio_check_region(&job->settings, reply->frame);
	if (error == 0) {
		struct shared_film *shared = studio_take_film(studio, &job->settings, reply->frame);
		error = shared != NULL ? 0 : -ENOMEM;
		if (shared != NULL) {
			end_replay(studio);
			studio->replay_film = shared;
			studio->replay = replay_create(shared->film, job->seconds);
		}
	}
	frame_reply_finish(reply);
	job->done(job->arg, error);
	free(job);
}

void studio_replay(struct studio *studio, int seconds, const struct film_settings *settings,
	studio_done done, void *arg)
{
	if (seconds == 0) {
		end_replay(studio);
		done(arg, 0);
		return;
	}
	if (studio->screen == NULL) {
		done(arg, -ENOTCONN);
		return;
	}
	struct replay_job *job = xcalloc(1, sizeof(*job));
	*job = (struct replay_job){studio, seconds, *settings, done, arg};
	screen_request_frame(studio->screen, &whole, on_replay_frame, job);
}

json_t *studio_replay_json(struct studio *studio)
{
	struct replay_status status;
	if (studio->replay == NULL)
		return json_null();
	replay_status(studio->replay, &status);
	return json_pack("{s:i, s:I, s:I}", "seconds", status.seconds, "held_ms",
		(json_int_t)status.held_ms, "bytes", (json_int_t)status.bytes);
}

/* Saving: packets are taken at once, written on a pool thread. */
struct save {
	struct studio *studio;
	struct entry *entry;
	char *path;
	int fd;
	struct replay_clip *clip;
	struct mp4_result result;
	int error;
	studio_started done;
	void *arg;
};

/* On a pool thread. */
static void write_clip(void *arg)
{
	struct save *save = arg;
	const struct mp4_notes none = {0};
	save->error = replay_write(save->clip, save->fd);
	if (save->error == 0)
		save->error = mp4_finish(save->path, &none, &none, &save->result);
}

static void on_clip_written(void *arg)
{
	struct save *save = arg;
	struct studio *studio = save->studio;
	struct entry *entry = save->entry;
	if (save->error < 0) {
		library_remove(studio->library, entry);
		entry = NULL;
	} else {
		entry->state = ENTRY_DONE;
		entry->ended_wall_us = clock_wall_us();
		entry->duration_ms = save->result.duration_ms;
		entry->bytes = save->result.bytes;
		entry->device = save->result.device;
		entry->inode = save->result.inode;
		entry->is_seekable = true;
		library_save(studio->library, entry);
		if (!studio->is_closing)
			studio->events.on_recording(studio->events.arg, "recording.finished", entry);
	}
	save->done(save->arg, entry, save->error);
	replay_clip_free(save->clip);
	free(save->path);
	free(save);
	studio_trim(studio);
}

void studio_replay_save(struct studio *studio, const char *name, const char *path,
	studio_started done, void *arg)
{
	int fd = -1, error = studio_check_space(studio, path);
	struct replay_clip *clip = studio->replay != NULL ? replay_take(studio->replay) : NULL;
	struct entry *entry = NULL;
	if (clip == NULL)
		error = -ENODATA;
	if (error == 0)
		entry = library_add(studio->library, name, path, &fd, &error);
	if (entry == NULL) {
		replay_clip_free(clip);
		done(arg, NULL, studio_file_error(studio, path, error));
		return;
	}
	entry->state = ENTRY_FINISHING;
	replay_clip_size(clip, &entry->width, &entry->height);
	library_save(studio->library, entry);
	struct save *save = xcalloc(1, sizeof(*save));
	*save = (struct save){.studio = studio,
		.entry = entry,
		.path = xstrdup(entry->path),
		.fd = fd,
		.clip = clip,
		.done = done,
		.arg = arg};
	loop_work(studio->loop, write_clip, on_clip_written, save);
}

/* Broadcasts */

struct broadcast {
	struct list link;
	struct studio *studio;
	char id[16];
	struct publisher *publisher;
	struct shared_film *shared;
};

static json_t *broadcast_json(const struct broadcast *broadcast)
{
	json_t *json = publisher_json(broadcast->publisher);
	json_object_set_new(json, "id", json_string(broadcast->id));
	return json;
}

static void tell(struct broadcast *broadcast, const char *what)
{
	struct studio *studio = broadcast->studio;
	char name[32];
	snprintf(name, sizeof(name), "publish.%s", what);
	if (!studio->is_closing)
		studio->events.on_publish(studio->events.arg, name, broadcast_json(broadcast));
}

static void on_publisher_change(void *arg, const char *what)
{
	tell(arg, what);
}

static void on_publisher_stopped(void *arg)
{
	struct broadcast *broadcast = arg;
	struct studio *studio = broadcast->studio;
	tell(broadcast, "stopped");
	list_remove(&broadcast->link);
	studio->broadcast_count--;
	studio_give_film_back(studio, broadcast->shared);
	free(broadcast);
}

struct publish_job {
	struct studio *studio;
	char *url;
	struct film_settings settings;
	studio_published done;
	void *arg;
};

static int begin_broadcast(struct publish_job *job, struct frame *frame, const char **id)
{
	struct studio *studio = job->studio;
	int error = studio_check_region(&job->settings, frame);
	struct shared_film *shared = error == 0 ? studio_take_film(studio, &job->settings, frame) : NULL;
	if (shared == NULL)
		return error < 0 ? error : -ENOMEM;
	struct broadcast *broadcast = xcalloc(1, sizeof(*broadcast));
	const struct publisher_events events = {on_publisher_change, on_publisher_stopped, broadcast};
	broadcast->studio = studio;
	broadcast->shared = shared;
	snprintf(broadcast->id, sizeof(broadcast->id), "p-%u", ++studio->next_broadcast);
	broadcast->publisher = publisher_create(studio->loop, shared->film, job->url, &events);
	if (broadcast->publisher == NULL) {
		studio_give_film_back(studio, shared);
		free(broadcast);
		return -EAGAIN;
	}
	list_append(&studio->broadcasts, &broadcast->link);
	studio->broadcast_count++;
	*id = broadcast->id;
	tell(broadcast, "started");
	return 0;
}

static void on_publish_frame(void *arg, struct frame_reply *reply)
{
	struct publish_job *job = arg;
	const char *id = "";
	int error = reply->error;
	if (error == 0)
		error = job->studio->is_closing ? -ENOTCONN : begin_broadcast(job, reply->frame, &id);
	frame_reply_finish(reply);
	job->done(job->arg, id, error);
	free(job->url);
	free(job);
}

void studio_publish(struct studio *studio, const char *url, const struct film_settings *settings,
	studio_published done, void *arg)
{
	if (studio->screen == NULL || studio->broadcast_count >= STUDIO_PUBLISH_MAX) {
		done(arg, "", studio->screen == NULL ? -ENOTCONN : -EMFILE);
		return;
	}
	struct publish_job *job = xcalloc(1, sizeof(*job));
	*job = (struct publish_job){studio, xstrdup(url), *settings, done, arg};
	screen_request_frame(studio->screen, &whole, on_publish_frame, job);
}

bool studio_unpublish(struct studio *studio, const char *id)
{
	struct broadcast *broadcast;
	list_for_each(broadcast, &studio->broadcasts, link) {
		if (strcmp(broadcast->id, id) == 0) {
			publisher_stop(broadcast->publisher);
			return true;
		}
	}
	return false;
}

json_t *studio_publish_json(struct studio *studio)
{
	json_t *list = json_array();
	struct broadcast *broadcast;
	list_for_each(broadcast, &studio->broadcasts, link)
		json_array_append_new(list, broadcast_json(broadcast));
	return list;
}

void studio_close_extra(struct studio *studio)
{
	struct broadcast *broadcast;
	end_replay(studio);
	list_for_each(broadcast, &studio->broadcasts, link)
		publisher_stop(broadcast->publisher);
	list_for_each(broadcast, &studio->broadcasts, link)
		publisher_join(broadcast->publisher);
	loop_run_posts(studio->loop); /* they go, and give their films back */
}
