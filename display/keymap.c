/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/keymap.h"

#include <X11/XKBlib.h>
#include <X11/Xatom.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "display/xconn.h"
#define LOG_MODULE "keymap"
#include "base/log.h"

#define PROPERTY_VERSION  1
#define ORIGINAL_SYMS_MAX 32
#define ORIGINAL_HEAD     7 /* words before the keysyms of one key in the property */

#define READ_MASK                                                                                  \
	(XkbKeyTypesMask | XkbKeySymsMask | XkbModifierMapMask | XkbKeyActionsMask |               \
		XkbKeyBehaviorsMask | XkbVirtualModsMask | XkbVirtualModMapMask)

/* What a keycode means without us. */
struct original {
	uint8_t group_info;
	uint8_t type[XkbNumKbdGroups];
	uint8_t width;
	int sym_count;
	uint32_t syms[ORIGINAL_SYMS_MAX];
};

/* All fields are owned by the display thread. */
struct keymap {
	struct xconn *conn;
	struct xconn_listener listener;
	Atom property;
	bool is_stale;
	unsigned foreign_changes;
	struct keymap_table table;
	struct keymap_slots slots;
	struct original originals[256];            /* of every keycode that slots has */
	bool is_borrowed[256];                     /* the server has our meaning of it … */
	uint32_t written[256][KEYMAP_SLOT_LEVELS]; /* … which is this */
	bool is_noted;                             /* the property is written */
};

static void on_event(void *arg, XEvent *event)
{
	struct keymap *keymap = arg;
	if (event->type != keymap->conn->xkb_event)
		return;
	int kind = ((XkbEvent *)event)->any.xkb_type;
	if (kind == XkbMapNotify || kind == XkbNewKeyboardNotify)
		keymap->is_stale = true;
}

static void read_type(const XkbKeyTypeRec *from, struct keymap_type *to)
{
	memset(to, 0, sizeof(*to));
	to->mods = from->mods.mask;
	for (unsigned mods = 0; mods < 256; mods++) {
		for (int i = 0; i < from->map_count; i++) {
			const XkbKTMapEntryRec *entry = &from->map[i];
			if (entry->active && entry->mods.mask == (mods & from->mods.mask)) {
				to->level_of[mods] = entry->level;
				break;
			}
		}
	}
}

/* Moving the pointer with the keypad waits for MouseKeys to be switched on; the keys type
 * meanwhile. */
static bool is_mouse_key(const XkbAction *action)
{
	return action->type == XkbSA_MovePtr || action->type == XkbSA_PtrBtn ||
	       action->type == XkbSA_LockPtrBtn || action->type == XkbSA_SetPtrDflt;
}

static void read_actions(XkbDescPtr xkb, int code, struct keymap_key *key)
{
	if (!XkbKeyHasActions(xkb, code))
		return;
	for (int group = 0; group < key->group_count; group++) {
		for (int level = 0; level < key->level_count[group]; level++) {
			const XkbAction *action = XkbKeyActionEntry(xkb, code, level, group);
			if (action->type == XkbSA_NoAction || is_mouse_key(action))
				continue;
			key->acts |= 1u << (group * KEYMAP_LEVELS + level);
			if (action->type == XkbSA_SetMods || action->type == XkbSA_LatchMods)
				key->sets_mods |= action->mods.flags & XkbSA_UseModMapMods
							  ? key->modmap
							  : action->mods.mask;
		}
	}
}

static void read_key(XkbDescPtr xkb, int code, struct keymap_key *key)
{
	memset(key, 0, sizeof(*key));
	key->group_count = (uint8_t)XkbKeyNumGroups(xkb, code);
	key->group_info = XkbKeyGroupInfo(xkb, code);
	key->modmap = xkb->map->modmap[code];
	int behavior = xkb->server->behaviors[code].type & XkbKB_OpMask;
	key->has_behavior = behavior != XkbKB_Default;
	for (int group = 0; group < key->group_count; group++) {
		int levels = XkbKeyGroupWidth(xkb, code, group);
		key->level_count[group] =
			(uint8_t)(levels < KEYMAP_LEVELS ? levels : KEYMAP_LEVELS);
		key->type[group] = XkbKeyKeyTypeIndex(xkb, code, group);
		for (int level = 0; level < key->level_count[group]; level++)
			key->keysyms[group][level] =
				(uint32_t)XkbKeySymEntry(xkb, code, level, group);
	}
	read_actions(xkb, code, key);
}

static void read_table(XkbDescPtr xkb, struct keymap_table *table)
{
	keymap_table_finish(table);
	memset(table, 0, sizeof(*table));
	table->min_keycode = xkb->min_key_code;
	table->max_keycode = xkb->max_key_code;
	table->type_count = xkb->map->num_types;
	table->types = xcalloc(table->type_count, sizeof(table->types[0]));
	for (int i = 0; i < table->type_count; i++)
		read_type(&xkb->map->types[i], &table->types[i]);
	for (int code = table->min_keycode; code <= table->max_keycode; code++)
		read_key(xkb, code, &table->keys[code]);
	keymap_table_index(table);
}

static bool read_original(XkbDescPtr xkb, int code, struct original *out)
{
	memset(out, 0, sizeof(*out));
	out->sym_count = XkbKeyNumSyms(xkb, code);
	if (out->sym_count > ORIGINAL_SYMS_MAX)
		return false;
	out->group_info = XkbKeyGroupInfo(xkb, code);
	out->width = (uint8_t)XkbKeyGroupsWidth(xkb, code);
	for (int group = 0; group < XkbNumKbdGroups; group++)
		out->type[group] = XkbKeyKeyTypeIndex(xkb, code, group);
	for (int i = 0; i < out->sym_count; i++)
		out->syms[i] = (uint32_t)XkbKeySymsPtr(xkb, code)[i];
	return true;
}

/* Only what looks like a slot: after a crash somebody may have loaded another layout. */
static bool is_slot_like(const struct keymap_key *key)
{
	return key->group_count == 1 && key->type[0] == XkbAlphabeticIndex &&
	       key->level_count[0] == KEYMAP_SLOT_LEVELS;
}

/* Whether the server's key has just what we wrote there. */
static bool is_ours(const struct keymap *keymap, int code)
{
	const struct keymap_key *key = &keymap->table.keys[code];
	return keymap->is_borrowed[code] && is_slot_like(key) &&
	       memcmp(key->keysyms[0], keymap->written[code], sizeof(keymap->written[code])) == 0;
}

static void note_borrowed(struct keymap *keymap)
{
	static const size_t room = 1 + 256 * (ORIGINAL_HEAD + ORIGINAL_SYMS_MAX);
	long *words = xcalloc(room, sizeof(long)); /* format 32 is longs in Xlib */
	int count = 0;
	words[count++] = PROPERTY_VERSION;
	for (int i = 0; i < keymap->slots.count; i++) {
		if (keymap->slots.slots[i].level != 0)
			continue;
		uint8_t code = keymap->slots.slots[i].keycode;
		const struct original *original = &keymap->originals[code];
		words[count++] = code;
		words[count++] = original->group_info | original->width << 8;
		for (int group = 0; group < XkbNumKbdGroups; group++)
			words[count++] = original->type[group];
		words[count++] = original->sym_count;
		for (int sym = 0; sym < original->sym_count; sym++)
			words[count++] = (long)original->syms[sym];
	}
	XChangeProperty(keymap->conn->dpy, keymap->conn->root, keymap->property, XA_CARDINAL, 32,
		PropModeReplace, (unsigned char *)words, count);
	free(words);
	keymap->is_noted = true;
}

static void forget_note(struct keymap *keymap)
{
	XDeleteProperty(keymap->conn->dpy, keymap->conn->root, keymap->property);
	keymap->is_noted = false;
}

/* The slots of a keycode that is ours still mean what the server has; the rest is free. */
static void carry_over(struct keymap *keymap, const struct keymap_slots *old)
{
	const struct keymap_slot *by_place[256][KEYMAP_SLOT_LEVELS] = {{NULL}};
	for (int i = 0; i < old->count; i++)
		by_place[old->slots[i].keycode][old->slots[i].level] = &old->slots[i];
	for (int i = 0; i < keymap->slots.count; i++) {
		struct keymap_slot *slot = &keymap->slots.slots[i];
		const struct keymap_slot *before = by_place[slot->keycode][slot->level];
		if (!keymap->is_borrowed[slot->keycode])
			continue;
		slot->keysym = keymap->written[slot->keycode][slot->level];
		slot->is_pinned = before != NULL && before->is_pinned;
		slot->used_at = before != NULL ? before->used_at : 0;
	}
}

/* Which keycodes can carry slots now; those that carry some still keep them. Drops unwritten plans.
 */
static void choose_keycodes(struct keymap *keymap, XkbDescPtr xkb)
{
	const struct keymap_table *table = &keymap->table;
	uint8_t chosen[256], media[256];
	int count = 0, media_count = 0;
	for (int code = table->min_keycode; code <= table->max_keycode; code++) {
		uint8_t keycode = (uint8_t)code;
		bool is_kept = is_ours(keymap, code);
		keymap->is_borrowed[code] = is_kept;
		bool is_empty = keymap_key_is_empty(table, keycode);
		if (!is_kept && !is_empty && !keymap_key_is_harmless(table, keycode))
			continue;
		if (!is_kept && !read_original(xkb, code, &keymap->originals[code]))
			continue;
		if (is_kept ? keymap->originals[code].sym_count == 0 : is_empty)
			chosen[count++] = keycode;
		else
			media[media_count++] = keycode;
	}
	memcpy(chosen + count, media, (size_t)media_count);
	struct keymap_slots *old = xmemdup(&keymap->slots, sizeof(keymap->slots));
	keymap_slots_init(&keymap->slots, chosen, count + media_count);
	keymap->slots.batch = old->batch;
	carry_over(keymap, old);
	free(old);
}

/*
 * Whether keys have another meaning than before, ours aside. (The same map comes anew when the server
 * goes over to another device, and that matters to nobody.)
 */
static bool is_meaning_changed(
	const struct keymap *keymap, const struct keymap_key *before, const bool *was_borrowed)
{
	for (int code = 0; code < 256; code++) {
		const struct keymap_key *key = &keymap->table.keys[code];
		if (was_borrowed[code] && !keymap->is_borrowed[code])
			return true;
		if (!keymap->is_borrowed[code] &&
			(key->modmap != before[code].modmap ||
				memcmp(key->keysyms, before[code].keysyms, sizeof(key->keysyms)) !=
					0))
			return true;
	}
	return false;
}

static bool read_map(struct keymap *keymap)
{
	XkbDescPtr xkb = XkbGetMap(keymap->conn->dpy, READ_MASK, XkbUseCoreKbd);
	if (xkb == NULL)
		return false;
	struct keymap_key *before = xmemdup(keymap->table.keys, sizeof(keymap->table.keys));
	read_table(xkb, &keymap->table);
	bool was_borrowed[256];
	memcpy(was_borrowed, keymap->is_borrowed, sizeof(was_borrowed));
	choose_keycodes(keymap, xkb);
	if (is_meaning_changed(keymap, before, was_borrowed))
		keymap->foreign_changes++;
	free(before);
	/* Not to be found as if the layout had them: a slot must be seen to be used. */
	for (int code = 0; code < 256; code++) {
		if (keymap->is_borrowed[code])
			keymap->table.keys[code].group_count = 0;
	}
	XkbFreeKeyboard(xkb, 0, True);
	keymap->is_stale = false;
	if (memcmp(was_borrowed, keymap->is_borrowed, sizeof(was_borrowed)) == 0)
		return true;
	/* Somebody else gave some of our keycodes another meaning. */
	if (keymap_is_borrowing(keymap))
		note_borrowed(keymap);
	else if (keymap->is_noted)
		forget_note(keymap);
	return true;
}

bool keymap_refresh(struct keymap *keymap)
{
	if (keymap->conn->is_broken)
		return false;
	xconn_dispatch_pending(keymap->conn);
	return !keymap->conn->is_broken && (!keymap->is_stale || read_map(keymap));
}

/* Not by XkbChangeTypesOfKey: it wants the actions too and crashes without them. */
static void set_key(XkbDescPtr xkb, int code, const struct original *to)
{
	KeySym *syms = XkbResizeKeySyms(xkb, code, to->sym_count);
	if (syms == NULL)
		return; /* out of memory: the key stays as it is */
	for (int i = 0; i < to->sym_count; i++)
		syms[i] = to->syms[i];
	XkbSymMapPtr map = &xkb->map->key_sym_map[code];
	for (int group = 0; group < XkbNumKbdGroups; group++)
		map->kt_index[group] = to->type[group] < xkb->map->num_types ? to->type[group] : 0;
	map->group_info = to->group_info;
	map->width = to->width;
}

/* Writes new meanings of some keycodes (by code, NULL: as it is) over the server's present map. */
static bool write_keys(struct keymap *keymap, const struct original *const meanings[256])
{
	Display *dpy = keymap->conn->dpy;
	int first = 0, last = 0;
	for (int code = 8; code < 256; code++) {
		if (meanings[code] == NULL)
			continue;
		first = first == 0 ? code : first;
		last = code;
	}
	if (first == 0)
		return true;
	XkbDescPtr xkb = XkbGetMap(dpy, XkbKeyTypesMask | XkbKeySymsMask, XkbUseCoreKbd);
	if (xkb == NULL)
		return false;
	for (int code = first; code <= last; code++) {
		if (meanings[code] != NULL)
			set_key(xkb, code, meanings[code]);
	}
	XkbMapChangesRec changes = {
		.changed = XkbKeySymsMask,
		.first_key_sym = (KeyCode)first,
		.num_key_syms = (unsigned char)(last - first + 1),
	};
	xconn_trap(keymap->conn);
	XkbChangeMap(dpy, xkb, &changes);
	int error = xconn_untrap(keymap->conn);
	XkbFreeKeyboard(xkb, 0, True);
	if (error > 0)
		log_error("the server refused a change of the keymap (X error %d)", error);
	keymap->is_stale = true;
	return error == 0;
}

/* ALPHABETIC: with Caps Lock on Shift still chooses, and no program changes the case by itself. */
static const struct original slot_shape = {
	.group_info = 1,
	.width = KEYMAP_SLOT_LEVELS,
	.type = {XkbAlphabeticIndex},
	.sym_count = KEYMAP_SLOT_LEVELS,
};

bool keymap_write_slots(struct keymap *keymap)
{
	/* First, whether the keycodes are still free to take; if not, the plan is dropped. */
	if (!keymap_refresh(keymap))
		return false;
	if (!keymap->slots.is_any_dirty)
		return true;
	note_borrowed(keymap);
	struct original *plans = xcalloc(256, sizeof(*plans));
	const struct original *meanings[256] = {NULL};
	for (int code = 0; code < 256; code++) {
		if (!keymap->slots.is_dirty[code])
			continue;
		plans[code] = slot_shape;
		keymap_slots_meaning(&keymap->slots, (uint8_t)code, plans[code].syms);
		memcpy(keymap->written[code], plans[code].syms, sizeof(keymap->written[code]));
		keymap->is_borrowed[code] = true;
		meanings[code] = &plans[code];
	}
	bool is_ok = write_keys(keymap, meanings);
	free(plans);
	/* On a refusal too: the next reading finds out which keycodes are ours. */
	keymap_slots_written(&keymap->slots);
	if (is_ok)
		keymap_tell_group(keymap);
	return is_ok && keymap_refresh(keymap);
}

bool keymap_is_borrowing(const struct keymap *keymap)
{
	for (int code = 0; code < 256; code++) {
		if (keymap->is_borrowed[code])
			return true;
	}
	return false;
}

void keymap_give_back(struct keymap *keymap)
{
	if (!keymap_refresh(keymap) || !keymap_is_borrowing(keymap))
		return;
	const struct original *meanings[256] = {NULL};
	for (int code = 0; code < 256; code++) {
		if (keymap->is_borrowed[code])
			meanings[code] = &keymap->originals[code];
	}
	if (!write_keys(keymap, meanings))
		return;
	memset(keymap->is_borrowed, 0, sizeof(keymap->is_borrowed));
	forget_note(keymap);
	keymap_refresh(keymap);
}

static long parse_original(const long *words, long count, int *code, struct original *out)
{
	memset(out, 0, sizeof(*out));
	if (count < ORIGINAL_HEAD)
		return -1;
	*code = (int)(words[0] & 0xff);
	out->group_info = (uint8_t)words[1];
	out->width = (uint8_t)(words[1] >> 8);
	for (int group = 0; group < XkbNumKbdGroups; group++)
		out->type[group] = (uint8_t)words[2 + group];
	out->sym_count = (int)words[6];
	if (*code < 8 || out->sym_count < 0 || out->sym_count > ORIGINAL_SYMS_MAX ||
		out->sym_count > count - ORIGINAL_HEAD || XkbNumGroups(out->group_info) > 4 ||
		out->sym_count != XkbNumGroups(out->group_info) * out->width)
		return -1;
	for (int i = 0; i < out->sym_count; i++)
		out->syms[i] = (uint32_t)words[ORIGINAL_HEAD + i];
	return ORIGINAL_HEAD + out->sym_count;
}

static void restore_from(struct keymap *keymap, const long *words, long count)
{
	struct original *found = xcalloc(256, sizeof(*found));
	const struct original *meanings[256] = {NULL};
	int restored = 0;
	for (long at = 1; at < count;) {
		int code;
		struct original original;
		long used = parse_original(words + at, count - at, &code, &original);
		if (used < 0)
			break;
		at += used;
		if (!is_slot_like(&keymap->table.keys[code]))
			continue;
		found[code] = original;
		meanings[code] = &found[code];
		restored++;
	}
	write_keys(keymap, meanings);
	free(found);
	log_info("gave back %d keycodes that an earlier run had borrowed", restored);
}

static void recover(struct keymap *keymap)
{
	Atom type;
	int format;
	unsigned long count, rest;
	unsigned char *data = NULL;
	int status = XGetWindowProperty(keymap->conn->dpy, keymap->conn->root, keymap->property, 0,
		16384, False, XA_CARDINAL, &type, &format, &count, &rest, &data);
	if (status == Success && type == XA_CARDINAL && format == 32 && count > 0) {
		const long *words = (const long *)(const void *)data;
		if (words[0] == PROPERTY_VERSION)
			restore_from(keymap, words, (long)count);
		forget_note(keymap);
	}
	if (data != NULL)
		XFree(data);
}

struct keymap *keymap_create(struct xconn *conn)
{
	if (!conn->has_xkb || conn->is_broken)
		return NULL;
	struct keymap *keymap = xcalloc(1, sizeof(*keymap));
	keymap->conn = conn;
	keymap->listener = (struct xconn_listener){.on_event = on_event, .arg = keymap};
	keymap->property = XInternAtom(conn->dpy, "_BOXSCREEN_BORROWED_KEYS", False);
	unsigned mask = XkbMapNotifyMask | XkbNewKeyboardNotifyMask;
	XkbSelectEvents(conn->dpy, XkbUseCoreKbd, mask, mask);
	xconn_listen(conn, &keymap->listener);
	if (read_map(keymap)) {
		recover(keymap);
		if (keymap_refresh(keymap))
			return keymap;
	}
	keymap_destroy(keymap);
	return NULL;
}

void keymap_destroy(struct keymap *keymap)
{
	if (keymap == NULL)
		return;
	if (!keymap->conn->is_broken)
		keymap_give_back(keymap);
	xconn_unlisten(&keymap->listener);
	keymap_table_finish(&keymap->table);
	free(keymap);
}

unsigned keymap_foreign_changes(const struct keymap *keymap)
{
	return keymap->foreign_changes;
}

const struct keymap_table *keymap_get_table(const struct keymap *keymap)
{
	return &keymap->table;
}

struct keymap_slots *keymap_get_slots(struct keymap *keymap)
{
	return &keymap->slots;
}

bool keymap_read_state(const struct keymap *keymap, struct keymap_state *out)
{
	XkbStateRec state;
	memset(out, 0, sizeof(*out));
	if (keymap->conn->is_broken ||
		XkbGetState(keymap->conn->dpy, XkbUseCoreKbd, &state) != Success)
		return false;
	out->held = state.base_mods | state.latched_mods;
	out->locked = state.locked_mods;
	out->group = state.group;
	return true;
}

bool keymap_tell_group(const struct keymap *keymap)
{
	struct keymap_state state;
	if (!keymap_read_state(keymap, &state) || state.group == 0)
		return false;
	unsigned unused = 0xff & ~(unsigned)(state.held | state.locked);
	for (int code = 8; code < 256; code++)
		unused &= ~(unsigned)keymap_key_mods(&keymap->table, (uint8_t)code);
	unsigned spare = unused & (0u - unused); /* the lowest */
	if (spare == 0)
		return false;
	XkbLockModifiers(keymap->conn->dpy, XkbUseCoreKbd, spare, spare);
	XkbLockModifiers(keymap->conn->dpy, XkbUseCoreKbd, spare, 0);
	return true;
}
