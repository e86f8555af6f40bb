/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/shot.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/cursor.h"
#include "display/frame.h"

#define ENCODE_THREADS 2

const struct shot_options shot_defaults = {
	.frame = {.quiet_ms = 150, .timeout_ms = 5000},
	.format = PICTURE_PNG,
	.quality = 80,
	.scale = 1,
};

static const char *const formats[] = {"png", "jpeg", "webp", "jpg", NULL};
static const char *const annotations[] = {"none", "grid", NULL};
static const char *const waits[] = {"none", "stable", "change", NULL};

const struct value_rule shot_option_rules[] = {
	{"format", VALUE_CHOICE, .choices = formats, .fallback = "png", .help = "of the picture"},
	{"quality", VALUE_INT, 1, 100, .fallback = "80",
		.help = "of JPEG and WebP; 100 is lossless with WebP"},
	{"region", VALUE_TEXT, .pattern = "^-?[0-9]{1,7},-?[0-9]{1,7},[0-9]{1,7},[0-9]{1,7}$",
		.help = "X,Y,WIDTH,HEIGHT in screen pixels; cut to the screen"},
	{"window", VALUE_TEXT, .pattern = "^(active|[0-9]+|0[xX][0-9a-fA-F]+)$",
		.help = "a window's id, or active: what the screen shows at its place"},
	{"scale", VALUE_NUMBER, 0.01, 8, .fallback = "1", .help = "picture pixels per screen pixel"},
	{"max_side", VALUE_INT, 1, SHOT_MAX_SIDE,
		.help = "shrink further so that no side is longer"},
	{"cursor", VALUE_FLAG, .fallback = "0", .help = "draw the pointer"},
	{"annotate", VALUE_CHOICE, .choices = annotations, .fallback = "none",
		.help = "grid: lines with screen coordinates"},
	{"wait", VALUE_CHOICE, .choices = waits, .fallback = "none",
		.help = "until nothing visible changed for quiet_ms, or until something did"},
	{"quiet_ms", VALUE_INT, 10, 60000, .fallback = "150", .help = "of wait=stable"},
	{"timeout_ms", VALUE_INT, 0, 120000, .fallback = "5000",
		.help = "of both waits; then the picture comes as it is"},
	{NULL},
};

static const char *set_region(struct shot_options *options, const char *value)
{
	struct rect region;
	int used = 0;
	if (sscanf(value, "%7d,%7d,%7d,%7d%n", &region.x, &region.y, &region.width,
		    &region.height, &used) != 4 ||
		value[used] != '\0' || rect_is_empty(&region))
		return "region must be X,Y,WIDTH,HEIGHT in screen pixels with a size of at least 1";
	if (options->frame.area != FRAME_AREA_SCREEN)
		return "give either region or window, not both";
	options->frame.area = FRAME_AREA_REGION;
	options->frame.region = region;
	return NULL;
}

static const char *set_window(struct shot_options *options, const char *value)
{
	if (options->frame.area != FRAME_AREA_SCREEN)
		return "give either region or window, not both";
	if (strcmp(value, "active") == 0) {
		options->frame.area = FRAME_AREA_ACTIVE_WINDOW;
		return NULL;
	}
	char *end;
	errno = 0;
	unsigned long window = strtoul(value, &end, 0);
	if (end == value || *end != '\0' || errno != 0 || value[0] == '-' || window == 0 ||
		window > UINT_MAX)
		return "window must be a window id (GET /v1/windows lists them) or \"active\"";
	options->frame.area = FRAME_AREA_WINDOW;
	options->frame.window = window;
	return NULL;
}

/* Puts a value that fits its rule where it belongs. */
static const char *set_value(
	struct shot_options *options, const char *name, const char *text, double value)
{
	static const enum frame_wait wait_values[] = {
		FRAME_WAIT_NONE, FRAME_WAIT_STABLE, FRAME_WAIT_CHANGE};
	if (strcmp(name, "region") == 0)
		return set_region(options, text);
	if (strcmp(name, "window") == 0)
		return set_window(options, text);
	if (strcmp(name, "format") == 0)
		picture_format_parse(text, &options->format);
	else if (strcmp(name, "quality") == 0)
		options->quality = (int)value;
	else if (strcmp(name, "scale") == 0)
		options->scale = value;
	else if (strcmp(name, "max_side") == 0)
		options->max_side = (int)value;
	else if (strcmp(name, "cursor") == 0)
		options->frame.want_cursor = value != 0;
	else if (strcmp(name, "annotate") == 0)
		options->has_grid = value != 0;
	else if (strcmp(name, "wait") == 0)
		options->frame.wait = wait_values[(int)value];
	else if (strcmp(name, "quiet_ms") == 0)
		options->frame.quiet_ms = (int)value;
	else
		options->frame.timeout_ms = (int)value;
	return NULL;
}

const char *shot_option_set(struct shot_options *options, const char *name, const char *value,
	char *error, size_t error_size)
{
	const struct value_rule *rule = value_rule_find(shot_option_rules, name);
	if (rule == NULL) {
		snprintf(error, error_size, "unknown option \"%.40s\"", name);
		return error;
	}
	const char *fault = value_rule_fault(rule, value, error, error_size);
	return fault != NULL ? fault
			     : set_value(options, name, value, value_rule_value(rule, value));
}

const char *shot_options_check(const struct shot_options *options)
{
	if (options->frame.wait == FRAME_WAIT_STABLE &&
		options->frame.timeout_ms < options->frame.quiet_ms)
		return "timeout_ms must not be shorter than quiet_ms";
	return NULL;
}

static int scaled(int side, double scale)
{
	double size = floor(side * scale + 0.5);
	return size < 1 ? 1 : size > INT_MAX / 2 ? INT_MAX / 2 : (int)size;
}

bool shot_plan(const struct shot_options *options, const struct frame_reply *reply,
	struct shot_geometry *out)
{
	const struct rect *area = &reply->area;
	double scale = options->scale;
	int longest = area->width > area->height ? area->width : area->height;
	if (options->max_side > 0 && longest * scale > options->max_side)
		scale = (double)options->max_side / longest;
	out->width = scaled(area->width, scale);
	out->height = scaled(area->height, scale);
	out->origin_x = area->x;
	out->origin_y = area->y;
	/* What the sizes really came to, so that a point maps back exactly. */
	out->scale_x = (double)out->width / area->width;
	out->scale_y = (double)out->height / area->height;
	return out->width <= SHOT_MAX_SIDE && out->height <= SHOT_MAX_SIDE;
}

char *shot_key(const struct shot_options *options, const struct frame_reply *reply)
{
	const struct cursor_image *cursor = reply->cursor;
	return xasprintf("%d/%d/%.6f/%d/%d/%d,%d,%d,%d/%llu/%d,%d,%lld",
		(int)options->format, options->format == PICTURE_PNG ? 0 : options->quality,
		options->scale, options->max_side, options->has_grid, reply->area.x, reply->area.y,
		reply->area.width, reply->area.height, (unsigned long long)reply->area_serial,
		cursor != NULL ? reply->cursor_x : 0, cursor != NULL ? reply->cursor_y : 0,
		cursor != NULL ? (long long)cursor->serial : -1ll);
}

/* The pixels as they are on the screen, the pointer drawn in when it is wanted. */
static int render_unscaled(const struct frame_reply *reply, const struct pixels *src, bool must_copy,
	struct picture **out)
{
	*out = NULL;
	if (!must_copy)
		return 0;
	*out = picture_crop(src, 0, 0, src->width, src->height);
	if (*out == NULL)
		return -ENOMEM;
	if (reply->cursor != NULL)
		picture_blend_argb(*out,
			reply->cursor_x - reply->cursor->hot_x - reply->area.x,
			reply->cursor_y - reply->cursor->hot_y - reply->area.y, reply->cursor->argb,
			reply->cursor->width, reply->cursor->height);
	return 0;
}

int shot_render(const struct shot_options *options, const struct frame_reply *reply,
	const struct shot_geometry *geometry, struct buffer *out)
{
	const struct frame *frame = reply->frame;
	const struct rect *area = &reply->area;
	struct pixels src = {
		.data = frame->pixels + (size_t)area->y * (size_t)frame->stride + (size_t)area->x * 4,
		.width = area->width,
		.height = area->height,
		.stride = frame->stride,
	};
	bool is_scaled = geometry->width != area->width || geometry->height != area->height;
	struct picture *copy = NULL, *resized = NULL;
	int ret = render_unscaled(reply, &src,
		reply->cursor != NULL || (options->has_grid && !is_scaled), &copy);
	if (ret == 0 && copy != NULL)
		src = picture_pixels(copy);
	if (ret == 0 && is_scaled) {
		resized = picture_scale(&src, geometry->width, geometry->height);
		if (resized == NULL)
			ret = -ENOMEM;
		else
			src = picture_pixels(resized);
	}
	if (ret == 0 && options->has_grid)
		picture_draw_grid(is_scaled ? resized : copy, geometry->origin_x,
			geometry->origin_y, geometry->scale_x, geometry->scale_y);
	const struct picture_meta meta = {.taken_wall_us = frame->taken_wall_us,
		.origin_x = geometry->origin_x,
		.origin_y = geometry->origin_y};
	if (ret == 0)
		ret = picture_encode(
			&src, options->format, options->quality, ENCODE_THREADS, &meta, out);
	picture_destroy(copy);
	picture_destroy(resized);
	return ret;
}
