/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/pixel_format.h"

#include <X11/Xutil.h>
#include <string.h>

#include "base/alloc.h"
#include "display/xconn.h"
#define LOG_MODULE "pixels"
#include "base/log.h"

static bool read_mask(unsigned long mask, int *shift, int *bits)
{
	if (mask == 0)
		return false;
	*shift = __builtin_ctzl(mask);
	*bits = __builtin_popcountl(mask);
	return *bits <= 10 && mask >> *shift == (1ul << *bits) - 1;
}

static bool is_little_endian(void)
{
	const uint16_t one = 1;
	return *(const uint8_t *)&one == 1;
}

static int bits_per_pixel_of(Display *dpy, int depth)
{
	int count = 0, bits = 0;
	XPixmapFormatValues *formats = XListPixmapFormats(dpy, &count);
	for (int i = 0; i < count; i++) {
		if (formats[i].depth == depth)
			bits = formats[i].bits_per_pixel;
	}
	if (formats != NULL)
		XFree(formats);
	return bits;
}

bool pixel_format_init(struct pixel_format *format, struct xconn *conn, Visual *visual, int depth)
{
	memset(format, 0, sizeof(*format));
	format->visual = visual;
	format->depth = depth;
	if (visual->class != TrueColor && visual->class != DirectColor) {
		if (visual->map_entries > (int)ARRAY_LEN(format->colors)) {
			log_error("a colormap of %d entries (depth %d) cannot be read",
				visual->map_entries, depth);
			return false;
		}
		format->has_colormap = true;
		pixel_format_refresh_colors(format, conn);
		return true;
	}
	const unsigned long masks[3] = {visual->red_mask, visual->green_mask, visual->blue_mask};
	for (int i = 0; i < 3; i++) {
		if (!read_mask(masks[i], &format->shift[i], &format->bits[i])) {
			log_error("the pixel format of depth %d (masks %lx %lx %lx) cannot be read",
				depth, masks[0], masks[1], masks[2]);
			return false;
		}
		int max = (1 << format->bits[i]) - 1;
		for (int v = 0; v <= max; v++)
			format->scale[i][v] = (uint8_t)((v * 255 + max / 2) / max);
	}
	format->is_bgrx = masks[0] == 0xff0000 && masks[1] == 0xff00 && masks[2] == 0xff &&
			  ImageByteOrder(conn->dpy) == LSBFirst && is_little_endian() &&
			  bits_per_pixel_of(conn->dpy, depth) == 32;
	return true;
}

static Colormap installed_colormap(struct xconn *conn)
{
	int count = 0;
	Colormap colormap = DefaultColormap(conn->dpy, conn->screen);
	Colormap *installed = XListInstalledColormaps(conn->dpy, conn->root, &count);
	if (installed != NULL) {
		if (count > 0)
			colormap = installed[0];
		XFree(installed);
	}
	return colormap;
}

bool pixel_format_refresh_colors(struct pixel_format *format, struct xconn *conn)
{
	if (!format->has_colormap)
		return false;
	XColor colors[256];
	int count = format->visual->map_entries;
	for (int i = 0; i < count; i++)
		colors[i] = (XColor){.pixel = (unsigned long)i};
	xconn_trap(conn);
	XQueryColors(conn->dpy, installed_colormap(conn), colors, count);
	if (xconn_untrap(conn) != 0)
		return false;
	bool is_changed = false;
	for (int i = 0; i < count; i++) {
		uint32_t color = (uint32_t)(colors[i].red >> 8) << 16 |
				 (uint32_t)(colors[i].green >> 8) << 8 |
				 (uint32_t)(colors[i].blue >> 8);
		is_changed |= color != format->colors[i];
		format->colors[i] = color;
	}
	return is_changed;
}

static inline uint32_t convert_pixel(const struct pixel_format *format, unsigned long pixel)
{
	if (format->has_colormap)
		return format->colors[pixel & 0xff];
	uint32_t out = 0;
	for (int i = 0; i < 3; i++) {
		unsigned long value = pixel >> format->shift[i] & ((1ul << format->bits[i]) - 1);
		out = out << 8 | format->scale[i][value];
	}
	return out;
}

/* A row in a size and byte order that can be read directly; false for what needs XGetPixel. */
static bool convert_row(
	const struct pixel_format *format, const XImage *image, const char *src, uint32_t *dst)
{
	int width = image->width;
	bool is_native = (image->byte_order == LSBFirst) == is_little_endian();
	switch (image->bits_per_pixel) {
	case 8:
		for (int x = 0; x < width; x++)
			dst[x] = convert_pixel(format, (uint8_t)src[x]);
		return true;
	case 16:
		for (int x = 0; is_native && x < width; x++) {
			uint16_t pixel;
			memcpy(&pixel, src + 2 * x, 2);
			dst[x] = convert_pixel(format, pixel);
		}
		return is_native;
	case 32:
		for (int x = 0; is_native && x < width; x++) {
			uint32_t pixel;
			memcpy(&pixel, src + 4 * x, 4);
			dst[x] = convert_pixel(format, pixel);
		}
		return is_native;
	default:
		return false;
	}
}

void pixel_format_convert(
	const struct pixel_format *format, XImage *image, uint8_t *dst, int stride)
{
	for (int y = 0; y < image->height; y++) {
		const char *src = image->data + (size_t)y * (size_t)image->bytes_per_line;
		uint32_t *row = (uint32_t *)(void *)(dst + (size_t)y * (size_t)stride);
		if (format->is_bgrx) {
			memcpy(row, src, (size_t)image->width * 4);
		} else if (!convert_row(format, image, src, row)) {
			for (int x = 0; x < image->width; x++)
				row[x] = convert_pixel(format, XGetPixel(image, x, y));
		}
	}
}
