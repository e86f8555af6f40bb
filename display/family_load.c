/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/family_load.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMBERS_MAX 256

struct family {
	pid_t pids[MEMBERS_MAX];
	int count;
};

static bool read_text(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t len = read(fd, out, size - 1);
	close(fd);
	out[len > 0 ? len : 0] = '\0';
	return len >= 0;
}

static void add_children(struct family *family, const char *list)
{
	char *end;
	for (long pid = strtol(list, &end, 10); end != list && family->count < MEMBERS_MAX;
		pid = strtol(list, &end, 10)) {
		family->pids[family->count++] = (pid_t)pid;
		list = end;
	}
}

/* Children are listed by the thread that made them. */
static void look_for_children(struct family *family, pid_t pid)
{
	char path[300], list[2048];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	if (dir == NULL)
		return;
	struct dirent *entry;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid,
			entry->d_name);
		if (read_text(path, list, sizeof(list)))
			add_children(family, list);
	}
	closedir(dir);
}

/* The state, and utime and stime: the 1st, 12th and 13th word after the name in parentheses. */
static bool look_at(pid_t pid, struct family_load *load)
{
	char path[64], text[1024], state;
	unsigned long user, system;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_text(path, text, sizeof(text)))
		return false;
	const char *rest = strrchr(text, ')');
	if (rest == NULL || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
				    &state, &user, &system) != 3)
		return false;
	load->used_us += (int64_t)(user + system) * 1000000 / sysconf(_SC_CLK_TCK);
	load->is_runnable |= state == 'R';
	return true;
}

bool family_load_look(pid_t pid, struct family_load *out)
{
	struct family family = {.pids = {pid}, .count = 1};
	*out = (struct family_load){0};
	if (pid <= 0 || !look_at(pid, out))
		return false;
	for (int i = 0; i < family.count; i++) {
		look_for_children(&family, family.pids[i]);
		if (i > 0)
			look_at(family.pids[i], out); /* it may have ended meanwhile */
	}
	return true;
}
