/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/input_gate.h"

#include <stddef.h>

static uint64_t pack(uint8_t holder, uint32_t epoch)
{
	return (uint64_t)epoch << 8 | holder;
}

void input_gate_init(
	struct input_gate *gate, uint8_t holder, void (*on_change)(void *arg), void *arg)
{
	atomic_init(&gate->state, pack(holder, 1));
	gate->on_change = on_change;
	gate->on_change_arg = arg;
}

uint32_t input_gate_give(struct input_gate *gate, uint8_t holder)
{
	uint32_t epoch = input_gate_now(gate).epoch + 1;
	atomic_store(&gate->state, pack(holder, epoch));
	if (gate->on_change != NULL)
		gate->on_change(gate->on_change_arg);
	return epoch;
}

bool input_gate_admits(const struct input_gate *gate, struct input_ticket ticket)
{
	return ticket.source != INPUT_SOURCE_NONE &&
	       atomic_load(&gate->state) == pack(ticket.source, ticket.epoch);
}

struct input_ticket input_gate_now(const struct input_gate *gate)
{
	uint64_t state = atomic_load(&gate->state);
	return (struct input_ticket){.source = (uint8_t)state, .epoch = (uint32_t)(state >> 8)};
}

struct input_ticket input_gate_agent(const struct input_gate *gate)
{
	return (struct input_ticket){
		.source = INPUT_SOURCE_AGENT, .epoch = input_gate_now(gate).epoch};
}
