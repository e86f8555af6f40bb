/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds the DEFLATE scanner with what libFuzzer makes up, and compares it with zlib. Build and run
 * by hand:
 *   clang -g -O1 -std=gnu17 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -I. \
 *     tests/fuzz/fuzz_deflate_join.c capture/deflate_join.c base/alloc.c -lz -o fuzz_deflate_join
 *   ./fuzz_deflate_join -max_total_time=300 -max_len=4096
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/alloc.h"
#include "capture/deflate_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct inflated {
	int result; /* zlib's */
	bool is_distance_fault;
	size_t in_len, out_len;
	uint32_t adler;
};

/* What zlib makes of a stream; its output only as a sum. */
static struct inflated inflate_all(const uint8_t *stream, size_t len)
{
	static uint8_t out[65536];
	z_stream inflater = {.next_in = (Bytef *)stream, .avail_in = (uInt)len};
	require(inflateInit2(&inflater, -15) == Z_OK);
	struct inflated inflated = {.adler = 1};
	do {
		inflater.next_out = out;
		inflater.avail_out = sizeof(out);
		inflated.result = inflate(&inflater, Z_NO_FLUSH);
		uInt made = (uInt)sizeof(out) - inflater.avail_out;
		inflated.adler = (uint32_t)adler32(inflated.adler, out, made);
	} while (inflated.result == Z_OK && inflater.avail_out == 0);
	inflated.is_distance_fault = inflated.result == Z_DATA_ERROR && inflater.msg != NULL &&
	                             strcmp(inflater.msg, "invalid distance too far back") == 0;
	inflated.in_len = inflater.total_in;
	inflated.out_len = inflater.total_out;
	inflateEnd(&inflater);
	return inflated;
}

/* The stream reopened and followed by an empty one must inflate to the same. */
static void check_reopened(const uint8_t *data, const struct deflate_tail *tail, size_t stream_len,
        const struct inflated *before)
{
	static const uint8_t empty[] = {0x03, 0x00}; /* a final fixed block of nothing */
	uint8_t *stream = xmalloc(stream_len + DEFLATE_JOIN_EXTRA + sizeof(empty));
	memcpy(stream, data, stream_len);
	size_t len = deflate_join_reopen(stream, tail);
	require(len <= stream_len + DEFLATE_JOIN_EXTRA);
	memcpy(stream + len, empty, sizeof(empty));
	struct inflated after = inflate_all(stream, len + sizeof(empty));
	require(after.result == Z_STREAM_END && after.in_len == len + sizeof(empty));
	require(after.out_len == before->out_len && after.adler == before->adler);
	free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct deflate_tail tail;
	int err = deflate_join_scan(data, size, &tail);
	struct inflated inflated = inflate_all(data, size);
	if (inflated.is_distance_fault)
		return 0;
	require((err == 0) == (inflated.result == Z_STREAM_END));
	if (err == 0) {
		require((tail.end_bit + 7) / 8 == inflated.in_len);
		require(tail.final_header_bit + 3 <= tail.end_bit);
		check_reopened(data, &tail, inflated.in_len, &inflated);
	}
	return 0;
}
