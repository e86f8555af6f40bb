/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/xserver.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/display_probe.h"
#define LOG_MODULE "xserver"
#include "base/log.h"

/* A server that lives shorter than this is started again only after a growing pause. */
#define SHORT_LIFE_US     5000000
#define PAUSE_FIRST_MS    100
#define PAUSE_LAST_MS     2000
/* How long somebody else's server may hold the lock without accepting before it is told about. */
#define BUSY_RETRY_MS     100
#define BUSY_TELL_RETRIES 50
#define STOP_TIMEOUT_MS   2000
#define LINE_MAX_BYTES    512
/* A server that dies so often before it is up is told about. */
#define TELL_SHORT_LIVES  2

struct xserver {
	struct loop *loop;
	struct xserver_options options;
	struct xserver_events events;
	pid_t pid;            /* 0: not running, or not ours */
	bool is_foreign;
	int ready_fd;         /* -displayfd's pipe, -1 when closed */
	int output_fd;        /* the server's stderr, -1 when closed */
	char ready_text[16];  /* what has come through ready_fd */
	size_t ready_len;
	struct loop_io *ready_io, *output_io;
	struct loop_signal *child_signal;
	struct loop_timer *start_timer;
	int64_t started_us;
	int pause_ms;
	int busy_count;
	char line[LINE_MAX_BYTES]; /* of its stderr, being collected */
	size_t line_len;
	char last_words[LINE_MAX_BYTES]; /* the last line that says something */
	bool is_up;                /* it has said that it accepts */
	int short_lives;           /* in a row */
};

static void start(void *arg);

static void close_ready(struct xserver *xserver)
{
	loop_io_destroy(xserver->ready_io);
	xserver->ready_io = NULL;
	if (xserver->ready_fd >= 0)
		close(xserver->ready_fd);
	xserver->ready_fd = -1;
}

static void close_output(struct xserver *xserver)
{
	loop_io_destroy(xserver->output_io);
	xserver->output_io = NULL;
	if (xserver->output_fd >= 0)
		close(xserver->output_fd);
	xserver->output_fd = -1;
}

static void tell_ready(struct xserver *xserver)
{
	char display[16];
	snprintf(display, sizeof(display), ":%d", xserver->options.number);
	xserver->events.on_ready(xserver->events.arg, display);
}

/* The server writes its number and a newline once it accepts connections. */
static void on_ready(void *arg, int events)
{
	struct xserver *xserver = arg;
	char *text = xserver->ready_text;
	size_t room = sizeof(xserver->ready_text) - 1 - xserver->ready_len;
	ssize_t len = read(xserver->ready_fd, text + xserver->ready_len, room);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) { /* it died first; SIGCHLD tells */
		close_ready(xserver);
		return;
	}
	xserver->ready_len += (size_t)len;
	text[xserver->ready_len] = '\0';
	if (strchr(text, '\n') == NULL && (size_t)len < room)
		return; /* it writes the newline apart, and dies when it cannot */
	close_ready(xserver);
	xserver->options.number = (int)strtol(text, NULL, 10);
	xserver->is_up = true;
	log_info("Xvfb is up on :%d (pid %d)", xserver->options.number, (int)xserver->pid);
	tell_ready(xserver);
}

/* Without the "(EE)" that the server puts around its errors and on lines of their own. */
static void keep_words(struct xserver *xserver)
{
	const char *text = xserver->line;
	size_t len;
	while (strncmp(text, "(EE)", 4) == 0 || *text == ' ')
		text += *text == ' ' ? 1 : 4;
	len = strlen(text);
	while (len > 0 && (text[len - 1] == ' ' || (len >= 4 && strncmp(text + len - 4, "(EE)", 4) == 0)))
		len -= text[len - 1] == ' ' ? 1 : 4;
	if (len > 0)
		snprintf(xserver->last_words, sizeof(xserver->last_words), "%.*s", (int)len, text);
}

static void on_output(void *arg, int events)
{
	struct xserver *xserver = arg;
	char text[1024];
	ssize_t len = read(xserver->output_fd, text, sizeof(text));
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		close_output(xserver);
		return;
	}
	for (ssize_t i = 0; i < len; i++) {
		if (text[i] != '\n' && xserver->line_len + 1 < sizeof(xserver->line)) {
			xserver->line[xserver->line_len++] = text[i];
		} else if (text[i] == '\n') {
			xserver->line[xserver->line_len] = '\0';
			log_debug("Xvfb: %s", xserver->line);
			keep_words(xserver);
			xserver->line_len = 0;
		}
	}
}

/* In the child, between fork and exec: only async-signal-safe calls. */
static void exec_xvfb(const struct xserver *xserver, int ready_fd, int output_fd, char *const *argv)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0); /* Ctrl+C at the terminal is for the daemon, which then ends the server */
	if (xserver->options.dies_with_daemon)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	int null_fd = open("/dev/null", O_RDWR);
	dup2(null_fd, STDIN_FILENO);
	dup2(null_fd, STDOUT_FILENO);
	dup2(output_fd, STDERR_FILENO);
	if (ready_fd == 3)
		fcntl(3, F_SETFD, 0); /* dup2 onto itself would leave close-on-exec set */
	else
		dup2(ready_fd, 3);
	execvp(argv[0], argv);
	static const char text[] = "cannot run Xvfb: install it (apt-get install xvfb)\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)written;
	_exit(127);
}

/* Non-blocking, since a grandchild (xkbcomp) may hold the other end open. */
static bool make_pipe(int fds[2])
{
	return pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0;
}

static void spawn(struct xserver *xserver)
{
	const struct xserver_options *options = &xserver->options;
	char display[16], screen[64];
	snprintf(display, sizeof(display), ":%d", options->number);
	snprintf(screen, sizeof(screen), "%dx%dx%d", options->width, options->height,
		options->depth);
	char *argv[24];
	int argc = 0;
	argv[argc++] = (char[]){"Xvfb"};
	if (options->number != XSERVER_ANY_NUMBER)
		argv[argc++] = display;
	char *const fixed[] = {(char[]){"-displayfd"}, (char[]){"3"}, (char[]){"-screen"},
		(char[]){"0"}, screen, (char[]){"-noreset"}, (char[]){"-nolisten"},
		(char[]){"tcp"}, (char[]){"-s"}, (char[]){"0"},
		/* It hides the image of a cursor whose maker has ended (xsetroot -cursor). */
		(char[]){"-extension"}, (char[]){"SECURITY"}};
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		argv[argc++] = fixed[i];
	argv[argc] = NULL;

	int ready[2] = {-1, -1}, output[2] = {-1, -1};
	if (!make_pipe(ready) || !make_pipe(output)) {
		log_error("no pipe for Xvfb: %s", strerror(errno));
		loop_timer_arm(xserver->start_timer, PAUSE_LAST_MS);
		goto out;
	}
	pid_t pid = fork();
	if (pid == 0)
		exec_xvfb(xserver, ready[1], output[1], argv);
	if (pid < 0) {
		log_error("cannot start Xvfb: %s", strerror(errno));
		loop_timer_arm(xserver->start_timer, PAUSE_LAST_MS);
		goto out;
	}
	xserver->pid = pid;
	xserver->is_foreign = false;
	xserver->started_us = clock_monotonic_us();
	xserver->line_len = xserver->ready_len = 0;
	xserver->ready_fd = ready[0];
	xserver->output_fd = output[0];
	ready[0] = output[0] = -1;
	xserver->ready_io =
		loop_io_create(xserver->loop, xserver->ready_fd, LOOP_READABLE, on_ready, xserver);
	xserver->output_io = loop_io_create(
		xserver->loop, xserver->output_fd, LOOP_READABLE, on_output, xserver);
out:
	for (int i = 0; i < 2; i++) {
		if (ready[i] >= 0)
			close(ready[i]);
		if (output[i] >= 0)
			close(output[i]);
	}
}

/* A live process holds the display's lock but does not accept: it may be starting or frozen. */
static void wait_for_busy(struct xserver *xserver)
{
	if (++xserver->busy_count == BUSY_TELL_RETRIES)
		log_error("display :%d belongs to a live X server that accepts nobody; waiting "
			  "for it (or choose another number)",
			xserver->options.number);
	loop_timer_arm(xserver->start_timer, BUSY_RETRY_MS);
}

static void start(void *arg)
{
	struct xserver *xserver = arg;
	int number = xserver->options.number;
	if (number == XSERVER_ANY_NUMBER) {
		spawn(xserver);
		return;
	}
	char display[16];
	snprintf(display, sizeof(display), ":%d", number);
	if (display_probe(display)) {
		log_info("an X server is already on %s; using it as it is", display);
		xserver->is_foreign = true;
		tell_ready(xserver);
		return;
	}
	int ret = display_remove_stale(number);
	if (ret == -EBUSY) {
		wait_for_busy(xserver);
		return;
	}
	if (ret < 0)
		log_warn("cannot remove what a dead X server left of :%d: %s", number,
			strerror(-ret));
	xserver->busy_count = 0;
	spawn(xserver);
}

static void on_server_exit(struct xserver *xserver, int status)
{
	bool had_started = xserver->is_up;
	xserver->is_up = false;
	on_output(xserver, LOOP_READABLE); /* its last words */
	close_ready(xserver);
	close_output(xserver);
	xserver->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !had_started) {
		xserver->events.on_failed(xserver->events.arg,
			"cannot run Xvfb: install it (apt-get install xvfb)");
		return;
	}
	bool was_short = clock_monotonic_us() - xserver->started_us < SHORT_LIFE_US;
	xserver->short_lives = was_short ? xserver->short_lives + 1 : 0;
	xserver->pause_ms = !was_short ? 0
			    : xserver->pause_ms == 0 ? PAUSE_FIRST_MS
						     : xserver->pause_ms * 2;
	if (xserver->pause_ms > PAUSE_LAST_MS)
		xserver->pause_ms = PAUSE_LAST_MS;
	log_warn("Xvfb ended (%s %d)%s%s; starting it again",
		WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		xserver->last_words[0] != '\0' ? ": " : "", xserver->last_words);
	if (!had_started && xserver->short_lives >= TELL_SHORT_LIVES) {
		char text[LINE_MAX_BYTES + 64];
		snprintf(text, sizeof(text), "Xvfb does not start: %s", xserver->last_words);
		xserver->events.on_failed(xserver->events.arg, text);
	}
	loop_timer_arm(xserver->start_timer, xserver->pause_ms);
}

static void on_child(void *arg, int signum)
{
	struct xserver *xserver = arg;
	int status;
	if (xserver->pid > 0 && waitpid(xserver->pid, &status, WNOHANG) == xserver->pid)
		on_server_exit(xserver, status);
}

struct xserver *xserver_create(
	struct loop *loop, const struct xserver_options *options, const struct xserver_events *events)
{
	struct xserver *xserver = xcalloc(1, sizeof(*xserver));
	xserver->loop = loop;
	xserver->options = *options;
	xserver->events = *events;
	xserver->ready_fd = xserver->output_fd = -1;
	xserver->child_signal = loop_signal_create(loop, SIGCHLD, on_child, xserver);
	xserver->start_timer = loop_timer_create(loop, start, xserver);
	loop_timer_arm(xserver->start_timer, 0);
	return xserver;
}

static void end_server(pid_t pid)
{
	const struct timespec step = {.tv_nsec = 10000000};
	kill(pid, SIGTERM);
	for (int waited_ms = 0; waited_ms < STOP_TIMEOUT_MS; waited_ms += 10) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return;
		nanosleep(&step, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void xserver_destroy(struct xserver *xserver)
{
	if (xserver == NULL)
		return;
	loop_signal_destroy(xserver->child_signal);
	loop_timer_destroy(xserver->start_timer);
	if (xserver->pid > 0)
		end_server(xserver->pid);
	close_ready(xserver);
	close_output(xserver);
	free(xserver);
}

void xserver_on_display_lost(struct xserver *xserver)
{
	if (xserver->is_foreign && !loop_timer_is_armed(xserver->start_timer))
		loop_timer_arm(xserver->start_timer, BUSY_RETRY_MS);
}

bool xserver_is_own(const struct xserver *xserver)
{
	return xserver->pid > 0;
}
