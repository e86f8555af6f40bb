/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much a viewer's link takes: measured by what was sent and when the viewer said that it had
 * dealt with it (fences), so that network, proxies, decoder and a throttled tab all count. From it
 * come how many bytes may be on the way, how large the next piece should be, and how good the
 * moving picture may be. The model is BBR's (Cardwell et al., 2016): the link is the most it has
 * delivered lately and the least time a message has taken lately.
 *
 * Pure, with the clock handed in. Not thread safe.
 */
#ifndef TAKEOVER_LINK_RATE_H
#define TAKEOVER_LINK_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_RATE_OPEN_MAX 64 /* messages under way; more than ever fit into a window */
#define LINK_TIERS         3  /* of the moving picture: 0 is the best */

struct link_rate {
	/* all private; link_rate_init fills them */
	struct {
		uint32_t id;
		int64_t sent_us;
		uint64_t end;              /* sent bytes, this message included */
		uint64_t delivered_then;   /* delivered bytes when it was sent */
		int64_t delivered_then_us;
		bool was_alone;            /* nothing else was under way */
	} open[LINK_RATE_OPEN_MAX];
	int first, count;
	uint32_t next_id;
	uint64_t sent, delivered;
	int64_t delivered_us;
	double rate;                       /* bytes a second, 0 until measured */
	int64_t rate_us;                   /* when it was last confirmed */
	int64_t min_rtt_us, min_rtt_at_us; /* 0 until measured */
	bool has_probed;                   /* it was measured on an empty link */
	int64_t rtt_us;                    /* smoothed */
	int tier;
	int64_t tier_us;                   /* since when */
	int64_t tried_us;                  /* the last step up */
	int64_t good_since_us;             /* no lag since then */
	int64_t patience_us;               /* how long it must be good before the next try upwards */
	int answers, late_answers;         /* of the best picture, since counted_us */
	int64_t counted_us;
};

void link_rate_init(struct link_rate *link, int64_t now_us);

/* Notes `bytes` that end in a fence; the number that its answer will bring. */
uint32_t link_rate_sent(struct link_rate *link, size_t bytes, int64_t now_us);
/*
 * The answer to a fence. Unknown numbers are ignored. On a long line of which packets get lost, each
 * loss holds up all that follows it for a round trip: many late answers are taken for lag, since a
 * picture of fewer packets is held up less often, and what is typed meanwhile with it.
 */
void link_rate_acked(struct link_rate *link, uint32_t id, int64_t now_us);

/*
 * Whether more may be sent now: less than a window is under way. Every ten seconds of steady use it
 * lets the link run empty once, to measure the round trip without what we ourselves keep on it.
 */
bool link_rate_may_send(const struct link_rate *link, int64_t now_us);
/* Bytes that the next piece should have at the most, so that what comes after is soon heard. */
size_t link_rate_piece(const struct link_rate *link);

/* The moving picture did not keep up (frames were dropped for this viewer): a worse one, soon. */
void link_rate_note_lag(struct link_rate *link, int64_t now_us);
/* The quality to use now. Goes up a step after a good while; a failed try makes the next wait longer. */
int link_rate_tier(struct link_rate *link, int64_t now_us);

/* For status: smoothed round trip in microseconds, 0 until measured; bytes a second, 0 likewise. */
int64_t link_rate_rtt_us(const struct link_rate *link);
double link_rate_bytes_per_s(const struct link_rate *link);

#endif
