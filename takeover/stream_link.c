/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/stream_link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/loop.h"

/* Unsent bytes in the kernel, above which it takes no more: at 50 kB/s a third of a second. */
#define NOTSENT_LOWAT (16 << 10)
#define READ_SIZE (64 << 10)

struct stream_link {
	struct peer_link link;
	struct loop *loop;
	int fd;
	struct loop_io *io;
	int io_events;
	struct loop_timer *end_timer; /* tells on_closed, or drained, from the loop */
	struct peer_link_events events;
	struct buffer output;
	size_t sent;                  /* of output */
	bool has_ended;               /* read or write said so */
	bool is_drained_due;
};

void peer_link_tune_socket(int fd)
{
	int on = 1, low = NOTSENT_LOWAT, timeout_ms = PEER_DEAD_MS;
	int idle_s = 10, interval_s = 5, count = 3; /* the same 25 s while nothing is sent */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low, sizeof(low));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	/* Where the kernel has it: loss on a wireless link is no sign of a full one. */
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3);
}

static void on_ready(void *arg, int events);

static void watch(struct stream_link *stream, int events)
{
	if (events == stream->io_events)
		return;
	loop_io_destroy(stream->io);
	stream->io_events = events;
	stream->io = events != 0 ? loop_io_create(stream->loop, stream->fd, events, on_ready, stream)
				 : NULL;
}

/* What comes next is told from the loop. */
static void end(struct stream_link *stream)
{
	stream->has_ended = true;
	watch(stream, 0);
	loop_timer_arm(stream->end_timer, 0);
}

static void on_end_timer(void *arg)
{
	struct stream_link *stream = arg;
	if (stream->has_ended) {
		stream->events.on_closed(stream->events.arg);
	} else if (stream->is_drained_due) {
		stream->is_drained_due = false;
		stream->events.on_drained(stream->events.arg);
	}
}

/* Returns whether everything has gone to the kernel. */
static bool write_out(struct stream_link *stream)
{
	while (stream->sent < stream->output.len && !stream->has_ended) {
		ssize_t count = send(stream->fd, stream->output.data + stream->sent,
			stream->output.len - stream->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (count > 0)
			stream->sent += (size_t)count;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			end(stream);
	}
	if (stream->has_ended)
		return false;
	bool is_all = stream->sent == stream->output.len;
	if (is_all) {
		stream->sent = 0;
		buffer_finish(&stream->output);
	}
	watch(stream, LOOP_READABLE | (is_all ? 0 : LOOP_WRITABLE));
	return is_all;
}

static void on_ready(void *arg, int events)
{
	struct stream_link *stream = arg;
	if ((events & LOOP_WRITABLE) != 0 && write_out(stream)) {
		stream->is_drained_due = true;
		loop_timer_arm(stream->end_timer, 0);
	}
	if ((events & LOOP_READABLE) == 0 || stream->has_ended)
		return;
	static uint8_t data[READ_SIZE]; /* main thread only */
	ssize_t count = recv(stream->fd, data, sizeof(data), MSG_DONTWAIT);
	if (count > 0)
		stream->events.on_data(stream->events.arg, data, (size_t)count);
	else if (count == 0 || (errno != EAGAIN && errno != EINTR))
		end(stream);
}

static void stream_start(struct peer_link *link, const struct peer_link_events *events)
{
	struct stream_link *stream = container_of(link, struct stream_link, link);
	stream->events = *events;
	watch(stream, LOOP_READABLE);
}

static bool stream_send(struct peer_link *link, uint8_t *data, size_t len)
{
	struct stream_link *stream = container_of(link, struct stream_link, link);
	if (!stream->has_ended) {
		buffer_append(&stream->output, data, len);
		if (write_out(stream)) {
			stream->is_drained_due = true;
			loop_timer_arm(stream->end_timer, 0);
		}
	}
	free(data);
	return !stream->has_ended;
}

static bool stream_send_text(struct peer_link *link, const char *text)
{
	(void)text;
	return !container_of(link, struct stream_link, link)->has_ended;
}

static void stream_close(struct peer_link *link, enum peer_close code, const char *reason)
{
	struct stream_link *stream = container_of(link, struct stream_link, link);
	(void)code;
	(void)reason;
	loop_io_destroy(stream->io);
	loop_timer_destroy(stream->end_timer);
	close(stream->fd);
	buffer_finish(&stream->output);
	free(stream);
}

static const struct peer_link_ops stream_ops = {
	stream_start, stream_send, stream_send_text, stream_close};

struct peer_link *stream_link_create(struct loop *loop, int fd)
{
	struct stream_link *stream = xcalloc(1, sizeof(*stream));
	stream->link.ops = &stream_ops;
	stream->loop = loop;
	stream->fd = fd;
	stream->end_timer = loop_timer_create(loop, on_end_timer, stream);
	peer_link_tune_socket(fd);
	return &stream->link;
}
