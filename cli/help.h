/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help, written from the command table. Main thread only. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

struct command;

void help_print_all(FILE *out);
void help_print_command(FILE *out, const struct command *command);

#endif
