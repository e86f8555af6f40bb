/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/control_socket.h"
#include "display/display_probe.h"
#include "service/openapi.h"
#include "service/options_private.h"

static void print_help(FILE *out)
{
	fputs("usage: boxscreend [options]\n\n"
	      "The desktop and display service of a box: screenshots, input, live view,\n"
	      "recordings and takeovers of one X display.\n\noptions:\n",
		out);
	for (size_t i = 0; i < options_table_len; i++) {
		char left[64];
		snprintf(left, sizeof(left), "--%s%s%s", options_table[i].name,
			options_table[i].argument != NULL ? " " : "",
			options_table[i].argument != NULL ? options_table[i].argument : "");
		fprintf(out, "  %-22s ", left);
		/* The text, folded at 78 columns. */
		size_t column = 25;
		for (const char *word = options_table[i].help; *word != '\0';) {
			size_t len = strcspn(word, " ");
			if (column + len + 1 > 78) {
				fprintf(out, "\n%25s", "");
				column = 25;
			}
			fprintf(out, "%.*s ", (int)len, word);
			column += len + 1;
			word += len;
			word += strspn(word, " ");
		}
		fputc('\n', out);
	}
}

static const struct option *find_option(const char *name, size_t len)
{
	for (size_t i = 0; i < options_table_len; i++) {
		if (strlen(options_table[i].name) == len && strncmp(options_table[i].name, name, len) == 0)
			return &options_table[i];
	}
	return NULL;
}

__attribute__((format(printf, 1, 2))) static enum options_result wrong(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("boxscreend: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nTry boxscreend --help.\n", stderr);
	return OPTIONS_WRONG;
}

static void set_default_state_dir(struct options *options)
{
	const char *state_home = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	if (options->state_dir != NULL)
		return;
	if (geteuid() == 0)
		options->state_dir = xstrdup("/var/lib/boxscreen");
	else if (state_home != NULL && state_home[0] == '/')
		options->state_dir = xasprintf("%s/boxscreen", state_home);
	else
		options->state_dir = xasprintf("%s/.local/state/boxscreen",
			home != NULL && home[0] == '/' ? home : "/tmp");
}

static void set_default_box_id(struct options *options)
{
	char name[65] = "";
	if (options->box_id != NULL)
		return;
	if (gethostname(name, sizeof(name) - 1) != 0 || options_set_box_id(options, name) != NULL)
		options->box_id = xstrdup("box");
}

static enum options_result finish_defaults(struct options *options)
{
	if (options->is_xvfb_auto && options->has_display)
		return wrong("--xvfb auto picks a display number itself; leave out --display, or "
			     "leave out auto");
	if (options->starts_xvfb && options->has_display && display_number(options->display) < 0)
		return wrong("--xvfb can only start a local display such as :99, not %s",
			options->display);
	if (options->rfb != NULL && strchr(options->rfb, '/') == NULL &&
		options->rfb_password == NULL)
		return wrong("--rfb %s needs --rfb-password-file: without one every user of this "
			     "machine could look; a socket's path needs none",
			options->rfb);
	if ((options->tls_cert == NULL) != (options->tls_key == NULL))
		return wrong("--tls-cert and --tls-key belong together; %s is missing",
			options->tls_cert == NULL ? "--tls-cert" : "--tls-key");
	if (options->display == NULL)
		options->display = xstrdup(":99");
	if (options->listen_address == NULL)
		options->listen_address = xstrdup("127.0.0.1");
	char *socket_path = control_socket_path(options->socket_path);
	if (socket_path == NULL)
		return wrong("no place for the control socket: give --socket PATH or set "
			     "$XDG_RUNTIME_DIR");
	free(options->socket_path);
	options->socket_path = socket_path;
	set_default_state_dir(options);
	set_default_box_id(options);
	return OPTIONS_RUN;
}

/* Applies argv[*index] and, where it takes one, its argument. */
static enum options_result apply(
	struct options *options, int argc, char *const *argv, int *index)
{
	const char *word = argv[*index];
	if (strncmp(word, "--", 2) != 0)
		return wrong("there is nothing to do with \"%s\"", word);
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
	const struct option *option = find_option(name, len);
	if (option == NULL)
		return wrong("unknown option %s", word);
	if (option->argument == NULL) {
		if (equals != NULL)
			return wrong("--%s takes no value", option->name);
		if (strcmp(option->name, "help") == 0)
			print_help(stdout);
		else if (strcmp(option->name, "openapi") == 0)
			openapi_print();
		else
			puts("boxscreend " BOXSCREEN_VERSION);
		return OPTIONS_DONE;
	}
	const char *value = equals != NULL ? equals + 1 : NULL;
	if (value == NULL && *index + 1 < argc &&
		(option->looks_like == NULL || option->looks_like(argv[*index + 1])))
		value = argv[++*index];
	if (value == NULL && option->looks_like == NULL)
		return wrong("--%s needs a value (%s)", option->name, option->argument);
	const char *fault = option->set(options, value);
	return fault != NULL ? wrong("--%s %s", option->name, fault) : OPTIONS_RUN;
}

enum options_result options_parse(struct options *options, int argc, char *const *argv)
{
	*options = (struct options){
		.xvfb_width = 1280,
		.xvfb_height = 800,
		.xvfb_depth = 24,
		.listen_port = 6080,
		.recordings_max_bytes = 2ll << 30,
		.ready_fd = -1,
		.takeover_grace_s = 180,
		.has_privacy = true,
		.log_level = LOG_LEVEL_INFO,
	};
	for (int i = 1; i < argc; i++) {
		enum options_result result = apply(options, argc, argv, &i);
		if (result != OPTIONS_RUN)
			return result;
	}
	return finish_defaults(options);
}

static void free_texts(char **list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

void options_finish(struct options *options)
{
	free(options->display);
	free(options->socket_path);
	free(options->listen_address);
	free(options->public_url);
	free(options->box_id);
	free(options->state_dir);
	free(options->recordings_dir);
	free(options->rfb);
	free(options->rfb_password);
	free_texts(options->allowed_origins);
	free_texts(options->frame_ancestors);
	free_texts(options->notify);
	free(options->notify_secret);
	free(options->tls_cert);
	free(options->tls_key);
}
