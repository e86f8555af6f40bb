/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/xdotool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/hand.h"
#include "display/window_ops.h"
#include "display/xdotool_private.h"

/* How long commands that need no waiting may keep the loop from its other work. */
#define TURN_MAX_US 4000

static void drive(struct xdotool_run *run);

/* The end */

static void run_free(struct xdotool_run *run)
{
	xdotool_wait_finish(run);
	loop_timer_destroy(run->timer);
	xdotool_chain_finish(&run->chain);
	xdotool_script_finish(&run->script);
	for (size_t i = 0; i < run->file_count; i++) {
		free((char *)run->files[i].path);
		free((char *)run->files[i].text);
	}
	free(run->files);
	free(run->targets.items);
	free(run->stack.items);
	free(run->pressed);
	buffer_finish(&run->result.out);
	buffer_finish(&run->result.err);
	free(run);
}

/* Whatever the command under way has begun. */
static void abandon_command(struct xdotool_run *run)
{
	uint64_t id = run->typist_id;
	run->typist_id = 0;
	if (id != 0)
		typist_cancel(run->hand->typist, id);
	loop_timer_disarm(run->timer);
	xdotool_wait_stop(run);
	xdotool_put_back_modifiers(run);
	xdotool_give_back_focus(run);
}

static void tell_done(struct xdotool_run *run)
{
	run->done(run->done_arg, &run->result);
	run_free(run);
}

static void end(struct xdotool_run *run)
{
	run->is_over = true;
	abandon_command(run);
	if (run->result.exit_status != 0)
		xdotool_release_pressed(run);
	run->next = tell_done;
	loop_timer_arm(run->timer, 0);
}

static void end_locked(struct xdotool_run *run)
{
	static const char message[] = "xdotool: somebody else holds the screen\n";
	run->result.is_locked = true;
	run->result.exit_status = 1;
	buffer_append(&run->result.err, message, strlen(message));
	end(run);
}

/* Ends the run when its holder is not the agent any more. */
static bool may_act(struct xdotool_run *run)
{
	if (input_gate_admits(run->hand->gate, run->ticket))
		return true;
	end_locked(run);
	return false;
}

/* What handlers call */

static void step_done(struct xdotool_run *run)
{
	run->is_step_done = true;
	drive(run);
}

void xdotool_succeed(struct xdotool_run *run)
{
	step_done(run);
}

static void add_error(struct xdotool_run *run, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void add_error(struct xdotool_run *run, const char *format, va_list args)
{
	char *text = xvasprintf(format, args);
	const char *name = run->command != NULL ? run->command->spec->name : "xdotool";
	buffer_printf(&run->result.err, "%s: %s\n", name, text);
	free(text);
}

void xdotool_warn(struct xdotool_run *run, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_error(run, format, args);
	va_end(args);
}

/* The rest of the line is not run. */
static void fail_line(struct xdotool_run *run)
{
	abandon_command(run);
	run->result.exit_status = 1;
	run->targets.count = 0;
	xdotool_chain_finish(&run->chain);
	step_done(run);
}

void xdotool_fail(struct xdotool_run *run, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_error(run, format, args);
	va_end(args);
	fail_line(run);
}

void xdotool_fail_silently(struct xdotool_run *run)
{
	fail_line(run);
}

void xdotool_end_window(struct xdotool_run *run, int result)
{
	if (result == 0)
		xdotool_succeed(run);
	else
		xdotool_fail(run, "window %lu %s", run->window, window_error(result));
}

void xdotool_print(struct xdotool_run *run, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	buffer_append(&run->result.out, text, strlen(text));
	free(text);
}

static void on_timer(void *arg)
{
	struct xdotool_run *run = arg;
	if (run->is_over || may_act(run))
		run->next(run);
}

void xdotool_after_ms(struct xdotool_run *run, int64_t delay_ms, xdotool_step next)
{
	run->next = next;
	loop_timer_arm(run->timer, delay_ms);
}

void xdotool_on_typed(void *arg, const struct typist_result *result)
{
	struct xdotool_run *run = arg;
	if (run->typist_id == 0)
		return; /* canceled by us */
	run->typist_id = 0;
	if (result->status == TYPIST_NOT_HOLDER || !input_gate_admits(run->hand->gate, run->ticket))
		end_locked(run);
	else if (result->status != TYPIST_OK)
		xdotool_fail(run, "%s", result->message);
	else
		run->next(run);
}

/* Windows */

void xdotool_set_stack(struct xdotool_run *run, Window window)
{
	run->stack.count = 0;
	window_ids_append(&run->stack, window);
}

bool xdotool_parse_window(const char *text, Window *out)
{
	long number;
	if (!xdotool_parse_number(text, &number) || number < 0 || number > 0xffffffffL)
		return false;
	*out = (Window)number;
	return true;
}

static bool resolve_stack(struct xdotool_run *run, const char *text)
{
	size_t count = run->stack.count;
	long number = 0;
	bool is_all = strcmp(text, "%@") == 0;
	if (!is_all && !xdotool_parse_number(text + 1, &number)) {
		xdotool_fail(run, "%s is no window: %%1, %%2 …, %%-1 (the last) or %%@ (all)", text);
		return false;
	}
	if (count == 0) {
		xdotool_fail(run, "There are no windows in the stack");
		return false;
	}
	for (size_t i = 0; is_all && i < count; i++)
		window_ids_append(&run->targets, run->stack.items[i]);
	if (is_all)
		return true;
	long index = number > 0 ? number - 1 : (long)count + number;
	if (number == 0 || index < 0 || index >= (long)count) {
		xdotool_fail(run, "Invalid window stack selection '%s' (out of range)", text);
		return false;
	}
	window_ids_append(&run->targets, run->stack.items[index]);
	return true;
}

static bool resolve_targets(struct xdotool_run *run)
{
	const struct xdotool_command *command = run->command;
	const char *text = command->window;
	Window window = None;
	run->targets.count = run->target_index = 0;
	if (text == NULL && !command->is_help) {
		if (command->spec->window_use == XDOTOOL_WINDOW_WORD ||
			(command->spec->window_use == XDOTOOL_WINDOW_OPTION_OR_STACK &&
				run->stack.count > 0))
			text = "%1";
	}
	if (text != NULL && text[0] == '%')
		return resolve_stack(run, text);
	if (text != NULL && !xdotool_parse_window(text, &window)) {
		xdotool_fail(run, "'%s' is no window id", text);
		return false;
	}
	window_ids_append(&run->targets, window);
	return true;
}

/* Steps */

static void start_command(struct xdotool_run *run)
{
	run->command = &run->chain.commands[run->command_index++];
	if (resolve_targets(run))
		step_done(run);
}

static void start_target(struct xdotool_run *run)
{
	run->window = run->targets.items[run->target_index++];
	if (!run->command->is_help) {
		run->command->spec->start(run);
		return;
	}
	char *usage = xdotool_usage(run->command->spec);
	xdotool_print(run, "%s", usage);
	free(usage);
	xdotool_succeed(run);
}

static void start_line(struct xdotool_run *run)
{
	const struct xdotool_line *line = &run->script.lines[run->line++];
	size_t spec_count;
	const struct xdotool_spec *specs = xdotool_specs(&spec_count);
	run->command = NULL;
	run->command_index = 0;
	run->result.exit_status = 0;
	xdotool_chain_finish(&run->chain);
	xdotool_parse(specs, spec_count, (const char *const *)line->words, line->count, &run->chain);
	if (run->chain.error != NULL) {
		buffer_append(&run->result.err, run->chain.error, strlen(run->chain.error));
		fail_line(run);
		return;
	}
	xdotool_tell_chain(run);
	step_done(run);
}

static void take_step(struct xdotool_run *run)
{
	run->is_step_done = false;
	if (run->target_index < run->targets.count)
		start_target(run);
	else if (run->command_index < run->chain.count)
		start_command(run);
	else if (run->line < run->script.count)
		start_line(run);
	else
		end(run);
}

/* Steps that end at once are taken in a loop here, not one inside the other. */
static void drive(struct xdotool_run *run)
{
	if (run->is_driving || run->is_over)
		return;
	run->is_driving = true;
	int64_t started_us = clock_monotonic_us();
	while (run->is_step_done && !run->is_over && may_act(run)) {
		if (clock_monotonic_us() - started_us > TURN_MAX_US) {
			xdotool_after_ms(run, 0, drive);
			break;
		}
		take_step(run);
	}
	run->is_driving = false;
}

/* The beginning */

static void copy_files(struct xdotool_run *run, const struct xdotool_request *request)
{
	run->file_count = request->file_count;
	run->files = xcalloc(request->file_count, sizeof(run->files[0]));
	for (size_t i = 0; i < request->file_count; i++) {
		const struct xdotool_file *file = &request->files[i];
		char *text = xmalloc(file->len + 1);
		memcpy(text, file->text, file->len);
		text[file->len] = '\0';
		run->files[i] = (struct xdotool_file){xstrdup(file->path), text, file->len};
	}
}

static void set_plain_line(struct xdotool_script *script, const char *const *words, size_t count)
{
	struct xdotool_line *line = xcalloc(1, sizeof(*line));
	line->number = 1;
	line->count = count;
	line->words = xcalloc(count, sizeof(line->words[0]));
	for (size_t i = 0; i < count; i++)
		line->words[i] = xstrdup(words[i]);
	script->lines = line;
	script->count = 1;
}

const struct xdotool_file *xdotool_find_file(const struct xdotool_run *run, const char *path)
{
	for (size_t i = 0; i < run->file_count; i++) {
		if (strcmp(run->files[i].path, path) == 0)
			return &run->files[i];
	}
	return NULL;
}

static void fail_request(struct xdotool_run *run, const char *error)
{
	run->result.exit_status = 1;
	buffer_append(&run->result.err, error, strlen(error));
}

/* -h, --help, -v and --version in front of any command; nothing at all is a wish for help too. */
static void set_command_line(struct xdotool_run *run, const struct xdotool_request *request)
{
	const char *const *words = request->args;
	size_t count = request->arg_count;
	static const char *const help = "help", *const version = "version";
	if (count == 0) {
		fail_request(run, "Usage: xdotool <cmd> <args>\n");
		xdotool_print_commands(run);
		return;
	}
	if (strcmp(words[0], "-h") == 0 || strcmp(words[0], "--help") == 0) {
		words = &help;
		count = 1;
	} else if (strcmp(words[0], "-v") == 0 || strcmp(words[0], "--version") == 0) {
		words = &version;
		count = 1;
	}
	set_plain_line(&run->script, words, count);
}

static void set_lines(struct xdotool_run *run, const struct xdotool_request *request)
{
	const char *const *args = request->args;
	size_t count = request->arg_count;
	const char *script = request->script;
	size_t len = request->script_len;
	if (script == NULL && count > 0 && strcmp(args[0], "-") == 0) {
		const struct xdotool_file *input = xdotool_find_file(run, "-");
		script = input != NULL ? input->text : "";
		len = input != NULL ? input->len : 0;
		args++;
		count--;
	}
	if (script == NULL) {
		set_command_line(run, request);
		return;
	}
	xdotool_script_parse(script, len, args, count, request->environment,
		request->environment_count, &run->script);
	if (run->script.error != NULL)
		fail_request(run, run->script.error);
}

struct xdotool_run *xdotool_start(struct hand *hand, struct input_ticket ticket,
	const struct xdotool_request *request, xdotool_chain_begins on_chain, xdotool_done done, void *arg)
{
	struct xdotool_run *run = xcalloc(1, sizeof(*run));
	run->hand = hand;
	run->conn = hand->conn;
	run->ticket = ticket;
	run->on_chain = on_chain;
	run->done = done;
	run->done_arg = arg;
	run->timer = loop_timer_create(hand->loop, on_timer, run);
	xdotool_wait_init(run);
	copy_files(run, request);
	set_lines(run, request);
	run->is_step_done = true;
	xdotool_after_ms(run, 0, drive);
	return run;
}

void xdotool_cancel(struct xdotool_run *run)
{
	abandon_command(run);
	xdotool_release_pressed(run);
	run_free(run);
}

void xdotool_holder_changed(struct xdotool_run *run)
{
	if (!run->is_over)
		may_act(run);
}
