/* SPDX-License-Identifier: GPL-2.0-or-later */
/* POST /v1/act: actions, then quiet, then a picture, in one call. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "base/loop.h"
#include "capture/shot.h"
#include "display/frame.h"
#include "display/rect.h"
#include "display/screen.h"
#include "service/agent_step.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/lock.h"
#include "service/reply.h"
#include "service/service.h"
#include "service/shot_json.h"
#include "takeover/steps.h"

/* On top of what the actions ask for: for a slow program to take its keys, and to encode. */
#define GRACE_MS 12000
/* A character of text takes less than this into any program measured. */
#define CHARACTER_MS 20
/* Of the names of its actions a batch's chapter and step have about so many. */
#define MARK_BYTES 60

struct act_job {
	struct service *service;
	struct call *call;
	uint64_t batch;
	bool is_running;              /* on the screen: can be canceled there */
	struct action_space space;
	struct action_list actions;   /* their names, for the answer */
	size_t action_count;
	const char **names;           /* static strings, one an action */
	struct act_options act;
	struct shot_options shot;
	bool is_changed_only;         /* of the shot's area only what changed */
	struct act_report report;
	struct buffer *pictures;      /* one a result, then the last shot */
	struct shot_geometry *geometries;
	struct shot_options *picture_options;
	int error;                    /* of encoding */
};

static void job_free(struct act_job *job)
{
	for (size_t i = 0; job->pictures != NULL && i <= job->action_count; i++)
		buffer_finish(&job->pictures[i]);
	free(job->pictures);
	free(job->geometries);
	free(job->picture_options);
	free(job->names);
	action_list_finish(&job->actions);
	act_report_finish(&job->report);
	call_end(job->call);
	free(job);
}

static void on_gone(void *arg)
{
	struct act_job *job = arg;
	if (job->is_running)
		screen_cancel_act(job->service->screen, job->batch);
}

/* A screenshot in the middle of a batch has the size that the caller speaks in; a zoomed part is
   as large as fits into it. */
static struct shot_options result_picture_options(
	const struct act_job *job, const struct frame_reply *frame)
{
	struct shot_options options = shot_defaults;
	double scale_x = (double)job->space.shown_width / frame->area.width;
	double scale_y = (double)job->space.shown_height / frame->area.height;
	options.scale = scale_x < scale_y ? scale_x : scale_y;
	if (options.scale > 8)
		options.scale = 8;
	return options;
}

static void encode_one(struct act_job *job, size_t slot, const struct shot_options *options,
	const struct frame_reply *frame)
{
	job->picture_options[slot] = *options;
	if (!shot_plan(options, frame, &job->geometries[slot]))
		job->error = -EOVERFLOW;
	if (job->error == 0)
		job->error = shot_render(
			options, frame, &job->geometries[slot], &job->pictures[slot]);
}

static bool wants_final_picture(const struct act_job *job)
{
	const struct act_report *report = &job->report;
	if (!report->has_shot || report->shot.error != 0)
		return false;
	if (job->is_changed_only)
		return !rect_is_empty(&report->shot_changed);
	/* The pointer is part of a picture that shows it, and moves without changing the screen. */
	return !rect_is_empty(&report->changed) || job->shot.frame.want_cursor;
}

/* On a pool thread. */
static void encode(void *arg)
{
	struct act_job *job = arg;
	for (size_t i = 0; i < job->report.done_count && job->error == 0; i++) {
		const struct act_result *result = &job->report.results[i];
		if (result->has_frame) {
			struct shot_options options = result_picture_options(job, &result->frame);
			encode_one(job, i, &options, &result->frame);
		}
	}
	if (job->error == 0 && wants_final_picture(job))
		encode_one(job, job->action_count, &job->shot, &job->report.shot);
}

static const char *wait_end_name(enum frame_wait_end end)
{
	return end == FRAME_END_STABLE ? "stable" : end == FRAME_END_CHANGED ? "changed" : "timeout";
}

static json_t *result_json(const struct act_job *job, size_t i)
{
	const struct act_result *result = &job->report.results[i];
	json_t *object = json_pack("{s:s}", "action", job->names[i]);
	if (result->typed > 0) {
		json_object_set_new(object, "typed", json_integer((json_int_t)result->typed));
		json_object_set_new(object, "pasted", json_integer((json_int_t)result->pasted));
	}
	if (result->has_point) {
		struct action_point shown = action_point_shown(&job->space, result->point);
		json_object_set_new(object, "x", json_integer(shown.x));
		json_object_set_new(object, "y", json_integer(shown.y));
	}
	if (result->end != FRAME_END_NONE)
		json_object_set_new(object, "end", json_string(wait_end_name(result->end)));
	if (result->has_frame)
		json_object_set_new(object, "picture",
			shot_picture_json(&job->picture_options[i], &job->geometries[i],
				&job->pictures[i]));
	return object;
}

static json_t *results_json(const struct act_job *job)
{
	json_t *list = json_array();
	for (size_t i = 0; i < job->report.done_count; i++)
		json_array_append_new(list, result_json(job, i));
	return list;
}

static json_t *time_json(int64_t ms)
{
	return ms >= 0 ? json_integer(ms) : json_null();
}

/* As `region` of a shot takes it; null when nothing is in it. */
static json_t *rect_json(const struct rect *rect)
{
	return rect_is_empty(rect) ? json_null()
				   : json_pack("[iiii]", rect->x, rect->y, rect->width, rect->height);
}

static void add_changes(const struct act_job *job, json_t *answer)
{
	const struct act_report *report = &job->report;
	if (job->act.has_settle || job->act.has_shot) {
		json_object_set_new(
			answer, "changed", json_boolean(!rect_is_empty(&report->changed)));
		json_object_set_new(answer, "changed_region", rect_json(&report->changed));
		json_object_set_new(answer, "changed_at_ms", time_json(report->changed_at_ms));
	}
	if (job->act.has_settle)
		json_object_set_new(answer, "settled_at_ms", time_json(report->settled_at_ms));
	if (job->act.has_settle && report->settled_at_ms < 0)
		json_object_set_new(answer, "still_changing", rect_json(&report->still_changing));
}

static void answer_done(struct act_job *job, struct http_request *request)
{
	const struct act_report *report = &job->report;
	json_t *answer = json_pack("{s:I, s:o}", "done", (json_int_t)report->done_count, "results",
		results_json(job));
	add_changes(job, answer);
	if (wants_final_picture(job))
		json_object_set_new(answer, "shot",
			shot_picture_json(&job->shot, &job->geometries[job->action_count],
				&job->pictures[job->action_count]));
	else if (report->has_shot && report->shot.error == 0)
		json_object_set_new(answer, "shot", json_string("unchanged"));
	else if (report->has_shot)
		json_object_set_new(answer, "shot_error",
			json_string("the area of the shot is not on the screen (no such window, or "
				    "outside)"));
	reply_json(request, 200, answer);
}

static enum reply_code code_of(enum act_status status)
{
	switch (status) {
	case ACT_LOCKED:
		return REPLY_LOCKED;
	case ACT_NO_SCREEN:
		return REPLY_SCREEN_UNAVAILABLE;
	case ACT_REFUSED: /* not 400: what stood before it has been done */
		return REPLY_CONFLICT;
	case ACT_STUCK:
		return REPLY_TIMEOUT;
	case ACT_NO_INPUT:
		return REPLY_CONFLICT;
	default:
		return REPLY_INTERNAL;
	}
}

/* The error names the action that failed and tells what the ones before it did. */
static void answer_failed(struct act_job *job, struct http_request *request)
{
	const struct act_report *report = &job->report;
	enum reply_code code = code_of(report->status);
	size_t index = report->done_count;
	char *message = index < job->action_count
				? xasprintf("actions[%zu] (%s): %s", index, job->names[index],
					  report->message)
				: xstrdup(report->message);
	json_t *answer = code == REPLY_LOCKED ? lock_error_json(job->service, message)
					      : reply_error_json(code, message);
	free(message);
	json_object_set_new(answer, "done", json_integer((json_int_t)index));
	if (index < job->action_count)
		json_object_set_new(answer, "failed", json_integer((json_int_t)index));
	json_object_set_new(answer, "results", results_json(job));
	reply_json(request, reply_status(code), answer);
}

static void answer(struct act_job *job)
{
	struct http_request *request = call_request(job->call);
	if (request == NULL)
		return;
	if (job->error != 0)
		reply_error(request, REPLY_INTERNAL,
			"the actions were done, but a picture could not be made: %s",
			strerror(-job->error));
	else if (job->report.status == ACT_OK)
		answer_done(job, request);
	else
		answer_failed(job, request);
}

static void on_encoded(void *arg)
{
	struct act_job *job = arg;
	answer(job);
	job_free(job);
}

static bool has_pictures(const struct act_job *job)
{
	bool has_frames = wants_final_picture(job);
	for (size_t i = 0; i < job->report.done_count; i++)
		has_frames |= job->report.results[i].has_frame;
	return has_frames;
}

/* A person has taken over since the last action: what the screen showed is not for the agent now. */
static void drop_pictures(struct act_job *job)
{
	struct act_report *report = &job->report;
	for (size_t i = 0; i < report->done_count; i++) {
		if (report->results[i].has_frame)
			frame_reply_finish(&report->results[i].frame);
		report->results[i].has_frame = false;
	}
	if (report->has_shot)
		frame_reply_finish(&report->shot);
	report->has_shot = false;
	if (report->status == ACT_OK) {
		report->status = ACT_LOCKED;
		snprintf(report->message, sizeof(report->message), "%s",
			"the actions were done, but a person has taken the screen over since");
	}
}

static void on_done(void *arg, struct act_report *report)
{
	struct act_job *job = arg;
	job->is_running = false;
	job->report = *report;
	if (job->is_changed_only && wants_final_picture(job))
		job->report.shot.area = report->shot_changed;
	if (has_pictures(job) && lock_hides(job->service))
		drop_pictures(job);
	if (has_pictures(job) && call_request(job->call) != NULL) {
		job->pictures = xcalloc(job->action_count + 1, sizeof(job->pictures[0]));
		job->geometries = xcalloc(job->action_count + 1, sizeof(job->geometries[0]));
		job->picture_options =
			xcalloc(job->action_count + 1, sizeof(job->picture_options[0]));
		loop_work(job->service->loop, encode, on_encoded, job);
		return;
	}
	answer(job);
	job_free(job);
}

/* {"width","height"}: the picture that the coordinates are of. */
static void read_space(struct json_reader *reader, struct action_space *space)
{
	struct json_reader inner;
	json_read_int(reader, "display_width_px", 1, 65535, &space->shown_width);
	json_read_int(reader, "display_height_px", 1, 65535, &space->shown_height);
	if (!json_reader_enter(reader, "space", &inner))
		return;
	if (!json_read_int(&inner, "width", 1, 65535, &space->shown_width))
		json_reader_fail(&inner, "width", "is missing");
	if (!json_read_int(&inner, "height", 1, 65535, &space->shown_height))
		json_reader_fail(&inner, "height", "is missing");
	json_reader_leave(reader, "space", &inner);
}

static void read_settle(struct json_reader *reader, struct act_options *act)
{
	struct json_reader inner;
	act->settle_quiet_ms = 150;
	act->settle_timeout_ms = 5000;
	act->has_settle = json_reader_enter(reader, "settle", &inner);
	if (!act->has_settle)
		return;
	json_read_int(&inner, "quiet_ms", 10, 60000, &act->settle_quiet_ms);
	json_read_int(&inner, "timeout_ms", 0, 120000, &act->settle_timeout_ms);
	if (act->settle_timeout_ms < act->settle_quiet_ms)
		json_reader_fail(&inner, "timeout_ms", "must not be shorter than quiet_ms (%d)",
			act->settle_quiet_ms);
	json_reader_leave(reader, "settle", &inner);
}

static void read_shot(struct json_reader *reader, struct act_job *job)
{
	struct json_reader inner;
	job->shot = shot_defaults;
	job->act.has_shot = json_reader_enter(reader, "shot", &inner);
	if (!job->act.has_shot)
		return;
	shot_options_read(&inner, &job->shot);
	json_read_bool(&inner, "changed_only", &job->is_changed_only);
	/* What changed is known once it has come to rest. */
	if (job->is_changed_only && job->shot.frame.wait == FRAME_WAIT_NONE)
		job->act.has_settle = true;
	const char *fault = shot_options_check(&job->shot);
	if (fault != NULL)
		json_reader_fail(&inner, "timeout_ms", "%s", fault);
	json_reader_leave(reader, "shot", &inner);
	job->act.shot = job->shot.frame;
}

static void read_own(struct json_reader *reader, struct act_job *job, const json_t **actions)
{
	json_read_any(reader, "actions", actions);
	read_space(reader, &job->space);
	read_settle(reader, &job->act);
	read_shot(reader, job);
}

/* Fills the job from the body; false with a sentence. */
static bool read_body(struct act_job *job, const json_t *body, char *error, size_t error_size)
{
	const json_t *actions = body;
	/* A vendor's block with "actions" has members of its own; it is unwrapped like the others. */
	bool is_own = json_object_get(body, "actions") != NULL && json_object_get(body, "type") == NULL;
	if (is_own) {
		struct json_reader reader;
		json_reader_init(&reader, body, "");
		read_own(&reader, job, &actions);
		if (!json_reader_finish(&reader)) {
			snprintf(error, error_size, "%s", reader.error);
			return false;
		}
	}
	return action_list_parse(actions, &job->space, &job->actions, error, error_size);
}

/* Its parts "Action" and "Actions" are written by openapi.c. */
json_t *body_act(void)
{
	struct act_job job = {0};
	struct json_reader reader;
	const json_t *actions = NULL;
	json_reader_describe(&reader);
	read_own(&reader, &job, &actions);
	json_t *own = json_reader_take_schema(&reader);
	json_schema_extend(own, "actions", "{\"$ref\":\"#/components/schemas/Actions\"}");
	json_schema_require(own, "actions");
	return json_pack("{s:[o, {s:s}]}", "anyOf", own, "$ref", "#/components/schemas/Actions");
}

/* How long the batch may take at most before it counts as hanging. */
static int time_allowance_ms(const struct act_job *job)
{
	int64_t ms = GRACE_MS + (job->act.has_settle ? job->act.settle_timeout_ms : 0);
	if (job->act.has_shot)
		ms += job->act.shot.timeout_ms;
	for (size_t i = 0; i < job->actions.count; i++) {
		const struct action *action = &job->actions.items[i];
		ms += action->duration_ms + action->timeout_ms + 200;
		ms += (int64_t)action->text_len * (action->delay_ms + CHARACTER_MS);
		ms += (int64_t)action->path_count * 200 + action->count * 40;
		ms += action->type == ACTION_CLICK && action->count > 1 ? ACTION_CLICKS_APART_MS : 0;
	}
	return ms > 3600000 ? 3600000 : (int)ms;
}

/* The actions' names, each run of the same once. */
static void write_names(const struct act_job *job, struct buffer *text)
{
	for (size_t i = 0; i < job->action_count && text->len < MARK_BYTES; i++) {
		if (i == 0 || strcmp(job->names[i], job->names[i - 1]) != 0)
			buffer_printf(text, "%s%s", i > 0 ? ", " : "", job->names[i]);
	}
	buffer_append(text, "", 1);
}

static bool is_acting(const struct action *action)
{
	switch (action->type) {
	case ACTION_WAIT:
	case ACTION_WAIT_STABLE:
	case ACTION_WAIT_CHANGE:
	case ACTION_SCREENSHOT:
	case ACTION_ZOOM:
	case ACTION_CURSOR_POSITION:
		return false;
	default:
		return true;
	}
}

/* For those who look on. A batch that only looks is no step of its own. */
static void tell_watchers(const struct act_job *job)
{
	struct buffer names = {0};
	write_names(job, &names);
	struct step step = {.action = (const char *)names.data};
	bool is_step = false;
	for (size_t i = 0; i < job->action_count; i++) {
		const struct action *action = &job->actions.items[i];
		is_step |= is_acting(action);
		if (action->has_point && !step.has_point) {
			step.has_point = true;
			step.x = action->point.x;
			step.y = action->point.y;
		}
	}
	if (is_step)
		agent_step_tell(job->service, &step);
	else
		agent_step_mark(job->service, step.action);
	buffer_finish(&names);
}

static void start(struct act_job *job, struct http_request *request)
{
	job->action_count = job->actions.count;
	job->names = xcalloc(job->action_count, sizeof(job->names[0]));
	for (size_t i = 0; i < job->action_count; i++)
		job->names[i] = job->actions.items[i].name;
	job->call = call_begin(job->service, request, time_allowance_ms(job), on_gone, job);
	tell_watchers(job);
	job->is_running = true;
	job->batch = screen_act(job->service->screen, &job->actions, &job->act, on_done, job);
}

void command_act(struct service *service, struct http_request *request, const char *segment)
{
	struct screen_info info = {0};
	char error[400];
	size_t len;
	const char *text = http_request_body(request, &len);
	json_t *body = json_parse_object_or_list(text, len, error, sizeof(error));
	if (body == NULL) {
		reply_error(request, REPLY_BAD_REQUEST, "%s", error);
		return;
	}
	if (service->screen != NULL)
		screen_info(service->screen, &info);
	struct act_job *job = xcalloc(1, sizeof(*job));
	job->service = service;
	/* Faults of the request are told even while there is no screen to scale to. */
	job->space.screen_width = job->space.shown_width = info.width > 0 ? info.width : 1280;
	job->space.screen_height = job->space.shown_height = info.height > 0 ? info.height : 800;
	if (!read_body(job, body, error, sizeof(error))) {
		reply_error(request, REPLY_BAD_REQUEST, "%s", error);
		job_free(job);
	} else if (!info.is_ready) {
		reply_no_screen(request, service->xserver_fault);
		job_free(job);
	} else if (lock_refuses_acting(service, request)) {
		job_free(job);
	} else {
		start(job, request);
	}
	json_decref(body);
}
