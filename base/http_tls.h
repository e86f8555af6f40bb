/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS between the HTTP engine and the socket (OpenSSL): TLS 1.2 and 1.3, no client certificates, no
 * renegotiation. One thread at a time.
 */
#ifndef BASE_HTTP_TLS_H
#define BASE_HTTP_TLS_H

#include <stdbool.h>
#include <stddef.h>

struct http_tls;
struct http_transport;

/* From a certificate chain and its key, both PEM files. NULL and a sentence in error[error_size].
 */
struct http_tls *http_tls_create(
	const char *cert_path, const char *key_path, char *error, size_t error_size);
void http_tls_destroy(struct http_tls *tls); /* accepts NULL */

/* Makes the transport of an accepted socket one that speaks TLS. False: out of memory. */
bool http_tls_wrap(struct http_tls *tls, struct http_transport *transport);

#endif
