/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds the request parser with what libFuzzer makes up. Build and run by hand:
 *   clang -g -O1 -std=gnu17 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -I. \
 *     tests/fuzz/fuzz_http_parse.c base/http_parse.c base/utf8.c base/alloc.c -o fuzz_http_parse
 *   ./fuzz_http_parse -max_total_time=300 -max_len=4096
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/http_parse.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* What a handler relies on. */
static void check_head(const struct http_head *head)
{
	require(head->path[0] == '/' && utf8_is_valid(head->path, strlen(head->path)));
	require(strstr(head->path, "//") == NULL && strstr(head->path, "/../") == NULL);
	for (size_t i = 0; i < head->query_count; i++) {
		require(utf8_is_valid(head->query[i].name, strlen(head->query[i].name)));
		require(utf8_is_valid(head->query[i].value, strlen(head->query[i].value)));
	}
	for (size_t i = 0; i < head->header_count; i++)
		require(strpbrk(head->headers[i].value, "\r\n") == NULL);
	require(!head->is_chunked || http_head_header(head, "content-length") == NULL);
	uint64_t first = 0, last = 0;
	if (http_range_parse(http_head_header(head, "range"), 1000, &first, &last) ==
		HTTP_RANGE_PART)
		require(first <= last && last < 1000);
}

/* Decodes the chunks once as a whole and once bit by bit: both must come to the same. */
static void check_chunks(const char *data, size_t size)
{
	uint64_t total[2] = {0, 0};
	size_t end[2] = {0, 0};
	enum http_chunk last[2] = {HTTP_CHUNK_MORE, HTTP_CHUNK_MORE};
	for (int way = 0; way < 2; way++) {
		struct http_chunked chunked = {0};
		size_t at = 0;
		while (at < size && (last[way] == HTTP_CHUNK_MORE || last[way] == HTTP_CHUNK_DATA)) {
			size_t here = way == 0 || size - at < 3 ? size - at : 3;
			size_t used, piece;
			struct http_fault fault;
			last[way] = http_chunked_feed(
				&chunked, data + at, here, &used, &piece, &fault);
			require(used > 0 && used <= here && piece <= used);
			total[way] += piece;
			at += used;
		}
		end[way] = at;
	}
	require(total[0] == total[1] && end[0] == end[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmalloc(size > 0 ? size : 1); /* a block of its own size, for ASan */
	memcpy(text, data, size);
	size_t skipped = http_head_skip_empty_lines(text, size);
	size_t scanned = 0;
	struct http_fault fault;
	enum http_scan scan = http_head_scan(text + skipped, size - skipped, &scanned, &fault);
	struct http_head head;
	if (scan == HTTP_SCAN_DONE && http_head_parse(&head, text + skipped, scanned, &fault)) {
		check_head(&head);
		http_head_finish(&head);
	}
	check_chunks(text, size);
	free(text);
	return 0;
}
