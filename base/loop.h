/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event loop (libuv) that belongs to one thread. The main thread and the display thread each
 * own one.
 *
 * loop_post() may be called from any thread; everything else only from the loop's own thread (or
 * before it runs). Timers, watchers and signals may be destroyed inside their own callback. Nothing
 * here wakes up by itself: a loop whose timers are not armed sleeps.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct uv_loop_s;
struct loop;
struct loop_timer;
struct loop_io;
struct loop_signal;
struct loop_prepare;

struct loop *loop_create(void);

/* Closes what is still open and frees the loop. Posts not yet run are run first. Accepts NULL. */
void loop_destroy(struct loop *loop);

/* Runs until loop_stop(). */
void loop_run(struct loop *loop);

/* Makes loop_run() return once the current callback is done. Own thread; post it from others. */
void loop_stop(struct loop *loop);

/* The uv_loop_t inside, for libraries that run on it. */
struct uv_loop_s *loop_uv(struct loop *loop);

/*
 * Runs fn(arg) on the loop's thread, in the order of the posts. Any thread, never blocks on a
 * callback. `arg` belongs to fn from here on.
 */
void loop_post(struct loop *loop, void (*fn)(void *arg), void *arg);

/* Runs now what has been posted so far. Own thread; for shutting down in order. */
void loop_run_posts(struct loop *loop);

/* One-shot timer; create does not arm it. */
struct loop_timer *loop_timer_create(struct loop *loop, void (*fn)(void *arg), void *arg);
void loop_timer_destroy(struct loop_timer *timer);
/* Arms (or rearms) the timer to fire once, delay_ms from now (0: on the next turn). */
void loop_timer_arm(struct loop_timer *timer, int64_t delay_ms);
void loop_timer_disarm(struct loop_timer *timer);
bool loop_timer_is_armed(const struct loop_timer *timer);

#define LOOP_READABLE 1
#define LOOP_WRITABLE 2

/*
 * Calls fn(arg, events) whenever fd is ready for one of `events` (LOOP_READABLE | LOOP_WRITABLE).
 * An fd in error is told as all wanted events. The fd stays the caller's and must stay open until
 * loop_io_destroy. Returns NULL when the fd cannot be watched.
 */
struct loop_io *loop_io_create(struct loop *loop, int fd, int events,
	void (*fn)(void *arg, int events), void *arg);
void loop_io_destroy(struct loop_io *io);

/* Calls fn(arg) each time just before the loop would sleep (Xlib wants its queue looked at then). */
struct loop_prepare *loop_prepare_create(struct loop *loop, void (*fn)(void *arg), void *arg);
void loop_prepare_destroy(struct loop_prepare *prepare);

/* Calls fn(arg, signum) for each delivery of the signal. */
struct loop_signal *loop_signal_create(struct loop *loop, int signum,
	void (*fn)(void *arg, int signum), void *arg);
void loop_signal_destroy(struct loop_signal *sig);

/*
 * Runs work(arg) on libuv's thread pool, then done(arg) on this loop's thread. For short jobs
 * (encoding a picture). done is always called.
 */
void loop_work(struct loop *loop, void (*work)(void *arg), void (*done)(void *arg), void *arg);

/* Runs the loop until every job of loop_work is done. Own thread; for shutting down in order. */
void loop_finish_work(struct loop *loop);

#endif
