/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of requests for base/http_parse.h, each as a whole and byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/http_parse.h"

/* Returns the status of the fault, 0 when the head is good, -1 when more is wanted. */
static int parse(const char *text, size_t len, struct http_head *head)
{
	struct http_fault fault = {0};
	size_t scanned = 0;
	enum http_scan scan = http_head_scan(text, len, &scanned, &fault);
	/* Bytes that come one by one must lead to the same end. */
	size_t slowly = 0;
	enum http_scan slow_scan = HTTP_SCAN_MORE;
	for (size_t i = 1; i <= len && slow_scan == HTTP_SCAN_MORE; i++) {
		/* A block of its own, so that ASan sees a read behind it. */
		char *copy = xmemdup(text, i);
		slow_scan = http_head_scan(copy, i, &slowly, &fault);
		free(copy);
	}
	assert_int_equal(scan, slow_scan);
	if (scan == HTTP_SCAN_MORE)
		return -1;
	if (scan == HTTP_SCAN_FAULT)
		return fault.status;
	assert_int_equal(scanned, slowly);
	if (http_head_parse(head, text, scanned, &fault))
		return 0;
	assert_non_null(fault.message);
	return fault.status;
}

static int parse_text(const char *text)
{
	struct http_head head = {0};
	int status = parse(text, strlen(text), &head);
	if (status == 0)
		http_head_finish(&head);
	return status;
}

static void reads_a_request(void **state)
{
	struct http_head head;
	const char text[] = "PUT /v1/a%20b?x=1%3D2%263&y&=z&x=2&p=a+b HTTP/1.1\r\n"
			    "Host: box\r\nX-Thing: \t two words \t\r\nEmpty:\r\n"
			    "Content-Length: 12\r\n\r\nbody";
	assert_int_equal(parse(text, sizeof(text) - 1, &head), 0);
	assert_string_equal(head.method, "PUT");
	assert_string_equal(head.path, "/v1/a b");
	static const char *const query[][2] = {
		{"x", "1=2&3"}, {"y", ""}, {"", "z"}, {"x", "2"}, {"p", "a+b"}};
	assert_int_equal(head.query_count, ARRAY_LEN(query));
	for (size_t i = 0; i < ARRAY_LEN(query); i++) {
		assert_string_equal(head.query[i].name, query[i][0]);
		assert_string_equal(head.query[i].value, query[i][1]);
	}
	assert_string_equal(http_head_header(&head, "x-thing"), "two words");
	assert_string_equal(http_head_header(&head, "empty"), "");
	assert_null(http_head_header(&head, "x-other"));
	assert_int_equal(head.content_length, 12);
	assert_int_equal(head.minor_version, 1);
	assert_true(head.wants_keep_alive);
	assert_false(head.is_chunked || head.expects_continue);
	http_head_finish(&head);
}

static void judges_targets(void **state)
{
	static const struct {
		const char *target;
		const char *path; /* NULL: refused */
	} cases[] = {
		{"/", "/"},
		{"/v1/status", "/v1/status"},
		{"/v1/status/", "/v1/status/"},
		{"/a.b/..c/...", "/a.b/..c/..."},
		{"/%41%7e", "/A~"},
		{"/a%25b", "/a%b"},
		{"/a%252e%252e", "/a%2e%2e"},
		{"/f%C3%B6%C3%b6", "/f\xc3\xb6\xc3\xb6"},
		{"/?a=//../%2F", "/"},
		{"http://host/x", "/x"},
		{"HTTP://host:80/x/y?z", "/x/y"},
		{"https://host", "/"},
		{"//", NULL},
		{"//v1/status", NULL},
		{"/v1//status", NULL},
		{"/v1/status//", NULL},
		{"/v1/x/../status", NULL},
		{"/v1/..", NULL},
		{"/.", NULL},
		{"/./v1", NULL},
		{"/v1/%2e%2e/x", NULL},
		{"/v1/%2E./x", NULL},
		{"/v1%2fstatus", NULL},
		{"/v1%2Fstatus", NULL},
		{"/%00", NULL},
		{"/a%", NULL},
		{"/a%4", NULL},
		{"/a%zz", NULL},
		{"/a%-1", NULL},
		{"/%ff", NULL},
		{"/%c0%af", NULL},
		{"/\xff", NULL},
		{"/a?b=%00", NULL},
		{"/a?b%=1", NULL},
		{"/a?b=%ED%A0%80", NULL},
		{"/a#b", NULL},
		{"/a\tb", NULL},
		{"*", NULL},
		{"v1/status", NULL},
		{"?a=b", NULL},
		{"http://", NULL},
		{"http:///x", NULL},
		{"http://user@host/x", NULL},
		{"http://host?x", NULL},
		{"http://host//x", NULL},
		{"ftp://host/x", NULL},
		{"host:443", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf("GET %s HTTP/1.1\r\nHost: a\r\n\r\n", cases[i].target);
		struct http_head head;
		int status = parse(text, strlen(text), &head);
		if (status != (cases[i].path != NULL ? 0 : 400))
			fail_msg("%s: %d", cases[i].target, status);
		if (status == 0) {
			assert_string_equal(head.path, cases[i].path);
			http_head_finish(&head);
		}
		free(text);
	}
}

static void an_absolute_target_sets_the_host(void **state)
{
	static const char *const headers[] = {"Host: other\r\n", ""};
	for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
		struct http_head head;
		char *text = xasprintf("GET http://real:8 HTTP/1.1\r\n%s\r\n", headers[i]);
		assert_int_equal(parse(text, strlen(text), &head), 0);
		assert_string_equal(http_head_header(&head, "host"), "real:8");
		assert_string_equal(head.path, "/");
		http_head_finish(&head);
		free(text);
	}
}

static void judges_request_lines(void **state)
{
	static const struct {
		const char *line;
		int status;
	} cases[] = {
		{"GET / HTTP/1.1", 0},
		{"OPTIONS / HTTP/1.0", 0},
		{"M-SEARCH / HTTP/1.9", 0},
		{"GET  / HTTP/1.1", 400},
		{"GET / HTTP/1.1 ", 400},
		{"GET /  HTTP/1.1", 400},
		{"GET\t/ HTTP/1.1", 400},
		{"GET /", 400},
		{"GET", 400},
		{" GET / HTTP/1.1", 400},
		{"G(T / HTTP/1.1", 400},
		{"\x16\x03\x01", 400},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ / HTTP/1.1", 400},
		{"GET / http/1.1", 400},
		{"GET / HTTP/1.10", 400},
		{"GET / HTTP/1.a", 400},
		{"GET / HTTP/1,1", 400},
		{"GET / HTTP/2.0", 505},
		{"PRI / HTTP/2.0", 505},
		{"GET / HTTP/0.9", 505},
		{"GET /\rX HTTP/1.1", 400},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf("%s\r\nHost: a\r\n\r\n", cases[i].line);
		int status = parse_text(text);
		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].line, status);
		free(text);
	}
}

static void judges_headers(void **state)
{
	static const struct {
		const char *lines;
		int status;
	} cases[] = {
		{"", 0},
		{"A: b\r\nA: c", 0},
		{"A:\xc3\xb6", 0},
		{"A: b\tc", 0},
		{"A : b", 400},
		{" A: b", 400},
		{"A: b\r\n folded", 400},
		{"A: b\r\n\tfolded", 400},
		{"A", 400},
		{": b", 400},
		{"A\x01: b", 400},
		{"A: b\x01", 400},
		{"A: b\x7f", 400},
		{"A: b\rc", 400},
		{"A: b\nC: d", 400},
		{"Content-Length: 0", 0},
		{"Content-Length: 007", 0},
		{"Content-Length: 1\r\nContent-Length: 1", 400},
		{"Content-Length: 1\r\nContent-Length: 2", 400},
		{"Content-Length: 1, 1", 400},
		{"Content-Length: +1", 400},
		{"Content-Length: -1", 400},
		{"Content-Length: 0x1", 400},
		{"Content-Length: 1 2", 400},
		{"Content-Length:", 400},
		{"Content-Length: 99999999999999999999", 400},
		{"Transfer-Encoding: Chunked", 0},
		{"Transfer-Encoding: chunked\r\nContent-Length: 1", 400},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400},
		{"Transfer-Encoding: gzip, chunked", 400},
		{"Transfer-Encoding: chunked, identity", 400},
		{"Transfer-Encoding: identity", 400},
		{"Transfer-Encoding: \x0b" "chunked", 400},
		{"Transfer-Encoding:", 400},
		{"Transfer_Encoding: chunked\r\nContent-Length: 1", 0},
		{"Host: a\r\nHost: a", 400},
		{"Authorization: a\r\nauthorization: b", 400},
		{"Origin: a\r\nOrigin: b", 400},
		{"Expect: 100-Continue", 0},
		{"Expect: miracles", 417},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *end = cases[i].lines[0] != '\0' ? "\r\n" : "";
		char *text = xasprintf("GET / HTTP/1.1\r\n%s%s\r\n", cases[i].lines, end);
		int status = parse_text(text);
		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].lines, status);
		free(text);
	}
	struct http_head head;
	static const char with_nul[] = "GET / HTTP/1.1\r\nA: b\0c\r\n\r\n";
	assert_int_equal(parse(with_nul, sizeof(with_nul) - 1, &head), 400);
	assert_int_equal(parse_text("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
	assert_int_equal(parse_text("GET / HTTP/1.1\r\nA: b\r\n"), -1);
	assert_int_equal(parse_text("GET / HTTP/1.1\n\n"), 400);
	assert_int_equal(parse_text("GET / HTTP/1.1\r\n\n"), 400);
}

static void knows_how_connections_go_on(void **state)
{
	static const struct {
		int minor;
		const char *lines;
		bool goes_on;
	} cases[] = {
		{1, "", true},
		{0, "", false},
		{1, "Connection: close\r\n", false},
		{1, "Connection: Keep-Alive , CLOSE\r\n", false},
		{1, "Connection: closed, not-close\r\n", true},
		{1, "Connection: x\r\nConnection: close\r\n", false},
		{0, "Connection: keep-alive\r\n", true},
		{0, "Connection: keep-alive, close\r\n", false},
		{0, "Connection: ,,\t, keep-alive\t,\r\n", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_head head;
		char *text = xasprintf("GET / HTTP/1.%d\r\n%s\r\n", cases[i].minor, cases[i].lines);
		assert_int_equal(parse(text, strlen(text), &head), 0);
		assert_int_equal(head.wants_keep_alive, cases[i].goes_on);
		http_head_finish(&head);
		free(text);
	}
}

/* Decodes text, `step` bytes at a time. Returns the length used, -1: a fault, -2: more wanted. */
static long decode(const char *text, size_t step, struct buffer *body)
{
	struct http_chunked chunked = {0};
	size_t len = strlen(text), at = 0;
	body->len = 0;
	while (at < len) {
		size_t here = len - at < step ? len - at : step;
		char *copy = xmemdup(text + at, here);
		size_t used = 0, piece = 0;
		struct http_fault fault;
		enum http_chunk chunk =
			http_chunked_feed(&chunked, copy, here, &used, &piece, &fault);
		buffer_append(body, copy + used - piece, piece);
		free(copy);
		at += used;
		if (chunk == HTTP_CHUNK_FAULT)
			return -1;
		if (chunk == HTTP_CHUNK_DONE)
			return (long)at;
		assert_true(used > 0);
	}
	return -2;
}

static void decodes_chunks(void **state)
{
	char many[400];
	memset(many, '1', sizeof(many));
	strcpy(many + 300, "\r\n");
	const struct {
		const char *text;
		long used;
		const char *body;
	} cases[] = {
		{"0\r\n\r\n", 5, ""},
		{"0\r\n\r\nGET", 5, ""},
		{"5\r\nhello\r\n0\r\n\r\n", 15, "hello"},
		{"00005;a=\"b\"\r\nhello\r\n1 \r\n!\r\n000\r\n\r\n", 34, "hello!"},
		{"a\r\n0123456789\r\n0\r\nX: y\r\nZ:\r\n\r\n", 30, "0123456789"},
		{"A\r\n0123456789\r\n0\r\n\r\n", 20, "0123456789"},
		{"5\r\nhel", -2, "hel"},
		{"5\r\nhello", -2, "hello"},
		{"5\r\nhelloX\r\n", -1, "hello"},
		{"5\nhello\r\n", -1, ""},
		{"\r\n", -1, ""},
		{";x\r\n", -1, ""},
		{"-1\r\n", -1, ""},
		{"0x5\r\n", -1, ""},
		{"5\rhello", -1, ""},
		{"5;\x01\r\n", -1, ""},
		{"5;a\nb\r\n", -1, ""},
		{"11111111111111111\r\n", -1, ""},
		{"0\r\nX: y\n\r\n", -1, ""},
		{"0\r\n\rX", -1, ""},
		{many, -1, ""},
	};
	struct buffer body = {0};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (size_t step = 1; step < 50; step += 4) {
			long used = decode(cases[i].text, step, &body);
			if (used != cases[i].used)
				fail_msg("%s by %zu: %ld", cases[i].text, step, used);
			assert_int_equal(body.len, strlen(cases[i].body));
			assert_memory_equal(body.data, cases[i].body, body.len);
		}
	}
	buffer_finish(&body);
}

static void bounds_trailers(void **state)
{
	struct buffer text = {0}, body = {0};
	buffer_printf(&text, "0\r\n");
	for (int i = 0; i < 2000; i++)
		buffer_printf(&text, "X-%d: y\r\n", i);
	buffer_printf(&text, "\r\n%c", '\0');
	assert_int_equal(decode((char *)text.data, 4096, &body), -1);
	buffer_finish(&text);
	buffer_finish(&body);
}

static void reads_ranges(void **state)
{
	static const struct {
		const char *value;
		uint64_t size;
		enum http_range range;
		uint64_t first, last;
	} cases[] = {
		{NULL, 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=0-0", 100, HTTP_RANGE_PART, 0, 0},
		{"Bytes=10-19", 100, HTTP_RANGE_PART, 10, 19},
		{"bytes=10-", 100, HTTP_RANGE_PART, 10, 99},
		{"bytes=10-1000", 100, HTTP_RANGE_PART, 10, 99},
		{"bytes=-10", 100, HTTP_RANGE_PART, 90, 99},
		{"bytes=-1000", 100, HTTP_RANGE_PART, 0, 99},
		{"bytes=99-", 100, HTTP_RANGE_PART, 99, 99},
		{"bytes=100-", 100, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=-0", 100, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=0-", 0, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=-5", 0, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=5-4", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=0-1,5-6", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=-", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes= 1-2", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=a-b", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=1-2x", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=--5", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"bytes=99999999999999999999-", 100, HTTP_RANGE_WHOLE, 0, 0},
		{"lines=0-1", 100, HTTP_RANGE_WHOLE, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t first = 0, last = 0;
		enum http_range range =
			http_range_parse(cases[i].value, cases[i].size, &first, &last);
		if (range != cases[i].range)
			fail_msg("%s: %d", cases[i].value, range);
		if (range == HTTP_RANGE_PART) {
			assert_int_equal(first, cases[i].first);
			assert_int_equal(last, cases[i].last);
		}
	}
}

static void skips_empty_lines(void **state)
{
	assert_int_equal(http_head_skip_empty_lines("\r\n\r\nGET", 7), 4);
	assert_int_equal(http_head_skip_empty_lines("\r", 1), 0);
	assert_int_equal(http_head_skip_empty_lines("GET", 3), 0);
	assert_int_equal(http_head_skip_empty_lines(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_request),
		cmocka_unit_test(judges_targets),
		cmocka_unit_test(an_absolute_target_sets_the_host),
		cmocka_unit_test(judges_request_lines),
		cmocka_unit_test(judges_headers),
		cmocka_unit_test(knows_how_connections_go_on),
		cmocka_unit_test(decodes_chunks),
		cmocka_unit_test(bounds_trailers),
		cmocka_unit_test(reads_ranges),
		cmocka_unit_test(skips_empty_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
