/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients of base/http_server.h see: requests, answers, streams, files, ends. */
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
		send_text(fds[i], "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
		read_answer(fds[i], &answer);
		assert_string_equal(answer.body, "late\n");
		send_text(fds[i], "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
		read_answer(fds[i], &answer);
		assert_string_equal(answer.body, "late\n");
		answer_finish(&answer);
		close(fds[i]);
	}
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
	rig_stop(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_many_requests_on_one_connection),
		cmocka_unit_test(answers_later),
		cmocka_unit_test(streams_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
