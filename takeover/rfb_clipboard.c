/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts both ways: plain cut text (Latin-1) and the extended clipboard (UTF-8, deflated, \r\n). */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "takeover/rfb_extensions.h"

/* Begins a ServerCutText; an extended one has its length negated. */
static void put_head(struct buffer *out, size_t len, bool is_extended)
{
	rfb_put_u32(out, (uint32_t)RFB_SERVER_CUT_TEXT << 24);
	rfb_put_u32(out, is_extended ? 0u - (uint32_t)len : (uint32_t)len);
}

void rfb_put_cut_text(struct buffer *out, const char *utf8, size_t len)
{
	struct buffer latin = {0};
	for (size_t i = 0; i < len;) {
		uint32_t code_point;
		size_t size = utf8_decode(utf8 + i, len - i, &code_point);
		if (size == 0) {
			size = 1;
			code_point = '?';
		}
		rfb_put_u8(&latin, code_point < 0x100 ? code_point : '?');
		i += size;
	}
	put_head(out, latin.len, false);
	buffer_append(out, latin.data, latin.len);
	buffer_finish(&latin);
}

void rfb_put_clipboard_caps(struct buffer *out)
{
	put_head(out, 8, true);
	rfb_put_u32(out, RFB_CLIP_CAPS | RFB_CLIP_REQUEST | RFB_CLIP_PEEK | RFB_CLIP_NOTIFY |
				 RFB_CLIP_PROVIDE | RFB_CLIP_TEXT);
	/* How much text the viewer may send unasked: none. It announces, we ask. */
	rfb_put_u32(out, 0);
}

void rfb_put_clipboard_action(struct buffer *out, uint32_t flags)
{
	put_head(out, 4, true);
	rfb_put_u32(out, flags);
}

void rfb_put_clipboard_text(struct buffer *out, const char *utf8, size_t len)
{
	struct buffer plain = {0};
	rfb_put_u32(&plain, 0);
	for (size_t i = 0; i < len; i++) {
		if (utf8[i] == '\n' && (i == 0 || utf8[i - 1] != '\r'))
			rfb_put_u8(&plain, '\r');
		rfb_put_u8(&plain, (uint8_t)utf8[i]);
	}
	rfb_put_u8(&plain, 0);
	size_t size = plain.len - 4;
	for (int i = 0; i < 4; i++)
		plain.data[i] = (uint8_t)(size >> (24 - 8 * i));
	uLongf packed_len = compressBound(plain.len);
	uint8_t *packed = xmalloc(packed_len);
	if (compress2(packed, &packed_len, plain.data, plain.len, 1) == Z_OK) {
		put_head(out, 4 + packed_len, true);
		rfb_put_u32(out, RFB_CLIP_PROVIDE | RFB_CLIP_TEXT);
		buffer_append(out, packed, packed_len);
	}
	free(packed);
	buffer_finish(&plain);
}

/* Inflates at most `max` bytes; what is longer or broken gives false. */
static bool inflate_all(const uint8_t *data, size_t len, size_t max, struct buffer *out)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len};
	if (inflateInit(&stream) != Z_OK)
		return false;
	int ret = Z_OK;
	while (ret == Z_OK && out->len <= max) {
		uint8_t *room = buffer_reserve(out, 64 << 10);
		stream.next_out = room;
		stream.avail_out = 64 << 10;
		ret = inflate(&stream, Z_SYNC_FLUSH);
		out->len += (64u << 10) - stream.avail_out;
	}
	inflateEnd(&stream);
	/* Viewers flush their stream without ending it: running out of input is the usual end. */
	return (ret == Z_STREAM_END || ret == Z_BUF_ERROR) && out->len <= max;
}

/* \r\n and \r become \n, in place; the new length. */
static size_t unify_line_ends(char *text, size_t len)
{
	size_t used = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\r')
			text[used++] = text[i];
		else if (i + 1 == len || text[i + 1] != '\n')
			text[used++] = '\n';
	}
	return used;
}

char *rfb_read_clipboard_text(uint32_t flags, const uint8_t *data, size_t len, size_t *text_len)
{
	struct buffer plain = {0};
	char *text = NULL;
	if ((flags & RFB_CLIP_TEXT) != 0 &&
		inflate_all(data, len, RFB_CUT_TEXT_MAX + 8, &plain) && plain.len >= 4) {
		size_t size = rfb_get32(plain.data);
		const char *begin = (const char *)plain.data + 4;
		if (size <= plain.len - 4) {
			while (size > 0 && begin[size - 1] == '\0')
				size--;
			text = utf8_sanitize(begin, size);
			*text_len = unify_line_ends(text, strlen(text));
			text[*text_len] = '\0';
		}
	}
	buffer_finish(&plain);
	return text;
}

char *rfb_read_cut_text(const uint8_t *data, size_t len, size_t *text_len)
{
	struct buffer utf8 = {0};
	for (size_t i = 0; i < len; i++) {
		char encoded[4];
		if (data[i] != 0)
			buffer_append(&utf8, encoded, utf8_encode(data[i], encoded));
	}
	rfb_put_u8(&utf8, 0);
	*text_len = unify_line_ends((char *)utf8.data, utf8.len - 1);
	utf8.data[*text_len] = '\0';
	return (char *)utf8.data;
}
