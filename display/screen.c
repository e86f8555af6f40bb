/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/screen_private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "display/clipboard_keeper.h"
#include "display/cursor.h"
#include "display/display_probe.h"
#include "display/frame.h"
#include "display/frame_feed.h"
#include "display/grabber.h"
#include "display/injector.h"
#include "display/live_source.h"
#include "display/selection_owner.h"
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
/* How long an ending daemon waits for a server that does not answer. */
#define END_PATIENCE_S 2

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

/* A duplicate, so that it names the connection's socket also while Xlib closes its own. */
static void set_x_fd(struct screen *screen, int fd)
{
	pthread_mutex_lock(&screen->lock);
	if (screen->x_fd >= 0)
		close(screen->x_fd);
	screen->x_fd = fd;
	pthread_mutex_unlock(&screen->lock);
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
	if (screen->hand.injector != NULL)
		injector_set_deeds(screen->hand.injector, &screen->deeds);
	if (screen->hand.typist != NULL)
		typist_set_deeds(screen->hand.typist, &screen->deeds);
	screen->runner = act_runner_create(&screen->hand);
	screen->selections = selection_owner_create(conn);
	screen->keeper = clipboard_keeper_create(
		conn, screen->clipboard, screen->selections, &screen->gate);
	screen->viewer_input = viewer_input_create(&screen->hand, screen->selections);
}

static void destroy_hand(struct screen *screen)
{
	viewer_input_destroy(screen->viewer_input);
	screen->viewer_input = NULL;
	screen_end_lane(screen);
	act_runner_destroy(screen->runner);
	typist_destroy(screen->hand.typist);
	injector_destroy(screen->hand.injector);
	clipboard_destroy(screen->clipboard);
	screen->clipboard = NULL;
	clipboard_keeper_destroy(screen->keeper);
	screen->keeper = NULL;
	selection_owner_destroy(screen->selections);
	screen->selections = NULL;
	screen->runner = NULL;
	screen->hand = (struct hand){0};
}

static void detach(struct screen *screen)
{
	if (screen->conn == NULL)
		return;
	live_source_set_screen(screen->live, NULL, NULL, NULL, NULL);
	destroy_hand(screen);
	frame_requests_fail_all(&screen->requests, -ENOTCONN);
	frame_feed_set_grabber(screen->feed, NULL);
	struct frame *frame = grabber_frame(screen->grabber);
	if (frame != NULL)
		screen->last_serial = frame->serial;
	cursor_destroy(screen->cursor);
	grabber_destroy(screen->grabber);
	xconn_close(screen->conn); /* waits for the server's last word */
	set_x_fd(screen, -1);
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
	set_x_fd(screen, fcntl(ConnectionNumber(conn->dpy), F_DUPFD_CLOEXEC, 0));
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
	screen_lock_out_lane(screen);
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
	screen_deeds_init(screen);
	pthread_mutex_init(&screen->lock, NULL);
	screen->x_fd = -1;
	list_init(&screen->lane);
	if (pthread_create(&screen->thread, NULL, thread_main, screen) != 0)
		abort(); /* no thread at start: the process can do nothing */
	return screen;
}

static void stop_loop(void *arg)
{
	struct screen *screen = arg;
	loop_stop(screen->loop);
}

/*
 * A server that does not answer (stopped, say) holds the thread inside Xlib: it is freed by taking
 * the connection away, which Xlib takes for the server's death.
 */
static void join_thread(struct screen *screen)
{
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += END_PATIENCE_S;
	if (pthread_timedjoin_np(screen->thread, NULL, &deadline) == 0)
		return;
	log_warn("the X server does not answer; leaving it");
	pthread_mutex_lock(&screen->lock);
	if (screen->x_fd >= 0)
		shutdown(screen->x_fd, SHUT_RDWR);
	pthread_mutex_unlock(&screen->lock);
	pthread_join(screen->thread, NULL);
}

void screen_destroy(struct screen *screen)
{
	if (screen == NULL)
		return;
	screen->is_ending = true;
	loop_post(screen->loop, stop_loop, screen);
	join_thread(screen);
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

struct input_gate *screen_gate(struct screen *screen)
{
	return &screen->gate;
}
