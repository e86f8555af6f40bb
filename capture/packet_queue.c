/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/packet_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include "capture/packet.h"

struct waiting {
	struct list link;
	struct packet *packet;
};

struct packet_queue {
	size_t bytes_max; /* immutable */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* guarded by lock */
	struct list packets;
	size_t bytes;
	bool needs_key, is_closed;
	uint64_t dropped;
};

struct packet_queue *packet_queue_create(size_t bytes_max)
{
	struct packet_queue *queue = xcalloc(1, sizeof(*queue));
	pthread_condattr_t attributes;
	queue->bytes_max = bytes_max;
	queue->needs_key = true;
	list_init(&queue->packets);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	return queue;
}

/* Called with the lock held. */
static struct packet *take_first(struct packet_queue *queue)
{
	struct waiting *first = container_of(queue->packets.next, struct waiting, link);
	struct packet *packet = first->packet;
	list_remove(&first->link);
	queue->bytes -= packet->len;
	free(first);
	return packet;
}

/* Called with the lock held. */
static void forget(struct packet_queue *queue)
{
	while (!list_is_empty(&queue->packets))
		packet_unref(take_first(queue));
	queue->needs_key = true;
}

void packet_queue_destroy(struct packet_queue *queue)
{
	if (queue == NULL)
		return;
	forget(queue);
	pthread_cond_destroy(&queue->wake);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

bool packet_queue_put(struct packet_queue *queue, struct packet *packet)
{
	bool wants_key = false;
	pthread_mutex_lock(&queue->lock);
	if (packet->is_key)
		queue->needs_key = false;
	if (!queue->needs_key && queue->bytes + packet->len > queue->bytes_max) {
		forget(queue); /* old pictures are worth less than new ones */
		wants_key = true;
	}
	if (queue->needs_key || queue->is_closed) {
		queue->dropped++;
	} else {
		struct waiting *waiting = xcalloc(1, sizeof(*waiting));
		waiting->packet = packet_ref(packet);
		list_append(&queue->packets, &waiting->link);
		queue->bytes += packet->len;
		pthread_cond_signal(&queue->wake);
	}
	pthread_mutex_unlock(&queue->lock);
	return wants_key;
}

struct packet *packet_queue_take(struct packet_queue *queue, int64_t wait_us)
{
	int64_t due_us = clock_monotonic_us() + wait_us;
	struct timespec due = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
	struct packet *packet = NULL;
	pthread_mutex_lock(&queue->lock);
	while (list_is_empty(&queue->packets) && !queue->is_closed) {
		if (pthread_cond_timedwait(&queue->wake, &queue->lock, &due) != 0)
			break;
	}
	if (!list_is_empty(&queue->packets) && !queue->is_closed)
		packet = take_first(queue);
	pthread_mutex_unlock(&queue->lock);
	return packet;
}

void packet_queue_sleep(struct packet_queue *queue, int64_t wait_us)
{
	int64_t due_us = clock_monotonic_us() + wait_us;
	while (!packet_queue_is_closed(queue) && clock_monotonic_us() < due_us)
		packet_unref(packet_queue_take(queue, due_us - clock_monotonic_us()));
}

void packet_queue_restart(struct packet_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	forget(queue);
	pthread_mutex_unlock(&queue->lock);
}

void packet_queue_close(struct packet_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_closed = true;
	pthread_cond_broadcast(&queue->wake);
	pthread_mutex_unlock(&queue->lock);
}

bool packet_queue_is_closed(struct packet_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	bool is_closed = queue->is_closed;
	pthread_mutex_unlock(&queue->lock);
	return is_closed;
}

uint64_t packet_queue_dropped(struct packet_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	uint64_t dropped = queue->dropped;
	pthread_mutex_unlock(&queue->lock);
	return dropped;
}
