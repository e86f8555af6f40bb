/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets on their way to a thread that may be slow: bounded in bytes; what does not fit is dropped up
 * to the next key. Any thread.
 */
#ifndef CAPTURE_PACKET_QUEUE_H
#define CAPTURE_PACKET_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;
struct packet_queue;

struct packet_queue *packet_queue_create(size_t bytes_max);
void packet_queue_destroy(struct packet_queue *queue); /* accepts NULL */

/* Returns whether a key is wanted: packets were dropped. */
bool packet_queue_put(struct packet_queue *queue, struct packet *packet);
/* The next packet (the caller's), waited for up to wait_us; NULL when none came, or it is closed. */
struct packet *packet_queue_take(struct packet_queue *queue, int64_t wait_us);
/* Waits so long, or until it is closed; packets are dropped meanwhile. */
void packet_queue_sleep(struct packet_queue *queue, int64_t wait_us);
/* Forgets what waits, and takes nothing until a key comes. */
void packet_queue_restart(struct packet_queue *queue);
/* Wakes who waits; from here on there is nothing to take. */
void packet_queue_close(struct packet_queue *queue);
bool packet_queue_is_closed(struct packet_queue *queue);
uint64_t packet_queue_dropped(struct packet_queue *queue);

#endif
