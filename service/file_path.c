/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/file_path.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/file_folder.h"

/* A file beside it gets a longer name for a while; file systems take 255. */
#define NAME_BYTES_MAX 230

static bool has_dots(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/.")) != NULL; p++) {
		size_t len = strcspn(p + 1, "/");
		if (len == 1 || (len == 2 && p[2] == '.'))
			return true;
	}
	return false;
}

const char *file_path_fault(const char *path)
{
	if (path[0] != '/')
		return "must be an absolute path";
	if (has_dots(path) || strstr(path, "//") != NULL)
		return "must be written without \".\", \"..\" and \"//\"";
	if (file_is_kernels(path))
		return "must not be below /proc, /sys or /dev";
	size_t name_len = strlen(strrchr(path, '/') + 1);
	if (name_len == 0)
		return "must end in the name of a file, not in \"/\"";
	return name_len > NAME_BYTES_MAX ? "has a file name of more than 230 bytes" : NULL;
}

int file_path_check(const char *path)
{
	const char *name;
	int folder = file_folder_open(path, &name);
	if (folder < 0)
		return folder;
	int ret = atomic_file_check_at(folder, name, ATOMIC_FILE_REGULAR);
	close(folder);
	return ret;
}

const char *file_path_error(int error)
{
	switch (error) {
	case -ELOOP:
		return "a symbolic link is there, which is neither followed nor replaced";
	case -EXDEV:
		return "its folder leads to below /proc, /sys or /dev by a symbolic link";
	case -EISDIR:
		return "a folder is there";
	case -EEXIST:
		return "a device, pipe or socket is there, which is neither written to nor replaced";
	case -ENOENT:
	case -ENOTDIR:
		return "its folder does not exist; make it first";
	default:
		return strerror(-error);
	}
}
