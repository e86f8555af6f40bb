/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One encoded picture, shared by reference between the threads that write it somewhere. Any thread. */
#ifndef CAPTURE_PACKET_H
#define CAPTURE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Immutable once handed out. */
struct packet {
	_Atomic int refs; /* private */
	int64_t time_us;  /* awake time (pacer.h) at which the screen looked like this */
	bool is_key;      /* decoding can begin here */
	bool is_change;   /* it looks different from the one before */
	size_t len;
	uint8_t data[];   /* H.264 access unit, Annex B, without parameter sets */
};

/* Room for len bytes, one reference. NULL when memory is short. */
struct packet *packet_create(size_t len);
struct packet *packet_ref(struct packet *packet);
void packet_unref(struct packet *packet); /* accepts NULL */

#endif
