/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/list.h"

struct loop {
	uv_loop_t uv;            /* owned by the loop's thread */
	uv_async_t wake;         /* uv_async_send is safe from any thread */
	uv_prepare_t start_deferred;
	struct list deferred;    /* of loop_timer: armed by a timer's callback */
	bool is_in_timer;
	pthread_mutex_t lock;    /* guards posts */
	struct list posts;       /* of struct post, guarded by lock */
	int work_count;          /* jobs of loop_work not done yet; owned by the loop's thread */
};

struct post {
	struct list link;
	void (*fn)(void *arg);
	void *arg;
};

struct loop_timer {
	uv_timer_t uv;
	struct list link;        /* in loop->deferred */
	uint64_t due_ms;         /* by uv_now, while deferred */
	void (*fn)(void *arg);
	void *arg;
};

struct loop_io {
	uv_poll_t uv;
	int events;
	void (*fn)(void *arg, int events);
	void *arg;
};

struct loop_prepare {
	uv_prepare_t uv;
	void (*fn)(void *arg);
	void *arg;
};

struct loop_signal {
	uv_signal_t uv;
	void (*fn)(void *arg, int signum);
	void *arg;
};

struct work {
	uv_work_t uv;
	struct loop *loop;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

void loop_run_posts(struct loop *loop)
{
	/* Only what is there now: a post that posts again must not starve the loop. */
	struct list batch;
	list_init(&batch);
	pthread_mutex_lock(&loop->lock);
	while (!list_is_empty(&loop->posts)) {
		struct list *first = loop->posts.next;
		list_remove(first);
		list_append(&batch, first);
	}
	pthread_mutex_unlock(&loop->lock);

	struct post *post, *tmp;
	list_for_each_safe(post, tmp, &batch, link) {
		list_remove(&post->link);
		post->fn(post->arg);
		free(post);
	}
}

static void on_wake(uv_async_t *async)
{
	loop_run_posts(async->data);
}

/*
 * libuv runs timers until none is due, those included that their own callbacks armed meanwhile: a chain
 * of short timers would keep files and posts waiting for its whole length. What is armed by a timer is
 * therefore started only before the loop looks at its files.
 */
static void start_deferred_timers(uv_prepare_t *prepare);

struct loop *loop_create(void)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));
	int ret = uv_loop_init(&loop->uv);
	if (ret == 0)
		ret = uv_async_init(&loop->uv, &loop->wake, on_wake);
	if (ret == 0)
		ret = uv_prepare_init(&loop->uv, &loop->start_deferred);
	if (ret == 0)
		ret = uv_prepare_start(&loop->start_deferred, start_deferred_timers);
	if (ret != 0)
		abort(); /* no epoll or eventfd left: nothing of this process could work */
	loop->uv.data = loop;
	loop->wake.data = loop;
	pthread_mutex_init(&loop->lock, NULL);
	list_init(&loop->posts);
	list_init(&loop->deferred);
	loop->start_deferred.data = loop;
	uv_unref((uv_handle_t *)&loop->start_deferred);
	return loop;
}

static void close_leftover(uv_handle_t *handle, void *arg)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void loop_destroy(struct loop *loop)
{
	if (loop == NULL)
		return;
	loop_run_posts(loop);
	uv_walk(&loop->uv, close_leftover, NULL);
	while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0)
		;
	loop_run_posts(loop);
	uv_loop_close(&loop->uv);
	pthread_mutex_destroy(&loop->lock);
	free(loop);
}

void loop_run(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

struct uv_loop_s *loop_uv(struct loop *loop)
{
	return &loop->uv;
}

void loop_post(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct post *post = xmalloc(sizeof(*post));
	post->fn = fn;
	post->arg = arg;
	list_init(&post->link);
	pthread_mutex_lock(&loop->lock);
	list_append(&loop->posts, &post->link);
	/* Inside the lock, so that a loop being destroyed cannot go away between the two. */
	uv_async_send(&loop->wake);
	pthread_mutex_unlock(&loop->lock);
}

static void free_handle(uv_handle_t *handle)
{
	free(handle->data);
}

static struct loop *timer_loop(const struct loop_timer *timer)
{
	return timer->uv.loop->data;
}

static void on_timer(uv_timer_t *uv)
{
	struct loop_timer *timer = uv->data;
	struct loop *loop = timer_loop(timer);
	loop->is_in_timer = true;
	timer->fn(timer->arg);
	loop->is_in_timer = false;
}

static void start_deferred_timers(uv_prepare_t *prepare)
{
	struct loop *loop = prepare->data;
	uv_update_time(&loop->uv);
	uint64_t now_ms = uv_now(&loop->uv);
	struct loop_timer *timer, *tmp;
	list_for_each_safe(timer, tmp, &loop->deferred, link) {
		list_remove(&timer->link);
		uv_timer_start(&timer->uv, on_timer,
			timer->due_ms > now_ms ? timer->due_ms - now_ms : 0, 0);
	}
}

struct loop_timer *loop_timer_create(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct loop_timer *timer = xcalloc(1, sizeof(*timer));
	uv_timer_init(&loop->uv, &timer->uv);
	timer->uv.data = timer;
	list_init(&timer->link);
	timer->fn = fn;
	timer->arg = arg;
	return timer;
}

void loop_timer_destroy(struct loop_timer *timer)
{
	if (timer == NULL)
		return;
	list_remove(&timer->link);
	uv_close((uv_handle_t *)&timer->uv, free_handle);
}

void loop_timer_arm(struct loop_timer *timer, int64_t delay_ms)
{
	/* The loop's idea of now may be old when the current callback has run for long. */
	uv_update_time(timer->uv.loop);
	uint64_t delay = delay_ms > 0 ? (uint64_t)delay_ms : 0;
	struct loop *loop = timer_loop(timer);
	list_remove(&timer->link);
	if (!loop->is_in_timer) {
		uv_timer_start(&timer->uv, on_timer, delay, 0);
		return;
	}
	uv_timer_stop(&timer->uv);
	timer->due_ms = uv_now(&loop->uv) + delay;
	list_append(&loop->deferred, &timer->link);
}

void loop_timer_disarm(struct loop_timer *timer)
{
	list_remove(&timer->link);
	uv_timer_stop(&timer->uv);
}

bool loop_timer_is_armed(const struct loop_timer *timer)
{
	return !list_is_empty(&timer->link) ||
	       uv_is_active((const uv_handle_t *)&timer->uv) != 0;
}

static void on_io(uv_poll_t *uv, int status, int events)
{
	struct loop_io *io = uv->data;
	int ready = 0;
	if (status < 0)
		ready = io->events;
	if (events & UV_READABLE)
		ready |= LOOP_READABLE;
	if (events & UV_WRITABLE)
		ready |= LOOP_WRITABLE;
	io->fn(io->arg, ready);
}

struct loop_io *loop_io_create(struct loop *loop, int fd, int events,
	void (*fn)(void *arg, int events), void *arg)
{
	struct loop_io *io = xcalloc(1, sizeof(*io));
	if (uv_poll_init(&loop->uv, &io->uv, fd) != 0) {
		free(io);
		return NULL;
	}
	io->uv.data = io;
	io->events = events;
	io->fn = fn;
	io->arg = arg;
	int uv_events = ((events & LOOP_READABLE) ? UV_READABLE : 0) |
			((events & LOOP_WRITABLE) ? UV_WRITABLE : 0);
	uv_poll_start(&io->uv, uv_events, on_io);
	return io;
}

void loop_io_destroy(struct loop_io *io)
{
	if (io == NULL)
		return;
	uv_poll_stop(&io->uv); /* the caller may close the fd right after this */
	uv_close((uv_handle_t *)&io->uv, free_handle);
}

static void on_prepare(uv_prepare_t *uv)
{
	struct loop_prepare *prepare = uv->data;
	prepare->fn(prepare->arg);
}

struct loop_prepare *loop_prepare_create(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct loop_prepare *prepare = xcalloc(1, sizeof(*prepare));
	uv_prepare_init(&loop->uv, &prepare->uv);
	prepare->uv.data = prepare;
	prepare->fn = fn;
	prepare->arg = arg;
	uv_prepare_start(&prepare->uv, on_prepare);
	return prepare;
}

void loop_prepare_destroy(struct loop_prepare *prepare)
{
	if (prepare != NULL)
		uv_close((uv_handle_t *)&prepare->uv, free_handle);
}

static void on_signal(uv_signal_t *uv, int signum)
{
	struct loop_signal *sig = uv->data;
	sig->fn(sig->arg, signum);
}

struct loop_signal *loop_signal_create(struct loop *loop, int signum,
	void (*fn)(void *arg, int signum), void *arg)
{
	struct loop_signal *sig = xcalloc(1, sizeof(*sig));
	uv_signal_init(&loop->uv, &sig->uv);
	sig->uv.data = sig;
	sig->fn = fn;
	sig->arg = arg;
	uv_signal_start(&sig->uv, on_signal, signum);
	return sig;
}

void loop_signal_destroy(struct loop_signal *sig)
{
	if (sig != NULL)
		uv_close((uv_handle_t *)&sig->uv, free_handle);
}

static void on_work(uv_work_t *uv)
{
	struct work *work = uv->data;
	work->work(work->arg);
}

static void on_work_done(uv_work_t *uv, int status)
{
	struct work *work = uv->data;
	work->loop->work_count--;
	work->done(work->arg);
	free(work);
}

void loop_work(struct loop *loop, void (*work_fn)(void *arg), void (*done)(void *arg), void *arg)
{
	struct work *work = xcalloc(1, sizeof(*work));
	work->uv.data = work;
	work->loop = loop;
	loop->work_count++;
	work->work = work_fn;
	work->done = done;
	work->arg = arg;
	if (uv_queue_work(&loop->uv, &work->uv, on_work, on_work_done) != 0)
		abort(); /* only fails for a NULL callback */
}

void loop_finish_work(struct loop *loop)
{
	while (loop->work_count > 0)
		uv_run(&loop->uv, UV_RUN_ONCE);
}
