/* SPDX-License-Identifier: GPL-2.0-or-later */
/* WebP by libwebp. */
#include "capture/picture_encoders.h"

#include <errno.h>
#include <string.h>

#include <webp/encode.h>

#include "base/log.h"

#define LOG_MODULE "picture"

/*
 * Speed against size, 0 is fastest. A 1280x800 page of text: lossy (quality 80) with method 0 21 ms
 * and 142 KB, 1 26 ms and 137 KB, 2 33 ms and 119 KB; lossless with level 0 22 ms and 267 KB, 1 140
 * ms and 124 KB. The preset for text doubles the size of the lossy file for 0.4 dB.
 */
#define LOSSY_METHOD   1
#define LOSSLESS_LEVEL 0

static int on_write(const uint8_t *data, size_t len, const WebPPicture *picture)
{
	struct buffer *out = picture->custom_ptr;
	uint8_t *to = buffer_try_reserve(out, len);
	if (to == NULL)
		return 0;
	memcpy(to, data, len);
	out->len += len;
	return 1;
}

static bool configure(WebPConfig *config, int quality)
{
	if (!WebPConfigInit(config))
		return false;
	if (quality == 100)
		return WebPConfigLosslessPreset(config, LOSSLESS_LEVEL);
	config->quality = (float)quality;
	config->method = LOSSY_METHOD;
	return true;
}

static int error_of(const WebPPicture *picture)
{
	switch (picture->error_code) {
	case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
	case VP8_ENC_ERROR_PARTITION_OVERFLOW:
	case VP8_ENC_ERROR_FILE_TOO_BIG:
		return -EOVERFLOW;
	default:
		return -ENOMEM; /* sizes and configuration are in range */
	}
}

int picture_encode_webp(const struct pixels *src, int quality, struct buffer *out)
{
	WebPConfig config;
	WebPPicture picture;
	if (!configure(&config, quality) || !WebPPictureInit(&picture))
		return -EINVAL; /* the library is not the version that this was built for */
	picture.use_argb = config.lossless;
	picture.width = src->width;
	picture.height = src->height;
	picture.writer = on_write;
	picture.custom_ptr = out;
	int err = 0;
	if (!WebPPictureImportBGRX(&picture, src->data, src->stride) ||
	        !WebPEncode(&config, &picture)) {
		log_error("WebP: error %d", (int)picture.error_code);
		err = error_of(&picture);
	}
	WebPPictureFree(&picture);
	return err;
}
