/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a viewer said that it understands (SetEncodings). Pure; a value. */
#ifndef TAKEOVER_RFB_CAPS_H
#define TAKEOVER_RFB_CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfb_caps {
	int lossless;          /* RFB_ENCODING_TIGHT, _ZRLE, _HEXTILE or _RAW: what still parts go out in */
	int compress_level;    /* 0 to 9, -1: not said */
	int quality_level;     /* 0 to 9: JPEG is allowed; -1: not said */
	bool has_tight;
	bool has_h264;
	bool has_last_rect;
	bool has_desktop_size, has_extended_desktop_size;
	bool has_cursor, has_cursor_alpha, has_vmware_cursor;
	bool has_pointer_pos;
	bool has_desktop_name;
	bool has_qemu_key, has_qemu_led, has_vmware_led;
	bool has_extended_mouse;
	bool has_fence, has_continuous;
	bool has_clipboard;
};

/* data[0..len): the numbers of SetEncodings, 4 bytes each, big-endian, in the order of preference. */
void rfb_caps_read(struct rfb_caps *caps, const uint8_t *data, size_t len);

/* For status: "h264", "tight+jpeg", "tight", "zrle", "zrle+jpeg", "hextile", "raw". */
const char *rfb_caps_name(const struct rfb_caps *caps);

#endif
