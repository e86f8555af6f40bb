/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may act on the screen now: one holder and an epoch that grows with every change of holder.
 * Every input event carries the source that made it and the epoch it was made in; only those of the
 * present holder and epoch are let through, so what was on its way when the holder changed dies.
 *
 * input_gate_admits, input_gate_now and input_gate_agent are one atomic read, any thread.
 * input_gate_give is called by one thread at a time (the main thread).
 */
#ifndef DISPLAY_INPUT_GATE_H
#define DISPLAY_INPUT_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sources of input: small integers. Viewers are INPUT_SOURCE_AGENT + 1 up to the last. */
#define INPUT_SOURCE_AGENT 0
#define INPUT_SOURCE_MAX   63
#define INPUT_SOURCE_NONE  255 /* as a holder: nobody may act */

/* A source in an epoch: what an event carries. */
struct input_ticket {
	uint8_t source;
	uint32_t epoch;
};

struct input_gate {
	_Atomic uint64_t state;       /* epoch << 8 | holder */
	void (*on_change)(void *arg); /* immutable */
	void *on_change_arg;          /* immutable */
};

/*
 * The first holder, in epoch 1. on_change (may be NULL) is called by input_gate_give on its thread,
 * after the gate has moved; there the owner has everything released that is held down.
 */
void input_gate_init(
	struct input_gate *gate, uint8_t holder, void (*on_change)(void *arg), void *arg);

/* Makes `holder` (a source or INPUT_SOURCE_NONE) the holder, also when it was; the new epoch. */
uint32_t input_gate_give(struct input_gate *gate, uint8_t holder);

/* Whether an event made by this source in this epoch may act now. */
bool input_gate_admits(const struct input_gate *gate, struct input_ticket ticket);

/* The holder and the epoch at one moment: the ticket for a new event of the holder. */
struct input_ticket input_gate_now(const struct input_gate *gate);

/* The agent's ticket of this moment, which is not admitted when somebody else holds the screen, nor
   once somebody has. */
struct input_ticket input_gate_agent(const struct input_gate *gate);

#endif
