/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/rfb_caps.h"

#include "takeover/rfb_protocol.h"

static bool is_compressed(int32_t encoding)
{
	return encoding == RFB_ENCODING_TIGHT || encoding == RFB_ENCODING_ZRLE ||
	       encoding == RFB_ENCODING_HEXTILE;
}

static void note_pseudo(struct rfb_caps *caps, int32_t encoding)
{
	switch (encoding) {
	case RFB_ENCODING_H264: caps->has_h264 = true; break;
	case RFB_ENCODING_LAST_RECT: caps->has_last_rect = true; break;
	case RFB_ENCODING_DESKTOP_SIZE: caps->has_desktop_size = true; break;
	case RFB_ENCODING_EXTENDED_DESKTOP_SIZE: caps->has_extended_desktop_size = true; break;
	case RFB_ENCODING_CURSOR: caps->has_cursor = true; break;
	case RFB_ENCODING_CURSOR_ALPHA: caps->has_cursor_alpha = true; break;
	case RFB_ENCODING_VMWARE_CURSOR: caps->has_vmware_cursor = true; break;
	case RFB_ENCODING_POINTER_POS: caps->has_pointer_pos = true; break;
	case RFB_ENCODING_DESKTOP_NAME: caps->has_desktop_name = true; break;
	case RFB_ENCODING_QEMU_KEY: caps->has_qemu_key = true; break;
	case RFB_ENCODING_QEMU_LED: caps->has_qemu_led = true; break;
	case RFB_ENCODING_VMWARE_LED: caps->has_vmware_led = true; break;
	case RFB_ENCODING_EXTENDED_MOUSE: caps->has_extended_mouse = true; break;
	case RFB_ENCODING_FENCE: caps->has_fence = true; break;
	case RFB_ENCODING_CONTINUOUS_UPDATES: caps->has_continuous = true; break;
	case RFB_ENCODING_EXTENDED_CLIPBOARD: caps->has_clipboard = true; break;
	default: break;
	}
}

void rfb_caps_read(struct rfb_caps *caps, const uint8_t *data, size_t len)
{
	*caps = (struct rfb_caps){
		.lossless = RFB_ENCODING_RAW, .compress_level = -1, .quality_level = -1};
	for (size_t i = 0; i + 4 <= len; i += 4) {
		int32_t encoding = (int32_t)rfb_get32(data + i);
		caps->has_tight |= encoding == RFB_ENCODING_TIGHT;
		/* The first one is what the viewer would like best; Raw only where nothing else is. */
		if (is_compressed(encoding) && caps->lossless == RFB_ENCODING_RAW)
			caps->lossless = encoding;
		else if (encoding >= RFB_ENCODING_QUALITY_0 && encoding < RFB_ENCODING_QUALITY_0 + 10)
			caps->quality_level = encoding - RFB_ENCODING_QUALITY_0;
		else if (encoding >= RFB_ENCODING_COMPRESS_0 &&
			 encoding < RFB_ENCODING_COMPRESS_0 + 10)
			caps->compress_level = encoding - RFB_ENCODING_COMPRESS_0;
		else
			note_pseudo(caps, encoding);
	}
	if (!caps->has_tight)
		caps->quality_level = -1; /* JPEG comes inside Tight */
	/* Continuous updates without fences have no measure of what the viewer can take. */
	caps->has_continuous &= caps->has_fence;
}

const char *rfb_caps_name(const struct rfb_caps *caps)
{
	if (caps->has_h264)
		return "h264";
	switch (caps->lossless) {
	case RFB_ENCODING_TIGHT:
		return caps->quality_level >= 0 ? "tight+jpeg" : "tight";
	case RFB_ENCODING_ZRLE:
		return caps->quality_level >= 0 ? "zrle+jpeg" : "zrle";
	case RFB_ENCODING_HEXTILE:
		return "hextile";
	default:
		return "raw";
	}
}
