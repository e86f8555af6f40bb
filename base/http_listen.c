/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_engine.h"

#define LOG_MODULE "http"
#include "base/log.h"

#define ACCEPTS_AT_ONCE 64
#define PAUSE_US        200000

/* Who has connected just now has its request on the way. */
#define FRESH_US 100000

/* Peers that may be told at once that there is no room; it takes them two seconds at most. */
#define TURNED_AWAY_MAX 64

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un un;
};

/* --- accepting -------------------------------------------------------------------------------- */

/* Closes the connection that has been idle longest, for min_us at least, and has nothing to read. */
static bool drop_idle(struct http_listener *listener, int64_t min_us)
{
	int looked_at = 0;
	int64_t since_us = clock_monotonic_us() - min_us;
	struct http_connection *connection;
	list_for_each(connection, &listener->idle, idle_link) {
		if (connection->since_us > since_us)
			return false;
		int unread = 0;
		if (ioctl(connection->watch.fd, FIONREAD, &unread) == 0 && unread > 0) {
			if (++looked_at == 16)
				return false;
			continue;
		}
		http_connection_close(connection);
		return true;
	}
	return false;
}

/* fds have run out: any listener's longest idle connection will do. */
static bool drop_idle_anywhere(struct http_server *server)
{
	struct http_listener *listener, *best = NULL;
	int64_t since_us = HTTP_NEVER_US;
	list_for_each(listener, &server->listeners, link) {
		if (list_is_empty(&listener->idle))
			continue;
		struct http_connection *oldest =
			container_of(listener->idle.next, struct http_connection, idle_link);
		if (oldest->since_us < since_us) {
			since_us = oldest->since_us;
			best = listener;
		}
	}
	return best != NULL && drop_idle(best, 0);
}

/*
 * Closes the connection that has moved nothing for longest: whose request is on its way since then, or
 * whose peer takes no more of its answer. Whoever opens connections and lets them lie must not keep
 * out those who do not.
 */
static bool drop_slowest(struct http_listener *listener)
{
	struct http_connection *connection, *slowest = NULL;
	list_for_each(connection, &listener->connections, link) {
		if (connection->phase != HTTP_PHASE_ANSWER && !connection->is_turned_away &&
			(slowest == NULL || connection->since_us < slowest->since_us))
			slowest = connection;
	}
	if (slowest != NULL)
		http_connection_close(slowest);
	return slowest != NULL;
}

/* Room for one more. */
static bool make_room(struct http_listener *listener)
{
	int count = listener->connection_count - listener->turned_away_count;
	return count < listener->limits.connections_max || drop_idle(listener, FRESH_US) ||
	       drop_slowest(listener);
}

/* Says why there is no connection. Behind TLS nothing can be said before a long handshake. */
static void turn_away(struct http_listener *listener, int fd, const char *peer)
{
	static const struct http_fault no_room = {
		429, "too_many", "too many calls are under way; try again when some are done"};
	if (listener->tls != NULL || listener->turned_away_count >= TURNED_AWAY_MAX) {
		close(fd);
		return;
	}
	struct http_connection *connection = http_connection_create(listener, fd, peer);
	if (connection != NULL)
		http_connection_turn_away(connection, &no_room);
}

static void pause_accepting(struct http_listener *listener)
{
	listener->paused_until_us = clock_monotonic_us() + PAUSE_US;
	http_watch_set(listener->server, &listener->watch, 0);
	http_server_note_due(listener->server, listener->paused_until_us);
}

void http_listener_resume(struct http_listener *listener, int64_t now_us)
{
	if (listener->paused_until_us > now_us)
		return;
	listener->paused_until_us = 0;
	http_watch_set(listener->server, &listener->watch, EPOLLIN);
}

/* No fd is left for a peer that waits: makes room, or turns it away. False: stop accepting. */
static bool handle_no_fd(struct http_listener *listener)
{
	struct http_server *server = listener->server;
	if (drop_idle_anywhere(server))
		return true;
	if (server->spare_fd < 0)
		server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (server->spare_fd < 0)
		return false;
	close(server->spare_fd);
	int fd = accept4(listener->watch.fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && server->spare_fd >= 0;
}

static void format_peer(const union address *address, char out[INET6_ADDRSTRLEN])
{
	out[0] = '\0';
	if (address->any.sa_family == AF_INET)
		inet_ntop(AF_INET, &address->v4.sin_addr, out, INET6_ADDRSTRLEN);
	else if (address->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr))
		inet_ntop(AF_INET, &address->v6.sin6_addr.s6_addr[12], out, INET6_ADDRSTRLEN);
	else if (address->any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &address->v6.sin6_addr, out, INET6_ADDRSTRLEN);
}

static void set_socket_options(const struct http_listener *listener, int fd)
{
	if (listener->is_unix) {
		/* A screenshot in one write: the kernel doubles and caps this. */
		int size = 1 << 19;
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		return;
	}
	/* A dead peer shows within 30 s even while nothing is sent; the kernel does the asking. */
	int yes = 1, idle_s = 15, interval_s = 5, count = 3;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

static void admit(struct http_listener *listener, int fd, const union address *address)
{
	char peer[INET6_ADDRSTRLEN];
	format_peer(address, peer);
	if (!make_room(listener)) {
		turn_away(listener, fd, peer);
		return;
	}
	set_socket_options(listener, fd);
	http_connection_create(listener, fd, peer);
}

static void on_connect(struct http_watch *watch, uint32_t events)
{
	struct http_listener *listener = container_of(watch, struct http_listener, watch);
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		union address address = {0};
		socklen_t len = sizeof(address);
		int fd = accept4(watch->fd, &address.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			admit(listener, fd, &address);
			continue;
		}
		if (errno == EAGAIN)
			return;
		if (errno == EINTR || errno == ECONNABORTED || errno == EPERM || errno == EPROTO)
			continue;
		bool is_short_of_fds = errno == EMFILE || errno == ENFILE;
		if (!is_short_of_fds)
			log_warn("accept: %s", strerror(errno));
		if (!is_short_of_fds || !handle_no_fd(listener)) {
			pause_accepting(listener);
			return;
		}
	}
}

/* --- listening -------------------------------------------------------------------------------- */

static int add_listener(struct http_server *server, int fd, const struct http_limits *limits,
	http_handler handler, void *arg, struct http_listener **out)
{
	struct http_listener *listener = xcalloc(1, sizeof(*listener));
	listener->server = server;
	listener->limits = *limits;
	listener->handler = handler;
	listener->arg = arg;
	listener->watch = (struct http_watch){.fd = fd, .fn = on_connect};
	list_init(&listener->connections);
	list_init(&listener->idle);
	if (!http_watch_add(server, &listener->watch, EPOLLIN)) {
		int ret = -errno;
		free(listener);
		return ret;
	}
	list_append(&server->listeners, &listener->link);
	*out = listener;
	return 0;
}

/*
 * Whether a new socket may take this path: 0, -EEXIST when something else than a socket is
 * there, -EADDRINUSE when somebody accepts on it, or why that cannot be found out.
 */
static int check_path(const struct sockaddr_un *address)
{
	struct stat info;
	if (lstat(address->sun_path, &info) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(info.st_mode))
		return -EEXIST;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int ret = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : -errno;
	close(fd);
	switch (ret) {
	case -ECONNREFUSED: /* stale */
	case -ENOENT:
		return 0;
	case 0:
	case -EAGAIN:     /* its queue is full */
	case -EPROTOTYPE: /* a socket of another type */
		return -EADDRINUSE;
	default:
		return ret;
	}
}

/* Binds fd under a name of its own beside path and listens. Returns 0 or a negative errno. */
static int bind_beside(int fd, const char *path, mode_t mode, struct sockaddr_un *beside)
{
	const char *slash = strrchr(path, '/');
	int folder_len = slash != NULL ? (int)(slash - path) + 1 : 0;
	beside->sun_family = AF_UNIX;
	int ret = -EADDRINUSE;
	for (unsigned i = 0; i < 100 && ret == -EADDRINUSE; i++) {
		unsigned number = ((unsigned)getpid() * 100 + i) & 0xffffff;
		int len = snprintf(beside->sun_path, sizeof(beside->sun_path), "%.*s.%06x",
			folder_len, path, number);
		if (len >= (int)sizeof(beside->sun_path))
			return -ENAMETOOLONG;
		if (bind(fd, (struct sockaddr *)beside, sizeof(*beside)) == 0)
			ret = 0;
		else
			ret = -errno;
	}
	if (ret != 0)
		return ret;
	/* Nobody can connect before listen, so the mode is right from the first moment. */
	if (chmod(beside->sun_path, mode) != 0 || listen(fd, SOMAXCONN) != 0) {
		ret = -errno;
		unlink(beside->sun_path);
	}
	return ret;
}

/*
 * Keeps two servers from looking at one path at the same time. Returns the fd of the locked
 * folder, -1 when it cannot be had: then the check is merely not atomic.
 */
static int lock_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL   ? xstrdup(".")
		       : slash == path ? xstrdup("/")
				       : xstrndup(path, (size_t)(slash - path));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	/* Held for microseconds; somebody else's lock on the folder must not stop us for ever. */
	for (int i = 0; fd >= 0 && i < 100 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
		usleep(10000);
	return fd;
}

/* Returns a listening fd, whose file is *info, or a negative errno. */
static int open_unix(const char *path, mode_t mode, struct stat *info)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int lock = lock_folder(path);
	int ret = check_path(&address);
	struct sockaddr_un beside = {0};
	if (ret == 0)
		ret = bind_beside(fd, path, mode, &beside);
	if (ret == 0 && (lstat(beside.sun_path, info) != 0 || rename(beside.sun_path, path) != 0)) {
		ret = -errno;
		unlink(beside.sun_path);
	}
	if (lock >= 0)
		close(lock);
	if (ret != 0) {
		close(fd);
		return ret;
	}
	return fd;
}

int http_server_listen_unix(struct http_server *server, const char *path, mode_t mode,
	const struct http_limits *limits, http_handler handler, void *arg,
	struct http_listener **out)
{
	struct stat info;
	int fd = open_unix(path, mode, &info);
	if (fd < 0)
		return fd;
	struct http_listener *listener;
	int ret = add_listener(server, fd, limits, handler, arg, &listener);
	if (ret != 0) {
		unlink(path);
		close(fd);
		return ret;
	}
	listener->is_unix = true;
	listener->path = xstrdup(path);
	listener->path_dev = info.st_dev;
	listener->path_ino = info.st_ino;
	if (out != NULL)
		*out = listener;
	return 0;
}

static bool parse_address(const char *text, int port, union address *out, socklen_t *len)
{
	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons((uint16_t)port);
		*len = sizeof(out->v4);
		return true;
	}
	if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
		out->v6.sin6_family = AF_INET6;
		out->v6.sin6_port = htons((uint16_t)port);
		*len = sizeof(out->v6);
		return true;
	}
	return false;
}

/* Returns a listening fd or a negative errno; *address becomes what it is bound to. */
static int open_tcp(union address *address, socklen_t len)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int yes = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, &address->any, len) != 0 || listen(fd, SOMAXCONN) != 0 ||
		getsockname(fd, &address->any, &len) != 0) {
		int ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

int http_server_listen_tcp(struct http_server *server, const char *address, int port,
	const struct http_limits *limits, http_handler handler, void *arg,
	struct http_listener **out)
{
	union address bound;
	socklen_t len;
	if (port < 0 || port > 65535 || !parse_address(address, port, &bound, &len))
		return -EINVAL;
	int fd = open_tcp(&bound, len);
	if (fd < 0)
		return fd;
	struct http_listener *listener;
	int ret = add_listener(server, fd, limits, handler, arg, &listener);
	if (ret != 0) {
		close(fd);
		return ret;
	}
	listener->port = ntohs(bound.any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
	if (out != NULL)
		*out = listener;
	return 0;
}

void http_listener_set_tls(struct http_listener *listener, struct http_tls *tls)
{
	listener->tls = tls;
}

void http_listener_set_error_headers(struct http_listener *listener, const char *lines)
{
	free(listener->error_headers);
	listener->error_headers = xstrdup(lines);
}

int http_listener_port(const struct http_listener *listener)
{
	return listener->port;
}

int http_listener_connection_count(const struct http_listener *listener)
{
	return listener->connection_count;
}

static void remove_socket_file(const struct http_listener *listener)
{
	struct stat info;
	if (listener->path != NULL && lstat(listener->path, &info) == 0 &&
		info.st_dev == listener->path_dev && info.st_ino == listener->path_ino)
		unlink(listener->path);
}

void http_listener_destroy(struct http_listener *listener)
{
	remove_socket_file(listener);
	http_watch_remove(listener->server, &listener->watch);
	close(listener->watch.fd);
	while (!list_is_empty(&listener->connections))
		http_connection_close(
			container_of(listener->connections.next, struct http_connection, link));
	list_remove(&listener->link);
	free(listener->path);
	free(listener->error_headers);
	free(listener);
}
