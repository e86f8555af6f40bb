/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/screen.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "display/cursor.h"
#include "display/display_probe.h"
#include "display/frame.h"
#include "display/frame_feed.h"
#include "display/grabber.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/input_gate.h"
#include "display/live_source.h"
#include "display/resize.h"
#include "display/typist.h"
#include "display/viewer_input.h"
#include "display/xconn.h"
#define LOG_MODULE "screen"
#include "base/log.h"

/*
 * How often a display that is not up is looked for. A look is one connect() to a Unix socket, so
 * that this costs nothing to speak of and a new server is found well within 100 ms.
 */
#define PROBE_INTERVAL_MS 40
/* Seconds of a fast mouse; only a server that has stopped lets so many events wait. */
#define VIEWER_EVENTS_MAX 4096

struct screen {
	char *display;               /* immutable */
	struct loop *main_loop;      /* immutable */
	struct screen_events events; /* immutable; called on the main thread */
	struct loop *loop;           /* the display thread's; immutable */
	pthread_t thread;
	uint64_t next_id;            /* main thread */
	bool is_ending;              /* main thread: no more on_change */

	struct input_gate gate;      /* atomic; changed on the main thread */
	_Atomic int viewer_events;   /* that wait for the display thread */

	pthread_mutex_t lock;
	struct screen_info info;     /* guarded by lock */

	/* the rest belongs to the display thread */
	struct xconn *conn;
	struct grabber *grabber;
	struct cursor *cursor;
	struct clipboard *clipboard;
	struct frame_feed *feed;
	struct frame_requests requests;
	struct hand hand;            /* its conn is NULL while there is no screen */
	struct act_runner *runner;
	struct viewer_input *viewer_input;
	struct live_source *live;
	struct loop_timer *probe_timer;
	uint64_t last_serial;
};

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
			struct action_list list;
			struct act_options options;
			struct act_report report;
			act_done done;
		} act;
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
		struct viewer_event viewer_event;
	};
};

static void tell_change(void *arg)
{
	struct screen *screen = arg;
	if (!screen->is_ending)
		screen->events.on_change(screen->events.arg);
}

static void publish_info(struct screen *screen)
{
	pthread_mutex_lock(&screen->lock);
	struct screen_info *info = &screen->info;
	info->is_ready = screen->grabber != NULL;
	if (screen->grabber != NULL) {
		info->width = grabber_width(screen->grabber);
		info->height = grabber_height(screen->grabber);
		info->depth = grabber_depth(screen->grabber);
		info->has_shm = grabber_uses_shm(screen->grabber);
		info->has_damage = screen->conn->has_damage;
		info->has_fixes = screen->conn->has_fixes;
		info->has_randr = screen->conn->has_randr;
		info->has_xtest = screen->conn->has_xtest;
		info->has_xres = screen->conn->has_xres;
	}
	pthread_mutex_unlock(&screen->lock);
	loop_post(screen->main_loop, tell_change, screen);
}

static void on_damage(void *arg)
{
	struct screen *screen = arg;
	frame_feed_on_damage(screen->feed);
}

static void on_resize(void *arg)
{
	publish_info(arg);
}

static void create_hand(struct screen *screen)
{
	struct xconn *conn = screen->conn;
	const struct typist_config config = TYPIST_CONFIG_DEFAULT;
	screen->hand = (struct hand){.loop = screen->loop,
		.conn = conn,
		.gate = &screen->gate,
		.requests = &screen->requests};
	if (conn->has_xtest) {
		screen->hand.injector = injector_create(conn);
		screen->hand.typist =
			typist_create(conn, screen->hand.injector, &screen->gate, &config);
	}
	if (screen->hand.typist == NULL)
		log_warn("no input on %s: the X server lacks XTEST or XKEYBOARD", screen->display);
	screen->runner = act_runner_create(&screen->hand);
	screen->viewer_input = viewer_input_create(&screen->hand);
}

static void destroy_hand(struct screen *screen)
{
	viewer_input_destroy(screen->viewer_input);
	screen->viewer_input = NULL;
	act_runner_destroy(screen->runner);
	typist_destroy(screen->hand.typist);
	injector_destroy(screen->hand.injector);
	screen->runner = NULL;
	screen->hand = (struct hand){0};
}

static void detach(struct screen *screen)
{
	if (screen->conn == NULL)
		return;
	destroy_hand(screen);
	frame_requests_fail_all(&screen->requests, -ENOTCONN);
	frame_feed_set_grabber(screen->feed, NULL);
	live_source_set_screen(screen->live, NULL, NULL, NULL, NULL);
	struct frame *frame = grabber_frame(screen->grabber);
	if (frame != NULL)
		screen->last_serial = frame->serial;
	clipboard_destroy(screen->clipboard);
	cursor_destroy(screen->cursor);
	grabber_destroy(screen->grabber);
	xconn_close(screen->conn);
	screen->clipboard = NULL;
	screen->cursor = screen->requests.cursor = NULL;
	screen->grabber = screen->requests.grabber = NULL;
	screen->conn = screen->requests.conn = NULL;
}

static void on_lost(void *arg)
{
	struct screen *screen = arg;
	log_warn("the X server on %s has gone; waiting for it to come back", screen->display);
	detach(screen);
	publish_info(screen);
	loop_timer_arm(screen->probe_timer, PROBE_INTERVAL_MS);
}

/* Returns whether the screen is attached now. */
static bool attach(struct screen *screen)
{
	struct xconn *conn = xconn_open(screen->display, screen->loop, on_lost, screen);
	if (conn == NULL)
		return false;
	const struct grabber_events events = {on_damage, on_resize, screen};
	struct grabber *grabber = grabber_create(conn, screen->last_serial, &events);
	if (grabber == NULL || grabber_update(grabber) != 0) {
		grabber_destroy(grabber);
		xconn_close(conn);
		return false;
	}
	/* A server that blanks itself after ten minutes would give black pictures. */
	XSetScreenSaver(conn->dpy, 0, 0, DontPreferBlanking, DefaultExposures);
	screen->conn = screen->requests.conn = conn;
	screen->grabber = screen->requests.grabber = grabber;
	screen->cursor = screen->requests.cursor = cursor_create(conn);
	screen->clipboard = clipboard_create(conn);
	create_hand(screen);
	pthread_mutex_lock(&screen->lock);
	screen->info.attach_count++;
	pthread_mutex_unlock(&screen->lock);
	log_info("attached to %s: %dx%d, depth %d%s%s", screen->display, grabber_width(grabber),
		grabber_height(grabber), grabber_depth(grabber),
		grabber_uses_shm(grabber) ? "" : ", without shared memory",
		conn->has_damage ? "" : ", without the DAMAGE extension");
	live_source_set_screen(screen->live, conn, grabber, screen->cursor, screen->clipboard);
	frame_feed_set_grabber(screen->feed, grabber);
	publish_info(screen);
	return true;
}

static void on_probe(void *arg)
{
	struct screen *screen = arg;
	if (!display_probe(screen->display) || !attach(screen))
		loop_timer_arm(screen->probe_timer, PROBE_INTERVAL_MS);
}

static void *thread_main(void *arg)
{
	struct screen *screen = arg;
	pthread_setname_np(pthread_self(), "display");
	screen->feed = frame_feed_create(screen->loop);
	screen->live = live_source_create(screen->loop, screen->feed);
	frame_requests_init(&screen->requests, screen->feed);
	screen->probe_timer = loop_timer_create(screen->loop, on_probe, screen);
	on_probe(screen);
	loop_run(screen->loop);
	detach(screen);
	loop_run_posts(screen->loop); /* calls that came meanwhile: answered "no screen" */
	loop_timer_destroy(screen->probe_timer);
	live_source_destroy(screen->live);
	frame_feed_destroy(screen->feed);
	return NULL;
}

/* On the display thread, after the gate has moved: nothing of the old holder stays down. */
static void release_all(void *arg)
{
	struct screen *screen = arg;
	if (screen->conn == NULL)
		return;
	act_runner_lock_out(screen->runner);
	viewer_input_forget(screen->viewer_input);
	if (screen->hand.typist != NULL)
		typist_release_all(screen->hand.typist);
}

static void on_gate_change(void *arg)
{
	struct screen *screen = arg;
	loop_post(screen->loop, release_all, screen);
}

struct screen *screen_create(
	struct loop *main_loop, const char *display, const struct screen_events *events)
{
	struct screen *screen = xcalloc(1, sizeof(*screen));
	screen->display = xstrdup(display);
	snprintf(screen->info.display, sizeof(screen->info.display), "%s", display);
	screen->main_loop = main_loop;
	screen->events = *events;
	screen->loop = loop_create();
	input_gate_init(&screen->gate, INPUT_SOURCE_AGENT, on_gate_change, screen);
	pthread_mutex_init(&screen->lock, NULL);
	if (pthread_create(&screen->thread, NULL, thread_main, screen) != 0)
		abort(); /* no thread at start: the process can do nothing */
	return screen;
}

static void stop_loop(void *arg)
{
	struct screen *screen = arg;
	loop_stop(screen->loop);
}

void screen_destroy(struct screen *screen)
{
	if (screen == NULL)
		return;
	screen->is_ending = true;
	loop_post(screen->loop, stop_loop, screen);
	pthread_join(screen->thread, NULL);
	loop_destroy(screen->loop);
	loop_run_posts(screen->main_loop); /* answers that are still on their way here */
	pthread_mutex_destroy(&screen->lock);
	free(screen->display);
	free(screen);
}

void screen_info(struct screen *screen, struct screen_info *out)
{
	pthread_mutex_lock(&screen->lock);
	*out = screen->info;
	pthread_mutex_unlock(&screen->lock);
}

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

struct input_gate *screen_gate(struct screen *screen)
{
	return &screen->gate;
}

static void act_answer(void *arg)
{
	struct job *job = arg;
	job->act.done(job->arg, &job->act.report);
	free(job);
}

static void act_run_done(void *arg, struct act_report *report)
{
	struct job *job = arg;
	job->act.report = *report;
	loop_post(job->screen->main_loop, act_answer, job);
}

static void act_run(void *arg)
{
	struct job *job = arg;
	if (job->screen->runner != NULL) {
		act_runner_start(job->screen->runner, job->id, &job->act.list, &job->act.options,
			act_run_done, job);
		return;
	}
	struct act_report report = {.status = ACT_NO_SCREEN};
	action_list_finish(&job->act.list);
	act_run_done(job, &report);
}

uint64_t screen_act(struct screen *screen, struct action_list *list,
	const struct act_options *options, act_done done, void *arg)
{
	struct job *job = job_create(screen, arg);
	uint64_t id = job->id;
	job->act.list = *list;
	*list = (struct action_list){0};
	job->act.options = *options;
	job->act.done = done;
	loop_post(screen->loop, act_run, job);
	return id;
}

static void cancel_act_run(void *arg)
{
	struct job *job = arg;
	if (job->screen->runner != NULL)
		act_runner_cancel(job->screen->runner, job->id);
	free(job);
}

void screen_cancel_act(struct screen *screen, uint64_t id)
{
	struct job *job = job_create(screen, NULL);
	job->id = id;
	loop_post(screen->loop, cancel_act_run, job);
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

static void viewer_event_run(void *arg)
{
	struct job *job = arg;
	atomic_fetch_sub(&job->screen->viewer_events, 1);
	if (job->screen->viewer_input != NULL)
		viewer_input_run(job->screen->viewer_input, &job->viewer_event);
	else
		free(job->viewer_event.text);
	free(job);
}

bool screen_post_viewer_event(struct screen *screen, const struct viewer_event *event)
{
	if (atomic_load(&screen->viewer_events) >= VIEWER_EVENTS_MAX && event->kind != VIEWER_GONE) {
		free(event->text);
		return false;
	}
	atomic_fetch_add(&screen->viewer_events, 1);
	struct job *job = xcalloc(1, sizeof(*job)); /* not job_create: any thread may call */
	job->screen = screen;
	job->viewer_event = *event;
	loop_post(screen->loop, viewer_event_run, job);
	return true;
}
