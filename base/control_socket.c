/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/control_socket.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

char *control_socket_path(const char *wanted)
{
	if (wanted != NULL && wanted[0] != '\0')
		return xstrdup(wanted);
	const char *named = getenv("BOXSCREEN_SOCKET");
	if (named != NULL && named[0] != '\0')
		return xstrdup(named);
	if (geteuid() == 0)
		return xstrdup("/run/boxscreen/control.sock");
	const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
	if (runtime_dir != NULL && runtime_dir[0] == '/')
		return xasprintf("%s/boxscreen/control.sock", runtime_dir);
	return NULL;
}
