/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/command.h"

#define READ_SIZE 65536

static int read_all(int fd, struct buffer *out)
{
	for (;;) {
		ssize_t got = read(fd, buffer_reserve(out, READ_SIZE), READ_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0)
			return 0;
		out->len += (size_t)got;
		if (out->len > INPUT_FILE_MAX)
			return EFBIG;
	}
}

int input_file_read(const char *path, struct buffer *out)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? errno : read_all(fd, out);
	if (fd >= 0 && !is_stdin)
		close(fd);
	if (error == 0)
		return EXIT_DONE;
	complain("%s: %s", is_stdin ? "standard input" : path, strerror(error));
	return EXIT_ERROR;
}
