/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen record …, replay … and publish. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/absolute_path.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/replies.h"

/* Finishing a long recording takes the daemon a while. */
#define FINISH_SILENCE_MS 120000

/* Options that the daemon judges, as members of the body. False: one was no text; that was said. */
static bool add_options(const struct invocation *call, json_t *body)
{
	static const struct {
		const char *option, *member;
		enum { TEXT, NUMBER, YES, NO } type;
	} members[] = {
		{"name", "name", TEXT}, {"fps", "fps", NUMBER}, {"quality", "quality", TEXT},
		{"region", "region", TEXT}, {"max-idle-ms", "max_idle_ms", NUMBER},
		{"no-cursor", "cursor", NO}, {"show-clicks", "show_clicks", YES},
		{"show-keys", "show_keys", YES}, {"no-auto-marks", "auto_marks", NO},
	};
	for (const struct option *option = call->command->options; option != NULL && option->name != NULL; option++) {
		const char *value = invocation_value(call, option->name);
		for (size_t i = 0; value != NULL && i < ARRAY_LEN(members); i++) {
			if (strcmp(members[i].option, option->name) != 0)
				continue;
			const char *member = members[i].member;
			bool is_good = true;
			if (members[i].type == TEXT)
				is_good = client_set_text(call, body, member, value);
			else if (members[i].type == NUMBER)
				is_good = client_set_number(call, body, member, value);
			else
				json_object_set_new(body, member, json_boolean(members[i].type == YES));
			if (!is_good)
				return false;
		}
	}
	return true;
}

/* Makes a call with the body (taken). *reply receives what came back, where it is wanted. */
static int post(const struct invocation *call, const char *method, const char *target, json_t *body, json_t **reply)
{
	struct http_answer answer = {0};
	int status = client_send(call, method, target, body, FINISH_SILENCE_MS, &answer);
	if (status == EXIT_DONE && call->wants_json)
		status = output_json(answer.body.data, answer.body.len);
	else if (status == EXIT_DONE && reply != NULL) {
		*reply = client_parse(&answer);
		status = *reply != NULL ? EXIT_DONE : EXIT_ERROR;
	}
	http_answer_finish(&answer);
	return status;
}

/* Posts the body (taken), if it `is_good`, and prints one member of the reply. */
static int post_and_print(const struct invocation *call, const char *target, json_t *body, bool is_good,
	const char *member)
{
	json_t *reply = NULL;
	if (!is_good) {
		json_decref(body);
		return EXIT_USAGE;
	}
	int status = post(call, "POST", target, body, &reply);
	if (reply != NULL)
		status = output_value(reply_text(reply, member));
	json_decref(reply);
	return status;
}

/* The id that was named, or that of the only recording that runs. The caller frees it. */
static int choose_id(const struct invocation *call, int operand, char **out)
{
	struct http_answer answer = {0};
	if (call->operand_count > operand) {
		*out = xstrdup(call->operands[operand]);
		return EXIT_DONE;
	}
	int status = client_get(call, "/v1/recordings", &answer);
	json_t *reply = status == EXIT_DONE ? client_parse(&answer) : NULL;
	size_t count;
	const json_t *recording = reply_active_recording(reply, &count);
	if (recording != NULL)
		*out = xstrdup(reply_text(recording, "id"));
	if (status == EXIT_DONE && count != 1) {
		complain(count == 0 ? "nothing is being recorded"
				    : "there are several recordings: name one; \"boxscreen record "
				      "list\" shows them");
		free(*out);
		*out = NULL;
		status = count == 0 ? EXIT_ERROR : EXIT_USAGE;
	}
	json_decref(reply);
	http_answer_finish(&answer);
	return status;
}

static void print_recording(const json_t *recording)
{
	long long ms = (long long)json_number_value(json_object_get(recording, "duration_ms"));
	const char *error = reply_text(recording, "error");
	output_line("%s  %-9s %s%s%lld:%02lld:%02lld  %8lld KiB  %s", reply_text(recording, "id"),
		reply_text(recording, "state"), error, error[0] != '\0' ? " " : "", ms / 3600000,
		ms / 60000 % 60, ms / 1000 % 60,
		(long long)json_number_value(json_object_get(recording, "bytes")) / 1024,
		reply_text(recording, "path"));
}

static bool add_output(const struct invocation *call, json_t *body)
{
	const char *output = invocation_value(call, "output");
	if (output == NULL)
		return true;
	char *path = absolute_path(output);
	bool is_good = client_set_text(call, body, "path", path);
	free(path);
	return is_good;
}

int command_record_start(const struct invocation *call)
{
	json_t *body = json_object();
	bool is_good = add_options(call, body) && add_output(call, body);
	return post_and_print(call, "/v1/recordings", body, is_good, "id");
}

/* A call about one recording, named or the only one. */
static int change(const struct invocation *call, const char *what, json_t *body, int id_operand, json_t **reply)
{
	char *id = NULL;
	int status = choose_id(call, id_operand, &id);
	if (status != EXIT_DONE) {
		json_decref(body);
		return status;
	}
	char *target = client_target("/v1/recordings/", id, what);
	status = post(call, "POST", target, body, reply);
	free(target);
	free(id);
	return status;
}

int command_record_stop(const struct invocation *call)
{
	json_t *reply = NULL;
	int status = change(call, "/stop", NULL, 0, &reply);
	if (reply != NULL)
		status = output_value(reply_text(reply, "path"));
	json_decref(reply);
	return status;
}

int command_record_pause(const struct invocation *call)
{
	return change(call, "/pause", NULL, 0, NULL);
}

int command_record_resume(const struct invocation *call)
{
	return change(call, "/resume", NULL, 0, NULL);
}

int command_record_mark(const struct invocation *call)
{
	json_t *body = json_object();
	if (client_set_text(call, body, "text", call->operands[0]))
		return change(call, "/marks", body, 1, NULL);
	json_decref(body);
	return EXIT_USAGE;
}

int command_record_list(const struct invocation *call)
{
	struct http_answer answer = {0};
	int status = client_get(call, "/v1/recordings", &answer);
	json_t *reply = NULL, *recording;
	size_t index;
	if (status == EXIT_DONE && call->wants_json) {
		status = output_json(answer.body.data, answer.body.len);
	} else if (status == EXIT_DONE) {
		reply = client_parse(&answer);
		json_array_foreach(json_object_get(reply, "recordings"), index, recording)
			print_recording(recording);
	}
	json_decref(reply);
	http_answer_finish(&answer);
	return status;
}

/* Where a video goes. */
struct sink {
	int fd;
	int error; /* of writing: an errno */
};

static bool write_part(void *arg, const void *data, size_t len)
{
	struct sink *sink = arg;
	for (const char *p = data; len > 0;) {
		ssize_t written = write(sink->fd, p, len);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			sink->error = errno;
			return false;
		}
		p += written;
		len -= (size_t)written;
	}
	return true;
}

static int fetch(const struct invocation *call, const char *id, struct sink *sink, const char *name)
{
	char *target = client_target("/v1/recordings/", id, "/video");
	struct http_answer answer = {.on_body = write_part, .arg = sink};
	const struct http_call http = {
		.method = "GET", .target = target, .silence_max_ms = CLIENT_SILENCE_MAX_MS};
	int status = EXIT_ERROR, ret = http_unix_call(call->socket_path, &http, &answer);
	if (sink->error != 0)
		complain("%s: %s", name, strerror(sink->error));
	else
		status = client_judge(call, ret, &answer);
	http_answer_finish(&answer);
	free(target);
	return status;
}

/* Into the file, beside first; or to standard output. */
static int download(const struct invocation *call, const char *id, const char *output)
{
	bool is_stdout = output == NULL || strcmp(output, "-") == 0;
	char *beside = is_stdout ? NULL : xasprintf("%s.part", output);
	struct sink sink = {.fd = STDOUT_FILENO};
	int status = EXIT_ERROR;
	if (!is_stdout)
		sink.fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (sink.fd < 0)
		complain("%s: %s", output, strerror(errno));
	else
		status = fetch(call, id, &sink, is_stdout ? "standard output" : output);
	if (!is_stdout && sink.fd >= 0) {
		bool is_written = close(sink.fd) == 0 && status == EXIT_DONE && rename(beside, output) == 0;
		if (!is_written && status == EXIT_DONE) {
			complain("%s: %s", output, strerror(errno));
			status = EXIT_ERROR;
		}
		if (!is_written)
			unlink(beside);
	}
	free(beside);
	return status;
}

int command_record_get(const struct invocation *call)
{
	const char *output = invocation_value(call, "output");
	if (output == NULL && isatty(STDOUT_FILENO)) {
		complain("record get: a video does not go to a terminal: use --output FILE or a pipe");
		return EXIT_USAGE;
	}
	return download(call, call->operands[0], output);
}

/* The newest recording that has ended; "" when there is none. Borrowed from the list. */
static const char *newest_ended(const json_t *list)
{
	const char *id = "";
	size_t index;
	json_t *recording;
	json_array_foreach(json_object_get(list, "recordings"), index, recording)
	{
		if (json_object_get(recording, "ended_at") != NULL)
			id = reply_text(recording, "id");
	}
	return id;
}

static int print_link(const struct invocation *call, const char *id)
{
	struct http_answer answer = {0};
	char *target = client_target("/v1/recordings/", id, "");
	int status = client_get(call, target, &answer);
	json_t *reply = status == EXIT_DONE ? client_parse(&answer) : NULL;
	const char *url = reply_text(reply, "url");
	if (status == EXIT_DONE && url[0] == '\0') {
		complain("%s has no link yet: it is %s", id, reply_text(reply, "state"));
		status = EXIT_ERROR;
	} else if (status == EXIT_DONE && call->wants_json) {
		status = output_json(answer.body.data, answer.body.len);
	} else if (status == EXIT_DONE) {
		status = output_value(url);
	}
	json_decref(reply);
	http_answer_finish(&answer);
	free(target);
	return status;
}

int command_record_link(const struct invocation *call)
{
	struct http_answer answer = {0};
	if (call->operand_count > 0)
		return print_link(call, call->operands[0]);
	int status = client_get(call, "/v1/recordings", &answer);
	json_t *list = status == EXIT_DONE ? client_parse(&answer) : NULL;
	const char *id = newest_ended(list);
	if (status == EXIT_DONE && id[0] == '\0') {
		complain("no recording has ended yet; \"boxscreen record stop\" ends one");
		status = EXIT_ERROR;
	} else if (status == EXIT_DONE) {
		status = print_link(call, id);
	}
	json_decref(list);
	http_answer_finish(&answer);
	return status;
}

int command_record_delete(const struct invocation *call)
{
	char *target = client_target("/v1/recordings/", call->operands[0], "");
	int status = post(call, "DELETE", target, NULL, NULL);
	free(target);
	return status;
}

int command_replay_on(const struct invocation *call)
{
	json_t *body = json_object();
	const char *seconds = invocation_value(call, "seconds");
	if (client_set_number(call, body, "seconds", seconds != NULL ? seconds : "60") &&
		add_options(call, body))
		return post(call, "PUT", "/v1/replay", body, NULL);
	json_decref(body);
	return EXIT_USAGE;
}

int command_replay_off(const struct invocation *call)
{
	return post(call, "PUT", "/v1/replay", json_pack("{s:i}", "seconds", 0), NULL);
}

int command_replay_save(const struct invocation *call)
{
	json_t *body = json_object();
	bool is_good = add_options(call, body) && add_output(call, body);
	return post_and_print(call, "/v1/replay/save", body, is_good, "path");
}

int command_publish(const struct invocation *call)
{
	const char *stop = invocation_value(call, "stop");
	if ((stop != NULL) == (call->operand_count > 0)) {
		complain("publish: give either a URL or --stop ID");
		return EXIT_USAGE;
	}
	if (stop != NULL) {
		char *target = client_target("/v1/publish/", stop, "");
		int status = post(call, "DELETE", target, NULL, NULL);
		free(target);
		return status;
	}
	json_t *body = json_object();
	bool is_good = client_set_text(call, body, "url", call->operands[0]) && add_options(call, body);
	return post_and_print(call, "/v1/publish", body, is_good, "id");
}
