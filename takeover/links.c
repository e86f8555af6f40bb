/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/links.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"

#define SECRET_BYTES 32
#define HASH_BYTES   32
#define TICKET_S     30
/* Who may mint is trusted; who may derive holds a link: this bounds what a runaway of either costs. */
#define ENTRIES_MAX 4096

struct entry {
	struct list link;
	enum link_kind kind;
	uint8_t hash[HASH_BYTES];
	struct link_info info;
	struct deadline deadline;
};

struct links {
	struct list entries; /* oldest first */
	int count;
};

struct links *links_create(void)
{
	struct links *links = xcalloc(1, sizeof(*links));
	list_init(&links->entries);
	return links;
}

static void drop(struct links *links, struct entry *entry)
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
	list_for_each_safe(entry, tmp, &links->entries, link)
		drop(links, entry);
	free(links);
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

static void purge(struct links *links)
{
	struct entry *entry, *tmp;
	list_for_each_safe(entry, tmp, &links->entries, link) {
		if (deadline_has_passed(&entry->deadline))
			drop(links, entry);
	}
}

static struct entry *add(struct links *links, enum link_kind kind, char secret[LINK_SECRET_SIZE])
{
	uint8_t bytes[SECRET_BYTES];
	purge(links);
	if (links->count >= ENTRIES_MAX || RAND_bytes(bytes, sizeof(bytes)) != 1)
		return NULL;
	encode(bytes, secret);
	struct entry *entry = xcalloc(1, sizeof(*entry));
	entry->kind = kind;
	hash(secret, entry->hash);
	list_append(&links->entries, &entry->link);
	links->count++;
	return entry;
}

bool links_mint(struct links *links, enum viewer_role role, int ttl_s,
	char secret[LINK_SECRET_SIZE], struct link_info *info)
{
	uint64_t id;
	struct entry *entry = add(links, LINK_KIND_LINK, secret);
	if (entry == NULL || RAND_bytes((unsigned char *)&id, sizeof(id)) != 1)
		return false;
	snprintf(entry->info.id, sizeof(entry->info.id), "l-%016llx", (unsigned long long)id);
	entry->info.role = role;
	entry->deadline = deadline_after((int64_t)ttl_s * 1000000);
	entry->info.expires_wall_us = entry->deadline.wall_us;
	*info = entry->info;
	return true;
}

bool links_check(
	struct links *links, enum link_kind kind, const char *secret, struct link_info *info)
{
	uint8_t wanted[HASH_BYTES];
	struct entry *entry, *found = NULL;
	hash(secret, wanted);
	/* All are looked at, whatever is found, so that the time tells nothing. */
	list_for_each(entry, &links->entries, link) {
		bool is_it = CRYPTO_memcmp(entry->hash, wanted, sizeof(wanted)) == 0;
		if (is_it && entry->kind == kind && !deadline_has_passed(&entry->deadline))
			found = entry;
	}
	if (found == NULL)
		return false;
	*info = found->info;
	if (kind == LINK_KIND_TICKET)
		drop(links, found);
	return true;
}

bool links_derive(struct links *links, enum link_kind kind, const struct link_info *from,
	char secret[LINK_SECRET_SIZE])
{
	struct entry *entry, *link = NULL;
	list_for_each(entry, &links->entries, link) {
		if (entry->kind == LINK_KIND_LINK && strcmp(entry->info.id, from->id) == 0)
			link = entry;
	}
	if (link == NULL)
		return false;
	struct deadline deadline = link->deadline;
	struct entry *made = add(links, kind, secret);
	if (made == NULL)
		return false;
	made->info = *from;
	made->deadline = deadline;
	if (kind == LINK_KIND_TICKET) {
		struct deadline soon = deadline_after(TICKET_S * 1000000ll);
		if (soon.wall_us < deadline.wall_us)
			made->deadline.wall_us = soon.wall_us;
		if (soon.boottime_us < deadline.boottime_us)
			made->deadline.boottime_us = soon.boottime_us;
	}
	return true;
}

bool links_revoke(struct links *links, const char *id)
{
	bool was_there = false;
	struct entry *entry, *tmp;
	list_for_each_safe(entry, tmp, &links->entries, link) {
		if (strcmp(entry->info.id, id) != 0)
			continue;
		was_there = true;
		drop(links, entry);
	}
	return was_there;
}
