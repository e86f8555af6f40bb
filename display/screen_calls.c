/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be asked of the screen: each call is a job posted to the display thread and back. */
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "display/clipboard.h"
#include "display/grabber.h"
#include "display/live_source.h"
#include "display/resize.h"
#include "display/screen_private.h"
#include "display/windows.h"

/* One call from the main thread to the display thread and back. */
struct job {
	struct screen *screen;
	uint64_t id;
	int error;
	void *arg;
	union {
		struct {
			struct frame_options options;
			struct frame_reply reply;
			frame_request_done done;
		} frame;
		struct {
			struct window_list list;
			screen_windows_done done;
		} windows;
		struct {
			enum clipboard_selection selection;
			enum clipboard_content content;
			char *data;
			size_t len;
			clipboard_done done;
		} clipboard;
		struct {
			int width, height;
			int max_width, max_height;
			screen_resize_done done;
		} resize;
		struct {
			struct live_watch *watch;
			void (*done)(void *arg);
		} live;
	};
};

static struct job *job_create(struct screen *screen, void *arg)
{
	struct job *job = xcalloc(1, sizeof(*job));
	job->screen = screen;
	job->arg = arg;
	job->id = ++screen->next_id;
	return job;
}

static void frame_answer(void *arg)
{
	struct job *job = arg;
	job->frame.done(job->arg, &job->frame.reply);
	free(job);
}

static void frame_done(void *arg, struct frame_reply *reply)
{
	struct job *job = arg;
	job->frame.reply = *reply;
	loop_post(job->screen->main_loop, frame_answer, job);
}

static void frame_run(void *arg)
{
	struct job *job = arg;
	struct screen *screen = job->screen;
	frame_request_start(
		&screen->requests, screen->loop, job->id, &job->frame.options, frame_done, job);
}

uint64_t screen_request_frame(struct screen *screen, const struct frame_options *options,
	frame_request_done done, void *arg)
{
	struct job *job = job_create(screen, arg);
	uint64_t id = job->id;
	job->frame.options = *options;
	job->frame.done = done;
	loop_post(screen->loop, frame_run, job);
	return id;
}

static void cancel_run(void *arg)
{
	struct job *job = arg;
	frame_request_expire(&job->screen->requests, job->id);
	free(job);
}

void screen_cancel_frame(struct screen *screen, uint64_t id)
{
	struct job *job = job_create(screen, NULL);
	job->id = id;
	loop_post(screen->loop, cancel_run, job);
}

static void windows_answer(void *arg)
{
	struct job *job = arg;
	job->windows.done(job->arg, job->error, &job->windows.list);
	window_list_finish(&job->windows.list);
	free(job);
}

static void windows_run(void *arg)
{
	struct job *job = arg;
	job->error = -ENOTCONN;
	if (job->screen->conn != NULL)
		job->error = windows_list(job->screen->conn, &job->windows.list);
	loop_post(job->screen->main_loop, windows_answer, job);
}

void screen_list_windows(struct screen *screen, screen_windows_done done, void *arg)
{
	struct job *job = job_create(screen, arg);
	job->windows.done = done;
	loop_post(screen->loop, windows_run, job);
}

static void clipboard_answer(void *arg)
{
	struct job *job = arg;
	job->clipboard.done(job->arg, job->error, job->clipboard.data, job->clipboard.len);
	free(job->clipboard.data);
	free(job);
}

static void clipboard_read_done(void *arg, int error, const char *data, size_t len)
{
	struct job *job = arg;
	job->error = error;
	job->clipboard.data = xmemdup(data, len);
	job->clipboard.len = len;
	loop_post(job->screen->main_loop, clipboard_answer, job);
}

static void clipboard_run(void *arg)
{
	struct job *job = arg;
	if (job->screen->clipboard == NULL)
		clipboard_read_done(job, -ENOTCONN, "", 0);
	else
		clipboard_read(job->screen->clipboard, job->clipboard.selection,
			job->clipboard.content, clipboard_read_done, job);
}

void screen_read_clipboard(struct screen *screen, enum clipboard_selection selection,
	enum clipboard_content content, clipboard_done done, void *arg)
{
	struct job *job = job_create(screen, arg);
	job->clipboard.selection = selection;
	job->clipboard.content = content;
	job->clipboard.done = done;
	loop_post(screen->loop, clipboard_run, job);
}

static void resize_answer(void *arg)
{
	struct job *job = arg;
	job->resize.done(job->arg, job->error, job->resize.max_width, job->resize.max_height);
	free(job);
}

static void resize_run(void *arg)
{
	struct job *job = arg;
	job->error = -ENOTCONN;
	if (job->screen->conn != NULL)
		job->error = screen_resize_to(job->screen->conn, job->resize.width,
			job->resize.height, &job->resize.max_width, &job->resize.max_height);
	if (job->error == 0) /* the next picture and status are of the new size already */
		grabber_update(job->screen->grabber);
	loop_post(job->screen->main_loop, resize_answer, job);
}

void screen_resize(
	struct screen *screen, int width, int height, screen_resize_done done, void *arg)
{
	struct job *job = job_create(screen, arg);
	job->resize.width = width;
	job->resize.height = height;
	job->resize.done = done;
	loop_post(screen->loop, resize_run, job);
}

static void watch_run(void *arg)
{
	struct job *job = arg;
	live_source_add(job->screen->live, job->live.watch);
	free(job);
}

void screen_watch_live(struct screen *screen, struct live_watch *watch)
{
	struct job *job = job_create(screen, NULL);
	job->live.watch = watch;
	loop_post(screen->loop, watch_run, job);
}

static void unwatch_answer(void *arg)
{
	struct job *job = arg;
	job->live.done(job->arg);
	free(job);
}

static void unwatch_run(void *arg)
{
	struct job *job = arg;
	live_source_remove(job->screen->live, job->live.watch);
	loop_post(job->screen->main_loop, unwatch_answer, job);
}

void screen_unwatch_live(
	struct screen *screen, struct live_watch *watch, void (*done)(void *arg), void *arg)
{
	struct job *job = job_create(screen, arg);
	job->live.watch = watch;
	job->live.done = done;
	loop_post(screen->loop, unwatch_run, job);
}
