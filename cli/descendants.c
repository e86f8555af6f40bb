/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

#define LOOK_INTERVAL_US 20000

struct process {
	pid_t pid, parent;
	bool is_below, is_spared;
};

struct processes {
	struct process *items;
	size_t count;
};

static bool read_parent(const char *pid_name, struct process *out)
{
	char path[300], text[512];
	snprintf(path, sizeof(path), "/proc/%s/stat", pid_name);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	size_t len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	/* The name in parentheses may hold anything, parentheses too. */
	char *end = strrchr(text, ')'), state;
	int parent;
	if (end == NULL || sscanf(end + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
		return false;
	*out = (struct process){.pid = (pid_t)atoi(pid_name), .parent = (pid_t)parent};
	return true;
}

static void read_all(struct processes *processes)
{
	DIR *dir = opendir("/proc");
	struct dirent *item;
	*processes = (struct processes){0};
	while (dir != NULL && (item = readdir(dir)) != NULL) {
		struct process process;
		if (!isdigit((unsigned char)item->d_name[0]) || !read_parent(item->d_name, &process))
			continue;
		processes->items = xrealloc(processes->items, (processes->count + 1) * sizeof(process));
		processes->items[processes->count++] = process;
	}
	if (dir != NULL)
		closedir(dir);
}

/* Marks who is below this process, and who below the spared one, level by level. */
static void mark(struct processes *processes, pid_t spared)
{
	pid_t self = getpid();
	for (bool is_more = true; is_more;) {
		is_more = false;
		for (size_t i = 0; i < processes->count; i++) {
			struct process *process = &processes->items[i];
			bool is_below = process->parent == self;
			bool is_spared = spared != 0 && process->pid == spared;
			for (size_t j = 0; j < processes->count; j++) {
				const struct process *other = &processes->items[j];
				if (other->pid == process->parent) {
					is_below |= other->is_below;
					is_spared |= other->is_spared;
				}
			}
			is_more |= is_below != process->is_below || is_spared != process->is_spared;
			process->is_below = is_below;
			process->is_spared = is_spared;
		}
	}
}

/* Returns how many there were. */
static int signal_all(pid_t spared, int signum)
{
	struct processes processes;
	int count = 0;
	read_all(&processes);
	mark(&processes, spared);
	for (size_t i = 0; i < processes.count; i++) {
		const struct process *process = &processes.items[i];
		if (!process->is_below || process->is_spared)
			continue;
		count++;
		if (signum != 0)
			kill(process->pid, signum);
	}
	free(processes.items);
	return count;
}

/* Reaps what has ended, but leaves the spared one's status to who waits for it. */
static void reap(pid_t spared)
{
	siginfo_t info;
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0 ||
			info.si_pid == spared)
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

void descendants_end(pid_t spared, int patience_ms)
{
	int64_t end_us = clock_monotonic_us() + (int64_t)patience_ms * 1000;
	int signum = SIGTERM;
	while (signal_all(spared, signum) > 0) {
		reap(spared);
		/* Once for SIGTERM; SIGKILL again and again, for those that were started meanwhile. */
		signum = clock_monotonic_us() >= end_us ? SIGKILL : 0;
		usleep(LOOK_INTERVAL_US);
		reap(spared);
	}
}
