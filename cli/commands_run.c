/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boxscreen run: a command on a screen of its own that can be watched and recorded.
 *
 * Three processes: this one, which signals come to; the guardian (guardian.c), which starts and ends
 * everything and notices when this one is killed; and the command. A signal that the kernel sends to
 * the terminal's whole process group reaches the command by itself, others are passed on.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/run.h"

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static void fill_passed_on(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
		sigaddset(set, passed_on[i]);
}

/* Waits for the guardian; what signals come meanwhile are told to it. */
static int wait_for(pid_t guardian, int signals_fd)
{
	sigset_t set;
	int status;
	fill_passed_on(&set);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		siginfo_t info;
		if (waitpid(guardian, &status, WNOHANG) == guardian)
			break;
		int signum = sigwaitinfo(&set, &info);
		if (signum <= 0 || signum == SIGCHLD)
			continue;
		/* The command is in this process group: the terminal's signals it has already. */
		char byte = (char)(info.si_code == SI_KERNEL ? signum | 0x40 : signum);
		if (write(signals_fd, &byte, 1) < 0 && errno != EAGAIN)
			break;
	}
	close(signals_fd);
	while (waitpid(guardian, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int start(const struct run_wish *wish)
{
	sigset_t set, before;
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0) {
		complain("run: %s", strerror(errno));
		return EXIT_ERROR;
	}
	fill_passed_on(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	fflush(NULL);
	pid_t guardian = fork();
	if (guardian < 0) {
		complain("run: %s", strerror(errno));
		return EXIT_ERROR;
	}
	if (guardian == 0) {
		close(fds[1]);
		_exit(guardian_run(wish, fds[0]));
	}
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	return wait_for(guardian, fds[1]);
}

static bool is_video(const char *path)
{
	size_t len = strlen(path);
	return len > 4 && strcmp(path + len - 4, ".mp4") == 0;
}

int command_run(const struct invocation *call)
{
	const char *keep = invocation_value(call, "keep"), *size = invocation_value(call, "size");
	struct run_wish wish = {
		.record = invocation_value(call, "record"),
		.keeps_failures_only = keep != NULL && strcmp(keep, "failure") == 0,
		.size = size != NULL ? size : "1280x800",
		.has_window_manager = invocation_value(call, "window-manager") != NULL,
		.is_live = invocation_value(call, "live") != NULL,
	};
	if (wish.record != NULL && !is_video(wish.record)) {
		complain("run: --record %s: the video is an mp4: end it in .mp4", wish.record);
		return EXIT_USAGE;
	}
	if (keep != NULL && wish.record == NULL) {
		complain("run: --keep says what becomes of the video: give --record FILE too");
		return EXIT_USAGE;
	}
	const char **words = xcalloc((size_t)call->operand_count + 1, sizeof(*words));
	for (int i = 0; i < call->operand_count; i++)
		words[i] = call->operands[i];
	wish.command = words;
	int status = start(&wish);
	free(words);
	return status;
}
