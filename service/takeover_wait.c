/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/takeover_wait.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/list.h"
#include "base/loop.h"
#include "capture/shot.h"
#include "display/privacy.h"
#include "display/screen.h"
#include "service/reply.h"
#include "service/service.h"
#include "service/shot_json.h"
#include "takeover/takeovers.h"

/* How long the outcome waits for its picture. It is worth more than the picture. */
#define PICTURE_MS 5000

struct takeover_waits {
	struct service *service;
	struct list list; /* of struct wait */
};

/* The picture on its way. It outlives a wait whose caller has gone. */
struct picture_job {
	struct wait *wait; /* NULL: nobody wants it any more */
	struct shot_options options;
	struct frame_reply reply;
	struct shot_geometry geometry;
	struct buffer picture;
	int error;
};

struct wait {
	struct list link;
	struct takeover_waits *waits;
	struct http_request *request;
	char *id;
	int64_t since;
	bool wants_shot;
	bool is_over;            /* its time, or what it waited for has come */
	struct picture_job *job; /* NULL: none was begun */
	struct loop_timer *timer;
};

struct takeover_waits *takeover_waits_create(struct service *service)
{
	struct takeover_waits *waits = xcalloc(1, sizeof(*waits));
	waits->service = service;
	list_init(&waits->list);
	return waits;
}

void takeover_waits_destroy(struct takeover_waits *waits)
{
	free(waits);
}

static void drop(struct wait *wait)
{
	if (wait->job != NULL)
		wait->job->wait = NULL;
	list_remove(&wait->link);
	loop_timer_destroy(wait->timer);
	free(wait->id);
	free(wait);
}

/* shot: taken; NULL when the outcome has none. */
static void answer(struct wait *wait, json_t *shot)
{
	json_t *json = takeovers_json(wait->waits->service->takeovers, wait->id);
	if (json != NULL && json_object_get(json, "outcome") != NULL)
		json_object_set_new(json, "shot", shot != NULL ? shot : json_null());
	else
		json_decref(shot);
	if (json_object_get(json, "ended_at") != NULL)
		takeovers_set_unheard(wait->waits->service->takeovers, wait->id, false);
	if (json != NULL)
		reply_json(wait->request, 200, json);
	else
		reply_error(wait->request, REPLY_GONE, "that takeover is too long ago");
	drop(wait);
}

/* The picture */

static void job_free(struct picture_job *job)
{
	frame_reply_finish(&job->reply);
	buffer_finish(&job->picture);
	free(job);
}

static void render(void *arg)
{
	struct picture_job *job = arg;
	job->error = shot_render(&job->options, &job->reply, &job->geometry, &job->picture);
}

static void on_rendered(void *arg)
{
	struct picture_job *job = arg;
	struct wait *wait = job->wait;
	/* The next person may have taken over meanwhile. */
	bool is_hidden = wait != NULL && privacy_is_on(wait->waits->service->privacy);
	if (wait != NULL) {
		wait->job = NULL;
		answer(wait, job->error == 0 && !is_hidden ? shot_picture_json(&job->options,
								     &job->geometry, &job->picture)
							   : NULL);
	}
	job_free(job);
}

static void on_frame(void *arg, struct frame_reply *reply)
{
	struct picture_job *job = arg;
	struct wait *wait = job->wait;
	job->reply = *reply;
	if (wait != NULL && reply->error == 0 &&
		shot_plan(&job->options, &job->reply, &job->geometry)) {
		loop_work(wait->waits->service->loop, render, on_rendered, job);
		return;
	}
	if (wait != NULL) {
		wait->job = NULL;
		answer(wait, NULL);
	}
	job_free(job);
}

static void begin_picture(struct wait *wait, const json_t *wanted)
{
	struct picture_job *job = xcalloc(1, sizeof(*job));
	struct json_reader reader;
	job->wait = wait;
	job->options = shot_defaults;
	json_reader_init(&reader, wanted, "shot");
	shot_options_read(&reader, &job->options); /* checked when the takeover was opened */
	wait->job = job;
	loop_timer_arm(wait->timer, PICTURE_MS);
	screen_request_frame(wait->waits->service->screen, &job->options.frame, on_frame, job);
}

/* Waiting */

static bool has_come(struct wait *wait, json_t *json)
{
	json_int_t version = json_integer_value(json_object_get(json, "version"));
	return wait->is_over || json_object_get(json, "ended_at") != NULL ||
	       (wait->since >= 0 && version != wait->since);
}

static void look(struct wait *wait)
{
	struct service *service = wait->waits->service;
	json_t *json = takeovers_json(service->takeovers, wait->id);
	if (json != NULL && !has_come(wait, json)) {
		json_decref(json);
		return;
	}
	const json_t *shot = takeovers_shot(service->takeovers, wait->id);
	bool is_handed_back = json_object_get(json, "outcome") != NULL;
	json_decref(json);
	if (is_handed_back && shot != NULL && wait->wants_shot && service->screen != NULL &&
		!privacy_is_on(service->privacy))
		begin_picture(wait, shot);
	else
		answer(wait, NULL);
}

void takeover_waits_look(struct takeover_waits *waits)
{
	struct wait *wait, *tmp;
	list_for_each_safe (wait, tmp, &waits->list, link) {
		if (wait->job == NULL)
			look(wait);
		else if (privacy_is_on(waits->service->privacy))
			answer(wait, NULL); /* the next person has the screen: no picture will come */
	}
}

static void on_timer(void *arg)
{
	struct wait *wait = arg;
	wait->is_over = true;
	if (wait->job != NULL)
		answer(wait, NULL); /* the screen does not answer */
	else
		look(wait);
}

/* The outcome, if it comes before somebody asks again, is kept for the next who does. */
static void on_gone(void *arg)
{
	struct wait *wait = arg;
	takeovers_set_unheard(wait->waits->service->takeovers, wait->id, true);
	drop(wait);
}

void takeover_waits_add(struct takeover_waits *waits, struct http_request *request,
	const struct takeover_wait_options *options)
{
	struct wait *wait = xcalloc(1, sizeof(*wait));
	wait->waits = waits;
	wait->request = request;
	wait->id = xstrdup(options->id);
	wait->since = options->since;
	wait->wants_shot = options->wants_shot;
	wait->is_over = options->wait_s == 0;
	wait->timer = loop_timer_create(waits->service->loop, on_timer, wait);
	list_append(&waits->list, &wait->link);
	loop_timer_arm(wait->timer, options->wait_s * 1000ll);
	http_request_set_on_gone(request, on_gone, wait);
	look(wait);
}
