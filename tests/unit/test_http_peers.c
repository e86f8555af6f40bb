/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers of base/http_server.h that go, wait or do anything at all, and its end while they are there. */
#include "tests/unit/http_rig.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notices_peers_that_go),
		cmocka_unit_test(a_unix_peer_that_finished_sending_is_answered),
		cmocka_unit_test(waiting_costs_nothing),
		cmocka_unit_test(ends_with_everything_open),
		cmocka_unit_test(survives_random_clients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
