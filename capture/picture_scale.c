/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scaling: each axis is a list of source pixels with weights for every output pixel; rows are mixed
 * first, then columns, in floats. Four channels go as one vector, so X garbage stays in its own
 * lane.
 */
#include "capture/picture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pixel.h"

typedef float vec4 __attribute__((vector_size(16)));
typedef int32_t ivec4 __attribute__((vector_size(16)));

/* Where one output pixel comes from: `count` source pixels from `first` on. */
struct taps {
	int first, count;
	size_t weight; /* of the first one, in the axis's weights */
};

struct axis {
	struct taps *taps; /* by output position */
	float *weights;    /* all positive; those of an output pixel add up to 1 */
	bool repeats;      /* every output pixel is exactly one source pixel */
};

static void axis_finish(struct axis *axis)
{
	free(axis->taps);
	free(axis->weights);
}

/* Shrinking: the average of what the output pixel covers, in units of 1/to of a source pixel. */
static int cover(int64_t i, int64_t from, int64_t to, float *weights, int *first)
{
	int64_t start = i * from, end = start + from;
	*first = (int)(start / to);
	int count = 0;
	for (int64_t at = *first; at * to < end; at++) {
		int64_t left = at * to > start ? at * to : start;
		int64_t right = (at + 1) * to < end ? (at + 1) * to : end;
		weights[count++] = (float)(right - left) / (float)from;
	}
	return count;
}

/* Growing by a fraction: between the two source pixels whose centres are nearest. */
static int interpolate(int64_t i, int64_t from, int64_t to, float *weights, int *first)
{
	double centre = ((double)i + 0.5) * (double)from / (double)to - 0.5;
	if (centre <= 0 || centre >= (double)(from - 1)) {
		*first = centre <= 0 ? 0 : (int)from - 1;
		weights[0] = 1;
		return 1;
	}
	*first = (int)centre;
	weights[1] = (float)(centre - *first);
	weights[0] = 1 - weights[1];
	return 2;
}

static bool axis_init(struct axis *axis, int from, int to)
{
	size_t most_taps = from > to ? (size_t)(from / to) + 2 : 2;
	axis->repeats = to % from == 0;
	axis->taps = calloc((size_t)to, sizeof(*axis->taps));
	axis->weights = malloc((size_t)to * most_taps * sizeof(*axis->weights));
	if (axis->taps == NULL || axis->weights == NULL)
		return false;
	size_t used = 0;
	for (int i = 0; i < to; i++) {
		struct taps *taps = &axis->taps[i];
		float *next = &axis->weights[used];
		taps->weight = used;
		if (axis->repeats) {
			taps->first = i / (to / from);
			taps->count = 1;
			next[0] = 1;
		} else if (to < from) {
			taps->count = cover(i, from, to, next, &taps->first);
		} else {
			taps->count = interpolate(i, from, to, next, &taps->first);
		}
		used += (size_t)taps->count;
	}
	return true;
}

static inline vec4 load_pixel(const uint8_t *bgrx)
{
	ivec4 channels = {bgrx[0], bgrx[1], bgrx[2], bgrx[3]};
	return __builtin_convertvector(channels, vec4);
}

static inline void store_pixel(uint8_t *bgrx, vec4 value)
{
	ivec4 rounded = __builtin_convertvector(value + 0.5f, ivec4);
	for (int c = 0; c < 4; c++)
		bgrx[c] = (uint8_t)rounded[c];
}

static void mix_rows(
        const struct pixels *src, const struct taps *taps, const float *weights, vec4 *mixed)
{
	for (int k = 0; k < taps->count; k++) {
		const uint8_t *row = pixels_row(src, taps->first + k);
		float weight = weights[taps->weight + (size_t)k];
		for (int x = 0; x < src->width; x++) {
			vec4 value = load_pixel(row + (ptrdiff_t)x * 4) * weight;
			mixed[x] = k == 0 ? value : mixed[x] + value;
		}
	}
}

static void mix_columns(const vec4 *mixed, const struct axis *axis, int width, uint8_t *to)
{
	for (int x = 0; x < width; x++, to += 4) {
		const struct taps *taps = &axis->taps[x];
		const vec4 *from = mixed + taps->first;
		const float *weights = &axis->weights[taps->weight];
		vec4 value = from[0] * weights[0];
		for (int k = 1; k < taps->count; k++)
			value += from[k] * weights[k];
		store_pixel(to, value);
	}
}

static void repeat_columns(const uint8_t *row, const struct axis *axis, int width, uint8_t *to)
{
	for (int x = 0; x < width; x++)
		memcpy(to + (ptrdiff_t)x * 4, row + (ptrdiff_t)axis->taps[x].first * 4, 4);
}

static void scale_rows(const struct pixels *src, const struct axis *across, const struct axis *down,
        vec4 *mixed, struct picture *out)
{
	for (int y = 0; y < out->height; y++) {
		uint8_t *to = out->data + (ptrdiff_t)y * out->stride;
		const struct taps *taps = &down->taps[y];
		if (down->repeats && y > 0 && taps->first == down->taps[y - 1].first) {
			memcpy(to, to - out->stride, (size_t)out->width * 4);
		} else if (down->repeats && across->repeats) {
			repeat_columns(pixels_row(src, taps->first), across, out->width, to);
		} else {
			mix_rows(src, taps, down->weights, mixed);
			mix_columns(mixed, across, out->width, to);
		}
	}
}

struct picture *picture_scale(const struct pixels *src, int width, int height)
{
	assert(width >= 1 && height >= 1);
	struct axis across = {0}, down = {0};
	struct picture *out = picture_create(width, height);
	vec4 *mixed = aligned_alloc(sizeof(vec4), (size_t)src->width * sizeof(vec4));
	if (out != NULL && mixed != NULL && axis_init(&across, src->width, width) &&
	        axis_init(&down, src->height, height)) {
		scale_rows(src, &across, &down, mixed, out);
	} else {
		picture_destroy(out);
		out = NULL;
	}
	free(mixed);
	axis_finish(&across);
	axis_finish(&down);
	return out;
}
