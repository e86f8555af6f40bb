/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joining raw DEFLATE streams (RFC 1951) that were compressed apart, so that two threads can work
 * on one PNG. A compressor such as libdeflate marks its last block as final and ends at any bit, so
 * nothing can follow it. Finding that block needs a walk over all symbols before it: block lengths
 * are written nowhere. The walk produces no output; it only adds up how many bits each symbol
 * takes.
 *
 * Pure, any thread.
 */
#ifndef CAPTURE_DEFLATE_JOIN_H
#define CAPTURE_DEFLATE_JOIN_H

#include <stddef.h>
#include <stdint.h>

/* Bit positions in a raw stream, counted as RFC 1951 does: from the low bit of byte 0 upwards. */
struct deflate_tail {
	size_t final_header_bit; /* the BFINAL bit of the last block */
	size_t end_bit; /* just past the last block's end-of-block symbol or stored bytes */
};

/* How many bytes deflate_join_reopen may add. */
#define DEFLATE_JOIN_EXTRA 5

/*
 * Walks the stream to its final block. Returns 0, or -EBADMSG when it is cut short or malformed.
 * What follows end_bit is not looked at. Distances that reach before the start of the output are
 * not noticed, as no output is kept; all else that zlib's inflate rejects is.
 */
int deflate_join_scan(const uint8_t *stream, size_t len, struct deflate_tail *out);

/*
 * Makes the final block an ordinary one and appends an empty stored block, so that the stream is
 * still open and ends on a byte: another raw stream may be put right behind it (it cannot refer
 * back into this one). `stream` needs DEFLATE_JOIN_EXTRA bytes of room behind end_bit. Returns the
 * new length.
 */
size_t deflate_join_reopen(uint8_t *stream, const struct deflate_tail *tail);

#endif
