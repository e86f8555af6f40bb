/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A standalone xdotool: runs its arguments through display/xdotool.h on $DISPLAY, so that it can be
 * held against the real one. What it holds down it lets go of when it ends, unlike the daemon.
 *   xdo [--locked | --lock-after MS | --cancel-after MS] WORDS…
 * Standard input is read when a word is "-"; a file named behind --file is read too.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/loop.h"
#include "display/hand.h"
#include "display/injector.h"
#include "display/typist.h"
#include "display/xconn.h"
#include "display/xdotool.h"

#define FILES_MAX 8
#define SOMEBODY  (INPUT_SOURCE_AGENT + 1)

struct xdo {
	struct loop *loop;
	struct hand hand;
	struct input_gate gate;
	struct xdotool_run *run;
	struct loop_timer *lock_timer, *cancel_timer;
	struct xdotool_file files[FILES_MAX];
	size_t file_count;
	int status;
};

static void on_done(void *arg, const struct xdotool_result *result)
{
	struct xdo *xdo = arg;
	if (result->out.len > 0)
		fwrite(result->out.data, 1, result->out.len, stdout);
	if (result->err.len > 0)
		fwrite(result->err.data, 1, result->err.len, stderr);
	xdo->status = result->is_locked ? 123 : result->exit_status;
	xdo->run = NULL;
	loop_stop(xdo->loop);
}

static void on_lock(void *arg)
{
	struct xdo *xdo = arg;
	input_gate_give(&xdo->gate, SOMEBODY);
	typist_release_all(xdo->hand.typist);
	if (xdo->run != NULL)
		xdotool_holder_changed(xdo->run);
}

static void on_cancel(void *arg)
{
	struct xdo *xdo = arg;
	xdotool_cancel(xdo->run);
	xdo->run = NULL;
	xdo->status = 143;
	loop_stop(xdo->loop);
}

static void on_lost(void *arg)
{
	struct xdo *xdo = arg;
	fprintf(stderr, "xdo: the display has gone\n");
	xdo->status = 1;
	loop_stop(xdo->loop);
}

static void add_file(struct xdo *xdo, const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	struct buffer text = {0};
	size_t got;
	if (file == NULL || xdo->file_count == FILES_MAX)
		return;
	while ((got = fread(buffer_reserve(&text, 65536), 1, 65536, file)) > 0)
		text.len += got;
	buffer_append(&text, "", 1);
	xdo->files[xdo->file_count++] =
		(struct xdotool_file){path, (char *)text.data, text.len - 1};
}

static void arm(struct xdo *xdo, char **option)
{
	int delay_ms = atoi(option[1]);
	if (strcmp(option[0], "--lock-after") == 0)
		loop_timer_arm(xdo->lock_timer, delay_ms);
	else
		loop_timer_arm(xdo->cancel_timer, delay_ms);
}

static void run(struct xdo *xdo, char **argv, size_t count)
{
	extern char **environ;
	struct xdotool_request request = {
		.args = (const char *const *)argv,
		.arg_count = count,
		.files = xdo->files,
		.environment = (const char *const *)environ,
	};
	while (environ[request.environment_count] != NULL)
		request.environment_count++;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(argv[i], "-") == 0 || (i > 0 && strcmp(argv[i - 1], "--file") == 0))
			add_file(xdo, argv[i]);
	}
	if (count > 0 && access(argv[0], R_OK) == 0) {
		add_file(xdo, argv[0]);
		request.script = xdo->files[xdo->file_count - 1].text;
		request.script_len = xdo->files[xdo->file_count - 1].len;
		request.args++;
		request.arg_count--;
	}
	request.file_count = xdo->file_count;
	xdo->run = xdotool_start(&xdo->hand, input_gate_agent(xdo->hand.gate), &request, NULL,
		on_done, xdo);
	loop_run(xdo->loop);
}

int main(int argc, char **argv)
{
	struct xdo xdo = {.loop = loop_create(), .status = 1};
	struct typist_config config = TYPIST_CONFIG_DEFAULT;
	int first = 1;
	input_gate_init(&xdo.gate, INPUT_SOURCE_AGENT, NULL, NULL);
	xdo.hand.loop = xdo.loop;
	xdo.hand.gate = &xdo.gate;
	xdo.hand.conn = xconn_open(NULL, xdo.loop, on_lost, &xdo);
	if (xdo.hand.conn == NULL) {
		fprintf(stderr, "Error: Can't open display: (null)\n");
		return 1;
	}
	xdo.lock_timer = loop_timer_create(xdo.loop, on_lock, &xdo);
	xdo.cancel_timer = loop_timer_create(xdo.loop, on_cancel, &xdo);
	xdo.hand.injector = injector_create(xdo.hand.conn);
	xdo.hand.typist = typist_create(xdo.hand.conn, xdo.hand.injector, &xdo.gate, &config);
	if (argc > 1 && strcmp(argv[1], "--locked") == 0) {
		input_gate_give(&xdo.gate, SOMEBODY);
		first = 2;
	} else if (argc > 2 && strstr(argv[1], "-after") != NULL) {
		arm(&xdo, argv + 1);
		first = 3;
	}
	run(&xdo, argv + first, (size_t)(argc - first));
	typist_destroy(xdo.hand.typist);
	injector_destroy(xdo.hand.injector);
	loop_timer_destroy(xdo.lock_timer);
	loop_timer_destroy(xdo.cancel_timer);
	xconn_close(xdo.hand.conn);
	loop_destroy(xdo.loop);
	for (size_t i = 0; i < xdo.file_count; i++)
		free((char *)xdo.files[i].text);
	return xdo.status;
}
