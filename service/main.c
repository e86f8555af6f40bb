/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreend: creates everything, runs the loop, destroys in reverse. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <openssl/rand.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/http_tls.h"
#include "base/loop.h"
#include "display/display_probe.h"
#include "display/privacy.h"
#include "display/screen.h"
#include "display/xserver.h"
#include "service/call.h"
#include "service/downloads.h"
#include "service/events.h"
#include "service/metrics.h"
#include "service/options.h"
#include "service/pages.h"
#include "service/recordings.h"
#include "service/routes.h"
#include "service/service.h"
#include "service/shot_cache.h"
#include "service/takeover_wait.h"
#include "takeover/notify.h"
#include "takeover/page_server.h"
#include "takeover/rfb_listener.h"
#include "takeover/takeovers.h"
#include "takeover/viewers.h"
#include "takeover/websocket.h"
#define LOG_MODULE "main"
#include "base/log.h"

#define EXIT_WRONG_USE 2

struct daemon {
	struct service service;
	struct options options;
	struct loop *loop;
	struct http_server *http;
	struct http_listener *pages;
	struct xserver *xserver;
	struct rfb_listener *rfb;
	struct notify *notify;
	struct privacy privacy;
	struct privacy_watch privacy_watch;
	struct loop_signal *signals[3];
	int lock_fd;          /* on the state folder */
	char *public_url;
	char *page_policy;
	struct http_tls *tls;
	bool was_ready;       /* the last state told by events */
	int width, height;
	bool is_told_ready;   /* --ready-fd */
};

static const struct http_limits control_limits = {
	.body_max = 16 << 20,
	.header_max = 16 << 10,
	.request_timeout_s = 10,
	.idle_timeout_s = 60,
	.connections_max = 384,
	.calls_max = 256,
};

static const struct http_limits page_limits = {
	.body_max = 64 << 10,
	.header_max = 16 << 10,
	.request_timeout_s = 10,
	.idle_timeout_s = 30,
	.connections_max = 256,
};

static void on_control_request(void *arg, struct http_request *request)
{
	struct daemon *daemon = arg;
	routes_dispatch(&daemon->service, request);
}

static void on_page_request(void *arg, struct http_request *request)
{
	struct daemon *daemon = arg;
	pages_dispatch(&daemon->service, request);
}

/* Everything that waits for the daemon hears of it once the screen can be used. */
static void tell_ready_fd(struct daemon *daemon, const char *display)
{
	int fd = daemon->options.ready_fd;
	if (fd < 0 || daemon->is_told_ready)
		return;
	daemon->is_told_ready = true;
	if (dprintf(fd, "ready %s %s %s\n", display, daemon->options.socket_path,
		    daemon->public_url) < 0)
		log_warn("cannot write to --ready-fd %d: %s", fd, strerror(errno));
	close(fd);
}

static void on_screen_change(void *arg)
{
	struct daemon *daemon = arg;
	struct screen_info info;
	screen_info(daemon->service.screen, &info);
	if (info.is_ready && !daemon->was_ready) {
		events_publish(daemon->service.events, "screen.ready",
			json_pack("{s:s, s:i, s:i, s:i}", "display", info.display, "width",
				info.width, "height", info.height, "depth", info.depth));
		tell_ready_fd(daemon, info.display);
	} else if (!info.is_ready && daemon->was_ready) {
		events_publish(daemon->service.events, "screen.lost",
			json_pack("{s:s}", "display", info.display));
		if (daemon->xserver != NULL)
			xserver_on_display_lost(daemon->xserver);
	} else if (info.is_ready && (info.width != daemon->width || info.height != daemon->height)) {
		events_publish(daemon->service.events, "screen.resized",
			json_pack("{s:i, s:i}", "width", info.width, "height", info.height));
	}
	recordings_on_screen(daemon->service.recordings, info.is_ready, info.width, info.height);
	daemon->was_ready = info.is_ready;
	daemon->width = info.width;
	daemon->height = info.height;
}

static void start_screen(struct daemon *daemon, const char *display)
{
	const struct screen_events events = {on_screen_change, daemon};
	if (daemon->service.screen != NULL)
		return;
	daemon->service.screen = screen_create(daemon->loop, display, &events);
	viewers_set_screen(daemon->service.viewers, daemon->service.screen);
	recordings_set_screen(daemon->service.recordings, daemon->service.screen);
}

static void on_xserver_ready(void *arg, const char *display)
{
	struct daemon *daemon = arg;
	free((void *)(uintptr_t)daemon->service.xserver_fault);
	daemon->service.xserver_fault = NULL;
	start_screen(daemon, display);
}

static void on_xserver_failed(void *arg, const char *text)
{
	struct daemon *daemon = arg;
	log_error("%s", text);
	free((void *)(uintptr_t)daemon->service.xserver_fault);
	daemon->service.xserver_fault = xstrdup(text);
}

static void on_signal(void *arg, int signum)
{
	struct daemon *daemon = arg;
	log_info("ending on signal %d", signum);
	loop_stop(daemon->loop);
}

/* Makes the folders above path, and path itself when it ends in '/'. */
static int make_folders(const char *path, mode_t mode)
{
	char *copy = xstrdup(path);
	int ret = 0;
	for (char *p = strchr(copy + 1, '/'); p != NULL && ret == 0; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			ret = -errno;
		*p = '/';
	}
	free(copy);
	return ret;
}

static bool lock_state_dir(struct daemon *daemon)
{
	const char *dir = daemon->options.state_dir;
	char *path = xasprintf("%s/lock", dir);
	int ret = make_folders(path, 0700);
	daemon->lock_fd = ret == 0 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (ret == 0 && daemon->lock_fd < 0)
		ret = -errno;
	free(path);
	if (ret < 0) {
		log_error("cannot use the state folder %s: %s; choose another with --state-dir", dir,
			strerror(-ret));
		return false;
	}
	if (flock(daemon->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		log_error("the state folder %s is in use by another boxscreend; choose another with "
			  "--state-dir",
			dir);
		return false;
	}
	return true;
}

static bool listen_control(struct daemon *daemon)
{
	const char *path = daemon->options.socket_path;
	int ret = make_folders(path, 0755);
	if (ret == 0)
		ret = http_server_listen_unix(daemon->http, path, 0660, &control_limits,
			on_control_request, daemon, &daemon->service.control);
	if (ret == -EADDRINUSE)
		log_error("another boxscreend is running on %s; stop it, or choose another --socket",
			path);
	else if (ret == -EEXIST)
		log_error("%s is there and is no socket; remove it, or choose another --socket", path);
	else if (ret < 0)
		log_error("cannot listen on %s: %s", path, strerror(-ret));
	return ret == 0;
}

static bool load_tls(struct daemon *daemon)
{
	const struct options *options = &daemon->options;
	char error[400];
	if (options->tls_cert == NULL)
		return true;
	daemon->tls = http_tls_create(options->tls_cert, options->tls_key, error, sizeof(error));
	if (daemon->tls == NULL)
		log_error("--tls-cert: %s", error);
	return daemon->tls != NULL;
}

static bool listen_pages(struct daemon *daemon)
{
	const struct options *options = &daemon->options;
	int ret = http_server_listen_tcp(daemon->http, options->listen_address,
		options->listen_port, &page_limits, on_page_request, daemon, &daemon->pages);
	if (ret == -EADDRINUSE && !options->has_listen) {
		log_warn("port %d is taken; using a free one (name one with --listen)",
			options->listen_port);
		ret = http_server_listen_tcp(daemon->http, options->listen_address, 0, &page_limits,
			on_page_request, daemon, &daemon->pages);
	}
	if (ret < 0) {
		log_error("cannot listen on %s port %d: %s; choose another address with --listen",
			options->listen_address, options->listen_port, strerror(-ret));
		return false;
	}
	char *error_headers = pages_error_headers(daemon->page_policy);
	http_listener_set_error_headers(daemon->pages, error_headers);
	free(error_headers);
	if (daemon->tls != NULL)
		http_listener_set_tls(daemon->pages, daemon->tls);
	bool is_v6 = strchr(options->listen_address, ':') != NULL;
	daemon->public_url = options->public_url != NULL
				     ? xstrdup(options->public_url)
				     : xasprintf("http%s://%s%s%s:%d", daemon->tls != NULL ? "s" : "", is_v6 ? "[" : "",
					       options->listen_address, is_v6 ? "]" : "",
					       http_listener_port(daemon->pages));
	return true;
}

static void on_event(void *arg, const char *name, json_t *data)
{
	struct daemon *daemon = arg;
	notify_send(daemon->notify, name, data);
	events_publish(daemon->service.events, name, data);
}

static void on_takeover_change(void *arg)
{
	struct daemon *daemon = arg;
	takeover_waits_look(daemon->service.takeover_waits);
}

static void on_privacy(void *arg, bool is_private)
{
	struct daemon *daemon = arg;
	metrics_freeze(daemon->service.metrics, is_private);
	if (is_private)
		calls_refuse_looking(&daemon->service);
}

static bool start_takeovers(struct daemon *daemon)
{
	struct service *service = &daemon->service;
	const struct options *options = &daemon->options;
	const struct notify_config notify_config = {.loop = daemon->loop,
		.targets = (const char *const *)options->notify,
		.secret = options->notify_secret,
		.state_dir = options->state_dir,
		.box_id = options->box_id};
	const struct takeovers_config config = {.loop = daemon->loop,
		.privacy = &daemon->privacy,
		.state_dir = options->state_dir,
		.public_url = daemon->public_url,
		.box_id = options->box_id,
		.grace_s = options->takeover_grace_s,
		.has_privacy = options->has_privacy,
		.has_fragment_links = options->has_fragment_links};
	const struct takeovers_events events = {on_event, on_takeover_change, daemon};
	daemon->notify = notify_create(&notify_config);
	service->takeover_waits = takeover_waits_create(service);
	service->takeovers = takeovers_create(&config, &events);
	return daemon->notify != NULL;
}

static bool start_viewers(struct daemon *daemon)
{
	struct service *service = &daemon->service;
	const struct options *options = &daemon->options;
	struct viewers_events events = {.on_event = on_event, .on_event_arg = daemon};
	takeovers_listen(service->takeovers, &events);
	char *name = xasprintf("boxscreen %s", options->box_id);
	service->viewers = viewers_create(daemon->loop, name, &events);
	free(name);
	takeovers_attach(service->takeovers, service->viewers);
	const struct page_server_config config = {.loop = daemon->loop,
		.takeovers = service->takeovers,
		.viewers = service->viewers,
		.box_id = options->box_id,
		.public_url = daemon->public_url,
		.listen_address = options->listen_address,
		.has_tls = daemon->tls != NULL,
		.allowed_origins = (const char *const *)options->allowed_origins};
	service->page_server = page_server_create(&config);
	if (options->rfb == NULL)
		return true;
	daemon->rfb = rfb_listener_create(daemon->loop, options->rfb,
		options->has_rfb_control ? VIEWER_CONTROL : VIEWER_VIEW, options->rfb_password,
		daemon->service.viewers);
	return daemon->rfb != NULL;
}

static void start_display(struct daemon *daemon)
{
	const struct options *options = &daemon->options;
	if (!options->starts_xvfb) {
		start_screen(daemon, options->display);
		return;
	}
	const struct xserver_options wanted = {
		.number = options->is_xvfb_auto ? XSERVER_ANY_NUMBER
						: display_number(options->display),
		.width = options->xvfb_width,
		.height = options->xvfb_height,
		.depth = options->xvfb_depth,
		.dies_with_daemon = options->is_xvfb_auto,
	};
	const struct xserver_events events = {on_xserver_ready, on_xserver_failed, daemon};
	daemon->xserver = xserver_create(daemon->loop, &wanted, &events);
}

static bool daemon_start(struct daemon *daemon)
{
	struct service *service = &daemon->service;
	static const int signums[] = {SIGINT, SIGTERM, SIGHUP};
	daemon->loop = loop_create();
	for (size_t i = 0; i < ARRAY_LEN(signums); i++)
		daemon->signals[i] = loop_signal_create(daemon->loop, signums[i], on_signal, daemon);
	service->options = &daemon->options;
	service->loop = daemon->loop;
	privacy_init(&daemon->privacy);
	service->privacy = &daemon->privacy;
	list_init(&service->looking_calls);
	daemon->privacy_watch = (struct privacy_watch){.on_change = on_privacy, .arg = daemon};
	privacy_add_watch(&daemon->privacy, &daemon->privacy_watch);
	service->started_us = clock_monotonic_us();
	service->socket_path = daemon->options.socket_path;
	if (RAND_bytes((unsigned char *)&service->boot_id, sizeof(service->boot_id)) != 1)
		return false;
	service->metrics = metrics_create();
	service->events = events_create(service->boot_id);
	service->shot_cache = shot_cache_create();
	daemon->http = http_server_create(daemon->loop);
	daemon->page_policy = pages_policy(&daemon->options);
	service->page_policy = daemon->page_policy;
	if (!listen_control(daemon) || !lock_state_dir(daemon) || !load_tls(daemon) ||
		!listen_pages(daemon))
		return false;
	service->public_url = daemon->public_url;
	service->downloads = downloads_create(
		daemon->options.state_dir, daemon->options.box_id, daemon->public_url);
	if (service->downloads == NULL || !start_takeovers(daemon) || !start_viewers(daemon))
		return false;
	service->recordings = recordings_create(service);
	if (service->recordings == NULL)
		return false;
	log_info("boxscreend %s: control socket %s, pages at %s", BOXSCREEN_VERSION,
		daemon->options.socket_path, daemon->public_url);
	start_display(daemon);
	return true;
}

static void daemon_finish(struct daemon *daemon)
{
	struct service *service = &daemon->service;
	recordings_close(service->recordings);
	rfb_listener_destroy(daemon->rfb);
	if (service->viewers != NULL)
		viewers_close_all(service->viewers);
	takeovers_detach(service->takeovers);
	page_server_destroy(service->page_server);
	http_server_destroy(daemon->http);
	screen_destroy(service->screen);
	viewers_destroy(service->viewers);
	websocket_finish_closing();
	loop_finish_work(daemon->loop); /* pictures still being encoded */
	recordings_destroy(service->recordings);
	takeovers_destroy(service->takeovers);
	takeover_waits_destroy(service->takeover_waits);
	notify_destroy(daemon->notify);
	events_destroy(service->events);
	xserver_destroy(daemon->xserver);
	downloads_destroy(service->downloads);
	shot_cache_destroy(service->shot_cache);
	metrics_destroy(service->metrics);
	for (size_t i = 0; i < ARRAY_LEN(daemon->signals); i++)
		loop_signal_destroy(daemon->signals[i]);
	loop_destroy(daemon->loop);
	if (daemon->lock_fd >= 0)
		close(daemon->lock_fd);
	free((void *)(uintptr_t)service->xserver_fault);
	http_tls_destroy(daemon->tls);
	free(daemon->page_policy);
	free(daemon->public_url);
	options_finish(&daemon->options);
}

/*
 * Pictures come and go in megabytes, on several threads. Left to itself glibc keeps what it once had
 * (an arena a thread, a growing threshold for mmap): 69 MB resident after 5,000 shots.
 */
static void limit_heap(void)
{
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

int main(int argc, char **argv)
{
	struct daemon daemon = {.lock_fd = -1};
	switch (options_parse(&daemon.options, argc, argv)) {
	case OPTIONS_DONE:
		options_finish(&daemon.options);
		return EXIT_SUCCESS;
	case OPTIONS_WRONG:
		options_finish(&daemon.options);
		return EXIT_WRONG_USE;
	case OPTIONS_RUN:
		break;
	}
	limit_heap();
	log_set_level(daemon.options.log_level);
	signal(SIGPIPE, SIG_IGN);
	bool is_started = daemon_start(&daemon);
	if (is_started)
		loop_run(daemon.loop);
	daemon_finish(&daemon);
	return is_started ? EXIT_SUCCESS : EXIT_FAILURE;
}
