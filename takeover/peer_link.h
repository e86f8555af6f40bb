/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a viewer's bytes travel: a WebSocket (takeover/websocket.h) or a plain socket
 * (takeover/stream_link.h). Main thread only.
 */
#ifndef TAKEOVER_PEER_LINK_H
#define TAKEOVER_PEER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peer_link;

/* Close codes of WebSockets; a plain socket is just closed. */
enum peer_close {
	PEER_CLOSE_NORMAL = 1000,
	PEER_CLOSE_GOING_AWAY = 1001,
	PEER_CLOSE_PROTOCOL = 1002,
	PEER_CLOSE_UNSUPPORTED = 1003,
	PEER_CLOSE_TOO_BIG = 1009,
	PEER_CLOSE_INTERNAL = 1011,
	PEER_CLOSE_NOT_VALID = 4401,
	PEER_CLOSE_TAKEN_OVER = 4409,
	PEER_CLOSE_HANDED_BACK = 4410,
	PEER_CLOSE_NO_SCREEN = 4503,
};

/* Called from the loop, never from inside a call into the link. */
struct peer_link_events {
	void (*on_data)(void *arg, const uint8_t *data, size_t len); /* RFB */
	void (*on_text)(void *arg, const char *text, size_t len);    /* JSON; WebSockets only */
	void (*on_drained)(void *arg);  /* everything given to send has gone to the kernel */
	void (*on_closed)(void *arg);   /* the peer has gone (or was found dead); last call */
	void *arg;
};

struct peer_link_ops {
	void (*start)(struct peer_link *link, const struct peer_link_events *events);
	bool (*send)(struct peer_link *link, uint8_t *data, size_t len);
	bool (*send_text)(struct peer_link *link, const char *text);
	void (*close)(struct peer_link *link, enum peer_close code, const char *reason);
};

struct peer_link {
	const struct peer_link_ops *ops;
};

/* Begins to read. Once, before anything else. */
static inline void peer_link_start(struct peer_link *link, const struct peer_link_events *events)
{
	link->ops->start(link, events);
}

/* Sends bytes; data is malloc'ed and taken. False when the peer has gone: on_closed comes. */
static inline bool peer_link_send(struct peer_link *link, uint8_t *data, size_t len)
{
	return link->ops->send(link, data, len);
}

/* Sends a text message, where there are such; else does nothing. */
static inline bool peer_link_send_text(struct peer_link *link, const char *text)
{
	return link->ops->send_text(link, text);
}

/* Says why, closes and frees the link, now or soon; no callback comes any more. */
static inline void peer_link_close(struct peer_link *link, enum peer_close code, const char *reason)
{
	link->ops->close(link, code, reason);
}

/* Closes a link that has not been started. */
void peer_link_refuse(struct peer_link *link, enum peer_close code, const char *reason);

/*
 * How the kernel treats a peer's TCP connection: no delay, little unsent data (so that what goes out
 * next is the newest), dead peers found. Harmless on other sockets.
 */
void peer_link_tune_socket(int fd);

/* A peer that answers nothing for so long is dead. */
#define PEER_DEAD_MS 25000
#define PEER_PING_MS 10000

#endif
