/* SPDX-License-Identifier: GPL-2.0-or-later */
/* POST /v1/xdotool: the xdotool language, run in the daemon. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/utf8.h"
#include "display/screen.h"
#include "display/xdotool.h"
#include "service/agent_step.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/lock.h"
#include "service/reply.h"
#include "service/service.h"
#include "takeover/steps.h"

/* Sleeps and --sync waits are the chain's own; a screen that hangs longer than this is one. */
#define CALL_TIMEOUT_MS 3600000
#define FILES_MAX       64

struct xdotool_job {
	struct service *service;
	struct call *call;
	uint64_t run;
	bool is_running;
	json_t *body; /* the strings that `request` points to */
	struct xdotool_request request;
	const char **args, **environment;
	struct xdotool_file files[FILES_MAX];
};

static void job_free(struct xdotool_job *job)
{
	call_end(job->call);
	json_decref(job->body);
	free(job->args);
	free(job->environment);
	free(job);
}

static void on_gone(void *arg)
{
	struct xdotool_job *job = arg;
	if (job->is_running)
		screen_cancel_xdotool(job->service->screen, job->run);
}

static json_t *output_json(const struct buffer *output)
{
	char *text = utf8_sanitize((const char *)output->data, output->len);
	json_t *value = json_string(text);
	free(text);
	return value;
}

static void on_chain(void *arg, const struct xdotool_outline *outline)
{
	struct xdotool_job *job = arg;
	const struct step step = {outline->names, outline->has_point, outline->x, outline->y};
	agent_step_tell(job->service, &step);
}

static void on_done(void *arg, int error, const struct xdotool_result *result)
{
	struct xdotool_job *job = arg;
	struct http_request *request = call_request(job->call);
	job->is_running = false;
	if (request != NULL && error == -ENOTCONN)
		reply_no_screen(request, job->service->xserver_fault);
	else if (request != NULL && error != 0)
		reply_error(request, REPLY_INTERNAL, "the chain was ended: %s", strerror(-error));
	else if (request != NULL && result->is_locked)
		lock_reply(job->service, request);
	else if (request != NULL)
		reply_json(request, 200,
			json_pack("{s:i, s:o, s:o}", "exit", result->exit_status, "stdout",
				output_json(&result->out), "stderr", output_json(&result->err)));
	job_free(job);
}

/* A list of strings as pointers into the JSON. */
static const char **read_strings(
	struct json_reader *reader, const char *name, const json_t *list, size_t *count)
{
	const char **strings = xcalloc(json_array_size(list) + 1, sizeof(*strings));
	size_t i;
	json_t *item;
	*count = 0;
	if (list != NULL && !json_is_array(list))
		json_reader_fail(reader, name, "must be a list of strings");
	json_array_foreach(list, i, item)
	{
		if (!json_is_string(item))
			json_reader_fail(reader, name, "must be a list of strings");
		else
			strings[(*count)++] = json_string_value(item);
	}
	return strings;
}

/* {"path": "text", …}: the files that the chain names, read by the caller. */
static void read_files(struct json_reader *reader, struct xdotool_job *job, const json_t *files)
{
	const char *path;
	json_t *text;
	if (files == NULL)
		return;
	if (!json_is_object(files) || json_object_size(files) > FILES_MAX) {
		json_reader_fail(reader, "files", "must be an object of at most %d texts by path",
			FILES_MAX);
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)files, path, text)
	{
		if (!json_is_string(text)) {
			json_reader_fail(reader, "files", "must be texts");
			return;
		}
		job->files[job->request.file_count++] = (struct xdotool_file){.path = path,
			.text = json_string_value(text),
			.len = json_string_length(text)};
	}
	job->request.files = job->files;
}

static void read_members(struct json_reader *reader, struct xdotool_job *job)
{
	static const char strings[] = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}";
	const json_t *args = NULL, *environment = NULL, *files = NULL;
	bool has_args = json_read_any(reader, "args", &args);
	json_reader_explain(reader, "args", strings);
	if (!has_args)
		json_reader_fail(reader, "args", "is missing: the words behind xdotool, a list");
	if (json_read_string(reader, "script", &job->request.script))
		job->request.script_len = strlen(job->request.script);
	json_read_any(reader, "environment", &environment);
	json_reader_explain(reader, "environment", strings);
	json_read_any(reader, "files", &files);
	json_reader_explain(reader, "files",
		"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"maxProperties\":64}");
	job->args = read_strings(reader, "args", args, &job->request.arg_count);
	job->environment = read_strings(
		reader, "environment", environment, &job->request.environment_count);
	read_files(reader, job, files);
	job->request.args = job->args;
	job->request.environment = job->environment;
}

json_t *body_xdotool(void)
{
	struct xdotool_job job = {0};
	struct json_reader reader;
	json_reader_describe(&reader);
	read_members(&reader, &job);
	free(job.args);
	free(job.environment);
	return json_reader_take_schema(&reader);
}

void command_xdotool(struct service *service, struct http_request *request, const char *segment)
{
	struct json_reader reader;
	json_t *body = reply_read_body(request);
	if (body == NULL)
		return;
	struct xdotool_job *job = xcalloc(1, sizeof(*job));
	job->service = service;
	job->body = body;
	json_reader_init(&reader, body, "");
	read_members(&reader, job);
	if (!reply_finish_reading(request, &reader)) {
		job_free(job);
		return;
	}
	if (service->screen == NULL) {
		reply_no_screen(request, service->xserver_fault);
		job_free(job);
		return;
	}
	if (lock_refuses_acting(service, request)) {
		job_free(job);
		return;
	}
	job->call = call_begin(service, request, CALL_TIMEOUT_MS, on_gone, job);
	job->is_running = true;
	job->run = screen_xdotool(service->screen, &job->request, on_chain, on_done, job);
}
