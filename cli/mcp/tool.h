/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tool's body works with: its arguments, the daemon, and the result it makes. A body runs on a
 * thread of its own and blocks as it needs to; a call that is cancelled gets -ECANCELED out of whatever
 * it waits for, and what it returns is thrown away. Each function here: the call's own thread.
 */
#ifndef CLI_MCP_TOOL_H
#define CLI_MCP_TOOL_H

#include <jansson.h>
#include <stdbool.h>

#include "base/json.h"

struct boxscreen;
struct boxscreen_answer;
struct boxscreen_request;

/* Which results have structuredContent beside a picture: some clients then show the model nothing else. */
enum structured {
	STRUCTURED_AUTO, /* all, but for clients that are known to drop the picture */
	STRUCTURED_ALWAYS,
	STRUCTURED_NEVER, /* never beside a picture */
};

struct mcp_options {
	const char *socket_path; /* NULL: none is known */
	const char *prefix;      /* of the tools' names: "screen_" or "sandbox_" */
	bool is_sandbox;         /* the tools take the box's id, and more */
	int max_side;            /* of pictures */
	enum structured structured;
};

struct tool_call {
	const struct mcp_options *options; /* the rest borrowed too */
	struct boxscreen *boxscreen;       /* NULL without a socket_path */
	json_t *arguments;                 /* an object; the tool may change it */
	int cancel_fd;                     /* readable once the call is cancelled */

	/* What came of it. */
	json_t *content;    /* a list */
	json_t *structured; /* an object, or NULL */
	bool is_error;
	bool has_picture;
};

/* A row of the table: what tools.json calls `name` is done by `run`. */
struct tool {
	const char *name;
	void (*run)(struct tool_call *call);
};

/*
 * Takes the box's id out of the arguments, where the tools have it, and makes sure that it is this box's.
 * False: the result is an error.
 */
bool tool_check_box(struct tool_call *call);

/* Results. The first error makes the result one; what was added before stays. */
void tool_text(struct tool_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void tool_picture(struct tool_call *call, const char *mime, const char *base64);
void tool_fail(struct tool_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The text with every `from` replaced. The caller frees it. */
char *tool_replace_all(const char *text, const char *from, const char *to);

/* Whether the reader of the arguments is content; else the result is an error. */
bool tool_read_finish(struct tool_call *call, struct json_reader *reader);

/* Told to the client if it asked for that: `progress` must grow from call to call. */
void tool_progress(struct tool_call *call, double progress, const char *message);

/* Waits for so long. False: the call was cancelled. */
bool tool_sleep(struct tool_call *call, int ms);

/* The daemon */

/* How long the daemon may say nothing when it has nothing to wait for. */
#define TOOL_SILENCE_MS 30000
/* A daemon that is started anew is back in that; a call of which nothing was sent is made again. */
#define TOOL_RESTART_MS 3000
#define TOOL_RETRY_MS   100

/*
 * Makes a call with a JSON body (taken; NULL: none) and returns the reply's JSON (NULL for an empty one
 * too), or NULL with the result made an error that says what to do. While a daemon is being started
 * anew it is waited for a moment.
 */
json_t *tool_ask(struct tool_call *call, const char *method, const char *target, json_t *body,
	int silence_ms);

/* The same without judging: 0 or a negative errno, and *answer, which the caller frees. */
int tool_send(struct tool_call *call, struct boxscreen_request *request,
	struct boxscreen_answer **answer);
/* Makes the result an error when the outcome of tool_send is one. Returns whether all is well. */
bool tool_judge(struct tool_call *call, int ret, const struct boxscreen_answer *answer);

/* Bodies */

void tool_shot(struct tool_call *call);
void tool_act(struct tool_call *call);
void tool_type(struct tool_call *call);
void tool_record(struct tool_call *call);
void tool_takeover(struct tool_call *call);
void tool_say(struct tool_call *call);
void tool_status(struct tool_call *call);
void tool_clipboard(struct tool_call *call);
void tool_run(struct tool_call *call);

/* Ends, or begins, a recording for a shot that says so; see tool_record.c. False: it is an error. */
bool tool_record_for_shot(struct tool_call *call, const char *what, json_t **out);

#endif
