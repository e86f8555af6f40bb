/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boxscreen, the command line tool: one command, one request to boxscreend, one exit status. It
 * links neither X nor any codec, so that it starts in a millisecond or two.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/control_socket.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/help.h"

static int run(struct arguments *arguments)
{
	struct invocation *call = &arguments->call;
	char *path = control_socket_path(arguments->socket);
	if (path == NULL && !call->command->is_offline) {
		complain("where is the daemon's socket? Neither --socket, $BOXSCREEN_SOCKET nor "
			 "$XDG_RUNTIME_DIR is set");
		return EXIT_USAGE;
	}
	call->socket_path = path;
	int status = call->command->run(call);
	free(path);
	return status;
}

static int dispatch(struct arguments *arguments)
{
	if (arguments->wants_version) {
		puts("boxscreen " BOXSCREEN_VERSION);
		return EXIT_DONE;
	}
	if (arguments->wants_help && arguments->call.command != NULL) {
		help_print_command(stdout, arguments->call.command);
		return EXIT_DONE;
	}
	if (arguments->call.command == NULL) {
		help_print_all(arguments->wants_help ? stdout : stderr);
		return arguments->wants_help ? EXIT_DONE : EXIT_USAGE;
	}
	return run(arguments);
}

/* Under the name xdotool all words are xdotool's. */
static bool is_called_xdotool(const char *name)
{
	const char *slash = strrchr(name, '/');
	return strcmp(slash != NULL ? slash + 1 : name, "xdotool") == 0;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {0};
	if (argc > 0 && is_called_xdotool(argv[0])) {
		arguments.call.command = command_find("xdotool");
		arguments.call.operands = (const char *const *)(argv + 1);
		arguments.call.operand_count = argc - 1;
	} else if (!arguments_parse(argc, argv, &arguments)) {
		return EXIT_USAGE;
	}
	int status = dispatch(&arguments);
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_DONE) {
		complain("standard output: %s", strerror(errno));
		status = EXIT_ERROR;
	}
	return status;
}
