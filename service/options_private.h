/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of service/options.h, for its own files: options.c (reading the command line, --help,
   defaults) and options_table.c (the options and what their values must be). */
#ifndef SERVICE_OPTIONS_PRIVATE_H
#define SERVICE_OPTIONS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "service/options.h"

/* Each setter returns NULL or a sentence that says what the value must be. */
struct option {
	const char *name;
	const char *argument; /* NULL: none; "[X]": optional, taken when it looks like one */
	const char *help;
	const char *(*set)(struct options *options, const char *value);
	bool (*looks_like)(const char *value);
};

extern const struct option options_table[];
extern const size_t options_table_len;

/* The setter of --box-id, which the host's name has to pass as well. */
const char *options_set_box_id(struct options *options, const char *value);

#endif
