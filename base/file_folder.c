/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

static bool is_under(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

bool file_is_kernels(const char *path)
{
	return is_under(path, "/proc") || is_under(path, "/sys") || is_under(path, "/dev");
}

/* Without the links of /proc that jump to where a process is. */
static int open_folder(const char *folder)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, folder, &how, sizeof(how));
	if (fd >= 0)
		return fd;
	if (errno == ELOOP)
		return -EXDEV;
	/* Sandboxes that do not know the call: where it leads is looked at all the same. */
	if (errno == ENOSYS || errno == EPERM)
		fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

/* Whether what the fd is open on may be written into. 0 or a negative errno. */
static int judge(int fd)
{
	char link[40], real[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, real, sizeof(real) - 1);
	if (len < 0)
		return -errno;
	real[len] = '\0';
	return file_is_kernels(real) ? -EXDEV : 0;
}

int file_folder_open(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	*name = slash != NULL ? slash + 1 : path;
	char *folder = slash == NULL ? xstrdup(".") : xstrndup(path, (size_t)(*name - path));
	int fd = open_folder(folder);
	free(folder);
	int ret = fd >= 0 ? judge(fd) : fd;
	if (ret < 0 && fd >= 0)
		close(fd);
	return ret < 0 ? ret : fd;
}
