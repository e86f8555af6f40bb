/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/recordings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/loop.h"
#include "capture/library.h"
#include "capture/studio.h"
#include "display/privacy.h"
#include "service/downloads.h"
#include "service/events.h"
#include "service/options.h"
#include "service/reply.h"
#include "service/service.h"

/* A stop is answered within this, whatever the length of the recording. */
#define ANSWER_MS 1500

struct recordings {
	struct service *service;
	struct library *library;
	struct studio *studio;
	struct privacy_watch privacy;
	struct list waits;
	bool was_ready;
	int width, height;
};

/* A call that is answered when its recording has come to a state. */
struct wait {
	struct list link;
	struct recordings *recordings;
	struct http_request *request;
	struct loop_timer *timer;
	enum entry_state wanted;
	char id[20];
};

static void wait_free(struct wait *wait)
{
	list_remove(&wait->link);
	loop_timer_destroy(wait->timer);
	free(wait);
}

static void answer(struct wait *wait)
{
	struct recordings *recordings = wait->recordings;
	struct entry *entry = library_find(recordings->library, wait->id);
	struct http_request *request = wait->request;
	if (entry != NULL)
		reply_json(request, 200, recordings_entry_json(recordings, entry));
	else
		reply_error(request, REPLY_GONE, "the recording %s was removed meanwhile", wait->id);
	wait_free(wait);
}

static void on_patience_over(void *arg)
{
	answer(arg);
}

static void on_peer_gone(void *arg)
{
	wait_free(arg);
}

static bool is_answered(const struct wait *wait, const struct entry *entry)
{
	return entry->state == wait->wanted || !entry_is_active(entry);
}

void recordings_answer_when(struct recordings *recordings, struct http_request *request,
	const char *id, int wanted)
{
	struct wait *wait = xcalloc(1, sizeof(*wait));
	struct entry *entry = library_find(recordings->library, id);
	wait->recordings = recordings;
	wait->request = request;
	wait->wanted = (enum entry_state)wanted;
	snprintf(wait->id, sizeof(wait->id), "%s", id);
	list_append(&recordings->waits, &wait->link);
	wait->timer = loop_timer_create(recordings->service->loop, on_patience_over, wait);
	if (entry == NULL || is_answered(wait, entry)) {
		answer(wait);
		return;
	}
	http_request_set_on_gone(request, on_peer_gone, wait);
	loop_timer_arm(wait->timer, ANSWER_MS);
}

/* Without what grows with the recording's length; the call for one entry lists that. */
static json_t *brief_json(const struct entry *entry)
{
	json_t *json = entry_json(entry);
	json_object_del(json, "chapters");
	json_object_del(json, "subtitles");
	return json;
}

static void on_recording(void *arg, const char *event, struct entry *entry)
{
	struct recordings *recordings = arg;
	struct wait *wait, *tmp;
	events_publish(recordings->service->events, event, brief_json(entry));
	list_for_each_safe(wait, tmp, &recordings->waits, link) {
		if (strcmp(wait->id, entry->id) == 0 && is_answered(wait, entry))
			answer(wait);
	}
}

static void on_publish(void *arg, const char *event, json_t *data)
{
	struct recordings *recordings = arg;
	events_publish(recordings->service->events, event, data);
}

static void on_privacy(void *arg, bool is_private)
{
	struct recordings *recordings = arg;
	studio_set_private(recordings->studio, is_private);
}

struct recordings *recordings_create(struct service *service)
{
	const struct options *options = service->options;
	struct recordings *recordings = xcalloc(1, sizeof(*recordings));
	const struct studio_events events = {on_recording, on_publish, recordings};
	char *folder = options->recordings_dir != NULL ? xstrdup(options->recordings_dir)
						       : xasprintf("%s/recordings", options->state_dir);
	recordings->service = service;
	list_init(&recordings->waits);
	recordings->library = library_create(folder);
	free(folder);
	if (recordings->library == NULL) {
		free(recordings);
		return NULL;
	}
	recordings->studio = studio_create(service->loop, recordings->library,
		options->recordings_max_bytes, &events);
	recordings->privacy = (struct privacy_watch){.on_change = on_privacy, .arg = recordings};
	privacy_add_watch(service->privacy, &recordings->privacy);
	studio_set_private(recordings->studio, privacy_is_on(service->privacy));
	return recordings;
}

void recordings_close(struct recordings *recordings)
{
	if (recordings == NULL)
		return;
	privacy_remove_watch(&recordings->privacy);
	studio_close(recordings->studio);
}

void recordings_destroy(struct recordings *recordings)
{
	if (recordings == NULL)
		return;
	studio_destroy(recordings->studio);
	library_destroy(recordings->library);
	free(recordings);
}

struct studio *recordings_studio(struct recordings *recordings)
{
	return recordings->studio;
}

struct library *recordings_library(struct recordings *recordings)
{
	return recordings->library;
}

void recordings_set_screen(struct recordings *recordings, struct screen *screen)
{
	studio_set_screen(recordings->studio, screen);
}

void recordings_on_screen(struct recordings *recordings, bool is_ready, int width, int height)
{
	if (recordings->was_ready && !is_ready)
		studio_on_screen_lost(recordings->studio);
	else if (recordings->was_ready && (width != recordings->width || height != recordings->height))
		studio_on_screen_resized(recordings->studio, width, height);
	recordings->was_ready = is_ready;
	recordings->width = width;
	recordings->height = height;
}

json_t *recordings_entry_json(struct recordings *recordings, struct entry *entry)
{
	studio_refresh(recordings->studio, entry);
	json_t *json = entry_json(entry);
	if (entry_is_active(entry))
		return json;
	int64_t expires_wall_us;
	struct stat file = {0}; /* when it has gone the link is to nothing */
	int fd = library_open(entry);
	if (fd >= 0) {
		fstat(fd, &file);
		close(fd);
	}
	char *url = downloads_add(
		recordings->service->downloads, entry->path, &file, "video/mp4", &expires_wall_us);
	json_object_set_new(json, "url", json_string(url));
	json_object_set_new(json, "expires_at", json_time(expires_wall_us));
	free(url);
	return json;
}

json_t *recordings_list_json(struct recordings *recordings, bool only_active)
{
	json_t *list = json_array();
	struct entry *entry;
	list_for_each(entry, library_entries(recordings->library), link) {
		if (only_active && !entry_is_active(entry))
			continue;
		studio_refresh(recordings->studio, entry);
		json_array_append_new(list, brief_json(entry));
	}
	return list;
}
