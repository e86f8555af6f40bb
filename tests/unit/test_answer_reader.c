/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of client/answer_reader: each answer whole, and byte by byte. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/answer_reader.h"

/* Feeds `text` in steps of `step` bytes, then the end of the stream. */
static int read_answer(struct answer_reader *answer, const char *text, size_t step)
{
	size_t len = strlen(text);
	for (size_t at = 0; at < len; at += step) {
		int ret = answer_reader_feed(answer, text + at, at + step < len ? step : len - at);
		if (ret != 0)
			return ret;
	}
	return answer_reader_feed_end(answer);
}

static void expect_body(const char *text, int status, const char *body)
{
	for (size_t step = 1; step <= strlen(text); step += step < 8 ? 1 : strlen(text) - 8) {
		struct answer_reader answer = {0};
		assert_int_equal(read_answer(&answer, text, step), 1);
		assert_int_equal(answer.status, status);
		assert_int_equal(answer.body.len, strlen(body));
		if (body[0] != '\0')
			assert_memory_equal(answer.body.data, body, strlen(body));
		answer_reader_finish(&answer);
	}
}

static void expect_fault(const char *text, int fault)
{
	const size_t steps[] = {1, 7, strlen(text) + 1};
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct answer_reader answer = {0};
		assert_int_equal(read_answer(&answer, text, steps[i]), fault);
		answer_reader_finish(&answer);
	}
}

static void reads_each_kind_of_body(void **state)
{
	(void)state;
	expect_body("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello");
	expect_body("HTTP/1.1 200 OK\r\ncontent-length:5 \r\n\r\nhellothere", 200, "hello");
	expect_body("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "");
	expect_body("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "until the end");
	expect_body("HTTP/1.0 200 OK\n\nbare newlines", 200, "bare newlines");
	expect_body("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "5\r\nhello\r\n00A;x=\"y\"\r\n, newcomer\r\n0\r\nTrailer: 1\r\n\r\n",
		200, "hello, newcomer");
	expect_body("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, "");
	expect_body("HTTP/1.1 204 No Content\r\n\r\n", 204, "");
	expect_body("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n"
		    "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
		404, "no");
}

static void refuses_what_is_no_answer(void **state)
{
	(void)state;
	expect_fault("", -ECONNRESET);
	expect_fault("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", -ECONNRESET);
	expect_fault(
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello", -ECONNRESET);
	expect_fault("SSH-2.0-OpenSSH\r\n\r\n", -EPROTO);
	expect_fault("HTTP/1.1 2x0 OK\r\n\r\n", -EPROTO);
	expect_fault("HTTP/1.1 099 OK\r\n\r\n", -EPROTO);
	expect_fault("HTTP/2 200\r\n\r\n", -EPROTO);
	expect_fault("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", -EPROTO);
	expect_fault("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", -EPROTO);
	expect_fault("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", -EPROTO);
	expect_fault("HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\n", -EMSGSIZE);
	expect_fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", -EPROTO);
	expect_fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", -EPROTO);
	expect_fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", -EPROTO);
}

static void refuses_endless_headers(void **state)
{
	(void)state;
	struct answer_reader answer = {0};
	int ret = answer_reader_feed(&answer, "HTTP/1.1 200 OK\r\n", 17);
	for (int i = 0; i < 10000 && ret == 0; i++)
		ret = answer_reader_feed(&answer, "X-Header: value\r\n", 17);
	assert_int_equal(ret, -EMSGSIZE);
	answer_reader_finish(&answer);
}

static void finds_headers(void **state)
{
	(void)state;
	struct answer_reader answer = {0};
	assert_null(answer_reader_header(&answer, "etag"));
	assert_int_equal(read_answer(&answer,
				 "HTTP/1.1 200 OK\r\nETag:  \"a b\" \r\nX-ETag-More: no\r\n"
				 "etag: second\r\nEmpty:\r\nContent-Length: 0\r\n\r\n",
				 3),
		1);
	assert_string_equal(answer_reader_header(&answer, "etag"), "\"a b\"");
	assert_string_equal(answer_reader_header(&answer, "EMPTY"), "");
	assert_null(answer_reader_header(&answer, "X-ETag"));
	assert_null(answer_reader_header(&answer, "HTTP/1.1 200 OK"));
	answer_reader_finish(&answer);
}

static bool count_bytes(void *arg, const void *data, size_t len)
{
	(void)data;
	*(size_t *)arg += len;
	return *(size_t *)arg < 6;
}

static void streams_bodies_but_collects_errors(void **state)
{
	(void)state;
	size_t count = 0;
	struct answer_reader answer = {.on_body = count_bytes, .arg = &count};
	assert_int_equal(
		read_answer(&answer, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nabcdefgh", 1),
		-ECANCELED);
	assert_int_equal(count, 6);
	assert_int_equal(answer.body.len, 0);
	answer_reader_finish(&answer);

	count = 0;
	answer = (struct answer_reader){.on_body = count_bytes, .arg = &count};
	assert_int_equal(
		read_answer(&answer, "HTTP/1.1 503 No\r\nContent-Length: 8\r\n\r\nabcdefgh", 1), 1);
	assert_int_equal(count, 0);
	assert_int_equal(answer.body.len, 8);
	answer_reader_finish(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_kind_of_body),
		cmocka_unit_test(refuses_what_is_no_answer),
		cmocka_unit_test(refuses_endless_headers),
		cmocka_unit_test(finds_headers),
		cmocka_unit_test(streams_bodies_but_collects_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
