/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent did last, for the strip that watchers see: names of actions, never what was typed.
 * The pictures beside them are the page's own. Main thread only; owned by viewers.c.
 */
#ifndef TAKEOVER_STEPS_H
#define TAKEOVER_STEPS_H

#include <jansson.h>
#include <stdbool.h>

#define STEPS_MAX 60

struct steps;

struct step {
	const char *action; /* "click", "click, type" */
	bool has_point;
	int x, y;           /* screen pixels: where it was done first */
};

struct steps *steps_create(void);
void steps_destroy(struct steps *steps); /* accepts NULL */

/* Keeps it, in place of the oldest when there are STEPS_MAX; the message for pages, which the caller
   owns: {"t":"step","id","time","action"[,"x","y"]}. */
json_t *steps_add(struct steps *steps, const struct step *step);

/* Those kept, oldest first. Borrowed. */
const json_t *steps_list(const struct steps *steps);

#endif
