/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where base/http_server.h listens, and who else does: paths, others' sockets, addresses. */
#include "tests/unit/http_rig.h"

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
		cmocka_unit_test(respects_what_is_at_the_path),
		cmocka_unit_test(one_of_many_that_start_at_once_wins),
		cmocka_unit_test(listens_on_tcp_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
