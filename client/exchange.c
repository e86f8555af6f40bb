/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/exchange.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"

/* As much as a Unix socket hands over at once (net.core.wmem_default), and a little more. */
#define READ_SIZE (256 * 1024)

/* connect(2) to a daemon that stands still waits once its backlog is full: not for ever. */
static void limit_connect(int fd, int silence_max_ms)
{
	if (silence_max_ms < 0)
		return;
	struct timeval limit = {silence_max_ms / 1000, silence_max_ms % 1000 * 1000};
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static int connect_to(const char *path, int silence_max_ms)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	if (len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, len + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	limit_connect(fd, silence_max_ms);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = errno == EAGAIN ? ETIMEDOUT : errno;
		close(fd);
		return -error;
	}
	return fd;
}

/* Waits until fd is ready. Returns 0, -ETIMEDOUT, -ECANCELED or another negative errno. */
static int wait_for(int fd, short events, const struct exchange *exchange)
{
	struct pollfd watched[] = {
		{.fd = fd, .events = events}, {.fd = exchange->cancel_fd, .events = POLLIN}};
	int ready;
	do {
		ready = poll(watched, 2, exchange->silence_max_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return -errno;
	if (watched[1].revents != 0)
		return -ECANCELED;
	return ready > 0 ? 0 : -ETIMEDOUT;
}

static int send_all(int fd, const void *data, size_t len, const struct exchange *exchange)
{
	const char *next = data;
	while (len > 0) {
		ssize_t sent = send(fd, next, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent >= 0) {
			next += sent;
			len -= (size_t)sent;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		int ret = wait_for(fd, POLLOUT, exchange);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int send_request(int fd, const struct exchange *exchange)
{
	struct buffer head = {0};
	buffer_printf(&head, "%s %s HTTP/1.1\r\nHost: boxscreen\r\nConnection: close\r\n%s",
		exchange->method, exchange->target,
		exchange->headers != NULL ? exchange->headers : "");
	if (exchange->content_type != NULL)
		buffer_printf(&head, "Content-Type: %s\r\nContent-Length: %zu\r\n",
			exchange->content_type, exchange->body_len);
	buffer_append(&head, "\r\n", 2);
	int ret = send_all(fd, head.data, head.len, exchange);
	buffer_finish(&head);
	if (ret == 0 && exchange->content_type != NULL)
		ret = send_all(fd, exchange->body, exchange->body_len, exchange);
	/* A daemon that refuses a request by its head (too large) answers and stops reading. */
	return ret == -EPIPE ? 0 : ret;
}

static int receive(int fd, const struct exchange *exchange, struct answer_reader *answer)
{
	char *space = xmalloc(READ_SIZE);
	int ret = 0;
	while (ret == 0) {
		ret = wait_for(fd, POLLIN, exchange);
		if (ret < 0)
			break;
		ssize_t got = recv(fd, space, READ_SIZE, 0);
		if (got > 0)
			ret = answer_reader_feed(answer, space, (size_t)got);
		else if (got == 0)
			ret = answer_reader_feed_end(answer);
		else if (errno != EINTR)
			ret = -errno;
	}
	free(space);
	return ret > 0 ? 0 : ret;
}

int exchange_run(
	const char *socket_path, const struct exchange *exchange, struct answer_reader *answer)
{
	int fd = connect_to(socket_path, exchange->silence_max_ms);
	if (fd < 0)
		return fd;
	int ret = send_request(fd, exchange);
	if (ret == 0)
		ret = receive(fd, exchange, answer);
	close(fd);
	return ret;
}
