/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A viewer on a WebSocket (RFC 6455, framing by wslay): binary messages are RFB, text messages JSON.
 * Pings every 10 s, so that a proxy's idle limit never cuts it; a peer that sends nothing for 25 s (no
 * pong either) is dead. No compression. Main thread only.
 */
#ifndef TAKEOVER_WEBSOCKET_H
#define TAKEOVER_WEBSOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "takeover/peer_link.h"

struct buffer;
struct http_request;
struct http_transport;
struct loop;

/*
 * Whether the request is a WebSocket handshake of version 13, and the subprotocols it offers hold
 * `binary` (or none are offered). Otherwise it is answered (400, 426) and false returned.
 */
bool websocket_check(struct http_request *request);

/* The offered subprotocol that begins with `prefix`, what follows the prefix; NULL without. The caller
   frees it. */
char *websocket_offered(const struct http_request *request, const char *prefix);

/* Answers 101 and takes the connection over. NULL when that failed; the request is answered anyway. */
struct peer_link *websocket_accept(struct loop *loop, struct http_request *request);

/* The process ends: those that still wait for their peer's Close are closed now. */
void websocket_finish_closing(void);

#endif
