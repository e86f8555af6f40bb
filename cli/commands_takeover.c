/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen takeover, say, notes: asking a person, and what is written to and fro. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/replies.h"

#define WAIT_S         55
#define RETRY_FIRST_MS 100
#define RETRY_MAX_MS   2000

/* Posts a body (taken; NULL: what is wrong with it was said). Returns the exit status. */
static int post(
	const struct invocation *call, const char *target, json_t *body, struct http_answer *answer)
{
	return body != NULL ? client_send(call, "POST", target, body, CLIENT_SILENCE_MAX_MS, answer)
			    : EXIT_USAGE;
}

/* Progress is for people: on a terminal only. */
static void show(const char *text)
{
	if (isatty(STDERR_FILENO))
		complain("%s", text);
}

static void show_state(const json_t *takeover)
{
	char *words = reply_takeover_words(takeover);
	if (words != NULL)
		show(words);
	free(words);
}

/* Prints what came of it; the exit status. */
static int finish(
	const struct invocation *call, const json_t *takeover, const struct http_answer *answer)
{
	const char *state = reply_text(takeover, "state");
	int status = strcmp(state, "handed_back") == 0 ? EXIT_DONE
		     : strcmp(state, "expired") == 0   ? EXIT_TIMED_OUT
						       : EXIT_ERROR;
	if (call->wants_json) {
		output_json(answer->body.data, answer->body.len);
	} else if (status == EXIT_DONE) {
		const char *message = reply_text(takeover, "message");
		char *line = xasprintf("%s%s%s", reply_text(takeover, "outcome"),
			message[0] != '\0' ? ": " : "", message);
		output_text(line);
		free(line);
	} else {
		complain("%s", status == EXIT_TIMED_OUT ? "nobody handed the screen back in time"
							: "the takeover was cancelled");
	}
	return status;
}

static void pause_ms(int ms)
{
	const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
	nanosleep(&pause, NULL);
}

static int poll_once(const struct invocation *call, const char *id, json_int_t version,
	struct http_answer *answer)
{
	char *target = xasprintf("/v1/takeovers/%s?wait_s=%d&since=%lld&shot=%d", id, WAIT_S,
		(long long)version, call->wants_json);
	const struct http_call http = {
		.method = "GET", .target = target, .silence_max_ms = (WAIT_S + 15) * 1000};
	int ret = http_unix_call(call->socket_path, &http, answer);
	free(target);
	return ret;
}

/* Waits for the end, however often the connection breaks. */
static int wait_for_end(const struct invocation *call, const char *id, json_int_t version)
{
	int retry_ms = RETRY_FIRST_MS;
	for (;;) {
		struct http_answer answer = {0};
		int ret = poll_once(call, id, version, &answer);
		bool is_crowded = ret == 0 && answer.status == 429;
		if ((ret < 0 && reply_may_come_later(ret)) || is_crowded) {
			if (retry_ms == RETRY_FIRST_MS)
				show(is_crowded ? "too many calls wait at the daemon; trying again"
						: "the daemon does not answer; waiting for it to come back");
			http_answer_finish(&answer);
			pause_ms(retry_ms);
			retry_ms = retry_ms * 2 < RETRY_MAX_MS ? retry_ms * 2 : RETRY_MAX_MS;
			continue;
		}
		retry_ms = RETRY_FIRST_MS;
		int status = client_judge(call, ret, &answer);
		json_t *takeover = status == EXIT_DONE ? client_parse(&answer) : NULL;
		json_int_t now = json_integer_value(json_object_get(takeover, "version"));
		bool has_ended = json_object_get(takeover, "ended_at") != NULL;
		if (takeover == NULL && status == EXIT_DONE)
			status = EXIT_ERROR;
		if (has_ended)
			status = finish(call, takeover, &answer);
		else if (takeover != NULL && now != version)
			show_state(takeover);
		version = now;
		bool goes_on = takeover != NULL && !has_ended;
		json_decref(takeover);
		http_answer_finish(&answer);
		if (!goes_on)
			return status;
	}
}

/* NULL after saying what is wrong. */
static json_t *request_body(const struct invocation *call, const char *note)
{
	const char *timeout = invocation_value(call, "timeout");
	json_t *body = json_object(), *instructions = json_array();
	bool is_good = client_set_text(call, body, "note", note) &&
		       (timeout == NULL || client_set_number(call, body, "timeout_s", timeout));
	for (int i = 0; i < call->operand_count && is_good; i++) {
		is_good = json_array_append_new(instructions, json_string(call->operands[i])) == 0;
		if (!is_good)
			complain("takeover: \"%s\" is not valid UTF-8", call->operands[i]);
	}
	if (call->operand_count > 0)
		json_object_set(body, "instructions", instructions);
	json_decref(instructions);
	if (is_good)
		return body;
	json_decref(body);
	return NULL;
}

/* One was open already: what of this call it goes on without. */
static void tell_kept(const json_t *takeover)
{
	struct buffer names = {0};
	size_t index;
	json_t *name;
	bool has_note = false;
	json_array_foreach (json_object_get(takeover, "kept"), index, name) {
		has_note |= strcmp(json_string_value(name), "note") == 0;
		buffer_printf(&names, "%s%s", index > 0 ? ", " : "", json_string_value(name));
	}
	if (names.len > 0)
		complain("a takeover is open already and goes on with its own %.*s%s", (int)names.len,
			(const char *)names.data,
			has_note ? "; this note was sent to the person as a message" : "");
	buffer_finish(&names);
}

static int open_takeover(const struct invocation *call, const char *note)
{
	struct http_answer answer = {0};
	int status = post(call, "/v1/takeovers", request_body(call, note), &answer);
	json_t *takeover = status == EXIT_DONE ? client_parse(&answer) : NULL;
	tell_kept(takeover);
	if (takeover != NULL && invocation_value(call, "no-wait") != NULL) {
		const char *url = reply_text(takeover, "url");
		status = call->wants_json ? output_json(answer.body.data, answer.body.len)
					  : output_value(url);
	} else if (takeover != NULL) {
		fprintf(stderr, "%s\n", reply_text(takeover, "url"));
		show_state(takeover);
		status = wait_for_end(call, reply_text(takeover, "id"),
			json_integer_value(json_object_get(takeover, "version")));
	} else if (status == EXIT_DONE) {
		status = EXIT_ERROR;
	}
	json_decref(takeover);
	http_answer_finish(&answer);
	return status;
}

/* The takeover that is open now: cancels it, or waits for its end. */
static int use_open_one(const struct invocation *call, bool cancels)
{
	struct http_answer answer = {0}, cancelled = {0};
	int status = client_get(call, "/v1/status", &answer);
	json_t *reply = status == EXIT_DONE ? client_parse(&answer) : NULL;
	const json_t *takeover = json_object_get(reply, "takeover");
	if (status == EXIT_DONE && !json_is_object(takeover)) {
		complain("no takeover is open; open one with --note TEXT");
		status = EXIT_USAGE;
	} else if (status == EXIT_DONE && cancels) {
		char *target = xasprintf("/v1/takeovers/%s/cancel", reply_text(takeover, "id"));
		status = post(call, target, json_object(), &cancelled);
		if (status == EXIT_DONE && call->wants_json)
			status = output_json(cancelled.body.data, cancelled.body.len);
		free(target);
	} else if (status == EXIT_DONE) {
		show_state(takeover);
		status = wait_for_end(call, reply_text(takeover, "id"),
			json_integer_value(json_object_get(takeover, "version")));
	}
	json_decref(reply);
	http_answer_finish(&answer);
	http_answer_finish(&cancelled);
	return status;
}

/* What belongs to a new takeover means nothing about the one that is open. */
static bool check_usage(const struct invocation *call, const char *note, bool cancels)
{
	const char *extra = call->operand_count > 0                    ? "an instruction"
			    : invocation_value(call, "timeout") != NULL ? "--timeout"
			    : invocation_value(call, "no-wait") != NULL ? "--no-wait"
									: NULL;
	if (cancels && (note != NULL || extra != NULL))
		complain("takeover: --cancel ends the open takeover; it goes with nothing else");
	else if (note == NULL && extra != NULL)
		complain("takeover: %s goes with --note TEXT, which says what the person is to do, and "
			 "why; without it the command waits for the takeover that is open",
			extra);
	else
		return true;
	return false;
}

int command_takeover(const struct invocation *call)
{
	const char *note = invocation_value(call, "note");
	bool cancels = invocation_value(call, "cancel") != NULL;
	if (!check_usage(call, note, cancels))
		return EXIT_USAGE;
	return note != NULL ? open_takeover(call, note) : use_open_one(call, cancels);
}

int command_say(const struct invocation *call)
{
	struct http_answer answer = {0};
	json_t *body = json_object();
	if (!client_set_text(call, body, "text", call->operands[0])) {
		json_decref(body);
		return EXIT_USAGE;
	}
	int status = post(call, "/v1/say", body, &answer);
	if (status == EXIT_DONE && call->wants_json)
		status = output_json(answer.body.data, answer.body.len);
	http_answer_finish(&answer);
	return status;
}

int command_notes(const struct invocation *call)
{
	struct http_answer answer = {0};
	struct buffer target = {0};
	buffer_printf(&target, "/v1/notes");
	client_append_query(&target, call);
	buffer_append(&target, "", 1);
	int status = client_get(call, (const char *)target.data, &answer);
	if (status == EXIT_DONE && call->wants_json) {
		status = output_json(answer.body.data, answer.body.len);
	} else if (status == EXIT_DONE) {
		json_t *reply = client_parse(&answer);
		const json_t *notes = json_object_get(reply, "notes");
		for (size_t i = 0; i < json_array_size(notes); i++) {
			const json_t *note = json_array_get(notes, i);
			output_line("%s %s: %s", reply_text(note, "time"), reply_text(note, "from"),
				reply_text(note, "text"));
		}
		status = reply != NULL ? client_print("", 0, false) : EXIT_ERROR;
		json_decref(reply);
	}
	buffer_finish(&target);
	http_answer_finish(&answer);
	return status;
}
