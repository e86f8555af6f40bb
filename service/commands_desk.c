/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows, clipboard and the screen's size. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/utf8.h"
#include "display/screen.h"
#include "display/window_ops.h"
#include "service/call.h"
#include "service/commands.h"
#include "service/lock.h"
#include "service/reply.h"
#include "service/service.h"
#include "takeover/steps.h"
#include "takeover/viewers.h"

#define CALL_TIMEOUT_MS 10000

/* A call on its way to the screen. */
struct desk_job {
	struct service *service;
	struct call *call;
	enum clipboard_content content;
	int width, height;
};

/* `begin` is call_begin or call_begin_looking. */
static struct desk_job *job_begin(struct service *service, struct http_request *request,
	__typeof__(call_begin) *begin)
{
	if (service->screen == NULL) {
		reply_no_screen(request, service->xserver_fault);
		return NULL;
	}
	struct desk_job *job = xcalloc(1, sizeof(*job));
	job->service = service;
	job->call = begin(service, request, CALL_TIMEOUT_MS, NULL, NULL);
	return job;
}

/* The same for calls that tell what a person sees or copies. */
static struct desk_job *job_begin_looking(struct service *service, struct http_request *request)
{
	return lock_refuses_looking(service, request)
		       ? NULL
		       : job_begin(service, request, call_begin_looking);
}

/* The same for calls that act. */
static struct desk_job *job_begin_acting(struct service *service, struct http_request *request)
{
	return lock_refuses_acting(service, request) ? NULL
						     : job_begin(service, request, call_begin);
}

/* Frees the job; returns the request to answer, or NULL when that is done or nobody is there. */
static struct http_request *job_end(struct desk_job *job, int error)
{
	struct http_request *request = call_request(job->call);
	if (request != NULL && error == -ENOTCONN) {
		reply_no_screen(request, job->service->xserver_fault);
		request = NULL;
	}
	call_end(job->call);
	free(job);
	return request;
}

static json_t *window_json(const struct window_info *info)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:b, s:b}", "id",
		(json_int_t)info->id, "title", info->title, "class", info->class_name, "instance",
		info->instance, "pid", info->pid, "desktop", info->desktop, "x", info->area.x, "y",
		info->area.y, "width", info->area.width, "height", info->area.height, "active",
		info->is_active, "visible", info->is_visible, "override_redirect",
		info->is_override_redirect);
}

static void on_windows(void *arg, int error, const struct window_list *windows)
{
	struct http_request *request = job_end(arg, error);
	if (request == NULL)
		return;
	json_t *list = json_array();
	for (size_t i = 0; i < windows->count; i++)
		json_array_append_new(list, window_json(&windows->items[i]));
	reply_json(request, 200, json_pack("{s:o}", "windows", list));
}

void command_windows(struct service *service, struct http_request *request, const char *segment)
{
	struct desk_job *job = job_begin_looking(service, request); /* titles tell what is shown */
	if (job != NULL)
		screen_list_windows(service->screen, on_windows, job);
}

static void on_clipboard(void *arg, int error, const char *data, size_t len)
{
	struct desk_job *job = arg;
	bool is_text = job->content == CLIPBOARD_TEXT;
	struct http_request *request = job_end(job, error);
	if (request == NULL)
		return;
	switch (error) {
	case 0:
		if (is_text && !utf8_is_valid(data, len)) {
			char *clean = utf8_sanitize(data, len);
			http_reply_take(request, 200, "text/plain; charset=utf-8", clean, strlen(clean));
		} else {
			http_reply(request, 200, is_text ? "text/plain; charset=utf-8" : "image/png",
				data, len);
		}
		break;
	case -ENOENT:
		reply_error(request, REPLY_NOT_FOUND, "the clipboard holds no %s",
			is_text ? "text" : "PNG picture; ask for text/plain");
		break;
	case -ETIMEDOUT:
		reply_error(request, REPLY_TIMEOUT,
			"the program that owns the clipboard does not hand it out; try again");
		break;
	case -EFBIG:
		reply_error(request, REPLY_TOO_LARGE,
			"the clipboard holds more than %u bytes", CLIPBOARD_MAX_BYTES);
		break;
	default:
		reply_error(request, REPLY_INTERNAL, "the clipboard cannot be read: %s",
			strerror(-error));
	}
}

/* ?selection=primary; its rule is in the route table. */
static enum clipboard_selection selection_of(const struct http_request *request)
{
	const char *name = http_request_query(request, "selection");
	return name != NULL && strcmp(name, "primary") == 0 ? CLIPBOARD_PRIMARY : CLIPBOARD_CLIPBOARD;
}

void command_clipboard_get(
	struct service *service, struct http_request *request, const char *segment)
{
	const char *type = http_request_query(request, "type");
	const char *accept = http_request_header(request, "accept");
	enum clipboard_content content = CLIPBOARD_TEXT;
	if (type == NULL && accept != NULL && strncmp(accept, "image/png", 9) == 0)
		type = "image/png";
	if (type != NULL && strcmp(type, "image/png") == 0)
		content = CLIPBOARD_PNG;
	struct desk_job *job = job_begin_looking(service, request);
	if (job == NULL)
		return;
	job->content = content;
	screen_read_clipboard(service->screen, selection_of(request), content, on_clipboard, job);
}

static void on_resized(void *arg, int error, int max_width, int max_height)
{
	struct desk_job *job = arg;
	int width = job->width, height = job->height;
	struct http_request *request = job_end(job, error);
	if (request == NULL)
		return;
	if (error == 0)
		reply_json(request, 200, json_pack("{s:i, s:i}", "width", width, "height", height));
	else if (error == -ERANGE && max_width > 0)
		reply_error(request, REPLY_BAD_REQUEST,
			"the screen cannot be made %dx%d; its server goes up to %dx%d (Xvfb: the "
			"size it was started with)",
			width, height, max_width, max_height);
	else
		reply_error(request, REPLY_CONFLICT,
			"this X server's screen cannot be resized: it has no RandR output; start it "
			"with the size that is wanted");
}

static void read_screen(struct json_reader *reader, int *width, int *height)
{
	if (!json_read_int(reader, "width", 16, 16384, width))
		json_reader_fail(reader, "width", "is missing: the new width in pixels");
	if (!json_read_int(reader, "height", 16, 16384, height))
		json_reader_fail(reader, "height", "is missing: the new height in pixels");
}

json_t *body_screen_put(void)
{
	struct json_reader reader;
	int width = 0, height = 0;
	json_reader_describe(&reader);
	read_screen(&reader, &width, &height);
	return json_reader_take_schema(&reader);
}

void command_screen_put(struct service *service, struct http_request *request, const char *segment)
{
	struct json_reader reader;
	int width = 0, height = 0;
	json_t *object = reply_read_body(request);
	if (object == NULL)
		return;
	json_reader_init(&reader, object, "");
	read_screen(&reader, &width, &height);
	struct desk_job *job = NULL;
	if (reply_finish_reading(request, &reader))
		job = job_begin_acting(service, request);
	json_decref(object);
	if (job == NULL)
		return;
	job->width = width;
	job->height = height;
	const struct step step = {.action = "resize screen"};
	viewers_tell_step(service->viewers, &step);
	screen_resize(service->screen, width, height, on_resized, job);
}

/* The sentence for a window call or a clipboard write that failed. */
static void answer_change_error(
	struct service *service, struct http_request *request, int error, const char *what)
{
	if (error == -EACCES)
		lock_reply(service, request);
	else if (error == -ENOENT)
		reply_error(request, REPLY_NOT_FOUND,
			"there is no such window; GET /v1/windows lists them");
	else
		reply_error(request, REPLY_CONFLICT, "%s: %s", what, window_error(error));
}

static void on_window_changed(void *arg, int error)
{
	struct service *service = ((struct desk_job *)arg)->service;
	struct http_request *request = job_end(arg, error);
	if (request == NULL)
		return;
	if (error == 0)
		reply_json(request, 200, json_pack("{s:b}", "ok", 1));
	else
		answer_change_error(service, request, error, "the window");
}

static bool parse_window(struct http_request *request, const char *text, unsigned long *out)
{
	char *end;
	errno = 0;
	*out = strtoul(text, &end, 0);
	if (end != text && *end == '\0' && errno == 0 && text[0] != '-' && *out != 0 &&
		*out <= UINT32_MAX)
		return true;
	reply_error(request, REPLY_BAD_REQUEST,
		"\"%.40s\" is no window id; GET /v1/windows lists them", text);
	return false;
}

/* The two members that a move or a resize needs; others take none. */
static void read_change(struct json_reader *reader, struct screen_window_change *change)
{
	if (change->type == SCREEN_WINDOW_MOVE) {
		if (!json_read_int(reader, "x", -32768, 32767, &change->x))
			json_reader_fail(reader, "x", "is missing: the new place in pixels");
		if (!json_read_int(reader, "y", -32768, 32767, &change->y))
			json_reader_fail(reader, "y", "is missing: the new place in pixels");
	} else if (change->type == SCREEN_WINDOW_RESIZE) {
		if (!json_read_int(reader, "width", 1, 32767, &change->width))
			json_reader_fail(reader, "width", "is missing: the new size in pixels");
		if (!json_read_int(reader, "height", 1, 32767, &change->height))
			json_reader_fail(reader, "height", "is missing: the new size in pixels");
	}
}

static json_t *describe_change(enum screen_window_change_type type)
{
	struct screen_window_change change = {.type = type};
	struct json_reader reader;
	json_reader_describe(&reader);
	read_change(&reader, &change);
	return json_reader_take_schema(&reader);
}

json_t *body_window_move(void)
{
	return describe_change(SCREEN_WINDOW_MOVE);
}

json_t *body_window_resize(void)
{
	return describe_change(SCREEN_WINDOW_RESIZE);
}

static bool read_change_body(struct http_request *request, struct screen_window_change *change)
{
	struct json_reader reader;
	json_t *object = reply_read_body(request);
	if (object == NULL)
		return false;
	json_reader_init(&reader, object, "");
	read_change(&reader, change);
	bool is_good = reply_finish_reading(request, &reader);
	json_decref(object);
	return is_good;
}

static void tell_change(struct service *service, enum screen_window_change_type type)
{
	static const char *const names[] = {
		[SCREEN_WINDOW_ACTIVATE] = "activate window",
		[SCREEN_WINDOW_CLOSE] = "close window",
		[SCREEN_WINDOW_MOVE] = "move window",
		[SCREEN_WINDOW_RESIZE] = "resize window",
	};
	const struct step step = {.action = names[type]};
	viewers_tell_step(service->viewers, &step);
}

static void change_window(struct service *service, struct http_request *request,
	const char *segment, enum screen_window_change_type type)
{
	struct screen_window_change change = {.type = type};
	unsigned long window;
	if (!parse_window(request, segment, &window) || !read_change_body(request, &change))
		return;
	struct desk_job *job = job_begin_acting(service, request);
	if (job == NULL)
		return;
	tell_change(service, type);
	screen_change_window(service->screen, window, &change, on_window_changed, job);
}

void command_window_activate(struct service *service, struct http_request *request, const char *segment)
{
	change_window(service, request, segment, SCREEN_WINDOW_ACTIVATE);
}

void command_window_close(struct service *service, struct http_request *request, const char *segment)
{
	change_window(service, request, segment, SCREEN_WINDOW_CLOSE);
}

void command_window_move(struct service *service, struct http_request *request, const char *segment)
{
	change_window(service, request, segment, SCREEN_WINDOW_MOVE);
}

void command_window_resize(struct service *service, struct http_request *request, const char *segment)
{
	change_window(service, request, segment, SCREEN_WINDOW_RESIZE);
}

static void on_clipboard_written(void *arg, int error)
{
	struct service *service = ((struct desk_job *)arg)->service;
	struct http_request *request = job_end(arg, error);
	if (request == NULL)
		return;
	if (error == 0)
		http_reply(request, 204, NULL, NULL, 0);
	else
		answer_change_error(service, request, error, "the clipboard");
}

void command_clipboard_put(struct service *service, struct http_request *request, const char *segment)
{
	static const unsigned char png_magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
	const char *type = http_request_header(request, "content-type");
	size_t len;
	const char *body = http_request_body(request, &len);
	bool is_png = type != NULL && strncmp(type, "image/png", 9) == 0;
	if (type != NULL && !is_png && strncmp(type, "text/plain", 10) != 0 &&
		strncmp(type, "application/x-www-form-urlencoded", 33) != 0) {
		reply_error(request, REPLY_BAD_REQUEST,
			"Content-Type must be text/plain; charset=utf-8 or image/png");
	} else if (is_png &&
		   (len < sizeof(png_magic) || memcmp(body, png_magic, sizeof(png_magic)) != 0)) {
		reply_error(request, REPLY_BAD_REQUEST, "the body is no PNG file");
	} else if (!is_png && !utf8_is_valid(body, len)) {
		reply_error(request, REPLY_BAD_REQUEST, "the text is not valid UTF-8");
	} else {
		struct desk_job *job = job_begin_acting(service, request);
		if (job != NULL)
			screen_write_clipboard(service->screen, selection_of(request),
				is_png ? CLIPBOARD_PNG : CLIPBOARD_TEXT, body, len,
				on_clipboard_written, job);
	}
}
