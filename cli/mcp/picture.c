/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/mcp/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "cli/base64.h"
#include "cli/mcp/tool.h"
#include "cli/replies.h"
#include "client/boxscreen.h"

/* A shot may wait two minutes, and is then encoded. */
#define SHOT_SILENCE_MS 160000

/* Coordinates */

static int shrunk(int side, double scale)
{
	int size = (int)floor(side * scale + 0.5);
	return size < 1 ? 1 : size;
}

/* As the daemon shrinks a shot to max_side. */
static bool space_of_size(const struct tool_call *call, int width, int height, struct space *out)
{
	int longest = width > height ? width : height, max_side = call->options->max_side;
	double scale = longest > max_side ? (double)max_side / longest : 1;
	if (width <= 0 || height <= 0)
		return false;
	*out = (struct space){width, height, shrunk(width, scale), shrunk(height, scale)};
	return true;
}

bool space_of_status(const struct tool_call *call, const json_t *status, struct space *out)
{
	const json_t *screen = json_object_get(status, "screen");
	int width = (int)json_number_value(json_object_get(screen, "width"));
	int height = (int)json_number_value(json_object_get(screen, "height"));
	return strcmp(reply_text(screen, "state"), "ready") == 0 &&
	       space_of_size(call, width, height, out);
}

bool space_ask(struct tool_call *call, struct space *out)
{
	for (int waited_ms = 0;; waited_ms += TOOL_RETRY_MS) {
		json_t *status = tool_ask(call, "GET", "/v1/status", NULL, TOOL_SILENCE_MS);
		if (status == NULL)
			return false;
		bool is_ready = space_of_status(call, status, out);
		bool goes_on = !is_ready && waited_ms < TOOL_RESTART_MS && tool_sleep(call, TOOL_RETRY_MS);
		if (!is_ready && !goes_on)
			tool_fail(call, "The screen is not there: %s. %sstatus tells when it is.",
				reply_text(json_object_get(status, "screen"), "message"),
				call->options->prefix);
		json_decref(status);
		if (!goes_on)
			return is_ready;
	}
}

void space_follow(struct tool_call *call, struct space *space)
{
	struct space now;
	if (space_ask(call, &now))
		*space = now;
	call->is_error = false;
}

json_t *space_rect(const struct space *space, double x, double y, double width, double height)
{
	double scale_x = (double)space->width / space->screen_width;
	double scale_y = (double)space->height / space->screen_height;
	int left = (int)floor(x * scale_x), top = (int)floor(y * scale_y);
	int right = (int)ceil((x + width) * scale_x), bottom = (int)ceil((y + height) * scale_y);
	return json_pack("[iiii]", left, top, right - left, bottom - top);
}

/* Pictures */

/* One on its way into the result. Numbers in screen pixels, but width and height. */
struct picture {
	char *base64;
	const char *format; /* "png" or "jpeg" */
	int width, height;
	double x, y, scale_x, scale_y;
};

static const char *mime_of(const char *format)
{
	return strcmp(format, "jpeg") == 0 ? "image/jpeg"
	       : strcmp(format, "webp") == 0 ? "image/webp" : "image/png";
}

/* What it shows in the model's coordinates. */
static json_t *covered(const struct space *space, const struct picture *picture)
{
	return space_rect(space, picture->x, picture->y, picture->width / picture->scale_x,
		picture->height / picture->scale_y);
}

/* Of that size are also parts, shown sharper than the whole: what it shows must be all as well. */
static bool is_whole(const struct space *space, const struct picture *picture)
{
	return picture->width == space->width && picture->height == space->height &&
	       lround(picture->width / picture->scale_x) == space->screen_width &&
	       lround(picture->height / picture->scale_y) == space->screen_height;
}

static void say_what_it_shows(
	struct tool_call *call, const struct space *space, const struct picture *picture)
{
	double factor_x = space->width / (space->screen_width * picture->scale_x);
	double factor_y = space->height / (space->screen_height * picture->scale_y);
	double left = picture->x * space->width / space->screen_width;
	double top = picture->y * space->height / space->screen_height;
	if (is_whole(space, picture))
		tool_text(call, "The whole screen, %dx%d: its pixels are the coordinates.",
			picture->width, picture->height);
	else
		tool_text(call, "Part of the screen, %dx%d pixels. The point (px, py) of this picture has "
				"the coordinates (%.5g + px * %.5g, %.5g + py * %.5g).",
			picture->width, picture->height, left, factor_x, top, factor_y);
}

static json_t *facts_of(const struct space *space, const struct picture *picture)
{
	return json_pack("{s:s, s:i, s:i, s:o, s:{s:i, s:i}}", "format", picture->format, "width",
		picture->width, "height", picture->height, "shows", covered(space, picture),
		"coordinates", "width", space->width, "height", space->height);
}

static char *encode_body(const struct boxscreen_answer *answer)
{
	size_t len;
	const char *body = boxscreen_answer_body(answer, &len);
	struct buffer text = {0};
	base64_encode(body, len, &text);
	buffer_append(&text, "", 1);
	return (char *)text.data;
}

static int send_shot(struct tool_call *call, const char *target, struct boxscreen_answer **answer)
{
	struct boxscreen_request *request = boxscreen_request_new("GET", target);
	boxscreen_request_set_silence(request, SHOT_SILENCE_MS);
	int ret = tool_send(call, request, answer);
	boxscreen_request_free(request);
	return ret;
}

/* The same part of the screen once more, as JPEG; what there is stays when that fails. */
static bool take_smaller(struct tool_call *call, struct picture *picture, int quality)
{
	struct boxscreen_answer *answer;
	char *target = xasprintf("/v1/shot?format=jpeg&quality=%d&region=%.0f,%.0f,%.0f,%.0f&max_side=%d",
		quality, picture->x, picture->y, round(picture->width / picture->scale_x),
		round(picture->height / picture->scale_y),
		picture->width > picture->height ? picture->width : picture->height);
	bool is_fine = send_shot(call, target, &answer) == 0 && boxscreen_answer_status(answer) == 200;
	if (is_fine) {
		free(picture->base64);
		picture->base64 = encode_body(answer);
		picture->format = "jpeg";
	}
	boxscreen_answer_free(answer);
	free(target);
	return is_fine;
}

static json_t *deliver(struct tool_call *call, const struct space *space, struct picture *picture)
{
	static const int qualities[] = {80, 50, 25};
	for (size_t i = 0; i < ARRAY_LEN(qualities) && strlen(picture->base64) > PICTURE_BASE64_MAX; i++) {
		if (!take_smaller(call, picture, qualities[i]))
			break;
	}
	say_what_it_shows(call, space, picture);
	tool_picture(call, mime_of(picture->format), picture->base64);
	return facts_of(space, picture);
}

json_t *picture_add(struct tool_call *call, const struct space *space, const json_t *json)
{
	const json_t *origin = json_object_get(json, "origin"), *scale = json_object_get(json, "scale");
	struct picture picture = {
		.base64 = xstrdup(reply_text(json, "base64")),
		.format = reply_text(json, "format"),
		.width = (int)json_number_value(json_object_get(json, "width")),
		.height = (int)json_number_value(json_object_get(json, "height")),
		.x = json_number_value(json_array_get(origin, 0)),
		.y = json_number_value(json_array_get(origin, 1)),
		.scale_x = json_number_value(json_array_get(scale, 0)),
		.scale_y = json_number_value(json_array_get(scale, 1)),
	};
	json_t *facts = deliver(call, space, &picture);
	free(picture.base64);
	return facts;
}

static int big_endian(const unsigned char *p)
{
	return p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

bool picture_png_size(const void *data, size_t len, int *width, int *height)
{
	const unsigned char *head = data;
	if (len < 24)
		return false;
	*width = big_endian(head + 16);
	*height = big_endian(head + 20);
	return true;
}

/* Size and place out of the answer's headers and the PNG's own. */
static bool read_shot(const struct boxscreen_answer *answer, struct picture *out)
{
	size_t len;
	const char *body = boxscreen_answer_body(answer, &len);
	const char *origin = boxscreen_answer_header(answer, "X-Shot-Origin");
	const char *scale = boxscreen_answer_header(answer, "X-Shot-Scale");
	if (!picture_png_size(body, len, &out->width, &out->height) || origin == NULL || scale == NULL ||
		sscanf(origin, "%lf,%lf", &out->x, &out->y) != 2 ||
		sscanf(scale, "%lf,%lf", &out->scale_x, &out->scale_y) != 2)
		return false;
	out->format = "png";
	return out->scale_x > 0 && out->scale_y > 0;
}

/* The screen may have taken another size while the shot waited. */
static void read_space(const struct tool_call *call, const struct boxscreen_answer *answer,
	struct space *space)
{
	int width, height;
	const char *size = boxscreen_answer_header(answer, "X-Screen-Size");
	if (size != NULL && sscanf(size, "%dx%d", &width, &height) == 2)
		space_of_size(call, width, height, space);
}

json_t *picture_take(struct tool_call *call, struct space *space, const char *query)
{
	struct boxscreen_answer *answer;
	struct picture picture = {0};
	json_t *facts = NULL;
	char *target = xasprintf("/v1/shot?max_side=%d%s", call->options->max_side,
		query != NULL ? query : "");
	int ret = send_shot(call, target, &answer);
	bool is_fine = tool_judge(call, ret, answer);
	if (is_fine && !read_shot(answer, &picture)) {
		tool_fail(call, "The daemon's reply is no picture: daemon and tool must be of one version.");
	} else if (is_fine) {
		read_space(call, answer, space);
		picture.base64 = encode_body(answer);
		facts = deliver(call, space, &picture);
		const char *end = boxscreen_answer_header(answer, "X-Wait-End");
		if (end != NULL)
			json_object_set_new(facts, "wait_end", json_string(end));
		free(picture.base64);
	}
	boxscreen_answer_free(answer);
	free(target);
	return facts;
}
