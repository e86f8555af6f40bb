/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/film.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "capture/film_canvas.h"
#include "capture/packet.h"
#include "capture/pacer.h"
#include "display/cursor.h"
#include "display/frame.h"
#include "display/live_source.h"
#include "display/screen.h"
#define LOG_MODULE "film"
#include "base/log.h"

/*
 * Where one can seek to: after so many pictures, or so much time, whichever is first, with the next
 * new scene; after twice as much with whatever changes. A key of a page of text has 100 to 200 kB, as
 * much as minutes of an agent's typing; where all is new anyway it costs little more. What seeking takes
 * are the pictures since the last key to be decoded, about a millisecond each.
 */
#define KEY_PICTURES          300
#define KEY_INTERVAL_US       300000000
/* For a replay and those who join a broadcast; also the length of an HLS segment. */
#define KEY_INTERVAL_SHORT_US 4000000
#define HEARTBEAT_US          1000000
/*
 * A video begins with so many pictures at the full rate, changed or not: programs guess the frame rate
 * from the first twenty, and one that guessed a low one would later find several pictures in one
 * place (ffmpeg -f null complains of "non monotonically increasing dts"). An unchanged picture is
 * some 50 bytes. Below 12 a second nobody guesses lower.
 */
#define OPENING_PICTURES      24
#define OPENING_FPS_MIN       12
/* A still picture is told again now and then: in an mp4 none can last longer than half a day. */
#define STILL_US              3600000000
/* A frame may come so much before its turn: timers are late by as much. */
#define EARLY_US              2000
/* The first picture has the pointer, which the display thread tells of; it waits for that so long. */
#define POINTER_WAIT_US       500000
/* The encoder gives way to the programs on the screen. */
#define NICENESS              10

struct sync {
	struct list link;
	void (*done)(void *arg);
	void *arg;
};

struct film {
	struct screen *screen;          /* immutable */
	struct film_settings settings;  /* immutable */
	int first_width, first_height;  /* immutable: of the screen */
	struct live_watch watch;        /* the display thread's while it is added */
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* guarded by lock */
	bool is_ending, is_key_wanted, is_private, was_told_private;
	int opening_left;               /* pictures of it that are to come */
	int64_t public_since_us;        /* frames before are not shown */
	int64_t pointer_wait_end_us;    /* monotonic; 0: the pointer is known, or not shown */
	int64_t turned_us;              /* awake, when the card came or went: what is shown since is no older */
	struct frame *newest;           /* that came since the thread looked; NULL: none */
	uint64_t newest_serial;         /* of the last that came; 0: none, or a card is shown */
	pixman_region32_t damage;       /* since then */
	struct cursor_image *cursor;
	int pointer_x, pointer_y;
	bool has_pointer_news;
	struct film_event *events;      /* oldest first */
	size_t event_count;
	struct list syncs;
	int64_t waiting_us, drawing_us; /* awake, of the oldest news that waits, or is being drawn; 0: none */
	struct awake_clock clock;
	struct film_stats stats;
	int sink_count, keys_count, heartbeat_count; /* of sinks, and of those with such wishes */

	/* The sinks have a lock of their own, held while the callbacks run. */
	pthread_mutex_t sinks_lock;
	struct list sinks;

	/* the film's thread */
	struct film_canvas *canvas;     /* its format is immutable */
	int64_t turn_us;                /* when the next picture may be taken */
	int64_t last_packet_us, last_key_us; /* monotonic; 0: none */
	int since_key;                  /* pictures */
	int64_t last_time_us;           /* awake, of the last packet */
};

/* Notes that there is news, of that time; called with the lock held. */
static void note_news(struct film *film, int64_t time_us)
{
	if (film->waiting_us == 0 || time_us < film->waiting_us)
		film->waiting_us = time_us;
	pthread_cond_signal(&film->wake);
}

/* Called with the lock held. */
static int64_t now_us_of(struct film *film)
{
	return awake_clock_now(&film->clock, clock_monotonic_us());
}

/* How long a picture may stand; called with the lock held. */
static int64_t still_us(const struct film *film)
{
	return film->heartbeat_count > 0 ? HEARTBEAT_US : STILL_US;
}

/* Called with the lock held. */
static bool has_news(const struct film *film)
{
	return film->newest != NULL || film->has_pointer_news || film->event_count > 0 ||
	       film->is_private != film->was_told_private;
}

/* When there is something to do next; called with the lock held. */
static int64_t next_us(struct film *film, int64_t now_us)
{
	int64_t next = now_us + AWAKE_TICK_US;
	if (film->sink_count == 0 && list_is_empty(&film->syncs))
		return next; /* nobody would see it */
	if (!list_is_empty(&film->syncs))
		return now_us;
	if (now_us < film->pointer_wait_end_us)
		return film->pointer_wait_end_us;
	if (film->is_key_wanted)
		return now_us;
	int64_t overlay_us = film_canvas_next_us(film->canvas, now_us);
	int64_t change_us = has_news(film) || film->opening_left > 0 ? now_us : overlay_us;
	if (change_us < film->turn_us)
		change_us = film->turn_us;
	if (change_us < next)
		next = change_us;
	if (film->last_packet_us + still_us(film) < next)
		next = film->last_packet_us + still_us(film);
	return next;
}

/* Everything that came since the last picture, taken out of the mailbox. */
struct news {
	struct frame *frame;
	pixman_region32_t damage;
	struct cursor_image *cursor;
	int pointer_x, pointer_y;
	bool has_pointer;
	struct film_event *events;
	size_t event_count;
	struct list syncs;
	bool is_key_wanted, is_any_key_first, is_private, is_card_new, is_opening;
	int64_t time_us; /* awake, of the picture that is made of it */
	int64_t still_us, key_interval_us;
};

/*
 * When the news was: when its frame was taken, when the card came, or now for what else we draw, before
 * that is drawn: on a busy box that may take a second. Called with the lock held.
 */
static int64_t news_time_us(struct film *film, const struct news *news)
{
	int64_t now_us = now_us_of(film);
	if (news->is_card_new)
		return film->turned_us;
	if (news->frame == NULL || news->is_key_wanted || news->is_opening)
		return now_us;
	int64_t time_us = news->frame->taken_us - film->clock.frozen_us;
	/* The screen may have stood still since a person's last deed: nothing tells when that was. */
	if (time_us < film->turned_us)
		time_us = film->turned_us;
	return time_us < now_us ? time_us : now_us;
}

/* Called with the lock held. */
static void take_news(struct film *film, struct news *news)
{
	*news = (struct news){.frame = film->newest,
		.has_pointer = film->has_pointer_news,
		.pointer_x = film->pointer_x,
		.pointer_y = film->pointer_y,
		.events = film->events,
		.event_count = film->event_count,
		.is_key_wanted = film->is_key_wanted,
		.is_private = film->is_private,
		.is_card_new = film->is_private && !film->was_told_private,
		.is_opening = film->opening_left > 0,
		.is_any_key_first = film->keys_count > 0,
		.still_us = still_us(film),
		.key_interval_us = film->keys_count + film->heartbeat_count > 0
					   ? KEY_INTERVAL_SHORT_US
					   : KEY_INTERVAL_US};
	news->time_us = news_time_us(film, news);
	film->drawing_us = film->waiting_us != 0 ? film->waiting_us : news->time_us;
	film->waiting_us = 0;
	if (film->has_pointer_news && film->cursor != NULL)
		news->cursor = cursor_image_ref(film->cursor);
	pixman_region32_init(&news->damage);
	pixman_region32_copy(&news->damage, &film->damage);
	pixman_region32_clear(&film->damage);
	list_init(&news->syncs);
	while (!list_is_empty(&film->syncs)) {
		struct list *first = film->syncs.next;
		list_remove(first);
		list_append(&news->syncs, first);
	}
	film->newest = NULL;
	film->has_pointer_news = false;
	film->events = NULL;
	film->event_count = 0;
	film->is_key_wanted = false;
	film->opening_left -= film->opening_left > 0;
	film->was_told_private = film->is_private;
}

static void free_events(struct film_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(events[i].key);
	free(events);
}

/* Everything up to here has been handed out: tells those who waited for that. */
static void finish_news(struct news *news)
{
	struct sync *sync, *tmp;
	list_for_each_safe(sync, tmp, &news->syncs, link) {
		sync->done(sync->arg);
		free(sync);
	}
	frame_unref(news->frame);
	cursor_image_unref(news->cursor);
	pixman_region32_fini(&news->damage);
	free_events(news->events, news->event_count);
}

static void hand_out(struct film *film, struct packet *packet)
{
	pthread_mutex_lock(&film->sinks_lock);
	struct film_sink *sink;
	list_for_each(sink, &film->sinks, link)
		sink->on_packet(sink->arg, packet);
	pthread_mutex_unlock(&film->sinks_lock);
	pthread_mutex_lock(&film->lock);
	film->stats.packets++;
	film->stats.bytes += packet->len;
	film->stats.scaled = film_canvas_scaled(film->canvas);
	pthread_mutex_unlock(&film->lock);
}

static bool is_key_due(
	const struct film *film, const struct news *news, bool is_scene, int64_t now_us)
{
	int64_t passed_us = now_us - film->last_key_us;
	if (news->is_key_wanted || film->last_key_us == 0)
		return true;
	if (news->key_interval_us == KEY_INTERVAL_SHORT_US || is_scene)
		return film->since_key >= KEY_PICTURES || passed_us >= news->key_interval_us;
	return film->since_key >= 2 * KEY_PICTURES || passed_us >= 2 * news->key_interval_us;
}

/* A video may begin with the picture just made. */
static void open_again(struct film *film)
{
	pthread_mutex_lock(&film->lock);
	film->opening_left = film->settings.fps >= OPENING_FPS_MIN ? OPENING_PICTURES : 0;
	pthread_mutex_unlock(&film->lock);
}

static void make_picture(struct film *film, struct news *news)
{
	int64_t now_us = clock_monotonic_us();
	const struct film_view view = {.frame = news->frame,
		.damage = &news->damage,
		.has_pointer = news->has_pointer,
		.cursor = news->cursor,
		.pointer_x = news->pointer_x,
		.pointer_y = news->pointer_y,
		.events = news->events,
		.event_count = news->event_count,
		.is_private = news->is_private};
	struct encoder_wish wish = {0};
	bool is_changed = film_canvas_show(film->canvas, &view, now_us, &wish);
	bool is_beat = news->is_opening || now_us - film->last_packet_us >= news->still_us;
	if (!is_changed && !news->is_key_wanted && !is_beat)
		return;
	wish.is_key = is_key_due(film, news, wish.is_scene, now_us);
	struct packet *packet = film_canvas_encode(film->canvas, &wish);
	film->last_packet_us = now_us;
	if (packet == NULL)
		return;
	film->since_key = packet->is_key ? 0 : film->since_key + 1;
	if (packet->is_key)
		film->last_key_us = now_us;
	if (packet->is_key && (news->is_key_wanted || news->is_any_key_first))
		open_again(film);
	if (news->time_us > film->last_time_us)
		film->last_time_us = news->time_us;
	else
		film->last_time_us++;
	packet->time_us = film->last_time_us;
	hand_out(film, packet);
	packet_unref(packet);
}

/* Keeps the pace on average, so that a late picture does not make all others late. */
static void set_turn(struct film *film)
{
	int64_t interval_us = 1000000 / film->settings.fps, now_us = clock_monotonic_us();
	film->turn_us += interval_us;
	if (film->turn_us < now_us - interval_us)
		film->turn_us = now_us - EARLY_US;
	else if (film->turn_us > now_us + interval_us)
		film->turn_us = now_us + interval_us;
}

static void *thread_main(void *arg)
{
	struct film *film = arg;
	pthread_setname_np(pthread_self(), "film");
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + NICENESS) < 0)
		log_debug("the film's thread keeps its priority");
	pthread_mutex_lock(&film->lock);
	while (!film->is_ending) {
		int64_t now_us = clock_monotonic_us();
		awake_clock_now(&film->clock, now_us);
		int64_t due_us = next_us(film, now_us);
		if (due_us > now_us) {
			struct timespec due = {
				.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
			pthread_cond_timedwait(&film->wake, &film->lock, &due);
			continue;
		}
		struct news news;
		take_news(film, &news);
		pthread_mutex_unlock(&film->lock);
		make_picture(film, &news);
		finish_news(&news);
		set_turn(film);
		pthread_mutex_lock(&film->lock);
		film->drawing_us = 0;
	}
	pthread_mutex_unlock(&film->lock);
	return NULL;
}

/* Called with the lock held; takes a reference. */
static struct frame *put_frame(struct film *film, struct frame *frame)
{
	struct frame *old = film->newest;
	film->newest = frame_ref(frame);
	film->newest_serial = frame->serial;
	film->stats.skipped += old != NULL;
	note_news(film, frame->taken_us - film->clock.frozen_us);
	return old;
}

/* [display] */
static void on_view(void *arg, const struct live_view *view)
{
	struct film *film = arg;
	struct frame *old = NULL;
	struct cursor_image *old_cursor = NULL;
	bool is_new = pixman_region32_not_empty(view->damage);
	pthread_mutex_lock(&film->lock);
	bool is_shown = !film->is_private && view->frame->taken_us >= film->public_since_us;
	if (is_shown && is_new) {
		old = put_frame(film, view->frame);
		pixman_region32_union(&film->damage, &film->damage, view->damage);
	}
	bool is_moved = view->pointer_x != film->pointer_x || view->pointer_y != film->pointer_y ||
			view->cursor != film->cursor;
	if (film->settings.shows_cursor && is_moved) {
		old_cursor = film->cursor;
		film->cursor = view->cursor != NULL ? cursor_image_ref(view->cursor) : NULL;
		film->pointer_x = view->pointer_x;
		film->pointer_y = view->pointer_y;
		film->has_pointer_news = true;
		note_news(film, now_us_of(film));
	}
	film->pointer_wait_end_us = 0;
	if (has_news(film))
		pthread_cond_signal(&film->wake);
	pthread_mutex_unlock(&film->lock);
	frame_unref(old);
	cursor_image_unref(old_cursor);
}

static void put_whole_frame(struct film *film, struct frame *frame)
{
	struct frame *old = NULL;
	pthread_mutex_lock(&film->lock);
	if (!film->is_private && frame->serial != film->newest_serial) {
		film->public_since_us = frame->taken_us;
		old = put_frame(film, frame);
		pixman_region32_union_rect(&film->damage, &film->damage, 0, 0,
			(unsigned)frame->width, (unsigned)frame->height);
	}
	pthread_mutex_unlock(&film->lock);
	frame_unref(old);
}

static void init_locks(struct film *film)
{
	pthread_condattr_t attributes;
	pthread_mutex_init(&film->lock, NULL);
	pthread_mutex_init(&film->sinks_lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&film->wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void film_free(struct film *film)
{
	frame_unref(film->newest);
	cursor_image_unref(film->cursor);
	free_events(film->events, film->event_count);
	pixman_region32_fini(&film->damage);
	film_canvas_destroy(film->canvas);
	pthread_cond_destroy(&film->wake);
	pthread_mutex_destroy(&film->lock);
	pthread_mutex_destroy(&film->sinks_lock);
	free(film);
}

struct film *film_create(
	struct screen *screen, const struct film_settings *settings, struct frame *frame)
{
	struct film *film = xcalloc(1, sizeof(*film));
	film->screen = screen;
	film->settings = *settings;
	film->first_width = frame->width;
	film->first_height = frame->height;
	film->pointer_x = film->pointer_y = -1;
	if (settings->shows_cursor)
		film->pointer_wait_end_us = clock_monotonic_us() + POINTER_WAIT_US;
	init_locks(film);
	list_init(&film->sinks);
	list_init(&film->syncs);
	pixman_region32_init(&film->damage);
	film->canvas = film_canvas_create(settings, frame);
	put_whole_frame(film, frame);
	if (film->canvas == NULL || pthread_create(&film->thread, NULL, thread_main, film) != 0) {
		film_free(film);
		return NULL;
	}
	film->watch = (struct live_watch){.fps = settings->fps, .on_view = on_view, .arg = film};
	screen_watch_live(screen, &film->watch);
	return film;
}

static void on_unwatched(void *arg)
{
	struct film *film = arg;
	pthread_mutex_lock(&film->lock);
	film->is_ending = true;
	pthread_cond_signal(&film->wake);
	pthread_mutex_unlock(&film->lock);
	pthread_join(film->thread, NULL);
	film_free(film);
}

void film_destroy(struct film *film)
{
	screen_unwatch_live(film->screen, &film->watch, on_unwatched, film);
}

bool film_fits(const struct film *film, const struct film_settings *settings, int width, int height)
{
	const struct film_settings *own = &film->settings;
	return own->fps == settings->fps && own->quality == settings->quality &&
	       own->shows_cursor == settings->shows_cursor &&
	       own->shows_clicks == settings->shows_clicks &&
	       own->shows_keys == settings->shows_keys &&
	       rect_equals(&own->region, &settings->region) && film->first_width == width &&
	       film->first_height == height;
}

void film_format(const struct film *film, struct video_format *out)
{
	film_canvas_format(film->canvas, out);
}

int film_fps(const struct film *film)
{
	return film->settings.fps;
}

void film_subscribe(struct film *film, struct film_sink *sink)
{
	pthread_mutex_lock(&film->sinks_lock);
	list_append(&film->sinks, &sink->link);
	pthread_mutex_unlock(&film->sinks_lock);
	pthread_mutex_lock(&film->lock);
	film->sink_count++;
	film->keys_count += sink->wants_keys;
	film->heartbeat_count += sink->wants_heartbeat;
	film->is_key_wanted = true;
	pthread_cond_signal(&film->wake);
	pthread_mutex_unlock(&film->lock);
}

void film_unsubscribe(struct film *film, struct film_sink *sink)
{
	pthread_mutex_lock(&film->sinks_lock);
	list_remove(&sink->link);
	pthread_mutex_unlock(&film->sinks_lock);
	pthread_mutex_lock(&film->lock);
	film->sink_count--;
	film->keys_count -= sink->wants_keys;
	film->heartbeat_count -= sink->wants_heartbeat;
	pthread_mutex_unlock(&film->lock);
}

void film_ask_for_key(struct film *film)
{
	pthread_mutex_lock(&film->lock);
	film->is_key_wanted = true;
	pthread_cond_signal(&film->wake);
	pthread_mutex_unlock(&film->lock);
}

int64_t film_now_us(struct film *film)
{
	pthread_mutex_lock(&film->lock);
	int64_t now_us = now_us_of(film);
	pthread_mutex_unlock(&film->lock);
	return now_us;
}

int64_t film_settled_us(struct film *film)
{
	pthread_mutex_lock(&film->lock);
	int64_t settled_us = now_us_of(film);
	if (film->drawing_us != 0 && film->drawing_us < settled_us)
		settled_us = film->drawing_us;
	if (film->waiting_us != 0 && film->waiting_us < settled_us)
		settled_us = film->waiting_us;
	pthread_mutex_unlock(&film->lock);
	return settled_us;
}

void film_offer(struct film *film, struct frame *frame)
{
	put_whole_frame(film, frame);
}

void film_sync(struct film *film, void (*done)(void *arg), void *arg)
{
	struct sync *sync = xcalloc(1, sizeof(*sync));
	sync->done = done;
	sync->arg = arg;
	pthread_mutex_lock(&film->lock);
	list_append(&film->syncs, &sync->link);
	pthread_cond_signal(&film->wake);
	pthread_mutex_unlock(&film->lock);
}

void film_set_private(struct film *film, bool is_private)
{
	struct frame *old = NULL;
	pthread_mutex_lock(&film->lock);
	if (film->is_private != is_private) {
		film->is_private = is_private;
		film->public_since_us = INT64_MAX;
		film->turned_us = now_us_of(film);
		film->newest_serial = 0;
		old = film->newest;
		film->newest = NULL;
		note_news(film, film->turned_us);
	}
	pthread_mutex_unlock(&film->lock);
	frame_unref(old);
}

static void add_event(struct film *film, const struct film_event *event)
{
	pthread_mutex_lock(&film->lock);
	if (!film->is_private && film->event_count < FILM_EVENTS_MAX) {
		film->events = xrealloc(
			film->events, (film->event_count + 1) * sizeof(film->events[0]));
		film->events[film->event_count++] = *event;
		film->events[film->event_count - 1].key = event->key != NULL ? xstrdup(event->key) : NULL;
		note_news(film, now_us_of(film));
	}
	pthread_mutex_unlock(&film->lock);
}

void film_add_click(struct film *film, int x, int y)
{
	if (film->settings.shows_clicks)
		add_event(film, &(struct film_event){.x = x, .y = y});
}

void film_add_key(struct film *film, const char *name)
{
	if (film->settings.shows_keys)
		add_event(film, &(struct film_event){.key = (char *)(uintptr_t)name});
}

void film_stats(struct film *film, struct film_stats *out)
{
	pthread_mutex_lock(&film->lock);
	*out = film->stats;
	pthread_mutex_unlock(&film->lock);
}
