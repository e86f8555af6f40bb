/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/keymap_slots.h"

#include <string.h>

void keymap_slots_init(struct keymap_slots *slots, const uint8_t *keycodes, int count)
{
	memset(slots, 0, sizeof(*slots));
	/* All plain levels first: ordinary text then needs no Shift. */
	for (uint8_t level = 0; level < KEYMAP_SLOT_LEVELS; level++) {
		for (int i = 0; i < count; i++)
			slots->slots[slots->count++] =
				(struct keymap_slot){.keycode = keycodes[i], .level = level};
	}
}

void keymap_slots_begin_batch(struct keymap_slots *slots)
{
	slots->batch++;
}

struct keymap_slot *keymap_slots_use(struct keymap_slots *slots, uint32_t keysym)
{
	for (int i = 0; i < slots->count; i++) {
		if (slots->slots[i].keysym == keysym) {
			slots->slots[i].used_at = slots->batch;
			return &slots->slots[i];
		}
	}
	return NULL;
}

struct keymap_slot *keymap_slots_claim(struct keymap_slots *slots, uint32_t keysym)
{
	struct keymap_slot *slot = keymap_slots_use(slots, keysym);
	if (slot != NULL)
		return slot;
	for (int i = 0; i < slots->count; i++) {
		struct keymap_slot *other = &slots->slots[i];
		if (other->is_pinned || (other->keysym != 0 && other->used_at >= slots->batch))
			continue;
		if (slot == NULL || (slot->keysym != 0 && other->keysym == 0) ||
			((slot->keysym != 0) == (other->keysym != 0) &&
				other->used_at < slot->used_at))
			slot = other;
	}
	if (slot == NULL)
		return NULL;
	slot->keysym = keysym;
	slot->used_at = slots->batch;
	slots->is_dirty[slot->keycode] = true;
	slots->is_any_dirty = true;
	return slot;
}

void keymap_slots_pin(struct keymap_slots *slots, uint8_t keycode, bool is_pinned)
{
	for (int i = 0; i < slots->count; i++) {
		if (slots->slots[i].keycode == keycode)
			slots->slots[i].is_pinned = is_pinned;
	}
}

void keymap_slots_meaning(
	const struct keymap_slots *slots, uint8_t keycode, uint32_t keysyms[KEYMAP_SLOT_LEVELS])
{
	memset(keysyms, 0, KEYMAP_SLOT_LEVELS * sizeof(keysyms[0]));
	for (int i = 0; i < slots->count; i++) {
		if (slots->slots[i].keycode == keycode)
			keysyms[slots->slots[i].level] = slots->slots[i].keysym;
	}
}

void keymap_slots_written(struct keymap_slots *slots)
{
	memset(slots->is_dirty, 0, sizeof(slots->is_dirty));
	slots->is_any_dirty = false;
}
