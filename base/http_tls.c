/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http_tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/http_transport.h"

/* A TLS record's size: what one write takes at most. */
#define RECORD_MAX 16384

struct http_tls {
	SSL_CTX *context;
};

/* What a call that did not succeed comes to: 0 at the end, else a negative errno. */
static ssize_t fault_of(SSL *ssl, int ret)
{
	int saved = errno;
	switch (SSL_get_error(ssl, ret)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_SYSCALL:
		return saved != 0 ? -saved : 0;
	default:
		return -EPROTO;
	}
}

/* Reads until there is nothing more: what OpenSSL has decoded shows on no socket. */
static ssize_t tls_read(struct http_transport *transport, void *data, size_t len)
{
	SSL *ssl = transport->state;
	size_t total = 0;
	ssize_t fault = -EAGAIN;
	while (total < len) {
		size_t left = len - total;
		ERR_clear_error();
		errno = 0;
		int count =
			SSL_read(ssl, (char *)data + total, left > INT_MAX ? INT_MAX : (int)left);
		if (count <= 0) {
			fault = fault_of(ssl, count);
			break;
		}
		total += (size_t)count;
	}
	transport->has_more = SSL_pending(ssl) > 0;
	return total > 0 ? (ssize_t)total : fault;
}

static ssize_t write_some(struct http_transport *transport, const void *data, size_t len)
{
	SSL *ssl = transport->state;
	if (len == 0)
		return 0;
	ERR_clear_error();
	errno = 0;
	int count = SSL_write(ssl, data, len > RECORD_MAX ? RECORD_MAX : (int)len);
	if (count > 0)
		return count;
	ssize_t fault = fault_of(ssl, count);
	return fault == 0 ? -EPIPE : fault;
}

static ssize_t tls_writev(struct http_transport *transport, const struct iovec *parts, int count)
{
	ssize_t total = 0;
	for (int i = 0; i < count; i++) {
		size_t sent = 0;
		while (sent < parts[i].iov_len) {
			ssize_t step = write_some(transport, (const char *)parts[i].iov_base + sent,
				parts[i].iov_len - sent);
			if (step < 0)
				return total > 0 ? total : step;
			sent += (size_t)step;
			total += step;
		}
	}
	return total;
}

static ssize_t tls_send_file(struct http_transport *transport, int file, off_t *offset, size_t len)
{
	char block[RECORD_MAX];
	ssize_t count = pread(file, block, len < sizeof(block) ? len : sizeof(block), *offset);
	if (count <= 0)
		return count < 0 ? -errno : 0;
	ssize_t sent = write_some(transport, block, (size_t)count);
	if (sent > 0)
		*offset += sent;
	return sent;
}

static void tls_shut_down(struct http_transport *transport)
{
	ERR_clear_error();
	SSL_shutdown(transport->state);
	shutdown(transport->fd, SHUT_WR);
}

static void tls_close(struct http_transport *transport)
{
	SSL *ssl = transport->state;
	ERR_clear_error();
	if (SSL_is_init_finished(ssl))
		SSL_shutdown(ssl);
	SSL_free(ssl);
	transport->state = NULL;
	close(transport->fd);
	transport->fd = -1;
}

static const struct http_transport_ops tls_ops = {
	.read = tls_read,
	.writev = tls_writev,
	.send_file = tls_send_file,
	.shut_down = tls_shut_down,
	.close = tls_close,
};

bool http_tls_wrap(struct http_tls *tls, struct http_transport *transport)
{
	SSL *ssl = SSL_new(tls->context);
	if (ssl == NULL || SSL_set_fd(ssl, transport->fd) != 1) {
		SSL_free(ssl);
		return false;
	}
	SSL_set_accept_state(ssl);
	transport->ops = &tls_ops;
	transport->state = ssl;
	return true;
}

static void describe(char *error, size_t error_size, const char *path, const char *what)
{
	char reason[160];
	ERR_error_string_n(ERR_peek_last_error(), reason, sizeof(reason));
	const char *text = strrchr(reason, ':');
	snprintf(error, error_size, "%s %s: %s", path, what, text != NULL ? text + 1 : reason);
}

struct http_tls *http_tls_create(
	const char *cert_path, const char *key_path, char *error, size_t error_size)
{
	struct http_tls *tls = xcalloc(1, sizeof(*tls));
	ERR_clear_error();
	tls->context = SSL_CTX_new(TLS_server_method());
	if (tls->context == NULL)
		describe(error, error_size, "OpenSSL", "cannot begin");
	else if (SSL_CTX_use_certificate_chain_file(tls->context, cert_path) != 1)
		describe(error, error_size, cert_path,
			"holds no certificate chain (PEM) that can be read");
	else if (SSL_CTX_use_PrivateKey_file(tls->context, key_path, SSL_FILETYPE_PEM) != 1)
		describe(error, error_size, key_path,
			"holds no private key (PEM) for the certificate");
	else if (SSL_CTX_check_private_key(tls->context) != 1)
		describe(error, error_size, key_path, "does not belong to the certificate");
	else {
		SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
		SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
							  SSL_OP_CIPHER_SERVER_PREFERENCE |
							  SSL_OP_IGNORE_UNEXPECTED_EOF);
		/* Unsent bytes may have moved when they are tried again. */
		SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE |
						       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
						       SSL_MODE_RELEASE_BUFFERS);
		return tls;
	}
	http_tls_destroy(tls);
	return NULL;
}

void http_tls_destroy(struct http_tls *tls)
{
	if (tls == NULL)
		return;
	SSL_CTX_free(tls->context);
	free(tls);
}
