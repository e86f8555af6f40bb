/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sleep, help, version, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "display/xdotool_private.h"

#define SLEEP_MAX_S 86400.0
/* The language whose commands these are; what scripts ask for. */
#define LANGUAGE_VERSION "4.20260303.1"

static bool parse_seconds(const char *text, double *out)
{
	char *end;
	*out = strtod(text, &end);
	return end != text && *end == '\0' && *out >= 0 && *out <= SLEEP_MAX_S;
}

char *xdotool_check_sleep(const struct xdotool_command *command)
{
	double seconds;
	if (parse_seconds(command->words[0], &seconds))
		return NULL;
	return xasprintf("'%s' is no number of seconds from 0 to %.0f", command->words[0],
		SLEEP_MAX_S);
}

void xdotool_do_sleep(struct xdotool_run *run)
{
	double seconds = 0;
	parse_seconds(run->command->words[0], &seconds);
	xdotool_after_ms(run, (int64_t)ceil(seconds * 1000), xdotool_succeed);
}

char *xdotool_refuse(const struct xdotool_command *command)
{
	if (strcmp(command->spec->name, "exec") == 0)
		return xstrdup("not here: this xdotool acts on the screen only and starts no "
			       "programs");
	return xstrdup("not here: it waits for a person at the screen");
}

void xdotool_print_commands(struct xdotool_run *run)
{
	size_t count;
	const struct xdotool_spec *specs = xdotool_specs(&count);
	xdotool_print(run, "Available commands:\n");
	for (size_t i = 0; i < count; i++) {
		if (specs[i].check != xdotool_refuse)
			xdotool_print(run, "  %s\n", specs[i].name);
	}
}

void xdotool_do_help(struct xdotool_run *run)
{
	xdotool_print_commands(run);
	xdotool_succeed(run);
}

void xdotool_do_version(struct xdotool_run *run)
{
	xdotool_print(run, "xdotool version " LANGUAGE_VERSION " (boxscreen " BOXSCREEN_VERSION ")\n");
	xdotool_succeed(run);
}
