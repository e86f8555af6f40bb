/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* Room to grow in, and what sizes are a multiple of: blocks of common file systems. */
#define KEPT_ROOM 8192
#define KEPT_STEP 4096

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
static int open_beside(int folder, const char *name, mode_t mode, char **temp_name)
{
	static _Atomic unsigned counter;
	for (int attempt = 0; attempt < 100; attempt++) {
		char *temp = xasprintf("%s.%ld.%u.part", name, (long)getpid(), counter++);
		int fd = openat(
			folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0) {
			*temp_name = temp;
			return fd;
		}
		free(temp);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int atomic_file_check_at(int folder, const char *name, int flags)
{
	struct stat st;
	/* Else followed through links, so that root does not rename a picture over /dev/null. */
	int how = flags & ATOMIC_FILE_REGULAR ? AT_SYMLINK_NOFOLLOW : 0;
	if (fstatat(folder, name, &st, how) < 0)
		return how == 0 || errno == ENOENT ? 0 : -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	return S_ISLNK(st.st_mode) ? -ELOOP : S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
}

/* Which file is there now, with the times that the rename has set; or the one that was. */
static void look_again(int folder, const char *name, struct stat *written)
{
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == written->st_dev &&
		st.st_ino == written->st_ino)
		*written = st;
}

int atomic_file_write_at(int folder, const char *name, const void *data, size_t len, mode_t mode,
	int flags, struct stat *written)
{
	struct stat st = {0};
	int place = atomic_file_check_at(folder, name, flags);
	if (place < 0)
		return place;
	char *temp_name = NULL;
	int fd = open_beside(folder, name, mode, &temp_name);
	if (fd < 0)
		return fd;
	int ret = write_all(fd, data, len);
	if (ret == 0 && (flags & ATOMIC_FILE_SYNC) && fsync(fd) < 0)
		ret = -errno;
	if (ret == 0 && fstat(fd, &st) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	/* Again: writing takes time. What still slips in between is replaced, never followed. */
	if (ret == 0)
		ret = atomic_file_check_at(folder, name, flags);
	if (ret == 0 && renameat(folder, temp_name, folder, name) < 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(folder, temp_name, 0);
	else
		look_again(folder, name, &st);
	free(temp_name);
	if (written != NULL)
		*written = st;
	return ret;
}

int atomic_file_write(const char *path, const void *data, size_t len, mode_t mode, int flags)
{
	int ret = atomic_file_write_at(AT_FDCWD, path, data, len, mode, flags, NULL);
	return ret == 0 && (flags & ATOMIC_FILE_SYNC) ? sync_folder(path) : ret;
}

/* Writes over what is there, whose blocks it has already. */
static int write_over(const char *path, const char *text, size_t len)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -ENOSPC;
	int ret = -ENOSPC;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= len) {
		size_t size = (size_t)st.st_size;
		char *whole = xmalloc(size);
		memcpy(whole, text, len);
		memset(whole + len, '\n', size - len);
		ret = write_all(fd, whole, size);
		free(whole);
	}
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

int atomic_file_keep(const char *path, const char *text, size_t len, mode_t mode)
{
	size_t size = (len + KEPT_ROOM) / KEPT_STEP * KEPT_STEP + KEPT_STEP;
	char *whole = xmalloc(size);
	memcpy(whole, text, len);
	memset(whole + len, '\n', size - len);
	int ret = atomic_file_write(path, whole, size, mode, 0);
	free(whole);
	return ret == -ENOSPC || ret == -EDQUOT ? write_over(path, text, len) : ret;
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
