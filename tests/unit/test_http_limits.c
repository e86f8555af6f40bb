/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What base/http_server.h bounds and outlives: sizes, times, too many connections, no fds. */
#include "tests/unit/http_rig.h"

#include <sys/resource.h>
#include <sys/wait.h>

static void expect_end(int fd)
{
	struct buffer in = {0};
	assert_false(read_more(fd, &in));
	buffer_finish(&in);
	close(fd);
}

static bool is_open(int fd)
{
	char c;
	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void refuses_large_bodies_unread(void **state)
{
	static const char *const requests[] = {
		"POST /echo HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n",
		"POST /echo HTTP/1.1\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n",
		"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\nx",
	};
	struct rig *rig = rig_start();
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		char *all = ask(rig, requests[i]);
		assert_memory_equal(all, "HTTP/1.1 413 ", 13);
		assert_non_null(strstr(all, "{\"error\":\"too_large\",\"message\":\""));
		free(all);
	}
	assert_int_equal(atomic_load(&rig->handled_count), 0);

	/* A peer that sends it all the same is let finish, and can read the answer then. */
	int fd = connect_tcp(rig);
	char *block = xcalloc(1, 1000000);
	send_text(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n");
	struct pollfd answered = {fd, POLLIN, 0};
	assert_int_equal(poll(&answered, 1, RIG_WAIT_MS), 1);
	for (int i = 0; i < 3; i++)
		send_all(fd, block, 1000000);
	free(block);
	shutdown(fd, SHUT_WR);
	struct answer answer = {0};
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 413);
	/* Not a reset, which could have overtaken the answer. */
	char c;
	assert_int_equal(recv(fd, &c, 1, 0), 0);
	answer_finish(&answer);
	close(fd);

	/* One of exactly the size is taken. */
	fd = connect_unix(rig);
	block = xcalloc(1, 1 << 20);
	send_text(fd, "POST /echo HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n");
	send_all(fd, block, 1 << 20);
	free(block);
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 200);
	answer_finish(&answer);
	close(fd);
	rig_stop(rig);
}

static void refuses_large_heads(void **state)
{
	struct rig *rig = rig_start();
	struct buffer text = {0};
	buffer_printf(&text, "GET /echo HTTP/1.1\r\nX: ");
	while (text.len < 8192 - 4)
		buffer_append(&text, "y", 1);
	buffer_append(&text, "\r\n\r\n", 4);
	int fd = connect_unix(rig);
	struct answer answer = {0};
	send_all(fd, text.data, text.len); /* as long as is taken */
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 200);
	text.len -= 4;
	buffer_append(&text, "y\r\n\r\n", 5);
	send_all(fd, text.data, text.len);
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 431);
	assert_non_null(strstr(answer.body, "\"too_large\""));
	answer_finish(&answer);
	expect_end(fd);

	/* One that never ends. */
	fd = connect_unix(rig);
	for (int i = 0; i < 3; i++)
		send_all(fd, text.data, 4000);
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 431);
	answer_finish(&answer);
	expect_end(fd);
	buffer_finish(&text);
	rig_stop(rig);
}

/* --- times ------------------------------------------------------------------------------------ */

static void drops_the_slow(void **state)
{
	struct http_limits limits = rig_limits;
	limits.request_timeout_s = 1;
	limits.idle_timeout_s = 1;
	limits.send_timeout_s = 1;
	struct rig *rig = rig_start_with(&limits);
	int fresh = connect_unix(rig);
	int idle = connect_unix(rig);
	int half_head = connect_unix(rig);
	int half_body = connect_unix(rig);
	int half_chunk = connect_tcp(rig);
	int stuck = connect_unix(rig);
	int stuck_stream = connect_unix(rig);
	int waiting = connect_unix(rig);
	struct answer answer = {0};
	send_text(idle, "GET /echo HTTP/1.1\r\n\r\n");
	read_answer(idle, &answer);
	send_text(half_head, "GET / HTTP/1.1\r\nHost:");
	send_text(half_body, "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
	send_text(half_chunk,
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
	send_text(stuck, "GET /big?len=20000000 HTTP/1.1\r\n\r\n");
	send_text(stuck_stream, "GET /stream?burst=100000&max=3000000&hold HTTP/1.1\r\n\r\n");
	send_text(waiting, "GET /late?ms=2500 HTTP/1.1\r\n\r\n");

	expect_end(fresh);
	expect_end(idle);
	int halves[] = {half_head, half_body, half_chunk};
	for (size_t i = 0; i < ARRAY_LEN(halves); i++) {
		answer_finish(&answer);
		read_answer(halves[i], &answer);
		assert_int_equal(answer.status, 408);
		assert_non_null(strstr(answer.body, "{\"error\":\"timeout\""));
		expect_end(halves[i]);
	}
	/* Those that read nothing are given up; a stream's handler is told. */
	assert_true(rig_wait(&rig->gone_count, 1));
	answer_finish(&answer);
	/* An answer may take its time: nobody but the handler says how much. */
	read_answer(waiting, &answer);
	assert_string_equal(answer.body, "late\n");
	answer_finish(&answer);
	struct buffer in = {0};
	while (read_more(stuck, &in))
		;
	assert_true(in.len < 20000000);
	buffer_finish(&in);
	close(stuck);
	close(stuck_stream);
	close(waiting);
	expect_connections(rig, 0);
	expect_idle(rig);
	rig_stop(rig);
}

/* One timer serves them all: it must be armed again for those that come after the first. */
static void each_idle_connection_ends_in_its_time(void **state)
{
	struct http_limits limits = rig_limits;
	limits.idle_timeout_s = 1;
	struct rig *rig = rig_start_with(&limits);
	int fds[3];
	int64_t opened_us[3];
	for (int i = 0; i < 3; i++) {
		fds[i] = connect_unix(rig);
		opened_us[i] = clock_monotonic_us();
		usleep(250000);
	}
	for (int i = 0; i < 3; i++) {
		expect_end(fds[i]);
		/* The last 100 ms are shared with others; the rest is for a busy machine. */
		assert_in_range(clock_monotonic_us() - opened_us[i], 990000, 3000000);
	}
	rig_stop(rig);
}

/* What counts is progress, not how long all of it takes. */
static void a_slow_reader_is_not_a_stuck_one(void **state)
{
	enum { LEN = 6000000, PIECE = 500000 };
	struct http_limits limits = rig_limits;
	limits.send_timeout_s = 1;
	struct rig *rig = rig_start_with(&limits);
	int fd = connect_unix(rig);
	send_text(fd, "GET /big?len=6000000 HTTP/1.1\r\n\r\n");
	char *scratch = malloc(PIECE);
	size_t got = 0;
	while (got < LEN) {
		usleep(250000);
		ssize_t count = recv(fd, scratch, PIECE, 0);
		assert_true(count > 0);
		got += (size_t)count;
	}
	free(scratch);
	close(fd);
	rig_stop(rig);
}

static void a_slow_reader_blocks_nobody(void **state)
{
	enum { LEN = 50000000 };
	struct rig *rig = rig_start();
	static const char *const requests[] = {
		"GET /big?len=50000000&pattern HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /big?len=50000000&copy&pattern HTTP/1.1\r\nHost: x\r\n\r\n"};
	for (int way = 0; way < 2; way++) {
		int fd = way == 0 ? connect_unix(rig) : connect_tcp(rig);
		send_text(fd, requests[way]);
		struct answer answer = {0};
		size_t asked_at = 0;
		while (answer.in.len < LEN && read_more(fd, &answer.in)) {
			if (answer.in.len > asked_at) {
				expect_alive(rig);
				asked_at += LEN / 20;
			}
		}
		read_answer(fd, &answer);
		assert_int_equal(answer.body_len, LEN);
		const char *body = (char *)answer.in.data + answer.head_len;
		for (size_t i = 0; i < LEN; i++) {
			if (body[i] != (char)(i * 7 + i / 251))
				fail_msg("byte %zu is wrong", i);
		}
		answer_finish(&answer);
		close(fd);
	}
	rig_stop(rig);
}

/* --- too many --------------------------------------------------------------------------------- */

static void drops_the_longest_idle_first(void **state)
{
	struct http_limits limits = rig_limits;
	limits.connections_max = 4;
	struct rig *rig = rig_start_with(&limits);
	int busy = connect_unix(rig);
	send_text(busy, "GET /never HTTP/1.1\r\n\r\n");
	assert_true(rig_wait(&rig->pending_count, 1));
	int idle[5];
	for (int i = 0; i < 3; i++) {
		idle[i] = connect_unix(rig);
		expect_connections(rig, i + 2);
	}
	/* The first was used last. */
	struct answer answer = {0};
	send_text(idle[0], "GET /echo HTTP/1.1\r\n\r\n");
	read_answer(idle[0], &answer);
	idle[3] = connect_unix(rig);
	expect_end(idle[1]);
	idle[4] = connect_unix(rig);
	expect_end(idle[2]);
	assert_true(is_open(idle[0]) && is_open(idle[3]) && is_open(busy));

	/* When all are at work, a newcomer is told that there is no room; not without end, though. */
	int working[3] = {idle[0], idle[3], idle[4]}, refused[70];
	for (int i = 0; i < 3; i++)
		send_text(working[i], "GET /never HTTP/1.1\r\n\r\n");
	assert_true(rig_wait(&rig->pending_count, 4));
	for (int i = 0; i < 70; i++)
		refused[i] = connect_unix(rig);
	for (int i = 0; i < 64; i++) {
		send_text(refused[i], "GET /echo HTTP/1.1\r\n\r\n");
		read_answer(refused[i], &answer);
		assert_int_equal(answer.status, 429);
		assert_string_equal(answer_header(&answer, "retry-after"), "1");
		assert_string_equal(answer_header(&answer, "connection"), "close");
		close(refused[i]);
	}
	for (int i = 64; i < 70; i++)
		expect_end(refused[i]);
	expect_connections(rig, 4);
	close(busy);
	assert_true(rig_wait(&rig->gone_count, 1));
	answer_finish(&answer);
	int fd = connect_unix(rig);
	send_text(fd, "GET /echo HTTP/1.1\r\n\r\n");
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 200);
	answer_finish(&answer);
	close(fd);
	for (int i = 0; i < 3; i++)
		close(working[i]);
	rig_stop(rig);
}

/*
 * In a process of its own, whose fds run out: serves until `end` ends. A '-' from there takes all
 * further fds away, a '+' gives them back. The server's thread may use cpu_max_us.
 */
static void serve_with_few_fds(int ready, int end, rlim_t limit, int64_t cpu_max_us)
{
	struct rlimit files = {limit, limit};
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		_exit(3);
	struct http_limits limits = rig_limits;
	limits.connections_max = 100000;
	struct rig *rig = rig_start_with(&limits);
	if (write(ready, rig->path, sizeof(rig->path)) != sizeof(rig->path))
		_exit(4);
	char c;
	while (read(end, &c, 1) > 0) {
		files.rlim_cur = c == '-' ? 3 : limit;
		if (setrlimit(RLIMIT_NOFILE, &files) != 0)
			_exit(3);
	}
	int64_t spent_us = cpu_us(rig->thread);
	rig_stop(rig);
	print_message("the server spent %d ms\n", (int)(spent_us / 1000));
	_exit(spent_us <= cpu_max_us ? 0 : 5);
}

struct few_fds {
	pid_t pid;
	int end;
	struct rig client; /* of which only the path is set */
};

static struct few_fds few_fds_start(rlim_t limit, int64_t cpu_max_us)
{
	int ready[2], end[2];
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(end, O_CLOEXEC), 0);
	struct few_fds few = {.pid = fork()};
	assert_true(few.pid >= 0);
	if (few.pid == 0) {
		close(end[1]);
		close(ready[0]);
		serve_with_few_fds(ready[1], end[0], limit, cpu_max_us);
	}
	close(ready[1]);
	close(end[0]);
	assert_int_equal(read(ready[0], few.client.path, sizeof(few.client.path)),
		sizeof(few.client.path));
	close(ready[0]);
	few.end = end[1];
	return few;
}

static void few_fds_stop(struct few_fds *few)
{
	close(few->end);
	int status;
	assert_int_equal(waitpid(few->pid, &status, 0), few->pid);
	assert_int_equal(status, 0);
}

static void outlives_ten_thousand_idle_connections(void **state)
{
	struct rlimit files;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	struct rlimit all = {files.rlim_max, files.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	size_t held_max = files.rlim_max > 12000 ? 10000 : files.rlim_max - 100;
	struct few_fds few = few_fds_start(1024, 5000000);
	int *held = xcalloc(held_max, sizeof(*held));
	for (size_t i = 0; i < 10000; i++) {
		if (i >= held_max)
			close(held[i % held_max]);
		held[i % held_max] = connect_unix(&few.client);
		if (i % 1000 == 999)
			expect_alive(&few.client);
	}
	for (size_t i = 0; i < held_max; i++)
		close(held[i]);
	expect_alive(&few.client);
	free(held);
	few_fds_stop(&few);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

static void outlives_having_no_fd_left(void **state)
{
	struct few_fds few = few_fds_start(64, 150000);
	/* None of these is idle, so there is nobody to drop. */
	int busy[200], open_count = 0;
	for (size_t i = 0; i < ARRAY_LEN(busy); i++) {
		busy[i] = connect_unix(&few.client);
		if (send(busy[i], "GET /never HTTP/1.1\r\n\r\n", 23, MSG_NOSIGNAL) < 0)
			continue;
	}
	usleep(500000); /* in which a server that spins would show in its time */
	for (size_t i = 0; i < ARRAY_LEN(busy); i++)
		open_count += is_open(busy[i]);
	assert_in_range(open_count, 30, 63);
	for (size_t i = 0; i < ARRAY_LEN(busy); i++)
		close(busy[i]);
	int fd = -1;
	struct answer answer = {0};
	for (int i = 0; i < 1000 && answer.in.len == 0; i++) {
		/* Until the first of them have been noticed a newcomer is turned away. */
		close(fd);
		fd = connect_unix(&few.client);
		if (send(fd, "GET /echo HTTP/1.1\r\n\r\n", 22, MSG_NOSIGNAL) < 0 ||
			!read_more(fd, &answer.in))
			usleep(1000);
	}
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 200);
	answer_finish(&answer);
	close(fd);
	few_fds_stop(&few);
}

/* Not even the spare one can be had again: other threads have taken everything. */
static void outlives_having_no_spare_fd(void **state)
{
	struct few_fds few = few_fds_start(64, 150000);
	expect_alive(&few.client);
	assert_int_equal(write(few.end, "-", 1), 1);
	usleep(50000);
	int fd = connect_unix(&few.client);
	send_text(fd, "GET /echo HTTP/1.1\r\n\r\n");
	struct pollfd answered = {fd, POLLIN, 0};
	assert_int_equal(poll(&answered, 1, 600), 0); /* in which a spin would show */
	assert_int_equal(write(few.end, "+", 1), 1);
	struct answer answer = {0};
	read_answer(fd, &answer);
	assert_int_equal(answer.status, 200);
	answer_finish(&answer);
	close(fd);
	few_fds_stop(&few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_large_bodies_unread),
		cmocka_unit_test(refuses_large_heads),
		cmocka_unit_test(drops_the_slow),
		cmocka_unit_test(each_idle_connection_ends_in_its_time),
		cmocka_unit_test(a_slow_reader_is_not_a_stuck_one),
		cmocka_unit_test(a_slow_reader_blocks_nobody),
		cmocka_unit_test(drops_the_longest_idle_first),
		cmocka_unit_test(outlives_ten_thousand_idle_connections),
		cmocka_unit_test(outlives_having_no_fd_left),
		cmocka_unit_test(outlives_having_no_spare_fd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
