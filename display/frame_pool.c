/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/frame_pool.h"

#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "base/alloc.h"
#include "base/list.h"
#include "display/frame.h"
#include "display/xconn.h"
#define LOG_MODULE "frame"
#include "base/log.h"

/* Free segments kept for reuse (4 MB each at 1280x800); more only pile up after many readers at once. */
#define FREE_MAX 2

struct shm_image {
	XShmSegmentInfo info;
	XImage *ximage;
	bool is_attached; /* by the server */
};

struct frame_slot {
	struct frame frame;    /* public part; frame_ref and frame_unref cast from it */
	_Atomic int refs;
	struct frame_pool *pool; /* immutable */
	struct list link;      /* in pool->free_slots or pool->used_slots; guarded by pool->lock */
	struct shm_image *shm; /* owned; NULL for ordinary memory */
	uint8_t *memory;       /* ordinary memory, NULL with shm */
	size_t memory_size;
};

struct frame_pool {
	struct xconn *conn;    /* display thread; NULL once destroyed */
	Visual *visual;
	int depth, width, height;
	bool use_shm;
	pthread_mutex_t lock;
	struct list free_slots; /* guarded by lock */
	struct list used_slots; /* guarded by lock */
	bool is_closed;         /* guarded by lock */
};

static bool attach_segment(struct xconn *conn, struct shm_image *image)
{
	xconn_trap(conn);
	Status attached = XShmAttach(conn->dpy, &image->info);
	return xconn_untrap(conn) == 0 && attached != 0;
}

/* The server must write into *our* segment: the same id in another IPC namespace is another one. */
static bool server_writes_here(struct xconn *conn, struct shm_image *image)
{
	size_t row = (size_t)image->ximage->bytes_per_line;
	memset(image->ximage->data, 0xa5, row);
	bool is_got[2] = {false, false};
	for (int i = 0; i < 2; i++) {
		xconn_trap(conn);
		is_got[i] = XShmGetImage(conn->dpy, conn->root, image->ximage, 0, 0, AllPlanes);
		if (xconn_untrap(conn) != 0 || !is_got[i])
			return true; /* cannot tell (the screen just shrank): let the grab decide */
		for (size_t n = 0; n < row; n++) {
			if ((uint8_t)image->ximage->data[n] != (i == 0 ? 0xa5 : 0x5a))
				return true;
		}
		memset(image->ximage->data, 0x5a, row); /* maybe the screen itself is a5a5a5 */
	}
	return false;
}

static bool shm_image_fill(struct xconn *conn, struct shm_image *image, Visual *visual, int depth,
	int width, int height)
{
	image->info.shmid = -1;
	image->ximage = XShmCreateImage(conn->dpy, visual, (unsigned)depth, ZPixmap, NULL,
		&image->info, (unsigned)width, (unsigned)height);
	if (image->ximage == NULL)
		return false;
	size_t size = (size_t)image->ximage->bytes_per_line * (size_t)height;
	image->info.shmid = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	if (image->info.shmid < 0) {
		log_warn("no shared memory of %zu bytes: %s", size, strerror(errno));
		return false;
	}
	void *address = shmat(image->info.shmid, NULL, 0);
	if (address == (void *)-1)
		return false;
	image->info.shmaddr = image->ximage->data = address;
	image->info.readOnly = False;
	image->is_attached = attach_segment(conn, image);
	return image->is_attached;
}

struct shm_image *shm_image_create(
	struct xconn *conn, Visual *visual, int depth, int width, int height)
{
	struct shm_image *image = xcalloc(1, sizeof(*image));
	bool is_good = shm_image_fill(conn, image, visual, depth, width, height);
	if (image->info.shmid >= 0)
		shmctl(image->info.shmid, IPC_RMID, NULL); /* gone once both sides let go */
	if (is_good && !server_writes_here(conn, image)) {
		log_warn("the X server is in another IPC namespace: shared memory is not shared");
		is_good = false;
	}
	if (!is_good) {
		shm_image_destroy(conn, image);
		return NULL;
	}
	return image;
}

static void shm_image_detach(struct xconn *conn, struct shm_image *image)
{
	if (image->is_attached && !conn->is_broken)
		XShmDetach(conn->dpy, &image->info);
	image->is_attached = false;
}

/* Frees our side only; needs no X connection. */
static void shm_image_release(struct shm_image *image)
{
	if (image->info.shmaddr != NULL)
		shmdt(image->info.shmaddr);
	if (image->ximage != NULL) {
		image->ximage->data = NULL;
		XDestroyImage(image->ximage);
	}
	free(image);
}

void shm_image_destroy(struct xconn *conn, struct shm_image *image)
{
	if (image == NULL)
		return;
	shm_image_detach(conn, image);
	shm_image_release(image);
}

XImage *shm_image_ximage(struct shm_image *image)
{
	return image->ximage;
}

static void slot_free(struct frame_slot *slot)
{
	if (slot->shm != NULL)
		shm_image_release(slot->shm);
	if (slot->memory != NULL)
		munmap(slot->memory, slot->memory_size);
	pixman_region32_fini(&slot->frame.damage);
	free(slot);
}

struct frame_pool *frame_pool_create(
	struct xconn *conn, Visual *visual, int depth, int width, int height, bool shm)
{
	struct frame_pool *pool = xcalloc(1, sizeof(*pool));
	pool->conn = conn;
	pool->visual = visual;
	pool->depth = depth;
	pool->width = width;
	pool->height = height;
	pool->use_shm = shm;
	pthread_mutex_init(&pool->lock, NULL);
	list_init(&pool->free_slots);
	list_init(&pool->used_slots);
	return pool;
}

static void pool_free(struct frame_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void frame_pool_destroy(struct frame_pool *pool)
{
	if (pool == NULL)
		return;
	struct frame_slot *slot, *tmp;
	pthread_mutex_lock(&pool->lock);
	pool->is_closed = true;
	list_for_each_safe(slot, tmp, &pool->free_slots, link) {
		list_remove(&slot->link);
		if (slot->shm != NULL)
			shm_image_detach(pool->conn, slot->shm);
		slot_free(slot);
	}
	/* Frames still being read: the server lets go of them, their readers keep the memory. */
	list_for_each(slot, &pool->used_slots, link) {
		if (slot->shm != NULL)
			shm_image_detach(pool->conn, slot->shm);
	}
	pool->conn = NULL;
	bool is_unused = list_is_empty(&pool->used_slots);
	pthread_mutex_unlock(&pool->lock);
	if (is_unused)
		pool_free(pool);
}

static struct frame_slot *take_free_slot(struct frame_pool *pool)
{
	struct frame_slot *slot = NULL;
	struct list surplus;
	list_init(&surplus);
	pthread_mutex_lock(&pool->lock);
	if (!list_is_empty(&pool->free_slots)) {
		slot = container_of(pool->free_slots.next, struct frame_slot, link);
		list_remove(&slot->link);
	}
	int kept = 0;
	struct frame_slot *pos, *tmp;
	list_for_each_safe(pos, tmp, &pool->free_slots, link) {
		if (++kept > FREE_MAX) {
			list_remove(&pos->link);
			list_append(&surplus, &pos->link);
		}
	}
	pthread_mutex_unlock(&pool->lock);
	list_for_each_safe(pos, tmp, &surplus, link) {
		list_remove(&pos->link);
		if (pos->shm != NULL)
			shm_image_detach(pool->conn, pos->shm);
		slot_free(pos);
	}
	return slot;
}

static struct frame_slot *slot_create(struct frame_pool *pool)
{
	struct frame_slot *slot = xcalloc(1, sizeof(*slot));
	pixman_region32_init(&slot->frame.damage);
	list_init(&slot->link);
	slot->pool = pool;
	slot->frame.width = pool->width;
	slot->frame.height = pool->height;
	if (pool->use_shm) {
		slot->shm = shm_image_create(
			pool->conn, pool->visual, pool->depth, pool->width, pool->height);
		if (slot->shm == NULL)
			goto fail;
		slot->frame.stride = slot->shm->ximage->bytes_per_line;
		slot->frame.pixels = (const uint8_t *)slot->shm->ximage->data;
		return slot;
	}
	slot->frame.stride = pool->width * 4;
	slot->memory_size = (size_t)slot->frame.stride * (size_t)pool->height;
	void *memory = mmap(NULL, slot->memory_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		goto fail;
	slot->memory = memory;
	slot->frame.pixels = slot->memory;
	return slot;
fail:
	slot_free(slot);
	return NULL;
}

struct frame *frame_pool_acquire(struct frame_pool *pool)
{
	struct frame_slot *slot = take_free_slot(pool);
	if (slot == NULL)
		slot = slot_create(pool);
	if (slot == NULL)
		return NULL;
	atomic_store(&slot->refs, 1);
	pixman_region32_clear(&slot->frame.damage);
	pthread_mutex_lock(&pool->lock);
	list_append(&pool->used_slots, &slot->link);
	pthread_mutex_unlock(&pool->lock);
	return &slot->frame;
}

uint8_t *frame_writable_pixels(struct frame *frame)
{
	struct frame_slot *slot = container_of(frame, struct frame_slot, frame);
	return slot->shm != NULL ? (uint8_t *)slot->shm->ximage->data : slot->memory;
}

XImage *frame_ximage(struct frame *frame)
{
	struct frame_slot *slot = container_of(frame, struct frame_slot, frame);
	return slot->shm != NULL ? slot->shm->ximage : NULL;
}

struct frame *frame_ref(struct frame *frame)
{
	struct frame_slot *slot = container_of(frame, struct frame_slot, frame);
	atomic_fetch_add_explicit(&slot->refs, 1, memory_order_relaxed);
	return frame;
}

void frame_unref(struct frame *frame)
{
	if (frame == NULL)
		return;
	struct frame_slot *slot = container_of(frame, struct frame_slot, frame);
	if (atomic_fetch_sub(&slot->refs, 1) != 1)
		return;
	struct frame_pool *pool = slot->pool;
	pthread_mutex_lock(&pool->lock);
	list_remove(&slot->link);
	bool is_closed = pool->is_closed;
	if (!is_closed)
		list_prepend(&pool->free_slots, &slot->link);
	bool is_last = is_closed && list_is_empty(&pool->used_slots);
	pthread_mutex_unlock(&pool->lock);
	if (is_closed)
		slot_free(slot);
	if (is_last)
		pool_free(pool);
}
