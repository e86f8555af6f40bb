/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/jpeg_share.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "base/alloc.h"
#include "display/frame.h"
#include "display/rect.h"

/* Slow viewers take a frame in strips of 64 rows, and those of three qualities may be at two frames. */
#define SLOTS 48

struct slot {
	uint64_t serial; /* 0: nothing was ever here */
	struct rect rect;
	int quality;
	bool is_busy;    /* somebody is making it */
	struct jpeg *jpeg;
};

struct jpeg_share {
	pthread_mutex_t lock;
	pthread_cond_t made;
	struct slot slots[SLOTS]; /* guarded by lock */
	int next;                 /* guarded by lock: the slot to use again */
};

void jpeg_unref(struct jpeg *jpeg)
{
	if (jpeg != NULL && atomic_fetch_sub(&jpeg->refs, 1) == 1)
		free(jpeg);
}

static struct jpeg *jpeg_ref(struct jpeg *jpeg)
{
	if (jpeg != NULL)
		atomic_fetch_add(&jpeg->refs, 1);
	return jpeg;
}

struct jpeg_share *jpeg_share_create(void)
{
	struct jpeg_share *share = xcalloc(1, sizeof(*share));
	pthread_mutex_init(&share->lock, NULL);
	pthread_cond_init(&share->made, NULL);
	return share;
}

void jpeg_share_destroy(struct jpeg_share *share)
{
	if (share == NULL)
		return;
	for (int i = 0; i < SLOTS; i++)
		jpeg_unref(share->slots[i].jpeg);
	pthread_cond_destroy(&share->made);
	pthread_mutex_destroy(&share->lock);
	free(share);
}

static struct jpeg *encode(const struct frame *frame, const struct rect *rect, int quality)
{
	int sampling = quality >= 75 ? TJSAMP_444 : TJSAMP_420;
	unsigned long len = tjBufSize(rect->width, rect->height, sampling);
	tjhandle handle = tjInitCompress();
	struct jpeg *jpeg = malloc(sizeof(*jpeg) + len);
	const uint8_t *pixels = frame->pixels + (size_t)rect->y * (size_t)frame->stride +
				(size_t)rect->x * 4;
	unsigned char *data = jpeg != NULL ? jpeg->data : NULL;
	bool is_made = handle != NULL && jpeg != NULL &&
		       tjCompress2(handle, pixels, rect->width, frame->stride, rect->height, TJPF_BGRX,
			       &data, &len, sampling, quality,
			       TJFLAG_NOREALLOC | TJFLAG_FASTDCT) == 0;
	if (handle != NULL)
		tjDestroy(handle);
	if (!is_made) {
		free(jpeg);
		return NULL;
	}
	struct jpeg *fitting = realloc(jpeg, sizeof(*jpeg) + len);
	jpeg = fitting != NULL ? fitting : jpeg;
	atomic_init(&jpeg->refs, 1);
	jpeg->len = len;
	return jpeg;
}

static struct slot *find(
	struct jpeg_share *share, uint64_t serial, const struct rect *rect, int quality)
{
	for (int i = 0; i < SLOTS; i++) {
		struct slot *slot = &share->slots[i];
		if (slot->serial == serial && slot->quality == quality &&
			rect_equals(&slot->rect, rect))
			return slot;
	}
	return NULL;
}

/* A slot to fill, marked busy; NULL when all are. */
static struct slot *claim(
	struct jpeg_share *share, uint64_t serial, const struct rect *rect, int quality)
{
	for (int i = 0; i < SLOTS; i++) {
		struct slot *slot = &share->slots[share->next];
		share->next = (share->next + 1) % SLOTS;
		if (slot->is_busy)
			continue;
		jpeg_unref(slot->jpeg);
		*slot = (struct slot){serial, *rect, quality, true, NULL};
		return slot;
	}
	return NULL;
}

struct jpeg *jpeg_share_get(
	struct jpeg_share *share, struct frame *frame, const struct rect *rect, int quality)
{
	struct jpeg *jpeg = NULL;
	pthread_mutex_lock(&share->lock);
	struct slot *slot = find(share, frame->serial, rect, quality);
	while (slot != NULL && slot->is_busy) {
		pthread_cond_wait(&share->made, &share->lock);
		slot = find(share, frame->serial, rect, quality);
	}
	if (slot != NULL) {
		jpeg = jpeg_ref(slot->jpeg);
		pthread_mutex_unlock(&share->lock);
		return jpeg;
	}
	slot = claim(share, frame->serial, rect, quality);
	pthread_mutex_unlock(&share->lock);
	jpeg = encode(frame, rect, quality);
	if (slot == NULL)
		return jpeg;
	pthread_mutex_lock(&share->lock);
	slot->is_busy = false;
	slot->jpeg = jpeg_ref(jpeg);
	pthread_cond_broadcast(&share->made);
	pthread_mutex_unlock(&share->lock);
	return jpeg;
}
