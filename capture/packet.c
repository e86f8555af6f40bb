/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/packet.h"

#include <stdatomic.h>
#include <stdlib.h>

struct packet *packet_create(size_t len)
{
	struct packet *packet = malloc(sizeof(*packet) + len);
	if (packet == NULL)
		return NULL;
	*packet = (struct packet){.len = len};
	atomic_init(&packet->refs, 1);
	return packet;
}

struct packet *packet_ref(struct packet *packet)
{
	atomic_fetch_add(&packet->refs, 1);
	return packet;
}

void packet_unref(struct packet *packet)
{
	if (packet != NULL && atomic_fetch_sub(&packet->refs, 1) == 1)
		free(packet);
}
