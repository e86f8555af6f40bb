/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/absolute_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

char *absolute_path(const char *path)
{
	char *folder = path[0] != '/' ? getcwd(NULL, 0) : NULL;
	char *whole = folder != NULL ? xasprintf("%s/%s", folder, path) : xstrdup(path);
	char *slash = strrchr(whole, '/'), *real = NULL;
	free(folder);
	if (slash != NULL && slash != whole) {
		*slash = '\0';
		real = realpath(whole, NULL);
		*slash = '/';
	}
	if (real == NULL)
		return whole;
	char *joined = xasprintf("%s%s", strcmp(real, "/") == 0 ? "" : real, slash);
	free(real);
	free(whole);
	return joined;
}
