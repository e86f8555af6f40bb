/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/websocket.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wslay/wslay.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/http_transport.h"
#include "base/list.h"
#include "base/loop.h"
#define LOG_MODULE "websocket"
#include "base/log.h"

/* Bytes read in one turn of the loop at the most. */
#define TURN_MAX (256u << 10)
/* JSON messages of a page are short; texts to type have 4,000 characters at most. */
#define TEXT_MAX (64u << 10)
/* RFB comes in pieces of any size; a client that makes one endless message is none of ours. */
#define MESSAGE_MAX (64u << 20)
/* JSON (and pongs) waiting to go out; a peer that lets so much pile up does not read. */
#define CONTROL_MAX 256
/* Time for the other side's Close after ours. */
#define CLOSE_WAIT_MS 2000
#define KEY_LEN 24

struct websocket {
	struct peer_link link;
	struct loop *loop;
	struct list closing_link; /* in `closing` */
	struct http_transport transport;
	struct loop_io *io;
	int io_events;
	struct loop_timer *end_timer;   /* tells on_closed or on_drained from the loop */
	struct loop_timer *ping_timer;  /* after close: ends the wait for the peer */
	struct peer_link_events events;
	wslay_event_context_ptr ws;
	struct buffer early;            /* read with the handshake, not looked at yet */
	struct buffer small;            /* a frame's head, to go out with what follows it */
	struct buffer text;             /* of a text message under way */
	uint8_t opcode;                 /* of the message under way */
	bool is_in_control;             /* the frame under way is a ping, pong or close */
	size_t read_left;               /* bytes that this turn of the loop may still read */
	int64_t heard_us;               /* when the peer last sent anything */
	bool is_started;
	bool has_ended;                 /* told or about to be told */
	bool is_closing;                /* by us: no callbacks any more */
	bool is_refused;                /* it sent too much: nothing of it is taken any more */
	bool is_drained_due;
	bool is_in_recv;                /* wslay runs callbacks */
	bool is_dead;                   /* closed while in recv: freed after it */
};

/* The handshake */

/* Calls visit for each word of a comma-separated list until it returns true. */
static bool any_word(const char *list, bool (*visit)(const char *word, size_t len, void *arg), void *arg)
{
	while (list != NULL && *list != '\0') {
		list += strspn(list, " \t,");
		size_t len = strcspn(list, ",");
		size_t word_len = len;
		while (word_len > 0 && (list[word_len - 1] == ' ' || list[word_len - 1] == '\t'))
			word_len--;
		if (word_len > 0 && visit(list, word_len, arg))
			return true;
		list += len;
	}
	return false;
}

static bool word_is(const char *word, size_t len, void *arg)
{
	const char *wanted = arg;
	return strlen(wanted) == len && strncasecmp(word, wanted, len) == 0;
}

static bool has_word(const char *list, const char *wanted)
{
	return any_word(list, word_is, (void *)(uintptr_t)wanted);
}

static void refuse(struct http_request *request, int status, const char *text)
{
	http_reply(request, status, "text/plain; charset=utf-8", text, strlen(text));
}

bool websocket_check(struct http_request *request)
{
	const char *upgrade = http_request_header(request, "upgrade");
	const char *connection = http_request_header(request, "connection");
	const char *version = http_request_header(request, "sec-websocket-version");
	const char *key = http_request_header(request, "sec-websocket-key");
	const char *protocols = http_request_header(request, "sec-websocket-protocol");
	if (strcmp(http_request_method(request), "GET") != 0 || !has_word(upgrade, "websocket") ||
		!has_word(connection, "upgrade")) {
		http_request_add_header(request, "Upgrade", "websocket");
		refuse(request, 426, "This address speaks WebSocket.\n");
		return false;
	}
	if (version == NULL || strcmp(version, "13") != 0) {
		http_request_add_header(request, "Sec-WebSocket-Version", "13");
		refuse(request, 426, "Only version 13 of the WebSocket protocol is spoken here.\n");
		return false;
	}
	if (key == NULL || strlen(key) != KEY_LEN) {
		refuse(request, 400, "The Sec-WebSocket-Key is missing or broken.\n");
		return false;
	}
	if (protocols != NULL && !has_word(protocols, "binary")) {
		refuse(request, 400, "The only subprotocol here is \"binary\".\n");
		return false;
	}
	return true;
}

struct offer {
	const char *prefix;
	char *rest;
};

static bool word_begins(const char *word, size_t len, void *arg)
{
	struct offer *offer = arg;
	size_t prefix_len = strlen(offer->prefix);
	if (len < prefix_len || strncmp(word, offer->prefix, prefix_len) != 0)
		return false;
	offer->rest = xstrndup(word + prefix_len, len - prefix_len);
	return true;
}

char *websocket_offered(const struct http_request *request, const char *prefix)
{
	struct offer offer = {.prefix = prefix};
	any_word(http_request_header(request, "sec-websocket-protocol"), word_begins, &offer);
	return offer.rest;
}

static void accept_key(const char *key, char out[32])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned digest_len = 0;
	char *text = xasprintf("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
	EVP_Digest(text, strlen(text), digest, &digest_len, EVP_sha1(), NULL);
	EVP_EncodeBlock((unsigned char *)out, digest, (int)digest_len);
	free(text);
}

/* The link */

static void on_ready(void *arg, int events);

static void watch(struct websocket *socket, int events)
{
	if (events == socket->io_events)
		return;
	loop_io_destroy(socket->io);
	socket->io_events = events;
	socket->io = events != 0 ? loop_io_create(socket->loop, socket->transport.fd, events,
					   on_ready, socket)
				 : NULL;
}

/* Those that wait for the peer's Close and belong to nobody any more. The main thread's. */
static struct list closing = {&closing, &closing};

static void socket_free(struct websocket *socket)
{
	if (socket->is_in_recv) {
		socket->is_dead = true;
		return;
	}
	list_remove(&socket->closing_link);
	loop_io_destroy(socket->io);
	loop_timer_destroy(socket->end_timer);
	loop_timer_destroy(socket->ping_timer);
	wslay_event_context_free(socket->ws);
	socket->transport.ops->close(&socket->transport);
	buffer_finish(&socket->early);
	buffer_finish(&socket->small);
	buffer_finish(&socket->text);
	free(socket);
}

/* The peer has gone: told from the loop, or, after our own close, the end. */
static void end(struct websocket *socket)
{
	if (socket->has_ended)
		return;
	socket->has_ended = true;
	watch(socket, 0);
	loop_timer_arm(socket->end_timer, 0);
}

static void receive(struct websocket *socket);

static void on_end_timer(void *arg)
{
	struct websocket *socket = arg;
	if (socket->is_closing && socket->has_ended) {
		socket_free(socket);
	} else if (socket->has_ended) {
		loop_timer_disarm(socket->ping_timer);
		socket->events.on_closed(socket->events.arg);
	} else if (socket->is_drained_due && !socket->is_closing) {
		socket->is_drained_due = false;
		if (socket->transport.has_more)
			loop_timer_arm(socket->end_timer, 0);
		socket->events.on_drained(socket->events.arg);
	} else if (socket->transport.has_more) {
		receive(socket); /* its turn was over, and the socket itself may have nothing more */
	}
}

static void pump(struct websocket *socket)
{
	bool had_output = wslay_event_want_write(socket->ws) != 0;
	if (socket->has_ended)
		return;
	if (had_output && wslay_event_send(socket->ws) != 0) {
		end(socket);
		return;
	}
	bool wants_write = wslay_event_want_write(socket->ws) || socket->small.len > 0;
	if (had_output && !wants_write) {
		socket->is_drained_due = true;
		loop_timer_arm(socket->end_timer, 0);
	}
	/* After both Closes there is nothing more to read or to write. */
	if (!wslay_event_want_read(socket->ws) && !wants_write) {
		end(socket);
		return;
	}
	watch(socket, LOOP_READABLE | (wants_write ? LOOP_WRITABLE : 0));
}

static void receive(struct websocket *socket)
{
	socket->is_in_recv = true;
	socket->read_left = TURN_MAX;
	int ret = wslay_event_recv(socket->ws);
	socket->is_in_recv = false;
	if (socket->is_dead) {
		socket_free(socket);
		return;
	}
	if (ret != 0)
		end(socket);
	else
		pump(socket);
	if (socket->transport.has_more && !socket->has_ended)
		loop_timer_arm(socket->end_timer, 0);
}

static void on_ready(void *arg, int events)
{
	struct websocket *socket = arg;
	if ((events & LOOP_READABLE) != 0 || socket->early.len > 0 || socket->transport.has_more)
		receive(socket);
	else
		pump(socket);
}

/* What wslay calls */

static ssize_t recv_bytes(
	wslay_event_context_ptr ws, uint8_t *data, size_t len, int flags, void *arg)
{
	struct websocket *socket = arg;
	(void)flags;
	if (socket->early.len > 0) {
		size_t count = len < socket->early.len ? len : socket->early.len;
		memcpy(data, socket->early.data, count);
		buffer_consume(&socket->early, count);
		return (ssize_t)count;
	}
	/* Pongs that nobody reads pile up: such a peer is not worth its memory. */
	if (socket->is_dead || wslay_event_get_queued_msg_count(ws) > CONTROL_MAX) {
		wslay_event_set_error(ws, WSLAY_ERR_CALLBACK_FAILURE);
		return -1;
	}
	if (socket->read_left == 0) { /* others want their turn; the rest comes in the next */
		wslay_event_set_error(ws, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	len = len < socket->read_left ? len : socket->read_left;
	ssize_t count = socket->transport.ops->read(&socket->transport, data, len);
	if (count > 0) {
		socket->heard_us = clock_monotonic_us();
		socket->read_left -= (size_t)count;
		return count;
	}
	wslay_event_set_error(
		ws, count == -EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

/* A frame's head comes first and alone; it is kept so that both leave in one segment. */
static ssize_t send_bytes(
	wslay_event_context_ptr ws, const uint8_t *data, size_t len, int flags, void *arg)
{
	struct websocket *socket = arg;
	if ((flags & WSLAY_MSG_MORE) != 0 && len < 64 && socket->small.len == 0) {
		buffer_append(&socket->small, data, len);
		return (ssize_t)len;
	}
	const struct iovec parts[] = {{socket->small.data, socket->small.len},
		{(void *)(uintptr_t)data, len}};
	bool has_small = socket->small.len > 0;
	ssize_t count = socket->transport.ops->writev(
		&socket->transport, has_small ? parts : parts + 1, has_small ? 2 : 1);
	if (count > 0) {
		size_t head = (size_t)count < socket->small.len ? (size_t)count : socket->small.len;
		buffer_consume(&socket->small, head);
		count -= (ssize_t)head;
		if (count > 0)
			return count;
		count = -EAGAIN;
	}
	wslay_event_set_error(
		ws, count == -EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static int make_mask(wslay_event_context_ptr ws, uint8_t *data, size_t len, void *arg)
{
	(void)ws, (void)arg;
	return RAND_bytes(data, (int)len) == 1 ? 0 : -1; /* servers do not mask; for completeness */
}

static void on_frame_start(wslay_event_context_ptr ws,
	const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
	struct websocket *socket = arg;
	(void)ws;
	socket->is_in_control = (frame->opcode & 0x8) != 0;
	if (frame->opcode == WSLAY_TEXT_FRAME || frame->opcode == WSLAY_BINARY_FRAME) {
		socket->opcode = frame->opcode;
		socket->text.len = 0;
	}
}

/* Whether what comes concerns nobody any more. */
static bool is_deaf(const struct websocket *socket)
{
	return socket->is_closing || socket->is_dead || socket->is_refused;
}

/* Not only when the message is whole: one in endless fragments never is. */
static void take_text(struct websocket *socket, const uint8_t *data, size_t len)
{
	if (socket->text.len + len <= TEXT_MAX) {
		buffer_append(&socket->text, data, len);
		return;
	}
	socket->is_refused = true;
	buffer_finish(&socket->text);
	wslay_event_queue_close(socket->ws, WSLAY_CODE_MESSAGE_TOO_BIG, NULL, 0);
	loop_timer_arm(socket->ping_timer, CLOSE_WAIT_MS);
}

static void on_chunk(wslay_event_context_ptr ws,
	const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *arg)
{
	struct websocket *socket = arg;
	(void)ws;
	/* Pieces of control frames come here too: they belong to no message. */
	if (socket->is_in_control || is_deaf(socket) || socket->has_ended)
		return;
	if (socket->opcode == WSLAY_BINARY_FRAME)
		socket->events.on_data(socket->events.arg, chunk->data, chunk->data_length);
	else if (socket->opcode == WSLAY_TEXT_FRAME)
		take_text(socket, chunk->data, chunk->data_length);
}

static void on_message(wslay_event_context_ptr ws,
	const struct wslay_event_on_msg_recv_arg *message, void *arg)
{
	struct websocket *socket = arg;
	(void)ws;
	if (is_deaf(socket) || message->opcode != WSLAY_TEXT_FRAME)
		return;
	socket->events.on_text(
		socket->events.arg, (const char *)socket->text.data, socket->text.len);
	socket->text.len = 0;
}

/* Pings */

static void on_ping_timer(void *arg)
{
	struct websocket *socket = arg;
	int64_t quiet_ms = (clock_monotonic_us() - socket->heard_us) / 1000;
	if (socket->is_closing || socket->is_refused || quiet_ms >= PEER_DEAD_MS) {
		end(socket);
		return;
	}
	const struct wslay_event_msg ping = {.opcode = WSLAY_PING};
	wslay_event_queue_msg(socket->ws, &ping);
	pump(socket);
	int64_t left_ms = PEER_DEAD_MS - quiet_ms;
	loop_timer_arm(socket->ping_timer, left_ms < PEER_PING_MS ? left_ms : PEER_PING_MS);
}

static void websocket_start(struct peer_link *link, const struct peer_link_events *events)
{
	struct websocket *socket = container_of(link, struct websocket, link);
	socket->events = *events;
	socket->is_started = true;
	socket->heard_us = clock_monotonic_us();
	loop_timer_arm(socket->ping_timer, PEER_PING_MS);
	bool has_early = socket->early.len > 0 || socket->transport.has_more;
	watch(socket, LOOP_READABLE | (has_early ? LOOP_WRITABLE : 0));
}

static bool queue(struct websocket *socket, uint8_t opcode, const void *data, size_t len)
{
	if (socket->has_ended || wslay_event_get_queued_msg_count(socket->ws) > CONTROL_MAX)
		return false;
	const struct wslay_event_msg message = {.opcode = opcode, .msg = data, .msg_length = len};
	if (wslay_event_queue_msg(socket->ws, &message) != 0)
		return false;
	pump(socket);
	return !socket->has_ended;
}

static bool websocket_send(struct peer_link *link, uint8_t *data, size_t len)
{
	struct websocket *socket = container_of(link, struct websocket, link);
	bool is_sent = queue(socket, WSLAY_BINARY_FRAME, data, len);
	free(data);
	return is_sent;
}

static bool websocket_send_text(struct peer_link *link, const char *text)
{
	struct websocket *socket = container_of(link, struct websocket, link);
	return queue(socket, WSLAY_TEXT_FRAME, text, strlen(text));
}

static void websocket_close(struct peer_link *link, enum peer_close code, const char *reason)
{
	struct websocket *socket = container_of(link, struct websocket, link);
	socket->is_closing = true;
	list_append(&closing, &socket->closing_link);
	if (socket->has_ended || !socket->is_started) {
		socket_free(socket);
		return;
	}
	wslay_event_queue_close(socket->ws, (uint16_t)code, (const uint8_t *)reason,
		reason != NULL ? strlen(reason) : 0);
	loop_timer_arm(socket->ping_timer, CLOSE_WAIT_MS);
	if (!socket->is_in_recv)
		pump(socket);
}

static const struct peer_link_ops websocket_ops = {
	websocket_start, websocket_send, websocket_send_text, websocket_close};

static const struct wslay_event_callbacks wslay_callbacks = {.recv_callback = recv_bytes,
	.send_callback = send_bytes,
	.genmask_callback = make_mask,
	.on_frame_recv_start_callback = on_frame_start,
	.on_frame_recv_chunk_callback = on_chunk,
	.on_msg_recv_callback = on_message};

struct peer_link *websocket_accept(struct loop *loop, struct http_request *request)
{
	char accepted[32];
	struct http_transport transport;
	struct buffer early = {0};
	accept_key(http_request_header(request, "sec-websocket-key"), accepted);
	http_request_add_header(request, "Upgrade", "websocket");
	http_request_add_header(request, "Sec-WebSocket-Accept", accepted);
	/* A browser that offered none fails when it is told one, and the other way round. */
	if (http_request_header(request, "sec-websocket-protocol") != NULL)
		http_request_add_header(request, "Sec-WebSocket-Protocol", "binary");
	if (!http_request_upgrade(request, &transport, &early))
		return NULL;
	struct websocket *socket = xcalloc(1, sizeof(*socket));
	socket->link.ops = &websocket_ops;
	list_init(&socket->closing_link);
	socket->loop = loop;
	socket->transport = transport;
	socket->early = early;
	socket->end_timer = loop_timer_create(loop, on_end_timer, socket);
	socket->ping_timer = loop_timer_create(loop, on_ping_timer, socket);
	if (wslay_event_context_server_init(&socket->ws, &wslay_callbacks, socket) != 0)
		abort(); /* out of memory */
	wslay_event_config_set_no_buffering(socket->ws, 1);
	wslay_event_config_set_max_recv_msg_length(socket->ws, MESSAGE_MAX);
	peer_link_tune_socket(transport.fd);
	return &socket->link;
}

void websocket_finish_closing(void)
{
	struct websocket *socket, *tmp;
	list_for_each_safe(socket, tmp, &closing, closing_link)
		socket_free(socket);
}
