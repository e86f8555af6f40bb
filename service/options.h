/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's command line: one table, from which --help comes and against which the man page is
   checked. */
#ifndef SERVICE_OPTIONS_H
#define SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

struct options {
	char *display;          /* ":99" */
	bool has_display;       /* it was named on the command line */
	bool starts_xvfb;
	bool is_xvfb_auto;      /* a free display number */
	int xvfb_width, xvfb_height, xvfb_depth;
	char *socket_path;
	char *listen_address;
	int listen_port;
	bool has_listen;        /* named on the command line */
	char *public_url;       /* without a trailing slash; NULL: from the listener */
	char *box_id;
	char *state_dir;
	char *recordings_dir;   /* NULL: in the state folder */
	int64_t recordings_max_bytes;
	int ready_fd;           /* -1: none */
	int takeover_grace_s;   /* how long the lock outlives a lost connection */
	bool has_privacy;       /* while a person holds the screen nobody else sees it */
	bool has_fragment_links;
	char **allowed_origins; /* ends with NULL, like the next two; NULL: none */
	char **frame_ancestors;
	char **notify;
	char *notify_secret;    /* read from its file; NULL: none was named */
	char *tls_cert, *tls_key;
	char *rfb;              /* where native VNC viewers connect; NULL: nowhere */
	bool has_rfb_control;   /* they may act */
	char *rfb_password;     /* read from its file; NULL: none was named */
	enum log_level log_level;
};

enum options_result {
	OPTIONS_RUN,
	OPTIONS_DONE,   /* --help, --version or --openapi was printed: exit 0 */
	OPTIONS_WRONG,  /* a sentence was printed to stderr: exit 2 */
};

/* Parses argv and the environment into *options, which options_finish frees in every case. */
enum options_result options_parse(struct options *options, int argc, char *const *argv);
void options_finish(struct options *options);

#endif
