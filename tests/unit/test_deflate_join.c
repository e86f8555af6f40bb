/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deflate_join against zlib's inflate, which is asked for the same positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <libdeflate.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "capture/deflate_join.h"
#include "tests/unit/picture_rig.h"

/* What is compressed. */
enum data_kind { DATA_ZEROS, DATA_TEXT, DATA_RANDOM, DATA_SKEWED, DATA_FAR, DATA_KINDS };

static uint8_t data_byte(enum data_kind kind, size_t i, uint32_t *state)
{
	static const char words[] = "the screen of a box shows what its programs draw on it; ";
	uint32_t random = rig_random(state);
	switch (kind) {
	case DATA_ZEROS:
		return 0;
	case DATA_TEXT:
		return random % 11 == 0 ? (uint8_t)(random >> 8)
		                        : (uint8_t)words[i % (sizeof(words) - 1)];
	case DATA_RANDOM:
		return (uint8_t)random;
	case DATA_SKEWED: /* long codes: each byte half as frequent as the one before */
		return (uint8_t)__builtin_ctz(random | 1u << 20);
	default: /* repeats at distances of all sizes */
		return (uint8_t)(rig_hash((uint32_t)(i % (1u << (1 + i / 4096 % 15)))) >> 3);
	}
}

static uint8_t *make_data(enum data_kind kind, size_t len, uint32_t seed)
{
	uint8_t *data = xmalloc(len);
	for (size_t i = 0; i < len; i++)
		data[i] = data_byte(kind, i, &seed);
	return data;
}

static void compress_libdeflate(const uint8_t *data, size_t len, int level, struct buffer *out)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
	size_t bound = libdeflate_deflate_compress_bound(compressor, len);
	size_t out_len = libdeflate_deflate_compress(
	        compressor, data, len, buffer_reserve(out, bound), bound);
	assert_true(out_len > 0);
	out->len += out_len;
	libdeflate_free_compressor(compressor);
}

static void compress_zlib(
        const uint8_t *data, size_t len, int level, int mem_level, int strategy, struct buffer *out)
{
	z_stream stream = {0};
	assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -15, mem_level, strategy), Z_OK);
	size_t bound = deflateBound(&stream, len) + 1000;
	stream.next_in = (Bytef *)data;
	stream.avail_in = (uInt)len;
	stream.next_out = buffer_reserve(out, bound);
	stream.avail_out = (uInt)bound;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	out->len += stream.total_out;
	deflateEnd(&stream);
}

enum verdict { VERDICT_RIGHT, VERDICT_WRONG, VERDICT_TOO_FAR };

/* zlib's positions, by stopping after each block; TOO_FAR: only a distance is wrong. */
static enum verdict inflate_scan(const uint8_t *stream, size_t len, struct deflate_tail *tail)
{
	z_stream inflater = {.next_in = (Bytef *)stream, .avail_in = (uInt)len};
	assert_int_equal(inflateInit2(&inflater, -15), Z_OK);
	static uint8_t sink[65536];
	size_t block_start = 0;
	int result;
	do {
		inflater.next_out = sink;
		inflater.avail_out = sizeof(sink);
		result = inflate(&inflater, Z_BLOCK);
		size_t at = inflater.total_in * 8 - ((unsigned int)inflater.data_type & 7);
		bool is_at_block_end = inflater.data_type & 128;
		bool is_in_last = inflater.data_type & 64;
		if (result == Z_OK && is_at_block_end && !is_in_last)
			block_start = at;
		/* A step further it leaves out the bits up to the next byte. */
		if (result == Z_OK && is_at_block_end && is_in_last)
			tail->end_bit = at;
	} while (result == Z_OK && !(inflater.avail_in == 0 && inflater.avail_out > 0 &&
	                                   !(inflater.data_type & 128)));
	bool is_too_far = result == Z_DATA_ERROR && inflater.msg != NULL &&
	                  strcmp(inflater.msg, "invalid distance too far back") == 0;
	tail->final_header_bit = block_start;
	inflateEnd(&inflater);
	return result == Z_STREAM_END ? VERDICT_RIGHT
	       : is_too_far           ? VERDICT_TOO_FAR
	                              : VERDICT_WRONG;
}

/* The scan of a copy of exactly that length, so that a sanitizer sees reads past the end. */
static int scan_exact(const uint8_t *stream, size_t len, struct deflate_tail *tail)
{
	uint8_t *copy = xmemdup(stream, len);
	int err = deflate_join_scan(copy, len, tail);
	free(copy);
	return err;
}

static void check_positions(const struct buffer *stream)
{
	struct deflate_tail tail, expected;
	assert_int_equal(inflate_scan(stream->data, stream->len, &expected), VERDICT_RIGHT);
	assert_int_equal(scan_exact(stream->data, stream->len, &tail), 0);
	assert_int_equal(tail.final_header_bit, expected.final_header_bit);
	assert_int_equal((tail.end_bit + 7) / 8, stream->len);
	assert_int_equal(tail.end_bit, expected.end_bit);
}

static const size_t lengths[] = {0, 1, 2, 3, 100, 5000, 70000, 400001};

static void finds_the_final_block_of_libdeflate(void **state)
{
	for (int kind = 0; kind < DATA_KINDS; kind++) {
		for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
			uint8_t *data = make_data((enum data_kind)kind, lengths[i], 7);
			for (int level = 0; level <= (lengths[i] > 70000 ? 8 : 12); level++) {
				struct buffer stream = {0};
				compress_libdeflate(data, lengths[i], level, &stream);
				check_positions(&stream);
				buffer_finish(&stream);
			}
			free(data);
		}
	}
}

static void finds_the_final_block_of_zlib(void **state)
{
	static const int strategies[] = {
	        Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED, Z_FILTERED};
	for (int kind = 0; kind < DATA_KINDS; kind++) {
		for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
			uint8_t *data = make_data((enum data_kind)kind, lengths[i], 9);
			for (size_t s = 0; s < ARRAY_LEN(strategies); s++) {
				struct buffer stream = {0};
				compress_zlib(data, lengths[i], s % 2 ? 9 : 1, s % 2 ? 9 : 1,
				        strategies[s], &stream);
				check_positions(&stream);
				buffer_finish(&stream);
			}
			free(data);
		}
	}
}

static void check_inflates_to(const struct buffer *stream, const uint8_t *data, size_t len)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	uint8_t *out = xmalloc(len);
	size_t in_len, out_len;
	assert_int_equal(libdeflate_deflate_decompress_ex(decompressor, stream->data, stream->len,
	                         out, len, &in_len, &out_len),
	        LIBDEFLATE_SUCCESS);
	assert_int_equal(in_len, stream->len);
	assert_int_equal(out_len, len);
	assert_memory_equal(out, data, len);
	free(out);
	libdeflate_free_decompressor(decompressor);

	z_stream inflater = {.next_in = stream->data, .avail_in = (uInt)stream->len};
	assert_int_equal(inflateInit2(&inflater, -15), Z_OK);
	out = xmalloc(len);
	inflater.next_out = out;
	inflater.avail_out = (uInt)len;
	/* zlib wants room to find that nothing comes any more. */
	int result = inflate(&inflater, Z_FINISH);
	assert_true(result == Z_STREAM_END || len == 0);
	assert_int_equal(inflater.total_out, len);
	assert_memory_equal(out, data, len);
	free(out);
	inflateEnd(&inflater);
}

/* Compresses `data` in pieces cut at random and joins them. */
static void check_joined(const uint8_t *data, size_t len, int level, uint32_t *seed)
{
	struct buffer joined = {0};
	size_t at = 0;
	while (at < len || joined.len == 0) {
		size_t left = len - at;
		size_t piece = left < 2 || rig_random(seed) % 8 == 0
		                       ? left
		                       : rig_random(seed) % (left / (1 + rig_random(seed) % 9) + 1);
		struct buffer stream = {0};
		compress_libdeflate(data + at, piece, level, &stream);
		at += piece;
		if (at < len) {
			struct deflate_tail tail;
			assert_int_equal(scan_exact(stream.data, stream.len, &tail), 0);
			size_t old_len = stream.len;
			buffer_reserve(&stream, DEFLATE_JOIN_EXTRA);
			stream.len = deflate_join_reopen(stream.data, &tail);
			assert_true(stream.len <= old_len + DEFLATE_JOIN_EXTRA);
		}
		buffer_append(&joined, stream.data, stream.len);
		buffer_finish(&stream);
	}
	check_inflates_to(&joined, data, len);
	buffer_finish(&joined);
}

static void joins_streams(void **state)
{
	uint32_t seed = 3;
	for (int kind = 0; kind < DATA_KINDS; kind++) {
		for (int round = 0; round < 40; round++) {
			size_t len = rig_random(&seed) % (round % 4 ? 300 : 200000) + 1;
			uint8_t *data = make_data((enum data_kind)kind, len, seed);
			check_joined(data, len, (int)(rig_random(&seed) % 10), &seed);
			free(data);
		}
	}
}

/* Every place in a byte where a stream can end: the bits around it are what reopening sets. */
static void reopens_at_each_bit(void **state)
{
	bool seen[8] = {false};
	for (uint32_t seed = 0; seed < 200; seed++) {
		size_t len = 20 + seed;
		uint8_t *data = make_data(DATA_TEXT, len, seed);
		struct buffer stream = {0};
		compress_libdeflate(data, len, 6, &stream);
		struct deflate_tail tail;
		assert_int_equal(scan_exact(stream.data, stream.len, &tail), 0);
		seen[tail.end_bit % 8] = true;
		/* Garbage above the end must not get into what is appended. */
		uint8_t *last = &stream.data[stream.len - 1];
		if (tail.end_bit % 8 > 0)
			*last |= (uint8_t)(0xff << (tail.end_bit % 8));
		memset(buffer_reserve(&stream, DEFLATE_JOIN_EXTRA), 0xff, DEFLATE_JOIN_EXTRA);
		stream.len = deflate_join_reopen(stream.data, &tail);
		compress_libdeflate((const uint8_t *)"", 0, 6, &stream);
		check_inflates_to(&stream, data, len);
		buffer_finish(&stream);
		free(data);
	}
	for (int bit = 0; bit < 8; bit++)
		assert_true(seen[bit]);
}

static void rejects_every_cut(void **state)
{
	for (int kind = 0; kind < DATA_KINDS; kind++) {
		uint8_t *data = make_data((enum data_kind)kind, 3000, 5);
		for (int level = 0; level <= 9; level += 3) {
			struct buffer stream = {0};
			compress_libdeflate(data, 3000, level, &stream);
			struct deflate_tail tail;
			for (size_t len = 0; len < stream.len; len++)
				assert_int_equal(scan_exact(stream.data, len, &tail), -EBADMSG);
			buffer_finish(&stream);
		}
		free(data);
	}
}

/* Whether the scan comes to zlib's verdict; where only a distance is wrong it may not notice. */
static void check_verdict(const uint8_t *stream, size_t len)
{
	struct deflate_tail tail, expected;
	enum verdict verdict = inflate_scan(stream, len, &expected);
	int err = scan_exact(stream, len, &tail);
	if (verdict == VERDICT_TOO_FAR)
		return;
	assert_int_equal(err, verdict == VERDICT_RIGHT ? 0 : -EBADMSG);
	if (verdict == VERDICT_RIGHT) {
		assert_int_equal(tail.final_header_bit, expected.final_header_bit);
		assert_int_equal(tail.end_bit, expected.end_bit);
	}
}

static void agrees_with_zlib_on_damaged_streams(void **state)
{
	uint32_t seed = 11;
	for (int kind = 0; kind < DATA_KINDS; kind++) {
		uint8_t *data = make_data((enum data_kind)kind, 20000, 5);
		for (int round = 0; round < 3000; round++) {
			struct buffer stream = {0};
			size_t len = 50 + rig_random(&seed) % 3000;
			if (round % 2)
				compress_libdeflate(data, len, 1 + round % 9, &stream);
			else
				compress_zlib(data, len, 6, 1, round % 5, &stream);
			/* Half of the damage is in the headers, where most of the rules are. */
			size_t range = rig_random(&seed) % 2 ? stream.len : 40;
			for (uint32_t i = 0; i <= rig_random(&seed) % 3; i++)
				stream.data[rig_random(&seed) % range % stream.len] ^=
				        (uint8_t)(1u << rig_random(&seed) % 8);
			check_verdict(stream.data, stream.len);
			buffer_finish(&stream);
		}
		free(data);
	}
}

static void agrees_with_zlib_on_noise(void **state)
{
	uint32_t seed = 13;
	for (int round = 0; round < 100000; round++) {
		uint8_t noise[64];
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)rig_random(&seed);
		check_verdict(noise, 1 + rig_random(&seed) % sizeof(noise));
	}
}

/* Bits as RFC 1951 packs them. */
struct bit_writer {
	uint8_t bytes[64];
	size_t count;
};

static void put(struct bit_writer *writer, unsigned int value, unsigned int width)
{
	for (unsigned int i = 0; i < width; i++, writer->count++)
		writer->bytes[writer->count / 8] |=
		        (uint8_t)((value >> i & 1) << writer->count % 8);
}

/* `count` code lengths of 0, by the code of dynamic_block. */
static void put_zeros(struct bit_writer *writer, unsigned int count)
{
	for (unsigned int left = count; left > 0;) {
		unsigned int run = left > 138 ? 138 : left;
		if (run < 11) {
			put(writer, 1, 2);
			left--;
			continue;
		}
		put(writer, 0, 1);
		put(writer, run - 11, 7);
		left -= run;
	}
}

/* A final dynamic block whose only code is the end of the block's, of `end_len` (0 or 1) bits. */
static struct bit_writer dynamic_block(
        unsigned int litlens, unsigned int dists, unsigned int end_len)
{
	struct bit_writer writer = {0};
	put(&writer, 1 | 2 << 1, 3);
	put(&writer, litlens - 257, 5);
	put(&writer, dists - 1, 5);
	put(&writer, 18 - 4, 4);
	/* Code lengths in the order 16, 17, 18, 0, …, 1: 18 has one bit, 0 and 1 have two. */
	static const uint8_t code_lengths[18] = {[2] = 1, [3] = 2, [17] = 2};
	for (size_t i = 0; i < ARRAY_LEN(code_lengths); i++)
		put(&writer, code_lengths[i], 3);
	put_zeros(&writer, 256);
	put(&writer, end_len ? 3 : 1, 2);
	put_zeros(&writer, litlens - 257 + dists);
	put(&writer, 0, 1); /* the end of the block */
	put(&writer, 0, 9);
	return writer;
}

/* One code of one bit is legal though half of its space is empty; what zlib refuses besides is not.
 */
static void knows_the_limits_of_dynamic_blocks(void **state)
{
	static const struct {
		unsigned int litlens, dists, end_len;
		bool is_right;
	} cases[] = {{257, 1, 1, true}, {286, 1, 1, true}, {286, 30, 1, true}, {287, 1, 1, false},
	        {288, 1, 1, false}, {257, 31, 1, false}, {257, 32, 1, false}, {257, 1, 0, false}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bit_writer writer =
		        dynamic_block(cases[i].litlens, cases[i].dists, cases[i].end_len);
		struct deflate_tail tail;
		enum verdict verdict = inflate_scan(writer.bytes, writer.count / 8 + 1, &tail);
		assert_int_equal(verdict, cases[i].is_right ? VERDICT_RIGHT : VERDICT_WRONG);
		check_verdict(writer.bytes, writer.count / 8 + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(finds_the_final_block_of_libdeflate),
	        cmocka_unit_test(finds_the_final_block_of_zlib),
	        cmocka_unit_test(joins_streams),
	        cmocka_unit_test(reopens_at_each_bit),
	        cmocka_unit_test(rejects_every_cut),
	        cmocka_unit_test(agrees_with_zlib_on_damaged_streams),
	        cmocka_unit_test(agrees_with_zlib_on_noise),
	        cmocka_unit_test(knows_the_limits_of_dynamic_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
