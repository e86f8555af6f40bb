/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/picture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "cli/arguments.h"
#include "cli/command.h"

static const struct {
	const char *ending, *format;
} endings[] = {{".png", "png"}, {".jpg", "jpeg"}, {".jpeg", "jpeg"}, {".webp", "webp"}};

const char *picture_file_format(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	if (dot == NULL || dot == name)
		return "";
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		if (strcasecmp(dot, endings[i].ending) == 0)
			return endings[i].format;
	}
	return NULL;
}

bool picture_file_check(const char *command, const char *path, const char *way_out)
{
	if (picture_file_format(path) != NULL)
		return true;
	complain("%s: %s: the ending names no format: end it in .png, .jpg or .webp%s", command,
		path, way_out);
	return false;
}

json_t *picture_file_name(const char *path)
{
	char *text = utf8_sanitize(path, strlen(path));
	json_t *name = json_string(text);
	free(text);
	return name;
}

/* A device or a FIFO cannot be renamed over: what is there is written to. */
static int write_through(const char *path, const struct buffer *picture)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	int ret = 0;
	for (size_t done = 0; done < picture->len && ret == 0;) {
		ssize_t written = write(fd, picture->data + done, picture->len - done);
		if (written >= 0)
			done += (size_t)written;
		else if (errno != EINTR)
			ret = -errno;
	}
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

int picture_file_write(const char *path, const struct buffer *picture)
{
	int ret = atomic_file_write(path, picture->data, picture->len, 0666, 0);
	if (ret == -EEXIST)
		ret = write_through(path, picture);
	if (ret == 0)
		return EXIT_DONE;
	complain("%s: %s", path, strerror(-ret));
	return EXIT_ERROR;
}
