/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the RFB protocol (RFC 6143 and the community's rfbproto) that this server speaks. */
#ifndef TAKEOVER_RFB_PROTOCOL_H
#define TAKEOVER_RFB_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

enum rfb_client_message {
	RFB_SET_PIXEL_FORMAT = 0,
	RFB_FIX_COLOUR_MAP = 1, /* of old protocols; ignored */
	RFB_SET_ENCODINGS = 2,
	RFB_UPDATE_REQUEST = 3,
	RFB_KEY_EVENT = 4,
	RFB_POINTER_EVENT = 5,
	RFB_CLIENT_CUT_TEXT = 6,
	RFB_ENABLE_CONTINUOUS_UPDATES = 150,
	RFB_CLIENT_FENCE = 248,
	RFB_XVP = 250, /* power buttons; never announced, ignored */
	RFB_SET_DESKTOP_SIZE = 251,
	RFB_QEMU = 255,
};

enum rfb_server_message {
	RFB_FRAMEBUFFER_UPDATE = 0,
	RFB_SERVER_CUT_TEXT = 3,
	RFB_END_OF_CONTINUOUS_UPDATES = 150,
	RFB_SERVER_FENCE = 248,
};

enum rfb_encoding {
	RFB_ENCODING_RAW = 0,
	RFB_ENCODING_HEXTILE = 5,
	RFB_ENCODING_TIGHT = 7,
	RFB_ENCODING_ZRLE = 16,
	RFB_ENCODING_H264 = 50,
	RFB_ENCODING_QUALITY_0 = -32, /* to -23: JPEG quality 0 to 9 */
	RFB_ENCODING_DESKTOP_SIZE = -223,
	RFB_ENCODING_LAST_RECT = -224,
	RFB_ENCODING_POINTER_POS = -232,
	RFB_ENCODING_CURSOR = -239,
	RFB_ENCODING_COMPRESS_0 = -256, /* to -247 */
	RFB_ENCODING_QEMU_KEY = -258,
	RFB_ENCODING_QEMU_LED = -261,
	RFB_ENCODING_DESKTOP_NAME = -307,
	RFB_ENCODING_EXTENDED_DESKTOP_SIZE = -308,
	RFB_ENCODING_FENCE = -312,
	RFB_ENCODING_CONTINUOUS_UPDATES = -313,
	RFB_ENCODING_CURSOR_ALPHA = -314,
	RFB_ENCODING_EXTENDED_MOUSE = -316,
	RFB_ENCODING_VMWARE_CURSOR = 0x574d5664,
	RFB_ENCODING_VMWARE_LED = 0x574d5668,
	RFB_ENCODING_EXTENDED_CLIPBOARD = (int32_t)0xc0a1e5ce,
};

enum rfb_security {
	RFB_SECURITY_NONE = 1,
	RFB_SECURITY_VNC = 2,
};

#define RFB_FENCE_BLOCK_BEFORE 0x00000001u
#define RFB_FENCE_BLOCK_AFTER  0x00000002u
#define RFB_FENCE_SYNC_NEXT    0x00000004u
#define RFB_FENCE_REQUEST      0x80000000u
#define RFB_FENCE_PAYLOAD_MAX  64

/* Extended clipboard: formats and actions. */
#define RFB_CLIP_TEXT    0x00000001u
#define RFB_CLIP_CAPS    0x01000000u
#define RFB_CLIP_REQUEST 0x02000000u
#define RFB_CLIP_PEEK    0x04000000u
#define RFB_CLIP_NOTIFY  0x08000000u
#define RFB_CLIP_PROVIDE 0x10000000u
#define RFB_CLIP_ACTIONS 0x1f000000u

/* Text either way may have so many bytes (of UTF-8, and of what travels); longer text is not taken. */
#define RFB_CUT_TEXT_MAX (4u << 20)

struct rfb_pixel_format {
	uint8_t bits_per_pixel, depth;
	bool is_big_endian, is_true_colour;
	uint16_t red_max, green_max, blue_max;
	uint8_t red_shift, green_shift, blue_shift;
};

static inline uint16_t rfb_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t rfb_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

#endif
