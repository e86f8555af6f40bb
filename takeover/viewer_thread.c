/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/viewer_thread.h"

#include <endian.h>
#include <pixman.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/cursor.h"
#include "display/frame.h"
#include "display/live_source.h"
#include "display/privacy_card.h"
#include "takeover/link_rate.h"
#include "takeover/live_encoder.h"
#include "takeover/rfb.h"
#include "takeover/rfb_extensions.h"
#include "takeover/rfb_update.h"
#include "takeover/viewer_thread_private.h"
#define LOG_MODULE "viewer"
#include "base/log.h"

/* A viewer that asks for each update gets larger ones, since each costs it a round trip. */
#define ASKED_BUDGET (1u << 20)
/* What moves goes to slow viewers in strips, so that a typed letter does not wait for all of it. */
#define JPEG_STRIP_ROWS 64
#define STACK_SIZE (512 << 10)
#define KEEPING_SPAN_US 700000

/* A post to the main thread. */
struct post {
	struct viewer_thread *thread;
	void *data;
	size_t len;
	const char *reason;
};

static void post(struct viewer_thread *thread, void (*fn)(void *arg), void *data, size_t len,
	const char *reason)
{
	struct post *item = xmalloc(sizeof(*item));
	*item = (struct post){thread, data, len, reason};
	loop_post(thread->config.main_loop, fn, item);
}

static void post_output(void *arg)
{
	struct post *item = arg;
	item->thread->events.on_output(item->thread->events.arg, item->data, item->len);
	free(item);
}

static void post_clipboard(void *arg)
{
	struct post *item = arg;
	item->thread->events.on_clipboard(item->thread->events.arg, item->data, item->len);
	free(item);
}

static void post_failed(void *arg)
{
	struct post *item = arg;
	item->thread->events.on_failed(item->thread->events.arg, item->reason);
	free(item);
}

/* The display thread tells */

/* A viewer that misses half of what moves gets a worse picture of it more often. Lock held. */
static void note_keeping(struct viewer_thread *thread, bool is_missed)
{
	int64_t now_us = clock_monotonic_us();
	thread->keeping.shown++;
	thread->keeping.missed += is_missed;
	if (now_us - thread->keeping.begin_us < KEEPING_SPAN_US)
		return;
	if (thread->keeping.shown >= 4 && thread->keeping.missed * 2 > thread->keeping.shown)
		link_rate_note_lag(&thread->link, now_us);
	thread->keeping.begin_us = now_us;
	thread->keeping.shown = thread->keeping.missed = 0;
}

/* Lock held. What is new to the viewer; told of a card it is only the size. */
static void note_damage(struct viewer_thread *thread, const struct live_view *told, bool is_other_size)
{
	struct view *view = &thread->view;
	if (is_other_size)
		pixman_region32_clear(&view->damage);
	if (thread->is_covered) {
		/* Not even that something changed, or where, or how often, is its business. */
		if (is_other_size)
			pixman_region32_union_rect(&view->damage, &view->damage, 0, 0,
				(unsigned)told->frame->width, (unsigned)told->frame->height);
		view->is_new |= is_other_size;
		return;
	}
	bool is_change = pixman_region32_not_empty(told->damage);
	bool is_missed = is_change && view->is_new && pixman_region32_not_empty(&view->damage);
	thread->stats.dropped += is_missed; /* the one before is never seen */
	if (is_change && !rect_is_empty(&told->hot))
		note_keeping(thread, is_missed);
	pixman_region32_union(&view->damage, &view->damage, told->damage);
	view->is_new = true;
}

static void on_view(void *arg, const struct live_view *told)
{
	struct viewer_thread *thread = arg;
	pthread_mutex_lock(&thread->lock);
	struct view *view = &thread->view;
	struct frame *old = view->frame;
	struct cursor_image *old_cursor = view->cursor;
	bool is_other_size = old == NULL || old->width != told->frame->width ||
			     old->height != told->frame->height;
	note_damage(thread, told, is_other_size);
	view->frame = frame_ref(told->frame);
	view->cursor = told->cursor != NULL ? cursor_image_ref(told->cursor) : NULL;
	view->hot = told->hot;
	view->pointer_x = told->pointer_x;
	view->pointer_y = told->pointer_y;
	view->lights = told->lights;
	if (view->is_new)
		pthread_cond_signal(&thread->wake);
	pthread_mutex_unlock(&thread->lock);
	frame_unref(old);
	cursor_image_unref(old_cursor);
}

static void on_clipboard(void *arg, const char *text, size_t len)
{
	struct viewer_thread *thread = arg;
	if (len > 0 && len <= RFB_CUT_TEXT_MAX)
		post(thread, post_clipboard, xmemdup(text, len), len, NULL);
}

/* The encoder tells */

void viewer_thread_drop_packets(struct viewer_thread *thread)
{
	for (int i = 0; i < thread->packet_count; i++)
		live_packet_unref(thread->packets[i]);
	thread->packet_count = 0;
}

static bool has_room(void *arg)
{
	struct viewer_thread *thread = arg;
	pthread_mutex_lock(&thread->lock);
	bool has = thread->packet_count < 2;
	pthread_mutex_unlock(&thread->lock);
	return has;
}

/* The viewer does not keep up: what waits is of no use without each other, so all of it goes. */
static void fall_behind(struct viewer_thread *thread)
{
	thread->stats.dropped += (uint64_t)thread->packet_count + 1;
	viewer_thread_drop_packets(thread);
	thread->next_sequence = 0;
	link_rate_note_lag(&thread->link, clock_monotonic_us());
}

static void on_packet(void *arg, struct live_packet *packet)
{
	struct viewer_thread *thread = arg;
	pthread_mutex_lock(&thread->lock);
	if (thread->is_covered) {
		/* Nothing of it is shown, and how many there were is told to nobody. */
		thread->next_sequence = 0;
		pthread_mutex_unlock(&thread->lock);
		return;
	}
	if (packet->is_idr) {
		viewer_thread_drop_packets(thread); /* an IDR says all that they said */
		thread->next_sequence = packet->sequence;
	} else if (thread->packet_count == PACKETS_MAX) {
		fall_behind(thread);
	}
	if (packet->sequence == thread->next_sequence) {
		thread->packets[thread->packet_count++] = live_packet_ref(packet);
		thread->next_sequence++;
		pthread_cond_signal(&thread->wake);
	} else {
		thread->next_sequence = 0;
	}
	pthread_mutex_unlock(&thread->lock);
}

/* Which encoder's packets this viewer takes now. Without the lock. */
static void choose_encoder(struct viewer_thread *thread, struct live_encoder *wanted)
{
	if (thread->encoder == wanted)
		return;
	if (thread->encoder != NULL)
		live_encoder_unsubscribe(thread->encoder, &thread->subscriber);
	pthread_mutex_lock(&thread->lock);
	viewer_thread_drop_packets(thread);
	thread->next_sequence = 0;
	pthread_mutex_unlock(&thread->lock);
	thread->encoder = wanted;
	if (wanted != NULL)
		live_encoder_subscribe(wanted, &thread->subscriber);
}

/* The thread itself. Functions that say so are called with the lock held. */

struct work {
	struct live_packet *packets[PACKETS_MAX];
	int packet_count;
	struct buffer out;
	pixman_region32_t asked;    /* what it asked for; given back when nothing came of it */
	pixman_region32_t area;     /* where it wants updates: that, or what is continuous */
	bool is_update;             /* it may have one now */
	bool has_fence;
	bool needs_idr;
	size_t budget;
	int tier;
};

static void take_settings(struct viewer_thread *thread, struct buffer *out)
{
	struct rfb_update *update = &thread->update;
	if (thread->has_new_format)
		rfb_update_set_format(update, &thread->format, out);
	if (thread->has_new_caps)
		rfb_update_set_caps(update, &thread->caps);
	thread->has_new_format = thread->has_new_caps = false;
	if (thread->answer_status >= 0)
		update->answer_status = thread->answer_status;
	thread->answer_status = -1;
}

/* Lock held. */
static void take_view(struct viewer_thread *thread)
{
	static const int qualities[LINK_TIERS] = {85, 55, 25};
	struct view *view = &thread->view;
	struct rfb_update *update = &thread->update;
	if (pixman_region32_not_empty(&thread->anew)) {
		rfb_update_damage(update, &thread->anew);
		pixman_region32_clear(&thread->anew);
		thread->next_sequence = 0; /* its decoder may know nothing either */
		viewer_thread_drop_packets(thread);
	}
	if (!view->is_new)
		return;
	rfb_update_damage(update, &view->damage);
	pixman_region32_clear(&view->damage);
	frame_unref(update->frame);
	cursor_image_unref(update->cursor);
	/* Without memory for a card nothing is shown. */
	update->frame = thread->is_covered ? privacy_card_frame(thread->config.card,
						     view->frame->width, view->frame->height)
					   : frame_ref(view->frame);
	update->cursor = view->cursor != NULL && !thread->is_covered
				 ? cursor_image_ref(view->cursor)
				 : NULL;
	update->hot = thread->is_covered ? (struct rect){0} : view->hot;
	if (!thread->is_covered) {
		update->pointer_x = view->pointer_x;
		update->pointer_y = view->pointer_y;
		update->lights = view->lights;
	}
	int tier = link_rate_tier(&thread->link, clock_monotonic_us());
	update->jpeg_quality = qualities[tier];
	update->jpeg_rows = tier == 0 ? 0 : JPEG_STRIP_ROWS;
	view->is_new = false;
}

/* Lock held. Packets of another rectangle than the hot one are of no use any more. */
static void take_packets(struct viewer_thread *thread, struct work *work)
{
	for (int i = 0; i < thread->packet_count; i++) {
		bool is_hot = rect_equals(&thread->packets[i]->rect, &thread->update.hot);
		if (is_hot) {
			work->packets[work->packet_count++] = thread->packets[i];
			continue;
		}
		live_packet_unref(thread->packets[i]);
		if (i == thread->packet_count - 1)
			thread->next_sequence = 0; /* what follows would build on it */
	}
	thread->packet_count = 0;
}

/* Lock held. Whether the viewer may have an update now, and where. */
static bool may_update(struct viewer_thread *thread, struct work *work)
{
	if (thread->view.frame == NULL || (thread->is_continuous && !link_rate_may_send(&thread->link, clock_monotonic_us())))
		return false;
	pixman_region32_copy(&work->asked, &thread->requested);
	pixman_region32_copy(&work->area, &thread->requested);
	if (thread->is_continuous) {
		const struct rect *area = &thread->continuous_area;
		pixman_region32_union_rect(&work->area, &work->area, area->x, area->y,
			(unsigned)area->width, (unsigned)area->height);
	}
	return pixman_region32_not_empty(&work->area);
}

/* Lock held. Fills *work; false: there is nothing to do yet. */
static bool find_work(struct viewer_thread *thread, struct work *work)
{
	if (thread->is_output_full)
		return false;
	take_settings(thread, &work->out);
	buffer_append(&work->out, thread->messages.data, thread->messages.len);
	buffer_finish(&thread->messages);
	if (may_update(thread, work)) {
		take_view(thread);
		take_packets(thread, work);
		work->is_update = thread->update.frame != NULL &&
				  (work->packet_count > 0 ||
					  rfb_update_has_work(&thread->update, &work->area));
		if (work->is_update)
			pixman_region32_clear(&thread->requested);
		work->has_fence = thread->caps.has_fence;
		work->needs_idr = thread->next_sequence == 0;
		work->tier = link_rate_tier(&thread->link, clock_monotonic_us());
		work->budget = thread->is_continuous ? link_rate_piece(&thread->link) : ASKED_BUDGET;
	}
	return work->is_update || work->out.len > 0;
}

static void count_update(struct viewer_thread *thread, bool has_motion, int64_t now_us)
{
	struct span *span = &thread->span;
	thread->stats.updates++;
	thread->stats.motion += has_motion;
	if (now_us - span->begin_us < STATS_SPAN_US)
		return;
	double seconds = (double)(now_us - span->begin_us) / 1e6;
	span->fps = (double)(thread->stats.updates - span->updates) / seconds;
	span->kbps = (double)(thread->stats.bytes - span->bytes) * 8e-3 / seconds;
	span->begin_us = now_us;
	span->updates = thread->stats.updates;
	span->bytes = thread->stats.bytes;
}

static void append_fence(struct viewer_thread *thread, struct buffer *out, int64_t now_us)
{
	uint8_t payload[8];
	uint32_t tag = htobe32(FENCE_TAG);
	uint32_t id = htobe32(link_rate_sent(&thread->link, out->len, now_us));
	memcpy(payload, &tag, 4);
	memcpy(payload + 4, &id, 4);
	rfb_put_fence(out, RFB_FENCE_REQUEST | RFB_FENCE_BLOCK_BEFORE, payload, sizeof(payload));
}

/* What was made goes out; the next is made when it has. */
static void hand_over(struct viewer_thread *thread, struct work *work, bool is_updated, bool has_motion)
{
	int64_t now_us = clock_monotonic_us();
	pthread_mutex_lock(&thread->lock);
	if (!is_updated)
		pixman_region32_union(&thread->requested, &thread->requested, &work->asked);
	else if (work->has_fence)
		append_fence(thread, &work->out, now_us);
	thread->stats.bytes += work->out.len;
	if (is_updated)
		count_update(thread, has_motion, now_us);
	thread->is_output_full = work->out.len > 0;
	pthread_mutex_unlock(&thread->lock);
	if (work->out.len > 0)
		post(thread, post_output, work->out.data, work->out.len, NULL);
	else
		buffer_finish(&work->out);
}

static struct live_encoder *wanted_encoder(struct viewer_thread *thread, int tier)
{
	struct rfb_update *update = &thread->update;
	if (!update->caps.has_h264)
		return NULL;
	/* While nothing moves, the encoder subscribed to is as good as any. */
	return rect_is_empty(&update->hot) ? thread->encoder : thread->config.encoders[tier];
}

/* False: the viewer cannot be served any more. */
static bool do_work(struct viewer_thread *thread, struct work *work)
{
	struct rfb_update *update = &thread->update;
	size_t before = work->out.len;
	bool has_motion = false;
	if (work->is_update && rfb_update_needs_resize(update) && !rfb_update_can_resize(update)) {
		post(thread, post_failed, NULL, 0,
			"the screen's size changed, which this viewer cannot follow");
		return false;
	}
	if (work->is_update && !rfb_update_build(update, &work->area, work->budget, work->packets,
				       work->packet_count, &work->out, &has_motion)) {
		post(thread, post_failed, NULL, 0, "a picture could not be encoded");
		return false;
	}
	hand_over(thread, work, work->out.len > before, has_motion);
	work->out = (struct buffer){0};
	if (work->is_update) {
		choose_encoder(thread, wanted_encoder(thread, work->tier));
		if (thread->encoder != NULL && work->needs_idr && !rect_is_empty(&update->hot))
			live_encoder_ask_for_idr(thread->encoder);
		if (thread->encoder != NULL && work->packet_count > 0)
			live_encoder_poke(thread->encoder);
	}
	return true;
}

static void work_finish(struct work *work)
{
	for (int i = 0; i < work->packet_count; i++)
		live_packet_unref(work->packets[i]);
	buffer_finish(&work->out);
	pixman_region32_fini(&work->asked);
	pixman_region32_fini(&work->area);
}

static void serve(struct viewer_thread *thread)
{
	bool is_fine = true;
	pthread_mutex_lock(&thread->lock);
	while (!thread->is_ending) {
		struct work work = {0};
		pixman_region32_init(&work.asked);
		pixman_region32_init(&work.area);
		if (is_fine && find_work(thread, &work)) {
			pthread_mutex_unlock(&thread->lock);
			is_fine = do_work(thread, &work);
			pthread_mutex_lock(&thread->lock);
		} else {
			pthread_cond_wait(&thread->wake, &thread->lock);
		}
		work_finish(&work);
	}
	pthread_mutex_unlock(&thread->lock);
}

static void post_stopped(void *arg);

static void *thread_main(void *arg)
{
	struct viewer_thread *thread = arg;
	const struct viewer_thread_config *config = &thread->config;
	pthread_setname_np(pthread_self(), "viewer");
	struct rfb_encoder *encoder = rfb_encoder_create();
	if (encoder != NULL) {
		rfb_update_init(&thread->update, encoder, config->jpegs, config->name,
			config->width, config->height);
		serve(thread);
		choose_encoder(thread, NULL);
		rfb_update_finish(&thread->update);
	} else {
		post(thread, post_failed, NULL, 0, "there are no resources for one more viewer");
		pthread_mutex_lock(&thread->lock);
		while (!thread->is_ending)
			pthread_cond_wait(&thread->wake, &thread->lock);
		pthread_mutex_unlock(&thread->lock);
	}
	loop_post(config->main_loop, post_stopped, thread);
	return NULL;
}

/* From the main thread */

static void thread_free(struct viewer_thread *thread)
{
	viewer_thread_drop_packets(thread);
	frame_unref(thread->view.frame);
	cursor_image_unref(thread->view.cursor);
	pixman_region32_fini(&thread->view.damage);
	pixman_region32_fini(&thread->requested);
	pixman_region32_fini(&thread->anew);
	buffer_finish(&thread->messages);
	pthread_cond_destroy(&thread->wake);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

static void post_stopped(void *arg)
{
	struct viewer_thread *thread = arg;
	struct viewer_thread_events events = thread->events;
	if (!thread->is_joined)
		pthread_join(thread->thread, NULL);
	thread_free(thread);
	events.on_stopped(events.arg);
}

static bool start_thread(struct viewer_thread *thread)
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	int ret = pthread_create(&thread->thread, &attributes, thread_main, thread);
	pthread_attr_destroy(&attributes);
	return ret == 0;
}

struct viewer_thread *viewer_thread_start(
	const struct viewer_thread_config *config, const struct viewer_thread_events *events)
{
	struct viewer_thread *thread = xcalloc(1, sizeof(*thread));
	thread->config = *config;
	thread->events = *events;
	thread->watch = (struct live_watch){.wants_clipboard = config->wants_clipboard,
		.on_view = on_view,
		.on_clipboard = on_clipboard,
		.arg = thread};
	thread->subscriber = (struct live_subscriber){
		.has_room = has_room, .on_packet = on_packet, .arg = thread};
	thread->answer_status = -1;
	thread->is_covered = config->is_covered;
	thread->span.begin_us = clock_monotonic_us();
	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->wake, NULL);
	pixman_region32_init(&thread->view.damage);
	pixman_region32_init(&thread->requested);
	pixman_region32_init(&thread->anew);
	link_rate_init(&thread->link, clock_monotonic_us());
	if (start_thread(thread))
		return thread;
	thread_free(thread);
	return NULL;
}

void viewer_thread_stop(struct viewer_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->is_ending = true;
	pthread_cond_signal(&thread->wake);
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_join(struct viewer_thread *thread)
{
	viewer_thread_stop(thread);
	pthread_join(thread->thread, NULL);
	thread->is_joined = true;
}

struct live_watch *viewer_thread_watch(struct viewer_thread *thread)
{
	return &thread->watch;
}
