/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the main thread tells a viewer's thread, and asks of it. */
#include "takeover/viewer_thread_private.h"

#include <string.h>

#include "base/clock.h"
#include "display/frame.h"
#include "takeover/rfb.h"
#include "takeover/rfb_extensions.h"

/* Messages beside the picture that may wait: the largest text twice, and small ones. */
#define MESSAGES_MAX (2 * RFB_CUT_TEXT_MAX + (64u << 10))

static void lock_and_wake(struct viewer_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	pthread_cond_signal(&thread->wake); /* takes effect when the lock is free again */
}

void viewer_thread_set_caps(struct viewer_thread *thread, const struct rfb_caps *caps)
{
	lock_and_wake(thread);
	thread->caps = *caps;
	thread->caps.has_h264 &= thread->config.encoders != NULL;
	thread->has_new_caps = true;
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_set_format(struct viewer_thread *thread, const struct rfb_pixel_format *format)
{
	lock_and_wake(thread);
	thread->format = *format;
	thread->has_new_format = true;
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_request(struct viewer_thread *thread, const struct rect *area, bool is_incremental)
{
	lock_and_wake(thread);
	pixman_region32_union_rect(&thread->requested, &thread->requested, area->x, area->y,
		(unsigned)area->width, (unsigned)area->height);
	if (!is_incremental)
		pixman_region32_union_rect(&thread->anew, &thread->anew, area->x, area->y,
			(unsigned)area->width, (unsigned)area->height);
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_set_continuous(struct viewer_thread *thread, bool is_on, const struct rect *area)
{
	lock_and_wake(thread);
	/* The viewer waits for the word that the last one has come. */
	if (thread->is_continuous && !is_on)
		rfb_put_u8(&thread->messages, RFB_END_OF_CONTINUOUS_UPDATES);
	thread->is_continuous = is_on;
	thread->continuous_area = *area;
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_cover(struct viewer_thread *thread, bool is_covered)
{
	lock_and_wake(thread);
	const struct frame *frame = thread->view.frame;
	if (thread->is_covered != is_covered && frame != NULL) {
		/* All of it is another picture; what was encoded of the old one is of no use. */
		pixman_region32_union_rect(&thread->view.damage, &thread->view.damage, 0, 0,
			(unsigned)frame->width, (unsigned)frame->height);
		thread->view.is_new = true;
		thread->next_sequence = 0;
		viewer_thread_drop_packets(thread);
	}
	thread->is_covered = is_covered;
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_answer_size(struct viewer_thread *thread, int status)
{
	lock_and_wake(thread);
	thread->answer_status = status;
	pthread_mutex_unlock(&thread->lock);
}

bool viewer_thread_send(struct viewer_thread *thread, const void *data, size_t len)
{
	lock_and_wake(thread);
	bool fits = thread->messages.len + len <= MESSAGES_MAX;
	if (fits)
		buffer_append(&thread->messages, data, len);
	pthread_mutex_unlock(&thread->lock);
	return fits;
}

void viewer_thread_fence_answered(struct viewer_thread *thread, const uint8_t *payload, size_t len)
{
	if (len != 8 || rfb_get32(payload) != FENCE_TAG)
		return;
	lock_and_wake(thread);
	link_rate_acked(&thread->link, rfb_get32(payload + 4), clock_monotonic_us());
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_drained(struct viewer_thread *thread)
{
	lock_and_wake(thread);
	thread->is_output_full = false;
	pthread_mutex_unlock(&thread->lock);
}

void viewer_thread_stats(struct viewer_thread *thread, struct viewer_stats *out)
{
	int64_t now_us = clock_monotonic_us();
	pthread_mutex_lock(&thread->lock);
	*out = thread->stats;
	/* A span that has run on for long has seen few updates: what there was counts over all of it. */
	double seconds = (double)(now_us - thread->span.begin_us) / 1e6;
	bool is_old = now_us - thread->span.begin_us > STATS_SPAN_US;
	out->fps = is_old ? (double)(out->updates - thread->span.updates) / seconds
			  : thread->span.fps;
	out->kbps = is_old ? (double)(out->bytes - thread->span.bytes) * 8e-3 / seconds
			   : thread->span.kbps;
	out->rtt_us = link_rate_rtt_us(&thread->link);
	out->tier = link_rate_tier(&thread->link, now_us);
	out->is_continuous = thread->is_continuous;
	pthread_mutex_unlock(&thread->lock);
}
