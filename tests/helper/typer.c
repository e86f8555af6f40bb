/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives the typing engine for the harnesses: reads commands from a pipe on stdin, one a line, and
 * answers each with a line "ok N …" or "err N STATUS message" (N counts the commands from 1).
 *
 *   type JSON_STRING | paste JSON_STRING | slow MS JSON_STRING
 *   key CHORD | xkey CHORD | hold MS CHORD | keysym +NAME|-NAME|NAME…      (source: the last
 * `source N`) source N | give N | drop N | release | cancel | quiet | quit scan +HEX|-HEX   a scan
 * code
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/injector.h"
#include "display/typist.h"
#include "display/xconn.h"

struct typer {
	struct loop *loop;
	struct xconn *conn;
	struct injector *injector;
	struct input_gate gate;
	struct typist *typist;
	struct loop_io *in;
	struct loop_timer *quiet;
	struct buffer line;
	uint8_t source;
	int command;      /* its number */
	int keysyms_left; /* of the command, not yet done */
	uint64_t last_id;
	int64_t started_us;
};

static void on_done(void *arg, const struct typist_result *result)
{
	struct typer *typer = arg;
	if (typer->keysyms_left > 0 && --typer->keysyms_left > 0)
		return;
	int64_t took_us = clock_monotonic_us() - typer->started_us;
	if (result->status == TYPIST_OK)
		printf("ok %d typed=%zu pasted=%zu us=%lld\n", typer->command, result->typed,
			result->pasted, (long long)took_us);
	else
		printf("err %d %d %s\n", typer->command, (int)result->status, result->message);
	fflush(stdout);
}

static void answer(struct typer *typer, const char *error)
{
	if (error == NULL)
		printf("ok %d\n", typer->command);
	else
		printf("err %d 0 %s\n", typer->command, error);
	fflush(stdout);
}

static struct input_ticket ticket(const struct typer *typer)
{
	struct input_ticket now = input_gate_now(&typer->gate);
	now.source = typer->source;
	return now;
}

static void run_type(struct typer *typer, const char *text, struct typist_text_options *options)
{
	json_error_t error;
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (!json_is_string(value)) {
		answer(typer, "no JSON string");
	} else {
		typer->last_id = typist_type(typer->typist, ticket(typer), json_string_value(value),
			json_string_length(value), options, on_done, typer);
	}
	json_decref(value);
}

static void run_key(struct typer *typer, const char *text, struct typist_key_options *options)
{
	struct key_chord chord;
	char error[200];
	if (!keynames_parse_chord(text, &chord, error, sizeof(error))) {
		answer(typer, error);
		return;
	}
	typer->last_id = typist_key(typer->typist, ticket(typer), &chord, options, on_done, typer);
}

/* "+NAME" presses, "-NAME" releases, "NAME" does both. */
static void run_keysyms(struct typer *typer, char *text)
{
	struct {
		uint32_t keysym;
		char how;
	} list[400];
	int count = 0;
	for (char *save = NULL, *word = strtok_r(text, " ", &save); word != NULL && count < 400;
		word = strtok_r(NULL, " ", &save)) {
		char how = (word[0] == '+' || word[0] == '-') && word[1] != '\0' ? word[0] : '=';
		const char *name = how == '=' ? word : word + 1;
		uint32_t keysym = (uint32_t)strtoul(name, NULL, 16);
		if (strncmp(name, "0x", 2) != 0 && !keynames_lookup(name, strlen(name), &keysym)) {
			answer(typer, "unknown keysym");
			return;
		}
		list[count].keysym = keysym;
		list[count++].how = how;
	}
	for (int i = 0; i < count; i++)
		typer->keysyms_left += list[i].how == '=' ? 2 : 1;
	for (int i = 0; i < count; i++) {
		if (list[i].how != '-')
			typist_keysym(
				typer->typist, ticket(typer), true, list[i].keysym, on_done, typer);
		if (list[i].how != '+')
			typist_keysym(typer->typist, ticket(typer), false, list[i].keysym, on_done,
				typer);
	}
}

static void on_quiet(void *arg)
{
	struct typer *typer = arg;
	if (typist_is_map_given_back(typer->typist))
		answer(typer, NULL);
	else
		loop_timer_arm(typer->quiet, 20);
}

static void run_line(struct typer *typer, char *line)
{
	char *rest = strchr(line, ' ');
	if (rest != NULL)
		*rest++ = '\0';
	else
		rest = line + strlen(line);
	typer->started_us = clock_monotonic_us();
	struct typist_text_options text = {0};
	struct typist_key_options key = {0};
	bool is_answered_later = true;
	if (strcmp(line, "cancel") != 0)
		typer->command++;
	if (strcmp(line, "type") == 0) {
		run_type(typer, rest, &text);
	} else if (strcmp(line, "paste") == 0) {
		text.via_paste = true;
		run_type(typer, rest, &text);
	} else if (strcmp(line, "slow") == 0) {
		text.delay_ms = (int)strtol(rest, &rest, 10);
		run_type(typer, rest, &text);
	} else if (strcmp(line, "key") == 0) {
		run_key(typer, rest, &key);
	} else if (strcmp(line, "xkey") == 0) {
		key.shift_capitals = true;
		run_key(typer, rest, &key);
	} else if (strcmp(line, "hold") == 0) {
		key.hold_ms = (int)strtol(rest, &rest, 10);
		run_key(typer, rest + 1, &key);
	} else if (strcmp(line, "keysym") == 0) {
		run_keysyms(typer, rest);
	} else if (strcmp(line, "scan") == 0) {
		typist_scancode(typer->typist, ticket(typer), rest[0] == '+',
			(uint32_t)strtoul(rest + 1, NULL, 16), 0, on_done, typer);
	} else if (strcmp(line, "quiet") == 0) {
		on_quiet(typer);
	} else if (strcmp(line, "cancel") == 0) {
		typist_cancel(typer->typist, typer->last_id);
	} else {
		is_answered_later = false;
		if (strcmp(line, "source") == 0)
			typer->source = (uint8_t)atoi(rest);
		else if (strcmp(line, "give") == 0)
			input_gate_give(&typer->gate, (uint8_t)atoi(rest));
		else if (strcmp(line, "drop") == 0)
			typist_drop_source(typer->typist, (uint8_t)atoi(rest));
		else if (strcmp(line, "release") == 0)
			typist_release_all(typer->typist);
		else if (strcmp(line, "button") == 0)
			injector_button(
				typer->injector, typer->source, abs(atoi(rest)), atoi(rest) > 0);
		else if (strcmp(line, "quit") == 0)
			loop_stop(typer->loop);
		else
			is_answered_later = true, answer(typer, "unknown command");
	}
	if (!is_answered_later)
		answer(typer, NULL);
}

static void on_input(void *arg, int events)
{
	struct typer *typer = arg;
	char *room = (char *)buffer_reserve(&typer->line, 65536);
	ssize_t len = read(STDIN_FILENO, room, 65536);
	if (len <= 0) {
		if (len == 0 || errno != EAGAIN)
			loop_stop(typer->loop);
		return;
	}
	typer->line.len += (size_t)len;
	char *end;
	while ((end = memchr(typer->line.data, '\n', typer->line.len)) != NULL) {
		*end = '\0';
		run_line(typer, (char *)typer->line.data);
		buffer_consume(&typer->line, (size_t)((uint8_t *)end + 1 - typer->line.data));
		if (typer->line.len == 0)
			break;
	}
}

static void on_lost(void *arg)
{
	struct typer *typer = arg;
	printf("lost\n");
	fflush(stdout);
	loop_stop(typer->loop);
}

static void on_holder_change(void *arg)
{
	struct typer *typer = arg;
	typist_release_all(typer->typist);
}

int main(int argc, char **argv)
{
	struct typer typer = {.loop = loop_create()};
	typer.conn = xconn_open(NULL, typer.loop, on_lost, &typer);
	if (typer.conn == NULL) {
		fprintf(stderr, "typer: no display\n");
		return 1;
	}
	struct typist_config config = TYPIST_CONFIG_DEFAULT;
	if (argc > 1)
		config.quiet_ms = atoi(argv[1]);
	input_gate_init(&typer.gate, INPUT_SOURCE_AGENT, on_holder_change, &typer);
	typer.injector = injector_create(typer.conn);
	typer.typist = typist_create(typer.conn, typer.injector, &typer.gate, &config);
	if (typer.typist == NULL) {
		fprintf(stderr, "typer: no XKB or XTEST\n");
		return 1;
	}
	typer.quiet = loop_timer_create(typer.loop, on_quiet, &typer);
	fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
	typer.in = loop_io_create(typer.loop, STDIN_FILENO, LOOP_READABLE, on_input, &typer);
	printf("ready\n");
	fflush(stdout);
	loop_run(typer.loop);
	loop_io_destroy(typer.in);
	loop_timer_destroy(typer.quiet);
	typist_destroy(typer.typist);
	injector_destroy(typer.injector);
	xconn_close(typer.conn);
	loop_destroy(typer.loop);
	buffer_finish(&typer.line);
	return 0;
}
