/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients of base/http_server.h see: requests, answers, streams, files, speed. */
#include "tests/unit/http_rig.h"

static void answers_many_requests_on_one_connection(void **state)
{
	struct rig *rig = rig_start();
	int fds[2] = {connect_unix(rig), connect_tcp(rig)};
	for (int i = 0; i < 2; i++) {
		struct answer answer = {0};
		for (int k = 0; k < 3; k++) {
			send_text(fds[i], "GET /echo?a=1&b HTTP/1.1\r\nHost: x\r\n\r\n");
			read_answer(fds[i], &answer);
			assert_int_equal(answer.status, 200);
			assert_string_equal(answer.body, "GET /echo [a=1] [b=] 0:");
			assert_string_equal(answer_header(&answer, "x-peer"), i ? "127.0.0.1" : "");
			assert_string_equal(answer_header(&answer, "content-type"), "text/plain");
			assert_int_equal(strlen(answer_header(&answer, "date")), 29);
			assert_string_equal(answer_header(&answer, "connection"), "");
			assert_string_equal(answer_header(&answer, "server"), "");
		}
		assert_int_equal(answer.in.len, answer.head_len + answer.body_len);
		answer_finish(&answer);
		close(fds[i]);
	}
	rig_stop(rig);
}

static void answers_later(void **state)
{
	struct rig *rig = rig_start();
	int fds[2] = {connect_unix(rig), connect_tcp(rig)};
	for (int i = 0; i < 2; i++) {
		struct answer answer = {0};
		for (int k = 0; k < 3; k++) {
			send_text(fds[i], k < 2 ? "GET /late HTTP/1.1\r\nHost: x\r\n\r\n"
						: "GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
			read_answer(fds[i], &answer);
			assert_string_equal(answer.body, "late\n");
		}
		answer_finish(&answer);
		close(fds[i]);
	}
	assert_int_equal(atomic_load(&rig->gone_count), 0);
	rig_stop(rig);
}

static void works_with_curl(void **state)
{
	struct rig *rig = rig_start();
	char *command = xasprintf("head -c 300000 /dev/zero | curl -sS --unix-socket %s "
				  "-T - http://box/echo | wc -c", rig->path);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	char line[64] = "";
	assert_non_null(fgets(line, sizeof(line), pipe));
	assert_int_equal(pclose(pipe), 0);
	/* curl -T sends chunks and expects a 100. */
	assert_int_equal(atoi(line), 300000 + (int)strlen("PUT /echo 300000:"));
	free(command);
	rig_stop(rig);
}

static void methods_reach_the_handler(void **state)
{
	static const char *const methods[] = {
		"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"};
	struct rig *rig = rig_start();
	int fd = connect_unix(rig);
	struct answer answer = {0};
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		char *text = xasprintf(
			"%s /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", methods[i]);
		send_text(fd, text);
		free(text);
		read_answer(fd, &answer);
		char *expected = xasprintf("%s /echo 5:hello", methods[i]);
		assert_string_equal(answer.body, expected);
		free(expected);
	}
	send_text(fd, "POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
	read_answer(fd, &answer);
	assert_string_equal(answer.body, "POST /echo 0:");
	answer_finish(&answer);
	close(fd);
	rig_stop(rig);
}

static void head_has_no_body(void **state)
{
	struct rig *rig = rig_start();
	int fd = connect_unix(rig);
	struct answer answer = {0};
	send_text(fd, "HEAD /big?len=1000000 HTTP/1.1\r\n\r\nHEAD /big?len=7&copy HTTP/1.1\r\n\r\n"
		      "GET /304 HTTP/1.1\r\n\r\nGET /echo HTTP/1.1\r\n\r\n");
	read_answer_to(fd, &answer, true);
	assert_int_equal(answer.status, 200);
	assert_string_equal(answer_header(&answer, "content-length"), "1000000");
	read_answer_to(fd, &answer, true);
	assert_string_equal(answer_header(&answer, "content-length"), "7");
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 304);
	assert_string_equal(answer_header(&answer, "etag"), "\"v1\"");
	assert_string_equal(answer_header(&answer, "content-length"), "");
	read_answer(fd, &answer);
	assert_string_equal(answer.body, "GET /echo 0:");
	answer_finish(&answer);
	close(fd);
	rig_stop(rig);
}

static void reads_bodies_in_pieces(void **state)
{
	static const char *const requests[] = {
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello world",
		"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
		"5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n",
	};
	struct rig *rig = rig_start();
	int fd = connect_tcp(rig);
	struct answer answer = {0};
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		for (const char *c = requests[i]; *c != '\0'; c++) {
			send_all(fd, c, 1);
			if (i == 0)
				usleep(200); /* lets the server see it alone, often enough */
		}
		read_answer(fd, &answer);
		assert_string_equal(answer.body, "POST /echo 11:hello world");
	}
	answer_finish(&answer);
	close(fd);
	rig_stop(rig);
}

static void says_continue(void **state)
{
	struct rig *rig = rig_start();
	int fd = connect_unix(rig);
	struct answer answer = {0};
	send_text(fd, "POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 100);
	assert_int_equal(answer.in.len, answer.head_len);
	send_text(fd, "hi");
	read_answer(fd, &answer);
	assert_string_equal(answer.body, "POST /echo 2:hi");
	answer_finish(&answer);
	close(fd);
	rig_stop(rig);
}

static void keeps_the_order_of_pipelined_requests(void **state)
{
	struct rig *rig = rig_start();
	struct buffer text = {0};
	for (int i = 0; i < 500; i++) {
		buffer_printf(&text, "POST /echo?n=%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
			i);
		if (i % 50 == 0)
			buffer_printf(&text, "GET /late?ms=1 HTTP/1.1\r\nHost: x\r\n\r\n\r\n\r\n");
		if (i % 50 == 1)
			buffer_printf(&text, "GET /big?len=300000 HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	for (int way = 0; way < 2; way++) {
		int fd = way == 0 ? connect_unix(rig) : connect_tcp(rig);
		send_all(fd, text.data, text.len);
		struct answer answer = {0};
		for (int i = 0; i < 500; i++) {
			read_answer(fd, &answer);
			char *expected = xasprintf("POST /echo [n=%d] 3:abc", i);
			assert_string_equal(answer.body, expected);
			free(expected);
			if (i % 50 == 0) {
				read_answer(fd, &answer);
				assert_string_equal(answer.body, "late\n");
			}
			if (i % 50 == 1) {
				read_answer(fd, &answer);
				assert_int_equal(answer.body_len, 300000);
			}
		}
		answer_finish(&answer);
		close(fd);
	}
	buffer_finish(&text);
	rig_stop(rig);
}

static void ends_connections_as_asked(void **state)
{
	static const struct {
		const char *request;
		const char *connection; /* header of the answer */
		bool ends;
	} cases[] = {
		{"GET /echo HTTP/1.1\r\n\r\n", "", false},
		{"GET /echo HTTP/1.1\r\nConnection: close\r\n\r\n", "close", true},
		{"GET /late HTTP/1.1\r\nConnection: close\r\n\r\n", "close", true},
		{"GET /echo HTTP/1.0\r\n\r\n", "close", true},
		{"GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", false},
	};
	struct rig *rig = rig_start();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int fd = connect_unix(rig);
		struct answer answer = {0};
		send_text(fd, cases[i].request);
		read_answer(fd, &answer);
		assert_int_equal(answer.status, 200);
		assert_string_equal(answer_header(&answer, "connection"), cases[i].connection);
		if (cases[i].ends) {
			assert_false(read_more(fd, &answer.in));
		} else {
			send_text(fd, "GET /echo HTTP/1.1\r\n\r\n");
			read_answer(fd, &answer);
			assert_int_equal(answer.status, 200);
		}
		answer_finish(&answer);
		close(fd);
	}
	rig_stop(rig);
}

static void refuses_in_json(void **state)
{
	static const struct {
		const char *request;
		const char *status;
	} cases[] = {
		{"GET\r\n\r\n", "400 Bad Request"},
		{"\x16\x03\x01", "400 Bad Request"},
		{"GET / HTTP/1.1\nHost: x\n\n", "400 Bad Request"},
		{"GET /a/../b HTTP/1.1\r\n\r\n", "400 Bad Request"},
		{"GET /%00 HTTP/1.1\r\n\r\n", "400 Bad Request"},
		{"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
			"400 Bad Request"},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "400 Bad Request"},
		{"GET / HTTP/3.0\r\n\r\n", "505 HTTP Version Not Supported"},
		{"GET / HTTP/1.1\r\nExpect: x\r\n\r\n", "417 Expectation Failed"},
	};
	struct rig *rig = rig_start();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *all = ask(rig, cases[i].request);
		assert_memory_equal(all + 9, cases[i].status, strlen(cases[i].status));
		assert_non_null(strstr(all, "\r\nContent-Type: application/json\r\n"));
		assert_non_null(strstr(all, "\r\nConnection: close\r\n"));
		assert_non_null(strstr(all, "\r\n\r\n{\"error\":\"bad_request\",\"message\":\""));
		free(all);
	}
	assert_int_equal(atomic_load(&rig->handled_count), 0);

	/* A host is a must over TCP only. */
	int fd = connect_tcp(rig);
	send_text(fd, "GET /echo HTTP/1.1\r\n\r\n");
	char *all = read_all(fd);
	assert_non_null(strstr(all, "Host header"));
	free(all);
	close(fd);
	rig_stop(rig);
}

static void streams_events(void **state)
{
	struct rig *rig = rig_start();
	char *all = ask(rig, "GET /stream HTTP/1.1\r\nConnection: close\r\n\r\n");
	assert_non_null(strstr(all, "\r\nTransfer-Encoding: chunked\r\n"));
	assert_non_null(strstr(all, "\r\n\r\n9\r\ndata: 3\n\n\r\n9\r\ndata: 2\n\n\r\n"
				    "9\r\ndata: 1\n\n\r\n0\r\n\r\n"));
	free(all);
	all = ask(rig, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	assert_null(strstr(all, "chunked"));
	assert_non_null(strstr(all, "\r\nConnection: close\r\n"));
	assert_non_null(strstr(all, "\r\n\r\ndata: 3\n\ndata: 2\n\ndata: 1\n\n"));
	free(all);
	assert_int_equal(atomic_load(&rig->gone_count), 0);

	/* For HEAD there is nothing to stream: it ends, and the connection goes on. */
	int fd = connect_unix(rig);
	struct answer answer = {0};
	send_text(fd, "HEAD /stream?ticks=0 HTTP/1.1\r\n\r\nGET /echo HTTP/1.1\r\n\r\n");
	read_answer_to(fd, &answer, true);
	assert_string_equal(answer_header(&answer, "transfer-encoding"), "chunked");
	read_answer(fd, &answer);
	assert_string_equal(answer.body, "GET /echo 0:");
	assert_true(rig_wait(&rig->gone_count, 1));
	answer_finish(&answer);
	close(fd);
	rig_stop(rig);
}

static void a_stream_is_bounded(void **state)
{
	struct rig *rig = rig_start();
	int fd = connect_unix(rig);
	send_text(fd, "GET /stream?burst=100000&max=1000000 HTTP/1.1\r\nConnection: close\r\n\r\n");
	assert_true(rig_wait(&rig->burst_count, 1));
	char *all = read_all(fd);
	/* The queue and what the socket took (2 MB at most), in whole writes, and its end. */
	size_t len = strlen(all);
	assert_in_range(len, 900000, 1000000 + 2300000);
	assert_string_equal(all + len - 5, "0\r\n\r\n");
	const char *at = strstr(all, "\r\n\r\n") + 4;
	while (strncmp(at, "186a0\r\nxxx", 10) == 0) {
		assert_memory_equal(at + 7 + 100000, "\r\n", 2);
		at += 7 + 100000 + 2;
	}
	/* The last event came too late for a queue that was full, or it fitted by then. */
	assert_true(strcmp(at, "0\r\n\r\n") == 0 || strncmp(at, "9\r\ndata: 1", 10) == 0);
	free(all);
	close(fd);
	rig_stop(rig);
}

static void sends_files(void **state)
{
	static const struct {
		const char *method, *range; /* further header lines */
		int status;
		const char *content_range, *body;
	} cases[] = {
		{"GET", "", 200, "", "0123456789"},
		{"GET", "Range: bytes=2-4\r\n", 206, "bytes 2-4/10", "234"},
		{"GET", "Range: bytes=7-\r\n", 206, "bytes 7-9/10", "789"},
		{"GET", "Range: bytes=-2\r\n", 206, "bytes 8-9/10", "89"},
		{"GET", "Range: bytes=2-4\r\nIf-Range: \"v1\"\r\n", 206, "bytes 2-4/10", "234"},
		{"GET", "Range: bytes=2-4\r\nIf-Range: \"v2\"\r\n", 200, "", "0123456789"},
		{"GET", "Range: bytes=0-1,4-5\r\n", 200, "", "0123456789"},
		{"POST", "Range: bytes=2-4\r\n", 200, "", "0123456789"},
		{"GET", "Range: bytes=10-\r\n", 416, "bytes */10", NULL},
		{"HEAD", "Range: bytes=2-4\r\n", 200, "", ""},
		{"HEAD", "", 200, "", ""},
	};
	struct rig *rig = rig_start();
	char *name = xasprintf("%s/file", rig->dir);
	int file = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write(file, "0123456789", 10), 10);
	close(file);
	int fd = connect_unix(rig);
	struct answer answer = {0};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf("%s /file?name=%s HTTP/1.1\r\n%s\r\n", cases[i].method, name,
			cases[i].range);
		send_text(fd, text);
		free(text);
		bool is_head = strcmp(cases[i].method, "HEAD") == 0;
		read_answer_to(fd, &answer, is_head);
		assert_int_equal(answer.status, cases[i].status);
		assert_string_equal(answer_header(&answer, "content-range"), cases[i].content_range);
		assert_string_equal(answer_header(&answer, "accept-ranges"), "bytes");
		assert_string_equal(answer_header(&answer, "etag"), "\"v1\"");
		if (cases[i].body != NULL)
			assert_string_equal(answer.body, cases[i].body);
		if (is_head)
			assert_string_equal(answer_header(&answer, "content-length"), "10");
	}
	/* An empty file, and what is no file. */
	assert_int_equal(truncate(name, 0), 0);
	char *text = xasprintf("GET /file?name=%s HTTP/1.1\r\n\r\n", name);
	send_text(fd, text);
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 200);
	assert_int_equal(answer.body_len, 0);
	send_text(fd, "GET /file?name=/ HTTP/1.1\r\n\r\n");
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 500);
	free(text);
	answer_finish(&answer);
	close(fd);
	unlink(name);
	free(name);
	rig_stop(rig);
}

static void a_file_cut_short_ends_the_connection(void **state)
{
	struct rig *rig = rig_start();
	char *name = xasprintf("%s/file", rig->dir);
	int file = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(file, 20000000), 0);
	int fd = connect_unix(rig);
	char *text = xasprintf("GET /file?name=%s HTTP/1.1\r\n\r\n", name);
	send_text(fd, text);
	struct buffer in = {0};
	assert_true(read_more(fd, &in));
	assert_non_null(memmem(in.data, in.len, "Content-Length: 20000000", 24));
	assert_int_equal(ftruncate(file, 1000000), 0);
	while (read_more(fd, &in))
		;
	assert_in_range(in.len, 1000000, 5000000);
	buffer_finish(&in);
	close(fd);
	/* A whole large one comes whole. */
	assert_int_equal(ftruncate(file, 20000000), 0);
	fd = connect_tcp(rig);
	struct answer answer = {0};
	free(text);
	text = xasprintf("GET /file?name=%s HTTP/1.1\r\nHost: x\r\n\r\n", name);
	send_text(fd, text);
	read_answer(fd, &answer);
	assert_int_equal(answer.body_len, 20000000);
	answer_finish(&answer);
	close(fd);
	close(file);
	unlink(name);
	free(name);
	free(text);
	rig_stop(rig);
}

static void hands_over_for_an_upgrade(void **state)
{
	struct rig *rig = rig_start();
	char *all = ask(rig, "GET /upgrade HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
			     "early bytes");
	assert_memory_equal(all, "HTTP/1.1 101 Switching Protocols\r\n", 34);
	assert_non_null(strstr(all, "\r\nConnection: Upgrade\r\n"));
	assert_non_null(strstr(all, "\r\nUpgrade: echo\r\n"));
	assert_null(strstr(all, "Content-Length"));
	assert_string_equal(strstr(all, "\r\n\r\n") + 4, "early bytes");
	free(all);
	rig_stop(rig);
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The time from request to the last byte of the answer, in microseconds: best and median. */
static void measure(int fd, const char *request, int64_t *best_us, int64_t *median_us)
{
	static int64_t times_us[1000];
	struct answer answer = {0};
	send_text(fd, request);
	read_answer(fd, &answer);
	/* Each answer to the same request is as long as the first. */
	size_t len = answer.in.len;
	for (size_t i = 0; i < ARRAY_LEN(times_us); i++) {
		int64_t start_us = clock_monotonic_us();
		send_text(fd, request);
		for (size_t got = 0; got < len;) {
			ssize_t count = recv(fd, answer.in.data + got, len - got, 0);
			assert_true(count > 0);
			got += (size_t)count;
		}
		times_us[i] = clock_monotonic_us() - start_us;
		assert_memory_equal(answer.in.data, "HTTP/1.1 200 OK\r\n", 17);
	}
	qsort(times_us, ARRAY_LEN(times_us), sizeof(times_us[0]), compare_times);
	*best_us = times_us[0];
	*median_us = times_us[ARRAY_LEN(times_us) / 2];
	answer_finish(&answer);
}

/* Sanitizers slow down what is measured. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWED 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOWED 10
#endif
#endif
#ifndef SLOWED
#define SLOWED 1
#endif

static void is_fast(void **state)
{
	static const struct {
		const char *name, *request;
		int64_t best_max_us;
	} cases[] = {
		{"tiny answer", "GET /echo HTTP/1.1\r\n\r\n", 150},
		{"tiny answer from a timer", "GET /late?ms=0 HTTP/1.1\r\n\r\n", 500},
		{"200 KB taken", "GET /big?len=200000 HTTP/1.1\r\n\r\n", 1000},
		{"200 KB copied", "GET /big?len=200000&copy HTTP/1.1\r\n\r\n", 1000},
	};
	struct rig *rig = rig_start();
	int fd = connect_unix(rig);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t best_us, median_us;
		measure(fd, cases[i].request, &best_us, &median_us);
		print_message("%s: best %d us, median %d us\n", cases[i].name, (int)best_us,
			(int)median_us);
		/* Of the best only: the machine of a test may have other things to do. */
		assert_true(best_us <= cases[i].best_max_us * SLOWED);
	}
	close(fd);
	rig_stop(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_many_requests_on_one_connection),
		cmocka_unit_test(answers_later),
		cmocka_unit_test(works_with_curl),
		cmocka_unit_test(methods_reach_the_handler),
		cmocka_unit_test(head_has_no_body),
		cmocka_unit_test(reads_bodies_in_pieces),
		cmocka_unit_test(says_continue),
		cmocka_unit_test(keeps_the_order_of_pipelined_requests),
		cmocka_unit_test(ends_connections_as_asked),
		cmocka_unit_test(refuses_in_json),
		cmocka_unit_test(streams_events),
		cmocka_unit_test(a_stream_is_bounded),
		cmocka_unit_test(sends_files),
		cmocka_unit_test(a_file_cut_short_ends_the_connection),
		cmocka_unit_test(hands_over_for_an_upgrade),
		cmocka_unit_test(is_fast),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
