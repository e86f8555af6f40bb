/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the server's own pixels (any depth and visual class) to B,G,R,X. Display thread.
 */
#ifndef DISPLAY_PIXEL_FORMAT_H
#define DISPLAY_PIXEL_FORMAT_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stdint.h>

struct xconn;

struct pixel_format {
	Visual *visual;
	int depth;
	bool is_bgrx;        /* the server's memory is B,G,R,X as it stands: no conversion */
	bool has_colormap;   /* pixels are indices into `colors` */
	uint32_t colors[256];           /* 0x00RRGGBB */
	int shift[3], bits[3];          /* red, green, blue masks */
	uint8_t scale[3][1 << 10];      /* channel value → 0..255, for up to 10 bits */
};

/* Reads what the root window's visual is. False (logged) for one that cannot be shown. */
bool pixel_format_init(struct pixel_format *format, struct xconn *conn, Visual *visual, int depth);

/*
 * Rereads the colours of an indexed visual from the installed colormap (one round trip); returns
 * whether any differs from before. Colormap changes raise no damage. No-op otherwise.
 */
bool pixel_format_refresh_colors(struct pixel_format *format, struct xconn *conn);

/* Converts all of image into dst, `stride` bytes a row. */
void pixel_format_convert(
	const struct pixel_format *format, XImage *image, uint8_t *dst, int stride);

#endif
