/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the control socket is; the daemon and the command line tool must agree. Any thread. */
#ifndef BASE_CONTROL_SOCKET_H
#define BASE_CONTROL_SOCKET_H

/*
 * The path of the control socket: `wanted` when not NULL or empty (the --socket option), else
 * $BOXSCREEN_SOCKET, else /run/boxscreen/control.sock for root, else
 * $XDG_RUNTIME_DIR/boxscreen/control.sock. Returns NULL when none of these is to be had (no root,
 * no $XDG_RUNTIME_DIR). The caller frees it.
 */
char *control_socket_path(const char *wanted);

#endif
