/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static int write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t written = write(fd, data, len);
		if (written < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		data += written;
		len -= (size_t)written;
	}
	return 0;
}

static int sync_folder(const char *path)
{
	char *copy = xstrdup(path);
	char *slash = strrchr(copy, '/');
	if (slash != NULL)
		slash[slash == copy ? 1 : 0] = '\0';
	int fd = open(slash != NULL ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return -errno;
	int ret = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* mkstemp, but with the final mode and subject to the umask like any newly made file. */
static int open_beside(const char *path, mode_t mode, char **temp_path)
{
	static _Atomic unsigned counter;
	for (int attempt = 0; attempt < 100; attempt++) {
		char *name = xasprintf("%s.%ld.%u.part", path, (long)getpid(), counter++);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0) {
			*temp_path = name;
			return fd;
		}
		free(name);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Whether what is at path may be renamed over. */
static int check_place(const char *path, int flags)
{
	struct stat st;
	if ((flags & ATOMIC_FILE_REGULAR) && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return -ELOOP;
	/* Followed through links, so that root does not rename a picture over /dev/null. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	return 0;
}

int atomic_file_write(const char *path, const void *data, size_t len, mode_t mode, int flags)
{
	int place = check_place(path, flags);
	if (place < 0)
		return place;
	char *temp_path = NULL;
	int fd = open_beside(path, mode, &temp_path);
	if (fd < 0)
		return fd;
	int ret = write_all(fd, data, len);
	if (ret == 0 && (flags & ATOMIC_FILE_SYNC) && fsync(fd) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	/* Again: writing takes time. What still slips in between is replaced, never followed. */
	if (ret == 0)
		ret = check_place(path, flags);
	if (ret == 0 && rename(temp_path, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlink(temp_path);
	else if (flags & ATOMIC_FILE_SYNC)
		ret = sync_folder(path);
	free(temp_path);
	return ret;
}

static int read_up_to(int fd, size_t max_len, char **out, size_t *len)
{
	size_t used = 0, capacity = 4096;
	char *data = xmalloc(capacity);
	for (;;) {
		if (used + 1 >= capacity) {
			capacity *= 2;
			data = xrealloc(data, capacity);
		}
		ssize_t got = read(fd, data + used, capacity - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || used + (size_t)got > max_len) {
			int ret = got < 0 ? -errno : -EFBIG;
			free(data);
			return ret;
		}
		if (got == 0)
			break;
		used += (size_t)got;
	}
	data[used] = '\0';
	*out = data;
	*len = used;
	return 0;
}

int file_read_all(const char *path, size_t max_len, char **out, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int ret = read_up_to(fd, max_len, out, len);
	close(fd);
	return ret;
}
