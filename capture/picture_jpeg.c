/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JPEG by libturbojpeg. */
#include "capture/picture_encoders.h"

#include <errno.h>

#include <turbojpeg.h>

#include "base/log.h"

#define LOG_MODULE "picture"

/* From this quality on colour is kept at full resolution: halved, it smears coloured text. */
#define FULL_CHROMA_FROM 90

int picture_encode_jpeg(const struct pixels *src, int quality, struct buffer *out)
{
	tjhandle compressor = tjInitCompress();
	if (compressor == NULL)
		return -ENOMEM;
	unsigned char *jpeg = NULL;
	unsigned long len = 0;
	int err = 0;
	if (tjCompress2(compressor, src->data, src->width, src->stride, src->height, TJPF_BGRX,
	            &jpeg, &len, quality >= FULL_CHROMA_FROM ? TJSAMP_444 : TJSAMP_420, quality,
	            TJFLAG_ACCURATEDCT) < 0) {
		/* Size and quality are in range, so only memory is left to fail. */
		log_error("JPEG: %s", tjGetErrorStr2(compressor));
		err = -ENOMEM;
	}
	if (err == 0 && buffer_try_reserve(out, len) == NULL)
		err = -ENOMEM;
	if (err == 0)
		buffer_append(out, jpeg, len);
	tjFree(jpeg);
	tjDestroy(compressor);
	return err;
}
