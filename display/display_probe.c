/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/display_probe.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#define LOG_MODULE "display"
#include "base/log.h"

int display_number(const char *display)
{
	if (display == NULL || display[0] != ':' || !isdigit((unsigned char)display[1]))
		return -1;
	char *end;
	long number = strtol(display + 1, &end, 10);
	if ((*end != '\0' && *end != '.') || number > 65535)
		return -1;
	return (int)number;
}

static bool accepts(const struct sockaddr_un *address, socklen_t len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	bool is_connected = connect(fd, (const struct sockaddr *)address, len) == 0;
	close(fd);
	return is_connected;
}

bool display_probe(const char *display)
{
	int number = display_number(display);
	if (number < 0)
		return true;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int path_len = snprintf(
		address.sun_path, sizeof(address.sun_path), "/tmp/.X11-unix/X%d", number);
	if (accepts(&address, sizeof(address)))
		return true;
	/* The abstract name is the same path behind a NUL byte. */
	memmove(address.sun_path + 1, address.sun_path, (size_t)path_len);
	address.sun_path[0] = '\0';
	return accepts(&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)path_len));
}

static pid_t read_lock_pid(const char *lock_path)
{
	char text[32];
	int fd = open(lock_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

/* A lock's pid may have been reused by a program that has nothing to do with X. */
static bool is_x_server(pid_t pid)
{
	static const char *const names[] = {"Xvfb", "Xorg", "Xephyr", "Xwayland", "Xvnc",
		"Xtigervnc", "Xnest", "Xdummy", "X"};
	char path[64], name[64];
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t len = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (len <= 0)
		return false;
	name[len] = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static int remove_file(const char *path)
{
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int display_remove_stale(int number)
{
	char lock_path[64], socket_path[64];
	snprintf(lock_path, sizeof(lock_path), "/tmp/.X%d-lock", number);
	snprintf(socket_path, sizeof(socket_path), "/tmp/.X11-unix/X%d", number);
	pid_t pid = read_lock_pid(lock_path);
	if (pid > 0 && is_x_server(pid))
		return -EBUSY;
	if (access(lock_path, F_OK) == 0 || access(socket_path, F_OK) == 0)
		log_info("removing what a dead X server left of display :%d", number);
	int ret = remove_file(lock_path);
	return ret != 0 ? ret : remove_file(socket_path);
}
