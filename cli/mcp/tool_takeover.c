/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_takeover and screen_say. The takeover is the daemon's: a call that is cut off leaves it open, the
 * next one goes on waiting, and an outcome that came in between is told by the next one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/mcp/picture.h"
#include "cli/mcp/tool.h"
#include "cli/replies.h"
#include "client/boxscreen.h"

#define WAIT_DEFAULT_S 1800
#define WAIT_MAX_S     86400
/* A sign of life so often: clients that count silence as hanging wait for a minute. */
#define BEAT_S         15
#define ANSWER_MS      15000
#define RETRY_FIRST_MS 100
#define RETRY_MAX_MS   2000

struct takeover_wish {
	const char *note;
	const json_t *instructions;
	int timeout_s, wait_s;
	bool has_timeout, cancels;
};

struct wait {
	struct tool_call *call;
	char id[64];
	char *url;    /* for people; NULL while none was made for this call */
	char *words;  /* how it stands */
	json_int_t version;
	int64_t begun_us, end_us;
};

static bool read_wish(struct tool_call *call, struct takeover_wish *wish)
{
	struct json_reader reader;
	json_reader_init(&reader, call->arguments, "");
	*wish = (struct takeover_wish){.wait_s = WAIT_DEFAULT_S};
	json_read_string(&reader, "note", &wish->note);
	if (json_read_any(&reader, "instructions", &wish->instructions) && wish->note == NULL)
		json_reader_fail(&reader, "instructions", "go with a note");
	wish->has_timeout = json_read_int(&reader, "timeout_s", 1, WAIT_MAX_S, &wish->timeout_s);
	json_read_int(&reader, "wait_s", 0, WAIT_MAX_S, &wish->wait_s);
	json_read_bool(&reader, "cancel", &wish->cancels);
	if (wish->cancels && wish->note != NULL)
		json_reader_fail(&reader, "cancel", "gives the open takeover up; it takes no note");
	return tool_read_finish(call, &reader);
}

static json_t *facts_of(const json_t *takeover, const char *url)
{
	static const char *const members[] = {"id", "state", "note", "outcome", "message", "held_s",
		"created_at", "expires_at", "ended_at", NULL};
	json_t *facts = reply_members(takeover, members);
	if (url != NULL)
		json_object_set_new(facts, "url", json_string(url));
	return facts;
}

/* The end */

/* Whoever opened the takeover may have asked for a larger picture than a model takes. */
static bool is_small_enough(const struct tool_call *call, const json_t *shot)
{
	return json_integer_value(json_object_get(shot, "width")) <= call->options->max_side &&
	       json_integer_value(json_object_get(shot, "height")) <= call->options->max_side;
}

static void add_picture(struct tool_call *call, const json_t *takeover)
{
	const json_t *shot = json_object_get(takeover, "shot");
	struct space space;
	json_t *picture = NULL;
	if (!json_is_object(shot))
		return;
	if (space_ask(call, &space))
		picture = is_small_enough(call, shot) ? picture_add(call, &space, shot)
						      : picture_take(call, &space, NULL);
	if (picture != NULL)
		json_object_set_new(call->structured, "picture", picture);
	call->is_error = false; /* the screen is handed back all the same, and that is told */
}

/* It has ended: what came of it. */
static void tell_end(struct tool_call *call, const json_t *takeover)
{
	const char *state = reply_text(takeover, "state"), *message = reply_text(takeover, "message");
	call->structured = facts_of(takeover, NULL);
	if (strcmp(state, "handed_back") == 0) {
		tool_text(call, "Handed back: %s%s%s", reply_text(takeover, "outcome"),
			message[0] != '\0' ? ". The person writes: " : ", without a message.", message);
		add_picture(call, takeover);
	} else if (strcmp(state, "expired") == 0) {
		tool_fail(call, "Nobody handed the screen back before the link's time was over. Call again "
				"with a note to ask anew.");
	} else {
		tool_fail(call, "The takeover was cancelled. The screen is yours.");
	}
}

/* Waiting */

static void beat(struct wait *wait)
{
	double waited_s = (double)(clock_monotonic_us() - wait->begun_us) / 1e6;
	char *message = xasprintf("%s%s%s", wait->words, wait->url != NULL ? ": " : "",
		wait->url != NULL ? wait->url : "");
	tool_progress(wait->call, waited_s, message);
	free(message);
}

static void set_words(struct wait *wait, char *words)
{
	free(wait->words);
	wait->words = words;
}

/* Asks until there is something new, or for BEAT_S. What tool_send returns. */
static int ask(struct wait *wait, struct boxscreen_answer **answer)
{
	int64_t left_s = (wait->end_us - clock_monotonic_us() + 999999) / 1000000;
	int wait_s = left_s > BEAT_S ? BEAT_S : left_s > 0 ? (int)left_s : 0;
	char *target = xasprintf("/v1/takeovers/%s?wait_s=%d&since=%lld&shot=1", wait->id, wait_s,
		(long long)wait->version);
	struct boxscreen_request *request = boxscreen_request_new("GET", target);
	boxscreen_request_set_silence(request, wait_s * 1000 + ANSWER_MS);
	int ret = tool_send(wait->call, request, answer);
	boxscreen_request_free(request);
	free(target);
	return ret;
}

/* The time of this call is over, the takeover's is not. */
static void tell_still_open(struct wait *wait, const json_t *takeover)
{
	wait->call->structured = facts_of(takeover, wait->url);
	tool_text(wait->call,
		"Not handed back yet: %s. The takeover stays open; call this again (a note is not "
		"needed) to go on waiting.%s%s",
		wait->words, wait->url != NULL ? " The link: " : "", wait->url != NULL ? wait->url : "");
}

/* What the daemon said; true when the call has its result. */
static bool take_answer(struct wait *wait, const struct boxscreen_answer *answer)
{
	size_t len;
	const char *body = boxscreen_answer_body(answer, &len);
	json_t *takeover = json_loadb(body, len, 0, NULL);
	char *words = reply_takeover_words(takeover);
	bool has_ended = words == NULL;
	wait->version = json_integer_value(json_object_get(takeover, "version"));
	if (has_ended)
		tell_end(wait->call, takeover);
	else
		set_words(wait, words);
	bool is_over = has_ended || clock_monotonic_us() >= wait->end_us;
	if (is_over && !has_ended)
		tell_still_open(wait, takeover);
	json_decref(takeover);
	return is_over;
}

/* Whether to ask again in a moment: nothing is lost meanwhile. */
static bool comes_later(struct wait *wait, int ret, const struct boxscreen_answer *answer)
{
	bool is_crowded = ret == 0 && boxscreen_answer_status(answer) == 429;
	if ((!is_crowded && !reply_may_come_later(ret)) || clock_monotonic_us() >= wait->end_us)
		return false;
	set_words(wait, xstrdup(is_crowded
			? "too many calls wait at the daemon; trying again"
			: "the daemon does not answer; waiting for it to come back"));
	return true;
}

/* Waits for the end, however often the connection breaks. `takeover`: as it stands now. */
static void wait_for_end(struct wait *wait, const json_t *takeover, int wait_s)
{
	int retry_ms = RETRY_FIRST_MS;
	bool is_over = false;
	snprintf(wait->id, sizeof(wait->id), "%s", reply_text(takeover, "id"));
	wait->version = json_integer_value(json_object_get(takeover, "version"));
	wait->begun_us = clock_monotonic_us();
	wait->end_us = wait->begun_us + wait_s * 1000000ll;
	set_words(wait, reply_takeover_words(takeover));
	if (wait->words == NULL)
		set_words(wait, xstrdup("waiting"));
	while (!is_over) {
		struct boxscreen_answer *answer;
		beat(wait);
		int ret = ask(wait, &answer);
		if (comes_later(wait, ret, answer)) {
			is_over = !tool_sleep(wait->call, retry_ms);
			retry_ms = retry_ms * 2 < RETRY_MAX_MS ? retry_ms * 2 : RETRY_MAX_MS;
		} else {
			retry_ms = RETRY_FIRST_MS;
			is_over = !tool_judge(wait->call, ret, answer) || take_answer(wait, answer);
		}
		boxscreen_answer_free(answer);
	}
}

/* What to wait for */

/* How the newest takeover ended. This way the daemon learns that it has been told, and adds a picture. */
static void tell_again(struct tool_call *call, const json_t *last)
{
	char *target = xasprintf("/v1/takeovers/%s?shot=1", reply_text(last, "id"));
	json_t *takeover = tool_ask(call, "GET", target, NULL, TOOL_SILENCE_MS);
	free(target);
	if (takeover != NULL) {
		tool_text(call, "This is what became of the takeover \"%s\", which ended at %s. Nothing new "
				"was asked: call again with a note if you need a person once more.",
			reply_text(takeover, "note"), reply_text(takeover, "ended_at"));
		tell_end(call, takeover);
	}
	json_decref(takeover);
}

/*
 * None is open. What became of the last one, if nobody has been told since the caller who waited for it
 * was cut off, or if nothing else is wanted. False: there is no such.
 */
static bool tell_last(struct tool_call *call, bool wants_nothing_else)
{
	json_t *reply = tool_ask(call, "GET", "/v1/takeovers", NULL, TOOL_SILENCE_MS);
	const json_t *last = json_array_get(json_object_get(reply, "takeovers"), 0);
	bool is_unheard = json_is_true(json_object_get(last, "unheard")) &&
			  strcmp(reply_text(last, "state"), "handed_back") == 0;
	bool is_told = last != NULL && (is_unheard || wants_nothing_else);
	if (is_told)
		tell_again(call, last);
	json_decref(reply);
	return is_told || call->is_error;
}

/* The takeover that is open now, or NULL (no error). */
static json_t *find_open(struct tool_call *call)
{
	json_t *status = tool_ask(call, "GET", "/v1/status", NULL, TOOL_SILENCE_MS);
	json_t *takeover = json_incref(json_object_get(status, "takeover"));
	json_decref(status);
	if (json_is_object(takeover))
		return takeover;
	json_decref(takeover);
	return NULL;
}

static void ask_person(struct wait *wait, const struct takeover_wish *wish)
{
	json_t *body = json_pack("{s:s}", "note", wish->note);
	if (wish->instructions != NULL)
		json_object_set(body, "instructions", (json_t *)(uintptr_t)wish->instructions);
	if (wish->has_timeout)
		json_object_set_new(body, "timeout_s", json_integer(wish->timeout_s));
	json_object_set_new(body, "shot",
		json_pack("{s:i}", "max_side", wait->call->options->max_side));
	json_t *takeover = tool_ask(wait->call, "POST", "/v1/takeovers", body, TOOL_SILENCE_MS);
	if (takeover != NULL) {
		wait->url = xstrdup(reply_text(takeover, "url"));
		if (json_is_true(json_object_get(takeover, "resumed")))
			tool_text(wait->call, "A takeover was open already, for \"%s\": this call went on "
					      "waiting for that one. A new note reached the person as a "
					      "message; steps and times stayed as they were.",
				reply_text(takeover, "note"));
		wait_for_end(wait, takeover, wish->wait_s);
	}
	json_decref(takeover);
}

/* Another link for the same takeover: what was told to the caller before is not here. */
static void add_link(struct wait *wait, const json_t *takeover)
{
	json_t *reply = tool_ask(wait->call, "POST", "/v1/takeovers",
		json_pack("{s:s}", "note", reply_text(takeover, "note")), TOOL_SILENCE_MS);
	if (reply != NULL)
		wait->url = xstrdup(reply_text(reply, "url"));
	json_decref(reply);
}

static void cancel(struct tool_call *call, const json_t *takeover)
{
	char *target = xasprintf("/v1/takeovers/%s/cancel", reply_text(takeover, "id"));
	json_t *reply = tool_ask(call, "POST", target, json_object(), TOOL_SILENCE_MS);
	if (reply != NULL) {
		call->structured = facts_of(reply, NULL);
		tool_text(call, "The takeover is given up; its link opens nothing any more.");
	}
	json_decref(reply);
	free(target);
}

void tool_takeover(struct tool_call *call)
{
	struct takeover_wish wish;
	struct wait wait = {.call = call};
	if (!read_wish(call, &wish))
		return;
	json_t *open = find_open(call);
	if (call->is_error)
		return;
	if (wish.cancels && open != NULL) {
		cancel(call, open);
	} else if (open == NULL && !wish.cancels && tell_last(call, wish.note == NULL)) {
		/* That is the result. */
	} else if (wish.note != NULL) {
		ask_person(&wait, &wish);
	} else if (open != NULL) {
		add_link(&wait, open);
		if (!call->is_error)
			wait_for_end(&wait, open, wish.wait_s);
	} else {
		tool_fail(call, "No takeover is open. Give a note that says what a person is to do, and "
				"why.");
	}
	json_decref(open);
	free(wait.url);
	free(wait.words);
}

void tool_say(struct tool_call *call)
{
	struct json_reader reader;
	const char *text = NULL;
	json_reader_init(&reader, call->arguments, "");
	if (!json_read_string(&reader, "text", &text))
		json_reader_fail(&reader, "text", "is missing: what the people at the screen's page shall read");
	if (!tool_read_finish(call, &reader))
		return;
	json_t *reply = tool_ask(call, "POST", "/v1/say", json_pack("{s:s}", "text", text), TOOL_SILENCE_MS);
	if (reply != NULL) {
		tool_text(call, "Said to the people at the screen's page, and as a subtitle in recordings.");
		call->structured = json_pack("{s:O}", "id", json_object_get(reply, "id"));
	}
	json_decref(reply);
}
