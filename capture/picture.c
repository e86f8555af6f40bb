/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/picture.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "capture/picture_encoders.h"
#include "capture/pixel.h"

static const struct {
	const char *name, *mime;
	int max_side; /* what the format can hold; PNG: more than an int */
} formats[] = {
        [PICTURE_PNG] = {"png", "image/png", INT_MAX},
        [PICTURE_JPEG] = {"jpeg", "image/jpeg", 65500},
        [PICTURE_WEBP] = {"webp", "image/webp", 16383},
};

bool picture_format_parse(const char *text, enum picture_format *out)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (strcmp(text, formats[i].name) == 0) {
			*out = (enum picture_format)i;
			return true;
		}
	}
	if (strcmp(text, "jpg") == 0) {
		*out = PICTURE_JPEG;
		return true;
	}
	return false;
}

const char *picture_format_name(enum picture_format format)
{
	return formats[format].name;
}

const char *picture_format_mime(enum picture_format format)
{
	return formats[format].mime;
}

struct picture *picture_create(int width, int height)
{
	assert(width >= 1 && height >= 1);
	size_t stride = (size_t)width * 4, size;
	if (stride > INT_MAX || __builtin_mul_overflow(stride, (size_t)height, &size))
		return NULL;
	uint8_t *data = malloc(size);
	if (data == NULL)
		return NULL;
	struct picture *picture = xmalloc(sizeof(*picture));
	*picture = (struct picture){
	        .data = data, .width = width, .height = height, .stride = (int)stride};
	return picture;
}

void picture_destroy(struct picture *picture)
{
	if (picture == NULL)
		return;
	free(picture->data);
	free(picture);
}

struct pixels picture_pixels(const struct picture *picture)
{
	return (struct pixels){.data = picture->data,
	        .width = picture->width,
	        .height = picture->height,
	        .stride = picture->stride};
}

struct picture *picture_crop(const struct pixels *src, int x, int y, int width, int height)
{
	assert(x >= 0 && y >= 0 && width >= 1 && height >= 1);
	assert(width <= src->width - x && height <= src->height - y);
	struct picture *picture = picture_create(width, height);
	if (picture == NULL)
		return NULL;
	for (int row = 0; row < height; row++)
		memcpy(picture->data + (ptrdiff_t)row * picture->stride,
		        pixels_row(src, y + row) + (ptrdiff_t)x * 4, (size_t)width * 4);
	return picture;
}

int picture_encode(const struct pixels *src, enum picture_format format, int quality, int threads,
        const struct picture_meta *meta, struct buffer *out)
{
	assert(src->width >= 1 && src->height >= 1);
	assert(format == PICTURE_PNG || (quality >= 1 && quality <= 100));
	if (src->width > formats[format].max_side || src->height > formats[format].max_side)
		return -EOVERFLOW;
	size_t start = out->len;
	int err = -EINVAL;
	switch (format) {
	case PICTURE_PNG:
		err = picture_encode_png(src, threads, meta, out);
		break;
	case PICTURE_JPEG:
		err = picture_encode_jpeg(src, quality, out);
		break;
	case PICTURE_WEBP:
		err = picture_encode_webp(src, quality, out);
		break;
	}
	if (err < 0)
		out->len = start;
	return err;
}
