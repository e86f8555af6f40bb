/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of takeover/viewers.h, for its own files: viewers.c (who comes, holds and goes) and
   viewers_figures.c (what is told of them). */
#ifndef TAKEOVER_VIEWERS_PRIVATE_H
#define TAKEOVER_VIEWERS_PRIVATE_H

#include "base/list.h"
#include "display/input_gate.h"
#include "display/live_source.h"
#include "takeover/link_rate.h"
#include "takeover/viewer.h"
#include "takeover/viewers.h"

struct viewers {
	struct viewers_events events;
	struct viewer_host host;
	struct viewer_passwords passwords;
	char *name;
	struct list list;
	int count;
	unsigned next_id;
	bool is_source_used[INPUT_SOURCE_MAX + 1];
	uint32_t holder_session;        /* 0: the agent */
	struct viewer *holder;          /* its socket that acts; NULL: none, or the agent */
	bool is_covered;                /* all but the holder see a card */
	bool is_frozen;                 /* nothing is told that moves with the screen or the keys */
	uint64_t frozen_refused;
	struct steps *steps;
	struct live_encoder *encoders[LINK_TIERS];
	struct live_watch encoder_watch;
	bool is_encoder_watching;
	uint64_t total, refused, bytes; /* of those that have gone */
};

#endif
