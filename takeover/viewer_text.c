/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/viewer_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "display/screen.h"
#include "display/typist.h"
#include "display/viewer_input.h"
#include "takeover/viewer.h"

#define TEXT_MAX      4000        /* characters */
#define CLIPBOARD_MAX (64u << 10) /* bytes, either way */
#define ID_MAX        64
#define REMEMBERED    64
/* Texts of a session that wait to be typed. */
#define WAITING_MAX 16

/* What became of a text. */
struct typed {
	uint32_t session; /* 0: a free place */
	char id[ID_MAX + 1];
	bool is_done;
	enum typist_status status;
	size_t count;
};

struct viewer_texts {
	struct typed typed[REMEMBERED];
	int next;
};

/* A text or clipboard on its way to the display thread and back. The viewer may go meanwhile: the
   answer is for its session. */
struct job {
	const struct viewer_host *host;
	uint32_t session;
	char id[ID_MAX + 1];
	struct typist_result result;
};

struct viewer_texts *viewer_texts_create(void)
{
	return xcalloc(1, sizeof(struct viewer_texts));
}

void viewer_texts_destroy(struct viewer_texts *texts)
{
	free(texts);
}

static struct typed *find(struct viewer_texts *texts, uint32_t session, const char *id)
{
	for (int i = 0; i < REMEMBERED; i++) {
		if (texts->typed[i].session == session && strcmp(texts->typed[i].id, id) == 0)
			return &texts->typed[i];
	}
	return NULL;
}

static bool has_too_many(const struct viewer_texts *texts, uint32_t session)
{
	int waiting = 0;
	for (int i = 0; i < REMEMBERED; i++)
		waiting += texts->typed[i].session == session && !texts->typed[i].is_done;
	return waiting >= WAITING_MAX;
}

static void remember(struct viewer_texts *texts, uint32_t session, const char *id)
{
	struct typed *typed = &texts->typed[texts->next];
	texts->next = (texts->next + 1) % REMEMBERED;
	*typed = (struct typed){.session = session};
	strcpy(typed->id, id);
}

static void tell(const struct viewer_host *host, uint32_t session, json_t *message)
{
	host->tell_session(host->arg, session, message);
}

static void tell_failed(const struct viewer_host *host, uint32_t session, const char *id,
	const char *error, const char *message)
{
	tell(host, session,
		json_pack("{s:s, s:s, s:s, s:s}", "t", "text-failed", "id", id, "error", error,
			"message", message));
}

static void tell_outcome(const struct viewer_host *host, const struct typed *typed)
{
	switch (typed->status) {
	case TYPIST_OK:
		tell(host, typed->session,
			json_pack("{s:s, s:s, s:I}", "t", "text-ok", "id", typed->id, "typed",
				(json_int_t)typed->count));
		break;
	case TYPIST_BAD_TEXT:
		tell_failed(host, typed->session, typed->id, "bad_request",
			"it holds a character that cannot be typed");
		break;
	case TYPIST_NOT_HOLDER:
	case TYPIST_CANCELED:
		tell_failed(host, typed->session, typed->id, "not_holder",
			"the screen was given to somebody else before all of it was typed");
		break;
	default:
		tell_failed(host, typed->session, typed->id, "failed",
			"the program on the screen did not take all of it");
	}
}

void viewer_texts_end_session(const struct viewer_host *host, uint32_t session)
{
	for (int i = 0; i < REMEMBERED; i++) {
		struct typed *typed = &host->texts->typed[i];
		if (typed->session != session || typed->is_done)
			continue;
		typed->is_done = true;
		typed->status = TYPIST_CANCELED;
		tell_outcome(host, typed);
	}
}

static void on_typed(void *arg)
{
	struct job *job = arg;
	struct typed *typed = find(job->host->texts, job->session, job->id);
	if (typed != NULL && !typed->is_done) {
		typed->is_done = true;
		typed->status = job->result.status;
		typed->count = job->result.typed;
		tell_outcome(job->host, typed);
	}
	free(job);
}

/* Display thread. */
static void post_typed(void *arg, const struct typist_result *result)
{
	struct job *job = arg;
	job->result = *result;
	loop_post(job->host->loop, on_typed, job);
}

static bool is_holder(struct viewer *viewer)
{
	const struct viewer_host *host = viewer->host;
	host->on_input(host->arg);
	return viewer->role == VIEWER_CONTROL && !viewer->is_ending &&
	       input_gate_now(screen_gate(host->screen)).source == viewer->source;
}

static struct job *job_create(const struct viewer *viewer, const char *id)
{
	struct job *job = xcalloc(1, sizeof(*job));
	job->host = viewer->host;
	job->session = viewer->session;
	strcpy(job->id, id);
	return job;
}

static void type(struct viewer *viewer, const char *id, const char *text, bool has_enter)
{
	const struct viewer_host *host = viewer->host;
	size_t len = strlen(text);
	struct job *job = job_create(viewer, id);
	struct viewer_event event = {.kind = VIEWER_TEXT,
		.ticket = input_gate_now(screen_gate(host->screen)),
		.text = xmalloc(len + 2),
		.text_len = len + has_enter,
		.on_typed = post_typed,
		.on_typed_arg = job};
	memcpy(event.text, text, len);
	memcpy(event.text + len, "\n", 2);
	remember(host->texts, viewer->session, id);
	if (screen_post_viewer_event(host->screen, &event))
		return;
	job->result.status = TYPIST_STUCK;
	on_typed(job);
}

void viewer_on_text(struct viewer *viewer, const json_t *message)
{
	const struct viewer_host *host = viewer->host;
	const char *id = json_string_value(json_object_get(message, "id"));
	const char *text = json_string_value(json_object_get(message, "s"));
	bool has_enter = json_is_true(json_object_get(message, "enter"));
	if (id == NULL || id[0] == '\0' || strlen(id) > ID_MAX) {
		viewer->refused++;
		return;
	}
	const struct typed *typed = find(host->texts, viewer->session, id);
	if (typed != NULL && typed->is_done)
		tell_outcome(host, typed);
	if (typed != NULL)
		return; /* or it is being typed: the word comes when it is */
	if (text == NULL || utf8_count(text, strlen(text)) > TEXT_MAX) {
		tell_failed(host, viewer->session, id, "bad_request",
			"a text may have up to 4000 characters");
	} else if (!is_holder(viewer)) {
		viewer->refused++;
		tell_failed(host, viewer->session, id, "not_holder",
			"you do not hold the screen; take over first");
	} else if (has_too_many(host->texts, viewer->session)) {
		viewer->refused++;
		tell_failed(host, viewer->session, id, "failed",
			"too many texts wait to be typed; send it again later");
	} else {
		type(viewer, id, text, has_enter);
	}
}

static void on_clipboard_read(void *arg, int error, const char *data, size_t len)
{
	struct job *job = arg;
	json_t *message = NULL;
	if (error == 0 && len <= CLIPBOARD_MAX)
		message = json_pack("{s:s, s:s%}", "t", "clipboard", "text", data, len);
	else if (error == -ENOENT)
		message = json_pack("{s:s, s:s}", "t", "clipboard", "text", "");
	if (message == NULL)
		message = json_pack("{s:s, s:s, s:s, s:s}", "t", "error", "for", "clipboard",
			"error", "failed", "message",
			error == 0 ? "the clipboard holds no text of up to 64 KiB"
				   : "the clipboard cannot be read");
	/* Whoever holds the screen by now need not be who asked. */
	job->host->tell_holder(job->host->arg, job->session, message);
	free(job);
}

void viewer_on_clipboard(struct viewer *viewer, const json_t *message)
{
	const struct viewer_host *host = viewer->host;
	const json_t *value = json_object_get(message, "text");
	const char *text = json_string_value(value);
	const char *error = "bad_request", *fault = NULL;
	if (!is_holder(viewer)) {
		error = "not_holder";
		fault = "you do not hold the screen; take over first";
	} else if (value != NULL && text == NULL) {
		fault = "text must be a text";
	} else if (text != NULL && strlen(text) > CLIPBOARD_MAX) {
		fault = "a text for the clipboard may have up to 64 KiB";
	}
	if (fault != NULL) {
		viewer->refused++;
		viewer_tell(viewer, json_pack("{s:s, s:s, s:s, s:s}", "t", "error", "for",
					    "clipboard", "error", error, "message", fault));
		return;
	}
	if (text == NULL) {
		screen_read_clipboard(host->screen, CLIPBOARD_CLIPBOARD, CLIPBOARD_TEXT,
			on_clipboard_read, job_create(viewer, ""));
		return;
	}
	struct viewer_event event = {.kind = VIEWER_CLIPBOARD,
		.ticket = input_gate_now(screen_gate(host->screen)),
		.text = xstrdup(text),
		.text_len = strlen(text)};
	screen_post_viewer_event(host->screen, &event);
}
