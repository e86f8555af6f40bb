/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cuts the bytes of an RFB client into messages. Pure: no I/O, no threads; bytes may come in pieces
 * of any size. It buffers one message at the most, and of texts that are too long nothing.
 */
#ifndef TAKEOVER_RFB_READER_H
#define TAKEOVER_RFB_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "takeover/rfb_protocol.h"

enum rfb_kind {
	/* handshake, one in each phase */
	RFB_KIND_VERSION,       /* minor: 3, 7 or 8 */
	RFB_KIND_SECURITY,      /* security */
	RFB_KIND_VNC_RESPONSE,  /* data: 16 bytes */
	RFB_KIND_CLIENT_INIT,
	/* messages */
	RFB_KIND_PIXEL_FORMAT,
	RFB_KIND_ENCODINGS,     /* data: len / 4 big-endian numbers */
	RFB_KIND_UPDATE_REQUEST,
	RFB_KIND_KEY,
	RFB_KIND_QEMU_KEY,
	RFB_KIND_POINTER,
	RFB_KIND_CUT_TEXT,      /* data: Latin-1 */
	RFB_KIND_CLIPBOARD,     /* extended: flags, data: what follows them */
	RFB_KIND_TEXT_TOO_LONG,
	RFB_KIND_CONTINUOUS,    /* is_on, x to height */
	RFB_KIND_FENCE,         /* flags, data: payload */
	RFB_KIND_DESKTOP_SIZE,  /* width, height */
	RFB_KIND_IGNORED,
};

enum rfb_phase {
	RFB_PHASE_VERSION,
	RFB_PHASE_SECURITY,
	RFB_PHASE_VNC_RESPONSE,
	RFB_PHASE_CLIENT_INIT,
	RFB_PHASE_NORMAL,
};

struct rfb_message {
	enum rfb_kind kind;
	int minor, security;
	struct rfb_pixel_format format;
	bool is_on;              /* key is down, request is incremental, updates are continuous */
	int x, y, width, height;
	unsigned buttons;        /* bit n: button n + 1 */
	uint32_t keysym;
	uint32_t keycode;        /* QEMU_KEY: XT scan code, 0x80 set for those after 0xe0 */
	uint32_t flags;
	const uint8_t *data;     /* valid until the next rfb_reader_next or _feed */
	size_t len;
};

struct rfb_reader {
	enum rfb_phase phase;        /* set by the owner as the handshake goes on */
	size_t text_max;             /* longer cut texts are skipped; 0: all */
	bool has_extended_pointer;   /* the extension was agreed on */
	/* private */
	struct buffer input;
	size_t taken;                /* of input, by the last message */
	size_t skip;                 /* bytes still to come that nobody wants */
};

enum rfb_read {
	RFB_READ_MORE,    /* no whole message is there */
	RFB_READ_MESSAGE,
	RFB_READ_BAD,     /* not RFB: close */
};

/* A zeroed reader is ready. */
void rfb_reader_finish(struct rfb_reader *reader);
void rfb_reader_feed(struct rfb_reader *reader, const void *data, size_t len);
enum rfb_read rfb_reader_next(struct rfb_reader *reader, struct rfb_message *out);

#endif
