/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/links.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lifetime.h"
#include "base/list.h"

#define SECRET_BYTES 32
#define HASH_BYTES   32
#define TICKET_US    INT64_C(30000000)
/* Who may mint is trusted; who may derive holds a link: these bound what a runaway of either costs.
 */
#define ENTRIES_MAX         4096
#define LINK_SESSIONS_MAX   64
#define SESSION_TICKETS_MAX 8
#define TAKEOVER_LINKS_MAX  8
#define SHARES_MAX          16
/* Changes of one session in that time. */
#define CHANGES_MAX     30
/* Of all sessions of one link together; but whoever has hardly pressed a button yet always may. */
#define LINK_CHANGES_MAX 60
#define CHANGES_ALWAYS   4
#define CHANGES_SPAN_US INT64_C(10000000)

struct entry {
	struct list link;
	enum link_kind kind;
	uint8_t hash[HASH_BYTES];
	struct link_info info;
	int64_t ends_us;
	int64_t changes_begin_us; /* of a session: when its changes began to be counted */
	int changes;
};

struct links {
	struct lifetime *lifetime;
	struct links_events events;
	struct list entries; /* oldest first */
	int count;
	uint32_t last_session;
};

struct links *links_create(struct lifetime *lifetime, const struct links_events *events)
{
	struct links *links = xcalloc(1, sizeof(*links));
	links->lifetime = lifetime;
	links->events = *events;
	list_init(&links->entries);
	return links;
}

static void forget(struct links *links, struct entry *entry)
{
	list_remove(&entry->link);
	links->count--;
	free(entry);
}

void links_destroy(struct links *links)
{
	if (links == NULL)
		return;
	struct entry *entry, *tmp;
	list_for_each_safe (entry, tmp, &links->entries, link)
		forget(links, entry);
	free(links);
}

/* Drops what `is_it` says. Sessions are told of once the list is whole again. */
static bool drop_where(struct links *links,
	bool (*is_it)(const struct entry *entry, const void *arg), const void *arg)
{
	struct list dead;
	struct entry *entry, *tmp;
	bool found = false;
	list_init(&dead);
	list_for_each_safe (entry, tmp, &links->entries, link) {
		if (!is_it(entry, arg))
			continue;
		found = true;
		list_remove(&entry->link);
		links->count--;
		list_append(&dead, &entry->link);
	}
	list_for_each_safe (entry, tmp, &dead, link) {
		bool is_session = entry->kind == LINK_KIND_SESSION;
		uint32_t session = entry->info.session;
		list_remove(&entry->link);
		OPENSSL_cleanse(entry->hash, sizeof(entry->hash));
		free(entry);
		if (is_session)
			links->events.on_session_end(links->events.arg, session);
	}
	return found;
}

static bool has_ended(const struct entry *entry, const void *now_us)
{
	return entry->ends_us <= *(const int64_t *)now_us;
}

int64_t links_tick(struct links *links)
{
	int64_t now_us = lifetime_now(links->lifetime), next_us = INT64_MAX;
	struct entry *entry;
	drop_where(links, has_ended, &now_us);
	list_for_each (entry, &links->entries, link) {
		if (entry->ends_us < next_us)
			next_us = entry->ends_us;
	}
	return next_us;
}

/* 32 bytes in base64url without padding. */
static void encode(const uint8_t bytes[SECRET_BYTES], char out[LINK_SECRET_SIZE])
{
	unsigned char text[48];
	EVP_EncodeBlock(text, bytes, SECRET_BYTES);
	for (int i = 0; i < LINK_SECRET_SIZE - 1; i++)
		out[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : (char)text[i];
	out[LINK_SECRET_SIZE - 1] = '\0';
}

static void hash(const char *secret, uint8_t out[HASH_BYTES])
{
	EVP_Digest(secret, strlen(secret), out, NULL, EVP_sha256(), NULL);
}

bool links_make_id(char prefix, char out[LINK_ID_SIZE])
{
	uint64_t id;
	if (RAND_bytes((unsigned char *)&id, sizeof(id)) != 1)
		return false;
	snprintf(out, LINK_ID_SIZE, "%c-%016llx", prefix, (unsigned long long)id);
	return true;
}

static struct entry *add(struct links *links, enum link_kind kind, const struct link_info *info,
	char secret[LINK_SECRET_SIZE])
{
	uint8_t bytes[SECRET_BYTES];
	links_tick(links);
	if (links->count >= ENTRIES_MAX || RAND_bytes(bytes, sizeof(bytes)) != 1)
		return NULL;
	encode(bytes, secret);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	struct entry *entry = xcalloc(1, sizeof(*entry));
	entry->kind = kind;
	entry->info = *info;
	entry->ends_us = info->ends_us;
	hash(secret, entry->hash);
	list_append(&links->entries, &entry->link);
	links->count++;
	return entry;
}

static bool was_opened(const struct links *links, const char *id)
{
	const struct entry *entry;
	list_for_each (entry, &links->entries, link) {
		if (entry->kind == LINK_KIND_SESSION && strcmp(entry->info.id, id) == 0)
			return true;
	}
	return false;
}

/* A takeover that is opened again and again keeps its first link, and the newest. */
static void make_room_for_link(struct links *links, const char *takeover)
{
	struct entry *entry, *oldest = NULL;
	int count = 0;
	list_for_each (entry, &links->entries, link) {
		if (entry->kind != LINK_KIND_LINK || strcmp(entry->info.takeover, takeover) != 0 ||
			entry->info.parent[0] != '\0')
			continue;
		if (count++ > 0 && oldest == NULL && !was_opened(links, entry->info.id))
			oldest = entry;
	}
	if (count >= TAKEOVER_LINKS_MAX && oldest != NULL)
		forget(links, oldest);
}

bool links_mint(struct links *links, enum viewer_role role, int64_t ends_us, const char *takeover,
	char secret[LINK_SECRET_SIZE], struct link_info *info)
{
	*info = (struct link_info){.role = role, .ends_us = ends_us};
	if (!links_make_id('l', info->id))
		return false;
	strncpy(info->takeover, takeover, sizeof(info->takeover) - 1);
	if (takeover[0] != '\0')
		make_room_for_link(links, takeover);
	return add(links, LINK_KIND_LINK, info, secret) != NULL;
}

bool links_share(struct links *links, const struct link_info *session,
	char secret[LINK_SECRET_SIZE], struct link_info *info)
{
	const struct entry *entry;
	int count = 0;
	list_for_each (entry, &links->entries, link)
		count += entry->kind == LINK_KIND_LINK &&
			 strcmp(entry->info.parent, session->id) == 0;
	*info = *session;
	info->role = VIEWER_VIEW;
	info->session = 0;
	strcpy(info->parent, session->id);
	return count < SHARES_MAX && links_make_id('l', info->id) &&
	       add(links, LINK_KIND_LINK, info, secret) != NULL;
}

/* Changes by all sessions of a link in the span that runs. */
static int count_changes(const struct links *links, const char *link_id, int64_t now_us)
{
	const struct entry *entry;
	int count = 0;
	list_for_each(entry, &links->entries, link) {
		if (entry->kind == LINK_KIND_SESSION && strcmp(entry->info.id, link_id) == 0 &&
			now_us - entry->changes_begin_us <= CHANGES_SPAN_US)
			count += entry->changes;
	}
	return count;
}

bool links_admit_change(struct links *links, uint32_t session)
{
	int64_t now_us = lifetime_now(links->lifetime);
	struct entry *entry;
	list_for_each(entry, &links->entries, link) {
		if (entry->kind != LINK_KIND_SESSION || entry->info.session != session)
			continue;
		if (entry->changes == 0 || now_us - entry->changes_begin_us > CHANGES_SPAN_US) {
			entry->changes_begin_us = now_us;
			entry->changes = 0;
		}
		if (entry->changes >= CHANGES_MAX ||
			(entry->changes >= CHANGES_ALWAYS &&
				count_changes(links, entry->info.id, now_us) >= LINK_CHANGES_MAX))
			return false;
		entry->changes++;
		return true;
	}
	return false;
}

bool links_check(
	struct links *links, enum link_kind kind, const char *secret, struct link_info *info)
{
	uint8_t wanted[HASH_BYTES];
	struct entry *entry, *found = NULL;
	int64_t now_us = lifetime_now(links->lifetime);
	hash(secret, wanted);
	/* All are looked at, whatever is found, so that the time tells nothing. */
	list_for_each (entry, &links->entries, link) {
		bool is_it = CRYPTO_memcmp(entry->hash, wanted, sizeof(wanted)) == 0;
		if (is_it && entry->kind == kind && entry->ends_us > now_us)
			found = entry;
	}
	if (found == NULL)
		return false;
	*info = found->info;
	info->ends_us = found->ends_us;
	if (kind == LINK_KIND_TICKET)
		forget(links, found);
	return true;
}

static bool is_session(const struct entry *entry, const void *session)
{
	return entry->kind != LINK_KIND_LINK && entry->info.session == *(const uint32_t *)session;
}

/* Whoever has the link can make sessions without end: the oldest that nobody uses goes. */
static bool make_room_for_session(struct links *links, const char *id)
{
	const struct entry *entry;
	uint32_t oldest = 0;
	int count = 0;
	list_for_each (entry, &links->entries, link) {
		if (entry->kind != LINK_KIND_SESSION || strcmp(entry->info.id, id) != 0)
			continue;
		count++;
		if (oldest == 0 &&
			!links->events.is_session_busy(links->events.arg, entry->info.session))
			oldest = entry->info.session;
	}
	if (count < LINK_SESSIONS_MAX)
		return true;
	return oldest != 0 && drop_where(links, is_session, &oldest);
}

uint32_t links_next_session(struct links *links)
{
	return ++links->last_session;
}

bool links_open_session(struct links *links, struct link_info *info, char secret[LINK_SECRET_SIZE])
{
	if (!make_room_for_session(links, info->id))
		return false;
	info->session = links_next_session(links);
	return add(links, LINK_KIND_SESSION, info, secret) != NULL;
}

static void make_room_for_ticket(struct links *links, uint32_t session)
{
	struct entry *entry, *oldest = NULL;
	int count = 0;
	list_for_each (entry, &links->entries, link) {
		if (entry->kind != LINK_KIND_TICKET || entry->info.session != session)
			continue;
		count++;
		if (oldest == NULL)
			oldest = entry;
	}
	if (count >= SESSION_TICKETS_MAX)
		forget(links, oldest);
}

bool links_give_ticket(
	struct links *links, const struct link_info *session, char secret[LINK_SECRET_SIZE])
{
	make_room_for_ticket(links, session->session);
	struct entry *entry = add(links, LINK_KIND_TICKET, session, secret);
	if (entry == NULL)
		return false;
	int64_t soon_us = lifetime_now(links->lifetime) + TICKET_US;
	if (soon_us < entry->ends_us)
		entry->ends_us = soon_us;
	return true;
}

bool links_find_session(struct links *links, uint32_t session, struct link_info *info)
{
	const struct entry *entry;
	list_for_each (entry, &links->entries, link) {
		if (entry->kind == LINK_KIND_SESSION && entry->info.session == session) {
			*info = entry->info;
			info->ends_us = entry->ends_us;
			return true;
		}
	}
	return false;
}

static bool is_of_link(const struct entry *entry, const void *id)
{
	return strcmp(entry->info.id, id) == 0 || strcmp(entry->info.parent, id) == 0;
}

bool links_revoke(struct links *links, const char *id)
{
	return drop_where(links, is_of_link, id);
}

static bool is_of_takeover(const struct entry *entry, const void *takeover)
{
	return strcmp(entry->info.takeover, takeover) == 0;
}

void links_end_takeover(struct links *links, const char *takeover)
{
	if (takeover[0] != '\0')
		drop_where(links, is_of_takeover, takeover);
}

void links_move_takeover(struct links *links, const char *takeover, int64_t ends_us)
{
	struct entry *entry;
	list_for_each (entry, &links->entries, link) {
		if (entry->kind != LINK_KIND_TICKET && takeover[0] != '\0' &&
			strcmp(entry->info.takeover, takeover) == 0)
			entry->ends_us = entry->info.ends_us = ends_us;
	}
}

/* Over a restart */

static void to_hex(const uint8_t bytes[HASH_BYTES], char out[2 * HASH_BYTES + 1])
{
	for (int i = 0; i < HASH_BYTES; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static bool from_hex(const char *text, uint8_t out[HASH_BYTES])
{
	if (strlen(text) != 2 * HASH_BYTES)
		return false;
	for (int i = 0; i < HASH_BYTES; i++) {
		unsigned value;
		if (sscanf(text + 2 * i, "%2x", &value) != 1)
			return false;
		out[i] = (uint8_t)value;
	}
	return true;
}

json_t *links_save(const struct links *links)
{
	json_t *list = json_array();
	const struct entry *entry;
	list_for_each (entry, &links->entries, link) {
		char hex[2 * HASH_BYTES + 1];
		if (entry->kind == LINK_KIND_TICKET)
			continue;
		to_hex(entry->hash, hex);
		json_array_append_new(list,
			json_pack("{s:b, s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "is_session",
				entry->kind == LINK_KIND_SESSION, "hash", hex, "id", entry->info.id,
				"takeover", entry->info.takeover, "parent", entry->info.parent,
				"role", viewer_role_name(entry->info.role), "session",
				(json_int_t)entry->info.session, "ends_us",
				(json_int_t)entry->ends_us));
	}
	return json_pack(
		"{s:I, s:o}", "last_session", (json_int_t)links->last_session, "entries", list);
}

static void load_entry(struct links *links, const json_t *saved)
{
	const char *hex, *id, *takeover, *parent, *role;
	json_int_t session, ends_us;
	int is_a_session;
	if (json_unpack((json_t *)(uintptr_t)saved, "{s:b, s:s, s:s, s:s, s:s, s:s, s:I, s:I}",
		    "is_session", &is_a_session, "hash", &hex, "id", &id, "takeover", &takeover,
		    "parent", &parent, "role", &role, "session", &session, "ends_us",
		    &ends_us) != 0)
		return;
	struct entry *entry = xcalloc(1, sizeof(*entry));
	if (links->count >= ENTRIES_MAX || !from_hex(hex, entry->hash) ||
		strlen(id) >= LINK_ID_SIZE || strlen(takeover) >= LINK_ID_SIZE ||
		strlen(parent) >= LINK_ID_SIZE || !viewer_role_parse(role, &entry->info.role)) {
		free(entry);
		return;
	}
	entry->kind = is_a_session ? LINK_KIND_SESSION : LINK_KIND_LINK;
	strcpy(entry->info.id, id);
	strcpy(entry->info.takeover, takeover);
	strcpy(entry->info.parent, parent);
	entry->info.session = (uint32_t)session;
	entry->info.ends_us = entry->ends_us = ends_us;
	list_append(&links->entries, &entry->link);
	links->count++;
}

void links_load(struct links *links, const json_t *saved)
{
	const json_t *list = json_object_get(saved, "entries");
	links->last_session = (uint32_t)json_integer_value(json_object_get(saved, "last_session"));
	for (size_t i = 0; i < json_array_size(list); i++)
		load_entry(links, json_array_get(list, i));
}
