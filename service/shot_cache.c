/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/shot_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"

struct entry {
	char *key; /* NULL: free */
	struct buffer picture;
	uint64_t last_use;
};

struct shot_cache {
	struct entry entries[SHOT_CACHE_ENTRIES];
	uint64_t uses;
};

struct shot_cache *shot_cache_create(void)
{
	return xcalloc(1, sizeof(struct shot_cache));
}

void shot_cache_destroy(struct shot_cache *cache)
{
	if (cache == NULL)
		return;
	for (int i = 0; i < SHOT_CACHE_ENTRIES; i++) {
		free(cache->entries[i].key);
		buffer_finish(&cache->entries[i].picture);
	}
	free(cache);
}

const struct buffer *shot_cache_get(struct shot_cache *cache, const char *key)
{
	for (int i = 0; i < SHOT_CACHE_ENTRIES; i++) {
		struct entry *entry = &cache->entries[i];
		if (entry->key != NULL && strcmp(entry->key, key) == 0) {
			entry->last_use = ++cache->uses;
			return &entry->picture;
		}
	}
	return NULL;
}

void shot_cache_put(struct shot_cache *cache, const char *key, const struct buffer *picture)
{
	if (picture->len > SHOT_CACHE_ENTRY_MAX || shot_cache_get(cache, key) != NULL)
		return;
	struct entry *oldest = &cache->entries[0];
	for (int i = 1; i < SHOT_CACHE_ENTRIES; i++) {
		if (cache->entries[i].last_use < oldest->last_use)
			oldest = &cache->entries[i];
	}
	free(oldest->key);
	buffer_finish(&oldest->picture);
	oldest->key = xstrdup(key);
	buffer_append(&oldest->picture, picture->data, picture->len);
	oldest->last_use = ++cache->uses;
}
