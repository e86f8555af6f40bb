/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What base/http_server.h bounds and outlives: sizes, times, fds, peers that go, other sockets. */
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

static void expect_alive(const struct rig *rig)
{
	char *all = ask(rig, "GET /echo HTTP/1.1\r\nConnection: close\r\n\r\n");
	assert_non_null(strstr(all, "GET /echo 0:"));
	free(all);
}

/* Waits until the server has that many connections. */
static void expect_connections(struct rig *rig, int count)
{
	int64_t end_us = clock_monotonic_us() + RIG_WAIT_MS * 1000;
	while (rig_connection_count(rig) != count) {
		assert_true(clock_monotonic_us() < end_us);
		usleep(500);
	}
}

static int64_t cpu_us(pthread_t thread)
{
	clockid_t clock;
	struct timespec now;
	assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
	assert_int_equal(clock_gettime(clock, &now), 0);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The server's thread sleeps. Nothing to wait for here: time passing is what is looked at. */
static void expect_idle(const struct rig *rig)
{
	usleep(50000);
	int64_t before_us = cpu_us(rig->thread);
	usleep(300000);
	assert_in_range(cpu_us(rig->thread) - before_us, 0, 5000);
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

/* --- peers that go ---------------------------------------------------------------------------- */

static void notices_peers_that_go(void **state)
{
	static const char *const requests[] = {
		"GET /never HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /never?answer HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /never HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /stream?ticks=0 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /never HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
	};
	struct rig *rig = rig_start();
	int expected = 0;
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		/* Closing, and over TCP also a mere FIN and a reset. */
		for (int way = 0; way < 4; way++) {
			int fd = way == 0 ? connect_unix(rig) : connect_tcp(rig);
			send_text(fd, requests[i]);
			assert_true(rig_wait(&rig->pending_count, 1));
			int64_t start_us = clock_monotonic_us();
			if (way == 2)
				shutdown(fd, SHUT_WR);
			struct linger reset = {1, 0};
			if (way == 3)
				setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
			if (way != 2)
				close(fd);
			assert_true(rig_wait(&rig->gone_count, ++expected));
			assert_true(clock_monotonic_us() - start_us < 1000000);
			assert_int_equal(atomic_load(&rig->pending_count), 0);
			if (way == 2)
				close(fd);
		}
	}
	/* Without on_gone the answer goes nowhere, to no harm. */
	int fd = connect_unix(rig);
	send_text(fd, "GET /silent?ms=50 HTTP/1.1\r\n\r\n");
	assert_true(rig_wait(&rig->pending_count, 1));
	close(fd);
	int64_t end_us = clock_monotonic_us() + RIG_WAIT_MS * 1000;
	while (atomic_load(&rig->pending_count) > 0 && clock_monotonic_us() < end_us)
		usleep(500);
	assert_int_equal(atomic_load(&rig->pending_count), 0);
	expect_alive(rig);
	rig_stop(rig);
}

static void a_unix_peer_that_finished_sending_is_answered(void **state)
{
	struct rig *rig = rig_start();
	int fd = connect_unix(rig);
	send_text(fd, "GET /late?ms=300 HTTP/1.1\r\n\r\nGET /echo HTTP/1.1\r\n\r\n");
	shutdown(fd, SHUT_WR);
	char *all = read_all(fd);
	const char *late = strstr(all, "late\n");
	assert_non_null(late);
	assert_non_null(strstr(late, "GET /echo 0:"));
	free(all);
	close(fd);

	/* ... and does not make the server spin, and is noticed when it goes. */
	fd = connect_unix(rig);
	send_text(fd, "GET /never HTTP/1.1\r\n\r\n");
	shutdown(fd, SHUT_WR);
	assert_true(rig_wait(&rig->pending_count, 1));
	expect_idle(rig);
	assert_int_equal(atomic_load(&rig->gone_count), 0);
	close(fd);
	assert_true(rig_wait(&rig->gone_count, 1));

	/* Half a request that ends is told so. */
	fd = connect_unix(rig);
	send_text(fd, "GET /echo HTTP/1.1\r\n");
	shutdown(fd, SHUT_WR);
	all = read_all(fd);
	assert_memory_equal(all, "HTTP/1.1 400 ", 13);
	free(all);
	close(fd);
	rig_stop(rig);
}

static void waiting_costs_nothing(void **state)
{
	struct rig *rig = rig_start();
	int fds[6];
	for (int i = 0; i < 6; i++) {
		fds[i] = i % 2 == 0 ? connect_unix(rig) : connect_tcp(rig);
		/* With pipelined bytes behind, that nobody reads yet. */
		static const char *const texts[] = {
			"GET /never HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /stream?burst=100000&hold HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /echo HTT"};
		send_text(fds[i], texts[i / 2]);
	}
	char *more = xcalloc(1, 500000);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	assert_true(send(fds[0], more, 500000, MSG_NOSIGNAL) > 0);
	free(more);
	assert_true(rig_wait(&rig->pending_count, 4));
	expect_idle(rig);
	for (int i = 0; i < 6; i++)
		close(fds[i]);
	assert_true(rig_wait(&rig->gone_count, 4));
	rig_stop(rig);
}

static void ends_with_everything_open(void **state)
{
	static const char *const requests[] = {
		"", "GET /ec", "POST /echo HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc",
		"GET /never HTTP/1.1\r\n\r\n", "GET /never?answer HTTP/1.1\r\n\r\n",
		"GET /silent?ms=100000 HTTP/1.1\r\n\r\n", "GET /stream?ticks=0 HTTP/1.1\r\n\r\n",
		"GET /stream?burst=1000&hold HTTP/1.1\r\n\r\n",
		"GET /big?len=20000000 HTTP/1.1\r\n\r\n",
	};
	struct rig *rig = rig_start();
	int fds[ARRAY_LEN(requests)];
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		fds[i] = connect_unix(rig);
		send_text(fds[i], requests[i]);
	}
	/* One whose peer has gone, with nobody there to be told. */
	int gone = connect_unix(rig);
	send_text(gone, "GET /silent?ms=100000 HTTP/1.1\r\n\r\n");
	assert_true(rig_wait(&rig->pending_count, 6));
	close(gone);
	expect_connections(rig, (int)ARRAY_LEN(requests));
	loop_post(rig->loop, rig_stop_loop, rig->loop);
	pthread_join(rig->thread, NULL);
	http_server_destroy(rig->server);
	assert_int_equal(atomic_load(&rig->gone_count), 4);
	/* So that rig_stop finds what it needs. */
	rig->server = NULL;
	assert_int_equal(pthread_create(&rig->thread, NULL, rig_thread, rig), 0);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct buffer in = {0};
		while (read_more(fds[i], &in))
			;
		buffer_finish(&in);
		close(fds[i]);
	}
	rig_stop(rig);
}

/* A request or something like one, its length in *len. */
static const char *pick_request(unsigned *seed, size_t *len)
{
	static const char *const requests[] = {
		"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "5\r\nhello\r\n0\r\n\r\n"),
		"GET /late?ms=1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /silent?ms=2 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /never?answer HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /stream?ticks=2 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /stream?burst=50000&max=200000 HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD /stream?ticks=1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /big?len=3000000&copy HTTP/1.0\r\n\r\n",
		"GET /file?name=/proc/self/exe HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /upgrade HTTP/1.1\r\nHost: x\r\n\r\nearly",
		"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n",
		"\r\n",
	};
	const char *request = requests[(unsigned)rand_r(seed) % ARRAY_LEN(requests)];
	*len = strlen(request);
	return request;
}

static void survives_random_clients(void **state)
{
	struct rig *rig = rig_start();
	unsigned seed = 1;
	char *scratch = malloc(1 << 20);
	for (int round = 0; round < 3000; round++) {
		int fd = rand_r(&seed) % 2 ? connect_unix(rig) : connect_tcp(rig);
		fcntl(fd, F_SETFL, O_NONBLOCK);
		for (int step = rand_r(&seed) % 6; step >= 0; step--) {
			size_t len;
			const char *request = pick_request(&seed, &len);
			if (rand_r(&seed) % 8 == 0)
				len = (size_t)rand_r(&seed) % (len + 1);
			/* Whether it gets anywhere does not matter. */
			(void)!send(fd, request, len, MSG_NOSIGNAL);
			if (rand_r(&seed) % 4 == 0)
				usleep((useconds_t)rand_r(&seed) % 1500);
			if (rand_r(&seed) % 3 == 0)
				(void)!recv(fd, scratch, (size_t)rand_r(&seed) % (1 << 20), 0);
		}
		struct linger reset = {1, 0};
		if (rand_r(&seed) % 4 == 0)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		if (rand_r(&seed) % 4 == 0)
			shutdown(fd, SHUT_WR);
		close(fd);
	}
	free(scratch);
	expect_connections(rig, 0);
	expect_alive(rig);
	int64_t end_us = clock_monotonic_us() + RIG_WAIT_MS * 1000;
	while (atomic_load(&rig->pending_count) > 0 && clock_monotonic_us() < end_us)
		usleep(500);
	assert_int_equal(atomic_load(&rig->pending_count), 0);
	assert_true(atomic_load(&rig->handled_count) > 500);
	expect_idle(rig);
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

/* --- sockets ---------------------------------------------------------------------------------- */

static int listen_on(struct http_server *server, const char *path)
{
	return http_server_listen_unix(server, path, 0600, &rig_limits, rig_handler, NULL, NULL);
}

static int make_stale(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int ret = bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return ret;
}

static void respects_what_is_at_the_path(void **state)
{
	struct rig *rig = rig_start();
	struct stat info, after;
	assert_int_equal(stat(rig->path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0660);

	struct loop *loop = loop_create();
	struct http_server *second = http_server_create(loop);
	assert_int_equal(listen_on(second, rig->path), -EADDRINUSE);
	assert_int_equal(stat(rig->path, &after), 0);
	assert_int_equal(after.st_ino, info.st_ino);
	expect_alive(rig);

	char *path = xasprintf("%s/other", rig->dir);
	int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(file);
	assert_int_equal(listen_on(second, path), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(rig->path, path), 0);
	assert_int_equal(listen_on(second, path), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(listen_on(second, path), -EEXIST);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(listen_on(second, "/nowhere/at/all"), -ENOENT);
	char *long_path = xasprintf("/tmp/%0200d", 1);
	assert_int_equal(listen_on(second, long_path), -ENAMETOOLONG);
	free(long_path);

	/* A stale one is replaced, whatever the umask. */
	mode_t mask = umask(0777);
	assert_int_equal(make_stale(path), 0);
	assert_int_equal(listen_on(second, path), 0);
	umask(mask);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);

	/* One that has become another's is not removed. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(make_stale(path), 0);
	http_server_destroy(second);
	assert_int_equal(unlink(path), 0);
	loop_destroy(loop);
	free(path);
	rig_stop(rig); /* fails to remove the folder when something was left in it */
}

struct starter {
	pthread_barrier_t *barrier;
	const char *path;
	struct loop *loop;
	struct http_server *server;
	int result;
};

static void *start_one(void *arg)
{
	struct starter *starter = arg;
	pthread_barrier_wait(starter->barrier);
	starter->result = listen_on(starter->server, starter->path);
	return NULL;
}

static void one_of_many_that_start_at_once_wins(void **state)
{
	char dir[] = "/tmp/http_rig_XXXXXX";
	assert_non_null(mkdtemp(dir));
	char *path = xasprintf("%s/s", dir);
	for (int round = 0; round < 30; round++) {
		assert_int_equal(make_stale(path), 0);
		pthread_barrier_t barrier;
		pthread_barrier_init(&barrier, NULL, 4);
		struct starter starters[4];
		pthread_t threads[4];
		for (int i = 0; i < 4; i++) {
			struct loop *loop = loop_create();
			starters[i] = (struct starter){&barrier, path, loop,
				http_server_create(loop), 1};
			pthread_create(&threads[i], NULL, start_one, &starters[i]);
		}
		int winners = 0;
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], NULL);
			winners += starters[i].result == 0;
			assert_true(starters[i].result == 0 || starters[i].result == -EADDRINUSE);
		}
		assert_int_equal(winners, 1);
		for (int i = 0; i < 4; i++) {
			http_server_destroy(starters[i].server);
			loop_destroy(starters[i].loop);
		}
		pthread_barrier_destroy(&barrier);
		assert_int_equal(access(path, F_OK), -1);
	}
	assert_int_equal(rmdir(dir), 0);
	free(path);
}

static void listens_on_tcp_addresses(void **state)
{
	struct loop *loop = loop_create();
	struct http_server *server = http_server_create(loop);
	struct http_listener *first;
	static const char *const bad[] = {"localhost", "", "1.2.3", "[::1]", "127.0.0.1:80"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(http_server_listen_tcp(server, bad[i], 0, &rig_limits, rig_handler,
					 NULL, NULL), -EINVAL);
	assert_int_equal(http_server_listen_tcp(server, "127.0.0.1", 65536, &rig_limits, rig_handler,
				 NULL, NULL), -EINVAL);
	assert_int_equal(http_server_listen_tcp(server, "127.0.0.1", 0, &rig_limits, rig_handler,
				 NULL, &first), 0);
	assert_int_equal(http_server_listen_tcp(server, "127.0.0.1", http_listener_port(first),
				 &rig_limits, rig_handler, NULL, NULL), -EADDRINUSE);
	/* Where there is IPv6 at all. */
	int ret = http_server_listen_tcp(server, "::1", 0, &rig_limits, rig_handler, NULL, &first);
	assert_true(ret == 0 || ret == -EADDRNOTAVAIL || ret == -EAFNOSUPPORT);
	assert_true(ret != 0 || http_listener_port(first) > 0);
	http_server_destroy(server);
	http_server_destroy(NULL);
	loop_destroy(loop);
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
		cmocka_unit_test(notices_peers_that_go),
		cmocka_unit_test(a_unix_peer_that_finished_sending_is_answered),
		cmocka_unit_test(waiting_costs_nothing),
		cmocka_unit_test(ends_with_everything_open),
		cmocka_unit_test(survives_random_clients),
		cmocka_unit_test(drops_the_longest_idle_first),
		cmocka_unit_test(outlives_ten_thousand_idle_connections),
		cmocka_unit_test(outlives_having_no_fd_left),
		cmocka_unit_test(outlives_having_no_spare_fd),
		cmocka_unit_test(respects_what_is_at_the_path),
		cmocka_unit_test(one_of_many_that_start_at_once_wins),
		cmocka_unit_test(listens_on_tcp_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
