/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the bytes of a connection travel: the one place where TLS can be put between the HTTP engine
 * and the socket. Used by one thread at a time.
 */
#ifndef BASE_HTTP_TRANSPORT_H
#define BASE_HTTP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct http_transport;

/*
 * None blocks. Each returns the number of bytes moved or a negative errno, -EAGAIN when the socket
 * must first become ready. read returns 0 at the end; when it returns fewer bytes than
 * asked for it keeps no decoded ones back. send_file moves *offset on and returns 0 where the file has ended.
 */
struct http_transport_ops {
	ssize_t (*read)(struct http_transport *transport, void *data, size_t len);
	ssize_t (*writev)(struct http_transport *transport, const struct iovec *parts, int count);
	ssize_t (*send_file)(
		struct http_transport *transport, int file, off_t *offset, size_t len);
	void (*shut_down)(struct http_transport *transport); /* no more will be written */
	void (*close)(struct http_transport *transport);
};

struct http_transport {
	const struct http_transport_ops *ops;
	int fd;      /* non-blocking; what to watch for readiness; -1 when closed or handed over */
	void *state; /* of a layer above the plain socket, or NULL */
	bool has_more; /* decoded bytes are left: read again, the socket need not become ready */
};

extern const struct http_transport_ops http_transport_plain;

#endif
