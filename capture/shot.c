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

const char *const shot_option_names[] = {"format", "quality", "region", "window", "scale",
	"max_side", "cursor", "annotate", "wait", "quiet_ms", "timeout_ms", NULL};

/* A whole number and nothing else. */
static bool parse_int(const char *text, long min, long max, int *out)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || value < min || value > max)
		return false;
	*out = (int)value;
	return true;
}

static const char *set_int(const char *name, const char *value, int min, int max, int *out,
	char *error, size_t error_size)
{
	if (parse_int(value, min, max, out))
		return NULL;
	snprintf(error, error_size, "%s must be a whole number from %d to %d", name, min, max);
	return error;
}

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

static const char *set_scale(struct shot_options *options, const char *value)
{
	char *end;
	double scale = strtod(value, &end);
	if (end == value || *end != '\0' || !(scale >= 0.01 && scale <= 8))
		return "scale must be a number from 0.01 to 8";
	options->scale = scale;
	return NULL;
}

static const char *set_flag(const char *value, bool *out)
{
	if (strcmp(value, "1") == 0 || strcmp(value, "true") == 0)
		*out = true;
	else if (strcmp(value, "0") == 0 || strcmp(value, "false") == 0)
		*out = false;
	else
		return "cursor must be 1 or 0";
	return NULL;
}

static const char *set_wait(struct shot_options *options, const char *value)
{
	if (strcmp(value, "stable") == 0)
		options->frame.wait = FRAME_WAIT_STABLE;
	else if (strcmp(value, "change") == 0)
		options->frame.wait = FRAME_WAIT_CHANGE;
	else if (strcmp(value, "none") == 0)
		options->frame.wait = FRAME_WAIT_NONE;
	else
		return "wait must be stable, change or none";
	return NULL;
}

static const char *set_annotate(struct shot_options *options, const char *value)
{
	if (strcmp(value, "grid") != 0 && strcmp(value, "none") != 0)
		return "annotate must be grid or none";
	options->has_grid = value[0] == 'g';
	return NULL;
}

const char *shot_option_set(struct shot_options *options, const char *name, const char *value,
	char *error, size_t error_size)
{
	if (strcmp(name, "format") == 0)
		return picture_format_parse(value, &options->format)
			       ? NULL
			       : "format must be png, jpeg or webp";
	if (strcmp(name, "quality") == 0)
		return set_int(name, value, 1, 100, &options->quality, error, error_size);
	if (strcmp(name, "region") == 0)
		return set_region(options, value);
	if (strcmp(name, "window") == 0)
		return set_window(options, value);
	if (strcmp(name, "scale") == 0)
		return set_scale(options, value);
	if (strcmp(name, "max_side") == 0)
		return set_int(
			name, value, 1, SHOT_MAX_SIDE, &options->max_side, error, error_size);
	if (strcmp(name, "cursor") == 0)
		return set_flag(value, &options->frame.want_cursor);
	if (strcmp(name, "annotate") == 0)
		return set_annotate(options, value);
	if (strcmp(name, "wait") == 0)
		return set_wait(options, value);
	if (strcmp(name, "quiet_ms") == 0)
		return set_int(name, value, 10, 60000, &options->frame.quiet_ms, error, error_size);
	if (strcmp(name, "timeout_ms") == 0)
		return set_int(
			name, value, 0, 120000, &options->frame.timeout_ms, error, error_size);
	snprintf(error, error_size, "unknown option \"%.40s\"", name);
	return error;
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
