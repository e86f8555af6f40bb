/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/rfb_extensions.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/cursor.h"
#include "display/rect.h"

void rfb_put_u8(struct buffer *out, unsigned value)
{
	uint8_t byte = (uint8_t)value;
	buffer_append(out, &byte, 1);
}

void rfb_put_u16(struct buffer *out, unsigned value)
{
	uint8_t bytes[] = {(uint8_t)(value >> 8), (uint8_t)value};
	buffer_append(out, bytes, sizeof(bytes));
}

void rfb_put_u32(struct buffer *out, uint32_t value)
{
	rfb_put_u16(out, value >> 16);
	rfb_put_u16(out, value & 0xffff);
}

size_t rfb_begin_update(struct buffer *out)
{
	size_t begin = out->len;
	rfb_put_u16(out, RFB_FRAMEBUFFER_UPDATE << 8);
	rfb_put_u16(out, 0);
	return begin;
}

void rfb_end_update(struct buffer *out, size_t begin, unsigned rects)
{
	out->data[begin + 2] = (uint8_t)(rects >> 8);
	out->data[begin + 3] = (uint8_t)rects;
}

void rfb_put_rect(struct buffer *out, int x, int y, int width, int height, int32_t encoding)
{
	rfb_put_u16(out, (unsigned)x);
	rfb_put_u16(out, (unsigned)y);
	rfb_put_u16(out, (unsigned)width);
	rfb_put_u16(out, (unsigned)height);
	rfb_put_u32(out, (uint32_t)encoding);
}

void rfb_put_h264(
	struct buffer *out, const struct rect *rect, bool is_first, const void *data, size_t len)
{
	rfb_put_rect(out, rect->x, rect->y, rect->width, rect->height, RFB_ENCODING_H264);
	rfb_put_u32(out, (uint32_t)len);
	rfb_put_u32(out, is_first ? 1 : 0); /* 1: forget what this rectangle's decoder knows */
	buffer_append(out, data, len);
}

void rfb_put_jpeg(struct buffer *out, const struct rect *rect, const void *data, size_t len)
{
	rfb_put_rect(out, rect->x, rect->y, rect->width, rect->height, RFB_ENCODING_TIGHT);
	rfb_put_u8(out, 0x90); /* JPEG; no stream is reset */
	rfb_put_u8(out, (len & 0x7f) | (len > 0x7f ? 0x80 : 0));
	if (len > 0x7f)
		rfb_put_u8(out, ((len >> 7) & 0x7f) | (len > 0x3fff ? 0x80 : 0));
	if (len > 0x3fff)
		rfb_put_u8(out, (unsigned)(len >> 14));
	buffer_append(out, data, len);
}

/* Cursors. The X server's pixels are premultiplied. */

static uint8_t unmultiply(unsigned value, unsigned alpha)
{
	unsigned plain = (value * 255 + alpha / 2) / alpha;
	return (uint8_t)(plain > 255 ? 255 : plain);
}

static void put_rgba(struct buffer *out, const struct cursor_image *image, bool is_premultiplied)
{
	for (int i = 0; i < image->width * image->height; i++) {
		uint32_t pixel = image->argb[i];
		unsigned alpha = pixel >> 24;
		unsigned rgb[3] = {pixel >> 16 & 0xff, pixel >> 8 & 0xff, pixel & 0xff};
		for (int c = 0; c < 3; c++) {
			if (!is_premultiplied && alpha != 0)
				rgb[c] = unmultiply(rgb[c], alpha);
			rfb_put_u8(out, rgb[c]);
		}
		rfb_put_u8(out, alpha);
	}
}

static void put_pixel(struct buffer *out, const struct rfb_pixel_format *format, uint32_t argb)
{
	unsigned alpha = argb >> 24;
	uint32_t value = 0;
	if (alpha != 0) {
		value |= (uint32_t)(unmultiply(argb >> 16 & 0xff, alpha) * format->red_max / 255)
			 << format->red_shift;
		value |= (uint32_t)(unmultiply(argb >> 8 & 0xff, alpha) * format->green_max / 255)
			 << format->green_shift;
		value |= (uint32_t)(unmultiply(argb & 0xff, alpha) * format->blue_max / 255)
			 << format->blue_shift;
	}
	int bytes = format->bits_per_pixel / 8;
	for (int i = 0; i < bytes; i++) {
		int shift = format->is_big_endian ? (bytes - 1 - i) * 8 : i * 8;
		rfb_put_u8(out, value >> shift & 0xff);
	}
}

/* The oldest form: pixels in the viewer's format and a mask of one bit each. */
static void put_masked(struct buffer *out, const struct rfb_pixel_format *format,
	const struct cursor_image *image)
{
	for (int i = 0; i < image->width * image->height; i++)
		put_pixel(out, format, image->argb[i]);
	for (int y = 0; y < image->height; y++) {
		for (int x = 0; x < image->width; x += 8) {
			unsigned bits = 0;
			for (int i = 0; i < 8 && x + i < image->width; i++) {
				if (image->argb[y * image->width + x + i] >> 24 >= 128)
					bits |= 0x80u >> i;
			}
			rfb_put_u8(out, bits);
		}
	}
}

bool rfb_put_cursor(struct buffer *out, const struct rfb_caps *caps,
	const struct rfb_pixel_format *format, const struct cursor_image *image)
{
	static const struct cursor_image none;
	if (image == NULL)
		image = &none;
	int32_t encoding = caps->has_cursor_alpha    ? RFB_ENCODING_CURSOR_ALPHA
			   : caps->has_vmware_cursor ? RFB_ENCODING_VMWARE_CURSOR
			   : caps->has_cursor && format->is_true_colour
				   ? RFB_ENCODING_CURSOR
				   : 0;
	if (encoding == 0)
		return false;
	rfb_put_rect(out, image->hot_x, image->hot_y, image->width, image->height, encoding);
	if (encoding == RFB_ENCODING_CURSOR_ALPHA) {
		rfb_put_u32(out, RFB_ENCODING_RAW);
		put_rgba(out, image, true);
	} else if (encoding == RFB_ENCODING_VMWARE_CURSOR) {
		rfb_put_u8(out, 1); /* with alpha */
		rfb_put_u8(out, 0);
		put_rgba(out, image, false);
	} else {
		put_masked(out, format, image);
	}
	return true;
}

void rfb_put_pointer_pos(struct buffer *out, int x, int y)
{
	rfb_put_rect(out, x, y, 0, 0, RFB_ENCODING_POINTER_POS);
}

void rfb_put_desktop_name(struct buffer *out, const char *name)
{
	rfb_put_rect(out, 0, 0, 0, 0, RFB_ENCODING_DESKTOP_NAME);
	rfb_put_u32(out, (uint32_t)strlen(name));
	buffer_append(out, name, strlen(name));
}

void rfb_put_extended_size(struct buffer *out, int width, int height, int reason, int status)
{
	rfb_put_rect(out, reason, status, width, height, RFB_ENCODING_EXTENDED_DESKTOP_SIZE);
	rfb_put_u32(out, 1u << 24); /* one screen */
	rfb_put_u32(out, 0);        /* its id */
	rfb_put_u32(out, 0);        /* at 0, 0 */
	rfb_put_u16(out, (unsigned)width);
	rfb_put_u16(out, (unsigned)height);
	rfb_put_u32(out, 0);
}

unsigned rfb_put_lights(struct buffer *out, const struct rfb_caps *caps, int lights)
{
	if (caps->has_qemu_led) {
		rfb_put_rect(out, 0, 0, 0, 0, RFB_ENCODING_QEMU_LED);
		rfb_put_u8(out, (unsigned)lights);
		return 1;
	}
	if (caps->has_vmware_led) {
		rfb_put_rect(out, 0, 0, 0, 0, RFB_ENCODING_VMWARE_LED);
		rfb_put_u32(out, (uint32_t)lights);
		return 1;
	}
	return 0;
}

void rfb_put_fence(struct buffer *out, uint32_t flags, const void *payload, size_t len)
{
	rfb_put_u32(out, (uint32_t)RFB_SERVER_FENCE << 24);
	rfb_put_u32(out, flags);
	rfb_put_u8(out, (unsigned)len);
	buffer_append(out, payload, len);
}
