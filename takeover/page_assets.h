/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page's files, made from webclient/ at build time and compiled in: never read from a path. */
#ifndef TAKEOVER_PAGE_ASSETS_H
#define TAKEOVER_PAGE_ASSETS_H

#include <stddef.h>
#include <stdint.h>

struct page_asset {
	const char *name;         /* "index.html", "page-3fa9c1d2.js" */
	const char *type;         /* Content-Type */
	const uint8_t *data;
	size_t len;
	const uint8_t *brotli;    /* the same compressed */
	size_t brotli_len;
	const uint8_t *gzip;
	size_t gzip_len;
};

extern const struct page_asset page_assets[];
extern const size_t page_asset_count;

#endif
