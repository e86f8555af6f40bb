/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which keysym has which borrowed keycode: each keycode carries two, plain and with Shift. Slots
 * are claimed in batches; within one batch none that the batch uses is given away again, and the
 * least recently used go first. Pure planning, no X; display/keymap.h writes the outcome to the
 * server.
 */
#ifndef DISPLAY_KEYMAP_SLOTS_H
#define DISPLAY_KEYMAP_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define KEYMAP_SLOT_LEVELS 2
#define KEYMAP_SLOTS_MAX   (248 * KEYMAP_SLOT_LEVELS)

struct keymap_slot {
	uint8_t keycode;
	uint8_t level;    /* 1: with Shift */
	bool is_pinned;   /* its key is held down: must keep its meaning */
	uint32_t keysym;  /* 0: free */
	uint64_t used_at; /* batch in which it was last used */
};

struct keymap_slots {
	struct keymap_slot slots[KEYMAP_SLOTS_MAX];
	int count;
	uint64_t batch;
	bool is_dirty[256]; /* by keycode: planned otherwise than written to the server */
	bool is_any_dirty;
};

/* Starts with these keycodes, all slots free. */
void keymap_slots_init(struct keymap_slots *slots, const uint8_t *keycodes, int count);

/* From here on every slot may be given away again, except pinned ones. */
void keymap_slots_begin_batch(struct keymap_slots *slots);

/* The slot that has the keysym, now marked as used in this batch; NULL when there is none. */
struct keymap_slot *keymap_slots_use(struct keymap_slots *slots, uint32_t keysym);

/*
 * The slot that has the keysym or is given it now (its keycode becomes dirty). NULL when every slot
 * is pinned or used in this batch: start another batch.
 */
struct keymap_slot *keymap_slots_claim(struct keymap_slots *slots, uint32_t keysym);

/* A key that carries slots was pressed or released. */
void keymap_slots_pin(struct keymap_slots *slots, uint8_t keycode, bool is_pinned);

/* What the keycode is to mean: its keysyms by level, 0 for none. */
void keymap_slots_meaning(
	const struct keymap_slots *slots, uint8_t keycode, uint32_t keysyms[KEYMAP_SLOT_LEVELS]);

/* The server now has what is planned. */
void keymap_slots_written(struct keymap_slots *slots);

#endif
