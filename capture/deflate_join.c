/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/deflate_join.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define MAX_CODE_BITS  15
#define TABLE_BITS     11
#define LITLEN_SYMBOLS 288
#define DIST_SYMBOLS   32
#define END_OF_BLOCK   256

/* The code of code lengths: at most 7 bits a code, whose meaning is the symbol. */
#define CODE_LENGTH_BITS           7
#define CODE_LENGTH_SYMBOL(symbol) ((entry_t)((symbol) << 6))
#define CODE_LENGTH_MEANING(entry) ((entry) >> 6 & 0x1f)

/*
 * What the next bits mean to the walk: how many to skip, a symbol's extra bits included, and what
 * comes then. Nothing but bits to skip: a literal follows, or a length.
 */
typedef uint16_t entry_t;
#define ENTRY_BITS    0x003f
#define ENTRY_LENGTH  0x0040 /* a distance follows */
#define ENTRY_END     0x0080
#define ENTRY_LONG    0x0100 /* the code is longer than TABLE_BITS: see code_read_long */
#define ENTRY_INVALID 0x0200 /* no such code */
#define ENTRY_FLAGS   (ENTRY_LENGTH | ENTRY_END | ENTRY_LONG | ENTRY_INVALID)

/* In the highest bits, the bits of the code alone; only of codes that fit into TABLE_BITS. */
#define ENTRY_CODE_BITS(entry)      ((entry) >> 12)
#define ENTRY_OF_CODE(meaning, len) ((entry_t)((meaning) + (len) + ((len) << 12)))

/* One Huffman code, ready to read. */
struct code {
	entry_t table[1 << TABLE_BITS];    /* by the next TABLE_BITS bits, first bit lowest */
	entry_t meaning[LITLEN_SYMBOLS];   /* in canonical order; ENTRY_BITS: extra bits only */
	uint16_t count[MAX_CODE_BITS + 1]; /* codes of each length */
};

/*
 * Bits are kept as in the stream, next bit lowest. Those at and above `count` may be there already,
 * or still be zero.
 */
struct reader {
	const uint8_t *next, *end;
	uint64_t bits;
	unsigned int count;
};

struct walk {
	const uint8_t *start;
	struct reader in;
	bool has_fixed_codes; /* litlen and dist hold the fixed codes of RFC 1951 3.2.6 */
	struct code litlen, dist;
};

/* For when eight bytes are left: afterwards at least 56 bits are there. */
static inline void reader_refill_fast(struct reader *in)
{
	uint64_t word;
	memcpy(&word, in->next, sizeof(word));
	in->bits |= le64toh(word) << in->count;
	in->next += (63 - in->count) >> 3;
	in->count |= 56;
}

/* Afterwards at least 56 bits are there, or all that the stream has left and zeros above. */
static inline void reader_refill(struct reader *in)
{
	if (in->end - in->next >= 8) {
		reader_refill_fast(in);
		return;
	}
	while (in->count <= 56 && in->next < in->end) {
		in->bits |= (uint64_t)*in->next++ << in->count;
		in->count += 8;
	}
}

static inline void reader_consume(struct reader *in, unsigned int bits)
{
	in->bits >>= bits;
	in->count -= bits;
}

static inline bool reader_skip(struct reader *in, unsigned int bits)
{
	if (bits > in->count)
		return false;
	reader_consume(in, bits);
	return true;
}

/* Reads up to 16 bits. */
static bool reader_read(struct reader *in, unsigned int bits, unsigned int *out)
{
	reader_refill(in);
	*out = (unsigned int)(in->bits & ((1u << bits) - 1));
	return reader_skip(in, bits);
}

static size_t walk_position(const struct walk *walk)
{
	return (size_t)(walk->in.next - walk->start) * 8 - walk->in.count;
}

/*
 * Counts the codes of each length and checks that they fill the code space exactly. With
 * `may_be_partial`, as in zlib, a lone code of one bit may leave the other half empty, or there may
 * be no code at all.
 */
static bool code_count(struct code *code, const uint8_t *lengths, int symbols, bool may_be_partial)
{
	memset(code->count, 0, sizeof(code->count));
	for (int i = 0; i < symbols; i++)
		code->count[lengths[i]]++;
	code->count[0] = 0;
	int left = 1, used = 0;
	for (int len = 1; len <= MAX_CODE_BITS; len++) {
		left = left * 2 - code->count[len];
		if (left < 0)
			return false;
		used += code->count[len];
	}
	return left == 0 || (may_be_partial && (used == 0 || (used == 1 && code->count[1] == 1)));
}

/* The meanings of the symbols that have a code, in canonical order: by length, then by symbol. */
static void code_rank(
        struct code *code, const uint8_t *lengths, const entry_t *meanings, int symbols)
{
	unsigned int next[MAX_CODE_BITS + 1] = {0};
	for (int len = 1; len < MAX_CODE_BITS; len++)
		next[len + 1] = next[len] + code->count[len];
	for (int symbol = 0; symbol < symbols; symbol++) {
		if (lengths[symbol] > 0)
			code->meaning[next[lengths[symbol]]++] = meanings[symbol];
	}
}

/* The next canonical code of that length, first bit lowest: adds one from the other end. */
static inline unsigned int next_code(unsigned int code, int len)
{
	unsigned int bit = 1u << (len - 1);
	while (code & bit) {
		code ^= bit;
		bit >>= 1;
	}
	return code | bit;
}

/*
 * Builds the canonical code (RFC 1951 3.2.2), and its table for the first `table_bits` bits by
 * doubling: once all codes of up to n bits are in the first 2^n entries, these repeat in the next
 * 2^n. `meanings` says by symbol what it is, its ENTRY_BITS being the extra bits.
 */
static bool code_build(struct code *code, const uint8_t *lengths, const entry_t *meanings,
        int symbols, int table_bits, bool may_be_partial)
{
	if (!code_count(code, lengths, symbols, may_be_partial))
		return false;
	code_rank(code, lengths, meanings, symbols);
	bool has_long = false;
	for (int len = table_bits + 1; len <= MAX_CODE_BITS; len++)
		has_long |= code->count[len] > 0;
	code->table[0] = has_long ? ENTRY_LONG : ENTRY_INVALID;
	unsigned int bits = 0;
	const entry_t *meaning = code->meaning;
	for (int len = 1; len <= table_bits; len++) {
		size_t half = (size_t)1 << (len - 1);
		memcpy(code->table + half, code->table, half * sizeof(entry_t));
		for (int i = 0; i < code->count[len]; i++) {
			code->table[bits] = ENTRY_OF_CODE(*meaning++, len);
			bits = next_code(bits, len);
		}
	}
	return true;
}

/*
 * Lets a look-up of a literal take the symbol after it along, where the code of that is in the same
 * TABLE_BITS bits. Downwards, as an entry depends on lower ones.
 */
static void code_fuse_literals(struct code *code)
{
	for (unsigned int bits = (1 << TABLE_BITS) - 1; bits > 0; bits--) {
		entry_t entry = code->table[bits];
		if (entry & ENTRY_FLAGS)
			continue;
		entry_t next = code->table[bits >> (entry & ENTRY_BITS)];
		if (!(next & (ENTRY_LONG | ENTRY_INVALID)) &&
		        ENTRY_CODE_BITS(entry) + ENTRY_CODE_BITS(next) <= TABLE_BITS)
			code->table[bits] = (entry_t)(entry + next);
	}
}

/* The entry of a code of more than TABLE_BITS bits: compares with each length's first code. */
static entry_t code_read_long(const struct code *code, uint64_t bits)
{
	unsigned int value = 0, first = 0, rank = 0;
	for (unsigned int len = 1; len <= MAX_CODE_BITS; len++) {
		value = value << 1 | (unsigned int)(bits & 1);
		bits >>= 1;
		if (value - first < code->count[len])
			return (entry_t)(code->meaning[rank + value - first] + len);
		rank += code->count[len];
		first = (first + code->count[len]) << 1;
	}
	return ENTRY_INVALID;
}

static inline entry_t code_read(const struct code *code, uint64_t bits)
{
	entry_t entry = code->table[bits & ((1 << TABLE_BITS) - 1)];
	return entry == ENTRY_LONG ? code_read_long(code, bits) : entry;
}

/* Extra bits of length symbol 257 + i and of distance symbol i (RFC 1951 3.2.5). */
static const uint8_t length_extra[29] = {
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint8_t dist_extra[30] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8,
        9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

/*
 * Whether a Huffman code was made for mainly literals, as in photographs. Then fusing them halves
 * the walk's time; else it costs more than it saves, as libdeflate's blocks are short (3 KB).
 */
static bool are_mostly_literals(const uint8_t *lengths)
{
	unsigned int share = 0; /* of the code space, in 1 / 2^MAX_CODE_BITS */
	for (int i = 0; i < END_OF_BLOCK; i++)
		share += lengths[i] > 0 ? 1u << (MAX_CODE_BITS - lengths[i]) : 0;
	return share > 3u << (MAX_CODE_BITS - 2);
}

static bool build_codes(struct walk *walk, const uint8_t *litlen_lengths, int litlens,
        const uint8_t *dist_lengths, int dists)
{
	entry_t litlen_meanings[LITLEN_SYMBOLS] = {[END_OF_BLOCK] = ENTRY_END};
	for (int i = END_OF_BLOCK + 1; i < LITLEN_SYMBOLS; i++) {
		int length = i - END_OF_BLOCK - 1;
		litlen_meanings[i] =
		        length < 29 ? ENTRY_LENGTH | length_extra[length] : ENTRY_INVALID;
	}
	entry_t dist_meanings[DIST_SYMBOLS];
	for (int i = 0; i < DIST_SYMBOLS; i++)
		dist_meanings[i] = i < 30 ? dist_extra[i] : ENTRY_INVALID;
	if (!code_build(
	            &walk->litlen, litlen_lengths, litlen_meanings, litlens, TABLE_BITS, true) ||
	        !code_build(&walk->dist, dist_lengths, dist_meanings, dists, TABLE_BITS, true))
		return false;
	if (are_mostly_literals(litlen_lengths))
		code_fuse_literals(&walk->litlen);
	return true;
}

static bool build_fixed_codes(struct walk *walk)
{
	if (walk->has_fixed_codes)
		return true;
	uint8_t litlen[LITLEN_SYMBOLS], dist[DIST_SYMBOLS];
	memset(litlen, 8, 144);
	memset(litlen + 144, 9, 112);
	memset(litlen + 256, 7, 24);
	memset(litlen + 280, 8, 8);
	memset(dist, 5, sizeof(dist));
	walk->has_fixed_codes = build_codes(walk, litlen, LITLEN_SYMBOLS, dist, DIST_SYMBOLS);
	return walk->has_fixed_codes;
}

/* Reads the code length code into walk->dist, where it is overwritten soon (RFC 1951 3.2.7). */
static bool read_code_length_code(struct walk *walk, unsigned int count)
{
	static const uint8_t order[19] = {
	        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
	uint8_t lengths[19] = {0};
	entry_t meanings[19];
	for (unsigned int i = 0; i < 19; i++)
		meanings[i] = CODE_LENGTH_SYMBOL(i);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int length;
		if (!reader_read(&walk->in, 3, &length))
			return false;
		lengths[order[i]] = (uint8_t)length;
	}
	return code_build(&walk->dist, lengths, meanings, 19, CODE_LENGTH_BITS, false);
}

/* Reads `total` code lengths, run-length coded. */
static bool read_code_lengths(struct walk *walk, uint8_t *lengths, unsigned int total)
{
	unsigned int at = 0;
	while (at < total) {
		reader_refill(&walk->in);
		/* This code is complete and short, so every look-up hits a symbol. */
		entry_t entry = walk->dist.table[walk->in.bits & ((1 << CODE_LENGTH_BITS) - 1)];
		unsigned int symbol = CODE_LENGTH_MEANING(entry);
		if (!reader_skip(&walk->in, entry & ENTRY_BITS))
			return false;
		if (symbol < 16) {
			lengths[at++] = (uint8_t)symbol;
			continue;
		}
		if (symbol == 16 && at == 0)
			return false;
		unsigned int repeat;
		if (!reader_read(&walk->in, symbol == 16 ? 2 : symbol == 17 ? 3 : 7, &repeat))
			return false;
		repeat += symbol == 18 ? 11 : 3;
		if (repeat > total - at)
			return false;
		memset(lengths + at, symbol == 16 ? lengths[at - 1] : 0, repeat);
		at += repeat;
	}
	return true;
}

static bool build_dynamic_codes(struct walk *walk)
{
	unsigned int litlens, dists, code_lengths;
	walk->has_fixed_codes = false;
	if (!reader_read(&walk->in, 5, &litlens) || !reader_read(&walk->in, 5, &dists) ||
	        !reader_read(&walk->in, 4, &code_lengths))
		return false;
	litlens += 257;
	dists += 1;
	if (litlens > 286 || dists > 30 || !read_code_length_code(walk, code_lengths + 4))
		return false;
	uint8_t lengths[286 + 30] = {0};
	/* A block without a code for its end runs on to the end of the stream, and fails there. */
	return read_code_lengths(walk, lengths, litlens + dists) &&
	       build_codes(walk, lengths, (int)litlens, lengths + litlens, (int)dists);
}

/* Walks one symbol, with its distance; *is_end: it was the end of the block. */
static bool skip_symbol(struct walk *walk, struct reader *in, bool *is_end)
{
	reader_refill(in);
	entry_t entry = code_read(&walk->litlen, in->bits);
	if (entry & ENTRY_INVALID || !reader_skip(in, entry & ENTRY_BITS))
		return false;
	*is_end = entry & ENTRY_END;
	if (entry & ENTRY_LENGTH) {
		reader_refill(in);
		entry = code_read(&walk->dist, in->bits);
		return !(entry & ENTRY_INVALID) && reader_skip(in, entry & ENTRY_BITS);
	}
	return true;
}

/* Walks the symbols of a Huffman block, its end-of-block included. */
static bool skip_symbols(struct walk *walk)
{
	/* The hot loop: in registers, and unchecked while two refills have their eight bytes. */
	struct reader in = walk->in;
	while (in.end - in.next >= 16) {
		reader_refill_fast(&in);
		/* 56 bits: two literals (15 each) and a literal or length (20). */
		entry_t entry = code_read(&walk->litlen, in.bits);
		for (int i = 0; i < 2 && !(entry & ENTRY_FLAGS); i++) {
			reader_consume(&in, entry & ENTRY_BITS);
			entry = code_read(&walk->litlen, in.bits);
		}
		if (entry & ENTRY_INVALID)
			return false;
		reader_consume(&in, entry & ENTRY_BITS);
		if (entry & ENTRY_LENGTH) {
			reader_refill_fast(&in);
			entry = code_read(&walk->dist, in.bits);
			if (entry & ENTRY_INVALID)
				return false;
			reader_consume(&in, entry & ENTRY_BITS);
		} else if (entry & ENTRY_END) {
			walk->in = in;
			return true;
		}
	}
	walk->in = in;
	bool is_end = false;
	while (!is_end) {
		if (!skip_symbol(walk, &walk->in, &is_end))
			return false;
	}
	return true;
}

static bool skip_stored(struct walk *walk)
{
	unsigned int len, check;
	if (!reader_skip(&walk->in, walk->in.count & 7) || !reader_read(&walk->in, 16, &len) ||
	        !reader_read(&walk->in, 16, &check) || (len ^ check) != 0xffff)
		return false;
	size_t at = walk_position(walk) / 8;
	if (len > (size_t)(walk->in.end - walk->start) - at)
		return false;
	walk->in.next = walk->start + at + len;
	walk->in.bits = 0;
	walk->in.count = 0;
	return true;
}

static bool skip_block(struct walk *walk, unsigned int type)
{
	switch (type) {
	case 0:
		return skip_stored(walk);
	case 1:
		return build_fixed_codes(walk) && skip_symbols(walk);
	case 2:
		return build_dynamic_codes(walk) && skip_symbols(walk);
	default:
		return false;
	}
}

int deflate_join_scan(const uint8_t *stream, size_t len, struct deflate_tail *out)
{
	struct walk walk = {.start = stream, .in = {.next = stream, .end = stream + len}};
	for (;;) {
		size_t header_bit = walk_position(&walk);
		unsigned int header;
		if (!reader_read(&walk.in, 3, &header) || !skip_block(&walk, header >> 1))
			return -EBADMSG;
		if (header & 1) {
			out->final_header_bit = header_bit;
			out->end_bit = walk_position(&walk);
			return 0;
		}
	}
}

size_t deflate_join_reopen(uint8_t *stream, const struct deflate_tail *tail)
{
	stream[tail->final_header_bit / 8] &= (uint8_t) ~(1u << (tail->final_header_bit % 8));
	size_t at = tail->end_bit / 8;
	unsigned int used = tail->end_bit % 8;
	/* Three zero bits (not final, stored), then zero bits up to the next byte. */
	if (used > 0) {
		stream[at] &= (uint8_t)((1u << used) - 1);
		at++;
	}
	if (used == 0 || used > 5)
		stream[at++] = 0;
	memcpy(stream + at, "\x00\x00\xff\xff", 4);
	return at + 4;
}
