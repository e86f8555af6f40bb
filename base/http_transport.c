/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http_transport.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t plain_read(struct http_transport *transport, void *data, size_t len)
{
	ssize_t count;
	do {
		count = recv(transport->fd, data, len, 0);
	} while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count;
}

static ssize_t plain_writev(struct http_transport *transport, const struct iovec *parts, int count)
{
	struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
	ssize_t sent;
	do {
		sent = sendmsg(transport->fd, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

static ssize_t plain_send_file(
	struct http_transport *transport, int file, off_t *offset, size_t len)
{
	ssize_t sent;
	do {
		sent = sendfile(transport->fd, file, offset, len);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

static void plain_shut_down(struct http_transport *transport)
{
	shutdown(transport->fd, SHUT_WR);
}

static void plain_close(struct http_transport *transport)
{
	close(transport->fd);
	transport->fd = -1;
}

const struct http_transport_ops http_transport_plain = {
	.read = plain_read,
	.writev = plain_writev,
	.send_file = plain_send_file,
	.shut_down = plain_shut_down,
	.close = plain_close,
};
