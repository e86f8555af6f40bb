/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boxscreen events: follows the daemon's event stream, through restarts of the daemon, asking each
 * time for what came after the last event seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "client/boxscreen.h"

#define RETRY_FIRST_MS 100
#define RETRY_MAX_MS   2000

struct follower {
	const struct invocation *call;
	char *last_id; /* of the last event; NULL before the first */
	int retry_ms;  /* until the next attempt, when one fails */
	bool was_connected; /* before that a failure is the command's failure */
	bool is_output_broken;
};

static int print_json(const struct boxscreen_event *event)
{
	json_t *data = json_loads(event->data, JSON_DECODE_ANY, NULL);
	if (data == NULL)
		data = json_string(event->data);
	json_t *line = json_pack("{s:s,s:s,s:o}", "id", event->id, "event", event->type, "data",
		data != NULL ? data : json_null());
	/* NULL: an id or type that is no UTF-8, of something that is not boxscreend. */
	int status = line != NULL ? output_object(line) : EXIT_DONE;
	json_decref(line);
	return status;
}

static int print_human(const struct boxscreen_event *event)
{
	char when[16] = "";
	time_t now = time(NULL);
	struct tm local;
	if (localtime_r(&now, &local) != NULL)
		strftime(when, sizeof(when), "%H:%M:%S", &local);
	/* The data is JSON, and stays it. */
	char *data = output_escape(event->data, strlen(event->data), OUTPUT_JSON, NULL);
	output_line("%s %s %s", when, event->type, data);
	free(data);
	return client_print("", 0, false); /* now, not when there is enough of it */
}

static int on_event(void *arg, const struct boxscreen_event *event)
{
	struct follower *follower = arg;
	follower->retry_ms = RETRY_FIRST_MS;
	free(follower->last_id);
	follower->last_id = xstrdup(event->id);
	int status = follower->call->wants_json ? print_json(event) : print_human(event);
	follower->is_output_broken |= status != EXIT_DONE;
	return follower->is_output_broken;
}

/* Until the connection ends; *answer is what client_judge takes. */
static int connect_once(struct follower *follower, struct http_answer *answer)
{
	struct boxscreen *boxscreen;
	int ret = boxscreen_open(follower->call->socket_path, &boxscreen);
	if (ret < 0)
		return ret;
	ret = boxscreen_events(boxscreen, follower->last_id, on_event, follower, &answer->whole);
	boxscreen_close(boxscreen);
	http_answer_look(answer);
	if (answer->status == 200) {
		follower->was_connected = true;
		follower->retry_ms = RETRY_FIRST_MS;
	}
	return ret;
}

/* Waits before the next attempt, a little longer each time; says so once. */
static void pause_before_retry(struct follower *follower)
{
	if (follower->retry_ms == RETRY_FIRST_MS)
		complain("the daemon closed the connection; waiting for it to come back");
	const struct timespec pause = {
		follower->retry_ms / 1000, follower->retry_ms % 1000 * 1000000L};
	nanosleep(&pause, NULL);
	follower->retry_ms *= 2;
	if (follower->retry_ms > RETRY_MAX_MS)
		follower->retry_ms = RETRY_MAX_MS;
}

static bool is_worth_retrying(int error, int http_status)
{
	if (http_status >= 400)
		return http_status == 503 || http_status == 429;
	return error == 0 || error == -ECONNRESET || error == -ECONNREFUSED || error == -ENOENT;
}

int command_events(const struct invocation *call)
{
	struct follower follower = {
		.call = call,
		.retry_ms = RETRY_FIRST_MS,
	};
	int status = EXIT_ERROR;
	for (;;) {
		struct http_answer answer = {0};
		int ret = connect_once(&follower, &answer);
		bool goes_on = follower.was_connected && !follower.is_output_broken &&
			       is_worth_retrying(ret, answer.status);
		if (!goes_on && !follower.is_output_broken)
			status = client_judge(call, ret, &answer);
		http_answer_finish(&answer);
		if (!goes_on)
			break;
		pause_before_retry(&follower);
	}
	free(follower.last_id);
	return status;
}
