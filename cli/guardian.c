/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "cli/absolute_path.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/descendants.h"
#include "cli/output.h"
#include "cli/run.h"

/* As env(1), timeout(1) and others have them. */
#define EXIT_OWN_FAULT 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127

#define READY_TIMEOUT_MS  30000
/* How long the command may take to end after it was told to. */
#define END_PATIENCE_MS   10000
#define ORPHAN_PATIENCE_MS 2000
/* The daemon finishes the video in that. */
#define DAEMON_PATIENCE_MS 20000
#define CALL_SILENCE_MS   120000

struct guardian {
	const struct run_wish *wish;
	int signals_fd, child_fd;
	char *folder, *socket, *record;
	char display[64];
	pid_t daemon, command;
	bool has_daemon_ended, has_command_ended, is_orphan;
	int status;               /* of the command, as wait gives it */
	int64_t kill_us;          /* when its patience is over; 0: it was not told to end */
	char *recording_id;
};

/* Files */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	remove(path);
	return 0;
}

static void remove_folder(const char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool make_folder(struct guardian *guardian)
{
	const char *base = getenv("TMPDIR");
	guardian->folder = xasprintf("%s/boxscreen-run.XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp");
	if (mkdtemp(guardian->folder) == NULL) {
		complain("run: %s: %s", guardian->folder, strerror(errno));
		return false;
	}
	guardian->socket = xasprintf("%s/control.sock", guardian->folder);
	return true;
}

/* Where the daemon is: beside this program, in the build tree, or on the path. */
static char *find_daemon(void)
{
	static const char *const places[] = {"boxscreend", "../service/boxscreend"};
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(self, '/');
	for (size_t i = 0; slash != NULL && i < ARRAY_LEN(places); i++) {
		char *path = xasprintf("%.*s/%s", (int)(slash - self), self, places[i]);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return xstrdup("boxscreend");
}

/* Processes */

/* In the child: the signals as a program expects them. */
static void restore_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

/* In the child: a signal when this process goes, also if it went before we asked. */
static void die_with_parent(int signum, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, signum);
	if (getppid() != parent)
		_exit(EXIT_OWN_FAULT);
}

static void exec_daemon(struct guardian *guardian, const char *program, int ready_fd)
{
	char *log = xasprintf("%s/log", guardian->folder);
	char *state = xasprintf("%s/state", guardian->folder);
	char *screen = xasprintf("auto,%s", guardian->wish->size);
	int log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), null_fd = open("/dev/null", O_RDWR);
	dup2(null_fd, STDIN_FILENO);
	dup2(log_fd, STDOUT_FILENO);
	dup2(log_fd, STDERR_FILENO);
	dup2(ready_fd, 3);
	execlp(program, program, "--xvfb", screen, "--socket", guardian->socket, "--listen",
		"127.0.0.1:0", "--state-dir", state, "--ready-fd", "3", (char *)NULL);
	fprintf(stderr, "%s: %s\n", program, strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

static void print_log(const struct guardian *guardian)
{
	char *path = xasprintf("%s/log", guardian->folder), *text = NULL;
	size_t len;
	if (file_read_all(path, 1 << 20, &text, &len) == 0)
		output_errors(text, len);
	free(text);
	free(path);
}

/* The word behind "ready" in the daemon's line. */
static bool read_ready(struct guardian *guardian, int fd)
{
	char line[4096];
	size_t len = 0;
	struct pollfd polled[] = {{.fd = fd, .events = POLLIN}, {.fd = guardian->signals_fd, .events = POLLIN}};
	int64_t end_us = clock_monotonic_us() + READY_TIMEOUT_MS * 1000ll;
	while (len < sizeof(line) - 1 && clock_monotonic_us() < end_us) {
		if (poll(polled, 2, 1000) < 0 && errno != EINTR)
			return false;
		if (polled[1].revents != 0)
			return false; /* ended while it was starting */
		if (polled[0].revents == 0)
			continue;
		ssize_t got = read(fd, line + len, sizeof(line) - 1 - len);
		if (got <= 0)
			return false;
		len += (size_t)got;
		line[len] = '\0';
		if (strchr(line, '\n') != NULL)
			return sscanf(line, "ready %63s", guardian->display) == 1;
	}
	return false;
}

static bool start_daemon(struct guardian *guardian)
{
	int fds[2];
	char *program = find_daemon();
	pid_t self = getpid();
	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	guardian->daemon = fork();
	if (guardian->daemon == 0) {
		restore_signals();
		setpgid(0, 0); /* the terminal's Ctrl+C is the command's */
		die_with_parent(SIGTERM, self);
		exec_daemon(guardian, program, fds[1]);
	}
	close(fds[1]);
	free(program);
	bool is_ready = guardian->daemon > 0 && read_ready(guardian, fds[0]);
	close(fds[0]);
	struct pollfd polled = {.fd = guardian->signals_fd, .events = POLLIN};
	if (!is_ready && poll(&polled, 1, 0) == 0) {
		print_log(guardian);
		complain("run: no screen of size %s could be had", guardian->wish->size);
	}
	return is_ready;
}

static void set_environment(const struct guardian *guardian)
{
	setenv("DISPLAY", guardian->display, 1);
	setenv("HEADED", "1", 1);
	setenv("BOXSCREEN_SOCKET", guardian->socket, 1);
	unsetenv("WAYLAND_DISPLAY");
	unsetenv("XAUTHORITY");
}

/* Starts a program; 0 with *pid, or the errno of its exec. */
static int spawn(const struct guardian *guardian, const char *const *words, pid_t *pid)
{
	int fds[2], error = 0;
	pid_t self = getpid();
	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	*pid = fork();
	if (*pid == 0) {
		restore_signals();
		die_with_parent(SIGKILL, self);
		set_environment(guardian);
		execvp(words[0], (char *const *)(uintptr_t)words);
		error = errno;
		if (write(fds[1], &error, sizeof(error)) < 0)
			_exit(EXIT_CANNOT_RUN);
		_exit(EXIT_NOT_FOUND);
	}
	close(fds[1]);
	if (*pid < 0)
		error = errno;
	else if (read(fds[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(fds[0]);
	return error;
}

static bool start_window_manager(struct guardian *guardian)
{
	static const char *const managers[] = {"openbox", "xfwm4", "icewm", "fluxbox", "metacity", "twm"};
	for (size_t i = 0; i < ARRAY_LEN(managers); i++) {
		const char *words[] = {managers[i], NULL};
		pid_t pid;
		if (spawn(guardian, words, &pid) == 0)
			return true;
	}
	complain("run: --window-manager: there is none; install openbox");
	return false;
}

/* Calls to the daemon */

/* The reply to a call with a JSON body (taken); NULL with a complaint. */
static json_t *ask(struct guardian *guardian, const char *target, json_t *body)
{
	struct http_answer answer = {0};
	const struct invocation call = {.socket_path = guardian->socket};
	if (body == NULL) {
		complain("run: what is given is not valid UTF-8");
		return NULL;
	}
	int status = client_send(&call, "POST", target, body, CALL_SILENCE_MS, &answer);
	json_t *reply = status == EXIT_DONE ? client_parse(&answer) : NULL;
	http_answer_finish(&answer);
	return reply;
}

static bool start_recording(struct guardian *guardian)
{
	guardian->record = absolute_path(guardian->wish->record);
	struct stat st;
	/* The video of an earlier run; a device or a folder is not touched. */
	if (lstat(guardian->record, &st) == 0 && S_ISREG(st.st_mode))
		unlink(guardian->record);
	json_t *reply = ask(guardian, "/v1/recordings",
		json_pack("{s:o}", "path", json_string(guardian->record)));
	if (reply == NULL)
		return false;
	guardian->recording_id = xstrdup(json_string_value(json_object_get(reply, "id")));
	json_decref(reply);
	return true;
}

static bool print_link(struct guardian *guardian)
{
	json_t *reply = ask(guardian, "/v1/links", json_pack("{s:s, s:i}", "role", "view", "ttl_s", 86400));
	const char *url = json_string_value(json_object_get(reply, "url"));
	if (url != NULL)
		fprintf(stderr, "boxscreen: watch it at %s\n", url);
	json_decref(reply);
	return url != NULL;
}

static bool has_failed(const struct guardian *guardian)
{
	return !WIFEXITED(guardian->status) || WEXITSTATUS(guardian->status) != 0;
}

/* The screen as the failed command left it, beside the video. */
static void save_last_shot(const struct guardian *guardian)
{
	char *path = xasprintf("%.*s.png", (int)strlen(guardian->record) - 4, guardian->record);
	struct http_answer answer = {0};
	const struct invocation call = {.socket_path = guardian->socket};
	if (client_get(&call, "/v1/shot", &answer) == 0) {
		int ret = atomic_file_write(path, answer.body.data, answer.body.len, 0644, ATOMIC_FILE_REGULAR);
		if (ret < 0)
			complain("run: %s: %s", path, strerror(-ret));
	}
	http_answer_finish(&answer);
	free(path);
}

static void finish_recording(struct guardian *guardian)
{
	bool keeps_failures_only = guardian->wish->keeps_failures_only;
	if (guardian->recording_id == NULL || guardian->has_daemon_ended)
		return;
	if (keeps_failures_only && has_failed(guardian))
		save_last_shot(guardian);
	char *target = xasprintf("/v1/recordings/%s/stop", guardian->recording_id);
	json_t *reply = ask(guardian, target, json_object());
	const char *error = json_string_value(json_object_get(reply, "error"));
	if (error != NULL)
		complain("run: the recording ended early: %s", error);
	json_decref(reply);
	free(target);
}

static void drop_recording(const struct guardian *guardian)
{
	if (guardian->recording_id != NULL && guardian->wish->keeps_failures_only && !has_failed(guardian))
		unlink(guardian->record);
}

/* The command's life */

static void reap(struct guardian *guardian)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == guardian->command) {
			guardian->has_command_ended = true;
			guardian->status = status;
		} else if (pid == guardian->daemon) {
			guardian->has_daemon_ended = true;
			complain("run: the screen has gone: boxscreend ended (%d)", status);
			print_log(guardian);
		}
	}
}

static void on_signal_byte(struct guardian *guardian)
{
	unsigned char byte;
	ssize_t got = read(guardian->signals_fd, &byte, 1);
	if (got < 0)
		return;
	int signum = got == 0 ? SIGTERM : byte & 0x3f;
	bool has_it_already = got > 0 && (byte & 0x40) != 0;
	if (!has_it_already)
		kill(guardian->command, signum);
	bool is_end = signum == SIGINT || signum == SIGTERM || signum == SIGHUP || signum == SIGQUIT;
	if (got == 0) {
		/* The tool was killed: nobody waits for the command any more. */
		guardian->is_orphan = true;
		guardian->kill_us = clock_monotonic_us() + ORPHAN_PATIENCE_MS * 1000ll;
	} else if (is_end && guardian->kill_us == 0) {
		guardian->kill_us = clock_monotonic_us() + END_PATIENCE_MS * 1000ll;
	}
}

static void wait_for_command(struct guardian *guardian)
{
	while (!guardian->has_command_ended) {
		struct pollfd polled[] = {{.fd = guardian->child_fd, .events = POLLIN},
			{.fd = guardian->is_orphan ? -1 : guardian->signals_fd, .events = POLLIN}};
		int64_t left_ms = (guardian->kill_us - clock_monotonic_us()) / 1000 + 1;
		poll(polled, 2, guardian->kill_us == 0 ? -1 : left_ms > 0 ? (int)left_ms : 0);
		struct signalfd_siginfo info;
		while (read(guardian->child_fd, &info, sizeof(info)) > 0)
			;
		if (polled[1].revents != 0)
			on_signal_byte(guardian);
		reap(guardian);
		if (guardian->kill_us != 0 && clock_monotonic_us() >= guardian->kill_us)
			kill(guardian->command, SIGKILL);
	}
}

static int exit_status(const struct guardian *guardian)
{
	return WIFEXITED(guardian->status) ? WEXITSTATUS(guardian->status)
					   : 128 + WTERMSIG(guardian->status);
}

static int run_command(struct guardian *guardian)
{
	const struct run_wish *wish = guardian->wish;
	if ((wish->has_window_manager && !start_window_manager(guardian)) ||
		(wish->record != NULL && !start_recording(guardian)) ||
		(wish->is_live && !print_link(guardian)))
		return EXIT_OWN_FAULT;
	int error = spawn(guardian, wish->command, &guardian->command);
	if (error != 0) {
		complain("run: %s: %s", wish->command[0], strerror(error));
		guardian->status = EXIT_NOT_FOUND << 8;
	} else {
		wait_for_command(guardian);
	}
	finish_recording(guardian);
	drop_recording(guardian);
	if (error != 0)
		return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	return exit_status(guardian);
}

static void end_daemon(struct guardian *guardian)
{
	if (guardian->daemon <= 0)
		return;
	int64_t end_us = clock_monotonic_us() + DAEMON_PATIENCE_MS * 1000ll;
	if (!guardian->has_daemon_ended)
		kill(guardian->daemon, SIGTERM);
	while (!guardian->has_daemon_ended && waitpid(guardian->daemon, NULL, WNOHANG) == 0) {
		if (clock_monotonic_us() > end_us)
			kill(guardian->daemon, SIGKILL);
		usleep(5000);
	}
}

int guardian_run(const struct run_wish *wish, int signals_fd)
{
	struct guardian guardian = {.wish = wish, .signals_fd = signals_fd};
	int status = EXIT_OWN_FAULT;
	sigset_t child;
	prctl(PR_SET_NAME, "boxscreen-run");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	guardian.child_fd = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	if (make_folder(&guardian)) {
		if (start_daemon(&guardian))
			status = run_command(&guardian);
		descendants_end(guardian.has_daemon_ended ? 0 : guardian.daemon, 1000);
		end_daemon(&guardian);
		descendants_end(0, 0);
		remove_folder(guardian.folder);
	}
	free(guardian.folder);
	free(guardian.socket);
	free(guardian.record);
	free(guardian.recording_id);
	return status;
}
