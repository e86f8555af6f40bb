/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What picture_encode dispatches to; each file format in a file of its own. As picture_encode, but
 * on failure `out` may have grown. Sizes have been checked.
 */
#ifndef CAPTURE_PICTURE_ENCODERS_H
#define CAPTURE_PICTURE_ENCODERS_H

#include "base/buffer.h"
#include "capture/picture.h"

int picture_encode_png(
        const struct pixels *src, int threads, const struct picture_meta *meta, struct buffer *out);
int picture_encode_jpeg(const struct pixels *src, int quality, struct buffer *out);
int picture_encode_webp(const struct pixels *src, int quality, struct buffer *out);

#endif
