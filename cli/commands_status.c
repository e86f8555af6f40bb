/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boxscreen status: the daemon's state in a few lines for a person. */
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"

static const char *string_at(const json_t *object, const char *name, const char *fallback)
{
	const char *value = json_string_value(json_object_get(object, name));
	return value != NULL ? value : fallback;
}

static json_int_t int_at(const json_t *object, const char *name)
{
	return (json_int_t)json_number_value(json_object_get(object, name));
}

static bool is_ready(const json_t *status)
{
	return strcmp(string_at(json_object_get(status, "screen"), "state", ""), "ready") == 0;
}

static void print_screen(const json_t *status)
{
	const json_t *screen = json_object_get(status, "screen");
	const char *display = string_at(status, "display", "(no display)");
	if (is_ready(status))
		output_line("screen      %s, %lldx%lld, depth %lld, ready", display,
			(long long)int_at(screen, "width"), (long long)int_at(screen, "height"),
			(long long)int_at(screen, "depth"));
	else
		output_line("screen      %s, not ready: waiting for its X server", display);
}

static void print_control(const json_t *status)
{
	const json_t *control = json_object_get(status, "control");
	bool is_locked = json_is_true(json_object_get(control, "locked"));
	const char *since = string_at(control, "since", NULL);
	output_line("control     %s%s%s%s", string_at(control, "holder", "agent"),
		is_locked ? ", locked" : "", since != NULL ? " since " : "",
		since != NULL ? since : "");
	const json_t *takeover = json_object_get(status, "takeover");
	if (json_is_object(takeover))
		output_line("takeover    %s: %s", string_at(takeover, "state", "open"),
			string_at(takeover, "note", ""));
}

static void print_recordings(const json_t *status)
{
	size_t index;
	json_t *recording;
	json_array_foreach (json_object_get(status, "recording"), index, recording)
		output_line("recording   %s, %s: %s", string_at(recording, "id", "?"),
			string_at(recording, "state", "recording"),
			string_at(recording, "path", ""));
}

static void print_viewers(const json_t *status)
{
	size_t index;
	json_t *viewer;
	json_array_foreach (json_object_get(status, "viewers"), index, viewer) {
		char away[32] = "";
		if (json_is_integer(json_object_get(viewer, "rtt_ms")))
			snprintf(away, sizeof(away), ", %lld ms away",
				(long long)int_at(viewer, "rtt_ms"));
		output_line("viewer      %lld, may %s, %s, %lld fps, %lld kbit/s%s",
			(long long)int_at(viewer, "id"), string_at(viewer, "role", "view"),
			string_at(viewer, "encoding", "no picture yet"),
			(long long)int_at(viewer, "fps"), (long long)int_at(viewer, "kbps"), away);
	}
}

static void print_daemon(const json_t *status)
{
	long long uptime_s = int_at(status, "uptime_s");
	const char *box_id = string_at(status, "box_id", "");
	output_line("daemon      boxscreend %s, up %lld:%02lld:%02lld%s%s",
		string_at(status, "version", "?"), uptime_s / 3600, uptime_s / 60 % 60,
		uptime_s % 60, box_id[0] != '\0' ? ", box " : "", box_id);
}

int command_status(const struct invocation *call)
{
	struct http_answer answer = {0};
	int exit_status = client_get(call, "/v1/status", &answer);
	if (exit_status != EXIT_DONE)
		goto out;
	json_t *status = client_parse(&answer);
	if (status == NULL) {
		exit_status = EXIT_ERROR;
		goto out;
	}
	if (call->wants_json) {
		exit_status = output_json(answer.body.data, answer.body.len);
	} else {
		print_screen(status);
		print_control(status);
		print_recordings(status);
		print_viewers(status);
		print_daemon(status);
	}
	if (exit_status == EXIT_DONE && !is_ready(status))
		exit_status = EXIT_UNAVAILABLE;
	json_decref(status);
out:
	http_answer_finish(&answer);
	return exit_status;
}
