/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last few encoded pictures by shot_key(), so that an unchanged screen costs no encoding. Main
   thread only. */
#ifndef SERVICE_SHOT_CACHE_H
#define SERVICE_SHOT_CACHE_H

#include <stddef.h>

struct buffer;
struct shot_cache;

#define SHOT_CACHE_ENTRIES   4
#define SHOT_CACHE_ENTRY_MAX (4u << 20) /* bytes; larger pictures are not kept */

struct shot_cache *shot_cache_create(void);
void shot_cache_destroy(struct shot_cache *cache);

/* The picture (borrowed until the next put), or NULL. */
const struct buffer *shot_cache_get(struct shot_cache *cache, const char *key);
/* Keeps a copy of the picture, in the place of the one least recently used. */
void shot_cache_put(struct shot_cache *cache, const char *key, const struct buffer *picture);

#endif
