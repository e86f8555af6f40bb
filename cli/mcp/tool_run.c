/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_run: `boxscreen run` as a child, with its output, and what it leaves of a failure. Everything
 * that it starts ends with it; it is told to end when the call is cancelled or this process goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/base64.h"
#include "cli/mcp/picture.h"
#include "cli/mcp/tool.h"

#define TIMEOUT_DEFAULT_S 1800
#define TIMEOUT_MAX_S     86400
/* The end of the output is what tells why it failed. */
#define OUTPUT_MAX 16384
#define BEAT_MS    15000

static const char *const keeps[] = {"failure", "always", NULL};

struct run_job {
	struct tool_call *call;
	const char *command, *folder, *size;
	int keep; /* index in keeps */
	bool has_window_manager;
	int timeout_s;
	char *video, *picture; /* where they would be */
	char *own_folder;      /* made for them; NULL when the caller named a file */
	pid_t pid;
	int output_fd;
	struct buffer output; /* its end */
	size_t output_bytes;  /* all of it */
	bool is_told_to_end, is_timed_out;
	int64_t begun_us;
	int status;
};

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_video(const char *path)
{
	size_t len = strlen(path);
	return path[0] == '/' && len > 5 && strcmp(path + len - 4, ".mp4") == 0;
}

static bool read_job(struct run_job *job, const char **record)
{
	struct json_reader reader;
	json_reader_init(&reader, job->call->arguments, "");
	job->size = "1280x800";
	job->timeout_s = TIMEOUT_DEFAULT_S;
	if (!json_read_string(&reader, "command", &job->command) || job->command[0] == '\0')
		json_reader_fail(&reader, "command", "is missing: a shell command, such as \"npm test\"");
	if (json_read_string(&reader, "cwd", &job->folder) && !is_folder(job->folder))
		json_reader_fail(&reader, "cwd", "is no folder that can be entered");
	if (json_read_string(&reader, "video", record) && !is_video(*record))
		json_reader_fail(&reader, "video", "must be an absolute path that ends in .mp4");
	json_read_choice(&reader, "keep", keeps, &job->keep);
	json_read_string(&reader, "size", &job->size);
	json_read_bool(&reader, "window_manager", &job->has_window_manager);
	json_read_int(&reader, "timeout_s", 1, TIMEOUT_MAX_S, &job->timeout_s);
	return tool_read_finish(job->call, &reader);
}

/* Where the video goes when nobody said: a folder for it alone. */
static bool choose_files(struct run_job *job, const char *record)
{
	const char *base = getenv("TMPDIR");
	if (record == NULL) {
		job->own_folder = xasprintf(
			"%s/boxscreen-video.XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp");
		if (mkdtemp(job->own_folder) == NULL) {
			tool_fail(job->call, "%s: %s. Give a video file elsewhere.", job->own_folder,
				strerror(errno));
			free(job->own_folder);
			job->own_folder = NULL;
			return false;
		}
	}
	job->video = record != NULL ? xstrdup(record) : xasprintf("%s/run.mp4", job->own_folder);
	job->picture = xasprintf("%.*s.png", (int)strlen(job->video) - 4, job->video);
	return true;
}

/* In the child, between fork and exec: nothing but system calls. */
static void become(const char *const *words, const char *folder, int output_fd, pid_t parent)
{
	int null_fd = open("/dev/null", O_RDONLY);
	dup2(null_fd, STDIN_FILENO);
	dup2(output_fd, STDOUT_FILENO);
	dup2(output_fd, STDERR_FILENO);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || (folder != NULL && chdir(folder) < 0))
		_exit(125);
	execv(words[0], (char *const *)(uintptr_t)words);
	_exit(127);
}

static bool start(struct run_job *job)
{
	const char *words[16] = {"/proc/self/exe", "run", "--record", job->video, "--keep", keeps[job->keep],
		"--size", job->size};
	int count = 8, fds[2];
	pid_t self = getpid();
	if (job->has_window_manager)
		words[count++] = "--window-manager";
	words[count++] = "--";
	words[count++] = "/bin/sh";
	words[count++] = "-c";
	words[count++] = job->command;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		tool_fail(job->call, "The command could not be started: %s.", strerror(errno));
		return false;
	}
	job->pid = fork();
	if (job->pid == 0)
		become(words, job->folder, fds[1], self);
	int error = errno;
	close(fds[1]);
	job->output_fd = fds[0];
	if (job->pid > 0)
		return true;
	close(fds[0]);
	tool_fail(job->call, "The command could not be started: %s.", strerror(error));
	return false;
}

/* False at the end of the output. */
static bool read_output(struct run_job *job)
{
	ssize_t got = read(job->output_fd, buffer_reserve(&job->output, OUTPUT_MAX), OUTPUT_MAX);
	if (got <= 0)
		return got < 0 && errno == EINTR;
	job->output.len += (size_t)got;
	job->output_bytes += (size_t)got;
	if (job->output.len > OUTPUT_MAX)
		buffer_consume(&job->output, job->output.len - OUTPUT_MAX);
	return true;
}

static void tell_to_end(struct run_job *job)
{
	if (!job->is_told_to_end)
		kill(job->pid, SIGTERM);
	job->is_told_to_end = true;
}

static void beat(struct run_job *job, int64_t now_us)
{
	char *message = xasprintf("running for %lld s, %zu bytes of output",
		(long long)(now_us - job->begun_us) / 1000000, job->output_bytes);
	tool_progress(job->call, (double)(now_us - job->begun_us) / 1e6, message);
	free(message);
}

/* Until all of it has ended: its output ends with the last of its processes. */
static void wait_for_end(struct run_job *job)
{
	int64_t next_us = job->begun_us = clock_monotonic_us();
	int64_t end_us = job->begun_us + job->timeout_s * 1000000ll;
	for (;;) {
		struct pollfd polled[] = {{.fd = job->output_fd, .events = POLLIN},
			{.fd = job->is_told_to_end ? -1 : job->call->cancel_fd, .events = POLLIN}};
		int64_t now_us = clock_monotonic_us();
		if (now_us >= next_us) {
			beat(job, now_us);
			next_us = now_us + BEAT_MS * 1000ll;
		}
		if (now_us >= end_us && !job->is_told_to_end) {
			job->is_timed_out = true;
			tell_to_end(job);
		}
		int64_t until_us = job->is_told_to_end || next_us < end_us ? next_us : end_us;
		poll(polled, 2, (int)((until_us - now_us) / 1000) + 1);
		if (polled[1].revents != 0)
			tell_to_end(job);
		if (polled[0].revents != 0 && !read_output(job))
			break;
	}
	while (waitpid(job->pid, &job->status, 0) < 0 && errno == EINTR)
		;
}

/* The last picture as it is, or where it is when it is too large for a model or its client. */
static void add_picture(struct run_job *job)
{
	char *data = NULL;
	size_t len = 0;
	int width, height, max_side = job->call->options->max_side;
	struct buffer text = {0};
	if (file_read_all(job->picture, PICTURE_BASE64_MAX / 4 * 3, &data, &len) == 0 &&
		picture_png_size(data, len, &width, &height) && width <= max_side && height <= max_side) {
		base64_encode(data, len, &text);
		buffer_append(&text, "", 1);
		tool_text(job->call, "The command's own screen at the end, %dx%d (not the box's):", width,
			height);
		tool_picture(job->call, "image/png", (const char *)text.data);
	} else {
		tool_text(job->call, "A picture of the command's own screen at the end: %s", job->picture);
	}
	buffer_finish(&text);
	free(data);
}

static json_t *facts_of(const struct run_job *job, int exit_status, const char *output)
{
	json_t *facts = json_pack("{s:i, s:b, s:s}", "exit_status", exit_status, "timed_out",
		job->is_timed_out, "output", output);
	if (access(job->video, F_OK) == 0)
		json_object_set_new(facts, "video", json_string(job->video));
	if (access(job->picture, F_OK) == 0)
		json_object_set_new(facts, "last_picture", json_string(job->picture));
	return facts;
}

static void deliver(struct run_job *job)
{
	int status = WIFEXITED(job->status) ? WEXITSTATUS(job->status) : 128 + WTERMSIG(job->status);
	char *output = utf8_sanitize(
		job->output.len > 0 ? (const char *)job->output.data : "", job->output.len);
	json_t *facts = facts_of(job, status, output);
	const char *video = json_string_value(json_object_get(facts, "video"));
	if (status == 125 && !job->is_told_to_end)
		tool_fail(job->call, "There was no screen to run the command on: %s", output);
	else
		tool_text(job->call, "%s with exit status %d after %.1f s.%s%s",
			job->is_timed_out ? "Ended because its time was over," : "The command ended", status,
			(double)(clock_monotonic_us() - job->begun_us) / 1e6,
			video != NULL ? " The video: " : " No video was kept.", video != NULL ? video : "");
	if (job->output_bytes > 0)
		tool_text(job->call, "%s:\n%s",
			job->output_bytes > job->output.len ? "The end of its output" : "Its output", output);
	if (json_object_get(facts, "last_picture") != NULL)
		add_picture(job);
	job->call->structured = facts;
	free(output);
}

void tool_run(struct tool_call *call)
{
	struct run_job job = {.call = call};
	const char *record = NULL;
	if (!read_job(&job, &record) || !choose_files(&job, record))
		return;
	if (start(&job)) {
		wait_for_end(&job);
		close(job.output_fd);
		deliver(&job);
	}
	/* Stays when there is something in it. */
	if (job.own_folder != NULL)
		rmdir(job.own_folder);
	buffer_finish(&job.output);
	free(job.own_folder);
	free(job.video);
	free(job.picture);
}
