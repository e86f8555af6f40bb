/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/link_rate.h"

/* Before anything is known: the initial window of a TCP connection, several times over. */
#define WINDOW_UNKNOWN (64u << 10)
/* Below this a window costs more in waiting than it saves in queueing. */
#define WINDOW_MIN (6u << 10)
/* What may stand in a queue on top of the link itself: less than a person notices. */
#define QUEUE_US 40000
#define PIECE_UNKNOWN (16 << 10)
#define PIECE_US 60000
#define PIECE_MIN (4u << 10)
#define PIECE_MAX (512u << 10)
#define MIN_RTT_LIFE_US 10000000
#define FIRST_PROBE_US 1000000
#define RATE_LIFE_US 3000000
/* A step down lasts at least so long, so that one hiccup does not go through all steps. */
#define STEP_DOWN_US 700000
#define PATIENCE_MIN_US 2000000
#define PATIENCE_MAX_US 30000000
/* Lines of a shorter round trip make up for a lost packet before anybody notices. */
#define LONG_RTT_US 60000
/* Answers are counted for so long, and so many of them at least; one in so many late is too many. */
#define COUNT_US      2000000
#define ANSWERS_MIN   20
#define LATE_ONE_IN   5
/* A line that loses packets goes on doing so: it is not tried again as soon as one that was busy. */
#define LATE_PATIENCE_US 15000000
/* Lag this soon after a step up says that the step was wrong. */
#define FAILED_TRY_US 5000000

void link_rate_init(struct link_rate *link, int64_t now_us)
{
	*link = (struct link_rate){.delivered_us = now_us,
		.tier_us = now_us - STEP_DOWN_US,
		.tried_us = now_us - FAILED_TRY_US,
		.good_since_us = now_us,
		.patience_us = PATIENCE_MIN_US};
}

uint32_t link_rate_sent(struct link_rate *link, size_t bytes, int64_t now_us)
{
	link->sent += bytes;
	if (link->count == LINK_RATE_OPEN_MAX) { /* the oldest is accounted for by its successor */
		link->first = (link->first + 1) % LINK_RATE_OPEN_MAX;
		link->count--;
	}
	if (link->count == 0)
		link->delivered_us = now_us; /* the link was idle: time begins with this message */
	int slot = (link->first + link->count++) % LINK_RATE_OPEN_MAX;
	link->open[slot].was_alone = link->sent - bytes == link->delivered;
	link->open[slot].id = ++link->next_id;
	link->open[slot].sent_us = now_us;
	link->open[slot].end = link->sent;
	link->open[slot].delivered_then = link->delivered;
	link->open[slot].delivered_then_us = link->delivered_us;
	return link->next_id;
}

static bool min_rtt_is_old(const struct link_rate *link, int64_t now_us)
{
	/* The first pieces are larger than a slow link likes: looked at again soon. */
	int64_t life_us = link->has_probed ? MIN_RTT_LIFE_US : FIRST_PROBE_US;
	return link->min_rtt_us > 0 && now_us - link->min_rtt_at_us > life_us;
}

static void note_rtt(struct link_rate *link, int64_t rtt_us, bool was_alone, int64_t now_us)
{
	if (rtt_us < 1)
		rtt_us = 1;
	link->rtt_us = link->rtt_us == 0 ? rtt_us : (link->rtt_us * 7 + rtt_us) / 8;
	if (link->min_rtt_us == 0 || rtt_us < link->min_rtt_us ||
		(was_alone && min_rtt_is_old(link, now_us))) {
		link->has_probed |= link->min_rtt_us > 0 && was_alone;
		link->min_rtt_us = rtt_us;
		link->min_rtt_at_us = now_us;
	}
}

static void note_lateness(struct link_rate *link, int64_t rtt_us, int64_t now_us)
{
	bool is_looked_at = link->tier == 0 && link->min_rtt_us >= LONG_RTT_US;
	if (is_looked_at && now_us - link->counted_us < COUNT_US) {
		link->answers++;
		link->late_answers += rtt_us > link->min_rtt_us + link->min_rtt_us / 8 + QUEUE_US;
		return;
	}
	if (is_looked_at && link->answers >= ANSWERS_MIN &&
		link->late_answers * LATE_ONE_IN >= link->answers) {
		link_rate_note_lag(link, now_us);
		if (link->patience_us < LATE_PATIENCE_US)
			link->patience_us = LATE_PATIENCE_US;
	}
	link->answers = link->late_answers = 0;
	link->counted_us = now_us;
}

static void note_rate(struct link_rate *link, double sample, bool was_busy, int64_t now_us)
{
	if (sample >= link->rate) {
		link->rate = sample;
		link->rate_us = now_us;
	} else if (was_busy && now_us - link->rate_us > RATE_LIFE_US) {
		link->rate = sample; /* the best of the last seconds is not reached any more */
		link->rate_us = now_us;
	} else if (was_busy) {
		link->rate += (sample - link->rate) * 0.05;
	}
}

static size_t window(const struct link_rate *link)
{
	if (link->rate <= 0)
		return WINDOW_UNKNOWN;
	double bytes = link->rate * (double)(link->min_rtt_us + QUEUE_US) / 1e6 + WINDOW_MIN;
	return bytes > 64e6 ? (size_t)64e6 : (size_t)bytes;
}

void link_rate_acked(struct link_rate *link, uint32_t id, int64_t now_us)
{
	if ((int32_t)(id - link->next_id) > 0)
		return; /* a number that was never given out */
	while (link->count > 0) {
		int slot = link->first;
		if ((int32_t)(id - link->open[slot].id) < 0)
			return; /* answered already */
		link->first = (link->first + 1) % LINK_RATE_OPEN_MAX;
		link->count--;
		if (link->open[slot].id != id)
			continue;
		link->delivered = link->open[slot].end;
		link->delivered_us = now_us;
		note_rtt(link, now_us - link->open[slot].sent_us, link->open[slot].was_alone, now_us);
		note_lateness(link, now_us - link->open[slot].sent_us, now_us);
		uint64_t bytes = link->delivered - link->open[slot].delivered_then;
		int64_t took_us = now_us - link->open[slot].delivered_then_us;
		/* Small messages tell the round trip, not the rate. */
		bool was_busy = bytes * 2 >= window(link) || link->sent > link->delivered;
		if (took_us > 0 && (bytes >= 4096 || was_busy))
			note_rate(link, (double)bytes * 1e6 / (double)took_us, was_busy, now_us);
		return;
	}
}

bool link_rate_may_send(const struct link_rate *link, int64_t now_us)
{
	if (min_rtt_is_old(link, now_us))
		return link->sent == link->delivered;
	return link->sent - link->delivered < window(link);
}

size_t link_rate_piece(const struct link_rate *link)
{
	double bytes = link->rate <= 0 ? PIECE_UNKNOWN : link->rate * PIECE_US / 1e6;
	return bytes < PIECE_MIN ? PIECE_MIN : bytes > PIECE_MAX ? PIECE_MAX : (size_t)bytes;
}

void link_rate_note_lag(struct link_rate *link, int64_t now_us)
{
	link->good_since_us = now_us;
	if (link->tier == LINK_TIERS - 1 || now_us - link->tier_us < STEP_DOWN_US)
		return;
	if (now_us - link->tried_us < FAILED_TRY_US && link->patience_us < PATIENCE_MAX_US)
		link->patience_us *= 2;
	link->tier++;
	link->tier_us = now_us;
}

int link_rate_tier(struct link_rate *link, int64_t now_us)
{
	int64_t since_us = link->good_since_us > link->tier_us ? link->good_since_us : link->tier_us;
	if (link->tier > 0 && now_us - since_us > link->patience_us) {
		link->tier--;
		link->tier_us = link->tried_us = now_us;
	} else if (link->tier == 0 && now_us - since_us > PATIENCE_MAX_US) {
		link->patience_us = PATIENCE_MIN_US;
	}
	return link->tier;
}

int64_t link_rate_rtt_us(const struct link_rate *link)
{
	return link->rtt_us;
}

double link_rate_bytes_per_s(const struct link_rate *link)
{
	return link->rate;
}
