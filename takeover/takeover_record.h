/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of one takeover beside its state: what the agent asked for and what came of it. The
 * finished ones are kept too, so that a caller who lost the connection still learns the outcome.
 */
#ifndef TAKEOVER_TAKEOVER_RECORD_H
#define TAKEOVER_TAKEOVER_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "takeover/links.h"
#include "takeover/takeover.h"

struct takeover_request;

struct takeover_record {
	struct list link; /* the owner's */
	char id[LINK_ID_SIZE];
	enum takeover_state state;
	char *note;
	json_t *instructions; /* a list of texts */
	json_t *shot;         /* options of the picture at the end; NULL: none is wanted */
	int64_t created_wall_us;
	int64_t opened_wall_us; /* first opened; 0: not yet */
	int64_t left_wall_us;   /* when a person went without a hand back last; 0: never */
	int64_t ended_wall_us;  /* 0: not yet */
	const char *outcome;    /* static; NULL: it was not handed back */
	char *message;          /* the person's; NULL: none */
	int64_t held_s;
	uint64_t version; /* grows with every change */
	/* A caller who waited for the end was cut off, and nobody has been told the end since. */
	bool is_unheard;
};

struct takeover_record *takeover_record_create(void);
void takeover_record_destroy(struct takeover_record *record); /* accepts NULL */

/* The name of an outcome as a static string, or NULL when it is none. */
const char *takeover_outcome_parse(const char *text);

/* What is the same for everybody: the caller adds what the clocks say. */
json_t *takeover_record_json(const struct takeover_record *record);

/* The members of a request that differ from what the record goes on with; window_s is its time-out. */
json_t *takeover_record_kept(const struct takeover_record *record,
	const struct takeover_request *request, int64_t window_s);

json_t *takeover_record_save(const struct takeover_record *record);
/* NULL when it makes no sense. */
struct takeover_record *takeover_record_load(const json_t *saved);

#endif
