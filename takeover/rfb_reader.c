/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/rfb_reader.h"

#include <string.h>

#define SCREEN_BYTES 16 /* of one screen in SetDesktopSize */

void rfb_reader_finish(struct rfb_reader *reader)
{
	buffer_finish(&reader->input);
}

static void drop_taken(struct rfb_reader *reader)
{
	buffer_consume(&reader->input, reader->taken);
	reader->taken = 0;
	size_t skipped = reader->skip < reader->input.len ? reader->skip : reader->input.len;
	buffer_consume(&reader->input, skipped);
	reader->skip -= skipped;
}

void rfb_reader_feed(struct rfb_reader *reader, const void *data, size_t len)
{
	drop_taken(reader);
	size_t skipped = reader->skip < len ? reader->skip : len;
	reader->skip -= skipped;
	buffer_append(&reader->input, (const uint8_t *)data + skipped, len - skipped);
}

/* "RFB 003.00x\n"; what calls itself newer than 3.8 speaks 3.8, what is between speaks 3.3. */
static enum rfb_read read_version(const uint8_t *p, struct rfb_message *out)
{
	if (memcmp(p, "RFB 003.", 8) != 0 || p[11] != '\n')
		return RFB_READ_BAD;
	int minor = 0;
	for (int i = 8; i < 11; i++) {
		if (p[i] < '0' || p[i] > '9')
			return RFB_READ_BAD;
		minor = minor * 10 + (p[i] - '0');
	}
	out->kind = RFB_KIND_VERSION;
	out->minor = minor >= 8 && minor != 889 ? 8 : minor == 7 ? 7 : 3;
	return RFB_READ_MESSAGE;
}

static enum rfb_read read_handshake(
	struct rfb_reader *reader, const uint8_t *p, size_t len, struct rfb_message *out)
{
	static const size_t needed[] = {12, 1, 16, 1};
	size_t size = needed[reader->phase];
	if (len < size)
		return RFB_READ_MORE;
	reader->taken = size;
	switch (reader->phase) {
	case RFB_PHASE_VERSION:
		return read_version(p, out);
	case RFB_PHASE_SECURITY:
		out->kind = RFB_KIND_SECURITY;
		out->security = p[0];
		break;
	case RFB_PHASE_VNC_RESPONSE:
		out->kind = RFB_KIND_VNC_RESPONSE;
		out->data = p;
		out->len = size;
		break;
	default:
		out->kind = RFB_KIND_CLIENT_INIT;
		break;
	}
	return RFB_READ_MESSAGE;
}

static void read_pixel_format(const uint8_t *p, struct rfb_pixel_format *out)
{
	*out = (struct rfb_pixel_format){
		.bits_per_pixel = p[0],
		.depth = p[1],
		.is_big_endian = p[2] != 0,
		.is_true_colour = p[3] != 0,
		.red_max = rfb_get16(p + 4),
		.green_max = rfb_get16(p + 6),
		.blue_max = rfb_get16(p + 8),
		.red_shift = p[10],
		.green_shift = p[11],
		.blue_shift = p[12],
	};
}

static bool format_is_sound(const struct rfb_pixel_format *format)
{
	int bits = format->bits_per_pixel;
	if (bits != 8 && bits != 16 && bits != 32)
		return false;
	if (!format->is_true_colour)
		return bits == 8;
	return format->red_shift < bits && format->green_shift < bits &&
	       format->blue_shift < bits && format->red_max > 0 && format->green_max > 0 &&
	       format->blue_max > 0;
}

/* How long the message at p is; 0 when more bytes are needed to know, -1 for what is no message. */
static long message_size(const struct rfb_reader *reader, const uint8_t *p, size_t len)
{
	switch (p[0]) {
	case RFB_SET_PIXEL_FORMAT:
		return 20;
	case RFB_FIX_COLOUR_MAP:
		return len < 6 ? 0 : 6 + 6l * rfb_get16(p + 4);
	case RFB_SET_ENCODINGS:
		return len < 4 ? 0 : 4 + 4l * rfb_get16(p + 2);
	case RFB_UPDATE_REQUEST:
	case RFB_ENABLE_CONTINUOUS_UPDATES:
		return 10;
	case RFB_KEY_EVENT:
		return 8;
	case RFB_POINTER_EVENT:
		if (len < 2)
			return 0;
		return reader->has_extended_pointer && (p[1] & 0x80) != 0 ? 7 : 6;
	case RFB_CLIENT_CUT_TEXT:
		return 8; /* its text is looked at apart */
	case RFB_CLIENT_FENCE:
		if (len < 9)
			return 0;
		return p[8] > RFB_FENCE_PAYLOAD_MAX ? -1 : 9 + p[8];
	case RFB_XVP:
		return 4;
	case RFB_SET_DESKTOP_SIZE:
		return len < 8 ? 0 : 8 + (long)SCREEN_BYTES * p[6];
	case RFB_QEMU:
		if (len < 2)
			return 0;
		return p[1] == 0 ? 12 : -1;
	default:
		return -1;
	}
}

static void read_area(const uint8_t *p, struct rfb_message *out)
{
	out->is_on = p[1] != 0;
	out->x = rfb_get16(p + 2);
	out->y = rfb_get16(p + 4);
	out->width = rfb_get16(p + 6);
	out->height = rfb_get16(p + 8);
}

static void read_pointer(const uint8_t *p, size_t size, struct rfb_message *out)
{
	out->kind = RFB_KIND_POINTER;
	out->buttons = size == 7 ? (p[1] & 0x7fu) | (unsigned)p[6] << 7 : p[1];
	out->x = rfb_get16(p + 2);
	out->y = rfb_get16(p + 4);
}

static enum rfb_read read_fixed(const uint8_t *p, size_t size, struct rfb_message *out)
{
	switch (p[0]) {
	case RFB_SET_PIXEL_FORMAT:
		out->kind = RFB_KIND_PIXEL_FORMAT;
		read_pixel_format(p + 4, &out->format);
		return format_is_sound(&out->format) ? RFB_READ_MESSAGE : RFB_READ_BAD;
	case RFB_SET_ENCODINGS:
		out->kind = RFB_KIND_ENCODINGS;
		out->data = p + 4;
		out->len = size - 4;
		break;
	case RFB_UPDATE_REQUEST:
		out->kind = RFB_KIND_UPDATE_REQUEST;
		read_area(p, out);
		break;
	case RFB_ENABLE_CONTINUOUS_UPDATES:
		out->kind = RFB_KIND_CONTINUOUS;
		read_area(p, out);
		break;
	case RFB_KEY_EVENT:
		out->kind = RFB_KIND_KEY;
		out->is_on = p[1] != 0;
		out->keysym = rfb_get32(p + 4);
		break;
	case RFB_QEMU:
		out->kind = RFB_KIND_QEMU_KEY;
		out->is_on = rfb_get16(p + 2) != 0;
		out->keysym = rfb_get32(p + 4);
		out->keycode = rfb_get32(p + 8);
		break;
	case RFB_POINTER_EVENT:
		read_pointer(p, size, out);
		break;
	case RFB_CLIENT_FENCE:
		out->kind = RFB_KIND_FENCE;
		out->flags = rfb_get32(p + 4);
		out->data = p + 9;
		out->len = size - 9;
		break;
	case RFB_SET_DESKTOP_SIZE:
		out->kind = RFB_KIND_DESKTOP_SIZE;
		out->width = rfb_get16(p + 2);
		out->height = rfb_get16(p + 4);
		break;
	default:
		out->kind = RFB_KIND_IGNORED;
		break;
	}
	return RFB_READ_MESSAGE;
}

/* A negative length says: extended clipboard, and is the length all the same. */
static enum rfb_read read_cut_text(
	struct rfb_reader *reader, const uint8_t *p, size_t len, struct rfb_message *out)
{
	uint32_t field = rfb_get32(p + 4);
	bool is_extended = (field & 0x80000000u) != 0;
	size_t size = is_extended ? (size_t)(0u - field) : field;
	if (is_extended && size < 4)
		return RFB_READ_BAD;
	if (size > reader->text_max) {
		out->kind = RFB_KIND_TEXT_TOO_LONG;
		reader->taken = 8;
		reader->skip = size;
		return RFB_READ_MESSAGE;
	}
	if (len - 8 < size)
		return RFB_READ_MORE;
	reader->taken = 8 + size;
	out->kind = is_extended ? RFB_KIND_CLIPBOARD : RFB_KIND_CUT_TEXT;
	out->flags = is_extended ? rfb_get32(p + 8) : 0;
	out->data = p + (is_extended ? 12 : 8);
	out->len = size - (is_extended ? 4 : 0);
	return RFB_READ_MESSAGE;
}

enum rfb_read rfb_reader_next(struct rfb_reader *reader, struct rfb_message *out)
{
	drop_taken(reader);
	*out = (struct rfb_message){0};
	const uint8_t *p = reader->input.data;
	size_t len = reader->input.len;
	if (len == 0)
		return RFB_READ_MORE;
	if (reader->phase != RFB_PHASE_NORMAL)
		return read_handshake(reader, p, len, out);
	long size = message_size(reader, p, len);
	if (size < 0)
		return RFB_READ_BAD;
	if (size == 0 || len < (size_t)size)
		return RFB_READ_MORE;
	if (p[0] == RFB_CLIENT_CUT_TEXT)
		return read_cut_text(reader, p, len, out);
	reader->taken = (size_t)size;
	return read_fixed(p, (size_t)size, out);
}
