/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of takeover/takeovers.h, for its own files: takeovers.c (what happens),
   takeovers_agent.c (what the agent asks for), takeovers_page.c (what the page asks for) and
   takeovers_state.c (what is kept over a restart). */
#ifndef TAKEOVER_TAKEOVERS_PRIVATE_H
#define TAKEOVER_TAKEOVERS_PRIVATE_H

#include "base/lifetime.h"
#include "base/list.h"
#include "takeover/messages.h"
#include "takeover/takeover.h"
#include "takeover/takeover_record.h"
#include "takeover/takeovers.h"

#define TAKEOVER_RECORDS_MAX 16

struct takeovers {
	struct takeovers_config config;
	struct takeovers_events events;
	struct viewers *viewers; /* NULL until takeovers_attach */
	struct lifetime lifetime;
	struct links *links;
	struct takeover takeover;
	struct list records; /* newest first; the first is the one that is alive, if any is */
	struct messages *messages;
	int64_t notes_since; /* notes up to this id belong to takeovers that have ended */
	struct loop_timer *timer;
	struct loop_timer *change_timer; /* armed: on_change is to be called */
	bool is_settling;                /* in takeovers_settle */
	uint32_t told_holder;       /* whom the gate was given to last */
	int64_t held_since_wall_us; /* when the lock was put on, or taken off */
	bool are_watchers_allowed;
	const char *outcome; /* of the hand back that is under way */
	const char *message;
	bool is_dirty;   /* to be saved and told once the call is over */
	bool needs_save; /* the same without telling: nobody sees the difference */
	int save_error;  /* of the last try, a negative errno; 0: all is in the file */
	int64_t save_tried_us;
};

/* The record of the takeover that is alive, or NULL. */
struct takeover_record *takeovers_current(const struct takeovers *takeovers);

/* Tells the daemon's events of it; takes data. */
void takeovers_publish(struct takeovers *takeovers, const char *name, json_t *data);

/* Adds when something ends, as a time and as seconds from now; ends_us: by the lifetime's clock. */
void takeovers_add_end(struct takeovers *takeovers, json_t *json, int64_t ends_us);

/* At the end of every call that may have changed something: saves, tells, arms the timer. */
void takeovers_settle(struct takeovers *takeovers);

/* takeovers_agent.c: what is told of a takeover, from its record and the clocks. The caller's. */
json_t *takeovers_record_json(struct takeovers *takeovers, const struct takeover_record *record);

/* takeovers_agent.c: adds a message, tells the pages and publishes it. Its JSON is the caller's. */
json_t *takeovers_add_message(struct takeovers *takeovers, bool is_from_person, const char *text);

/* takeovers_page.c: a JSON message of a page. */
void takeovers_message(void *arg, uint32_t session, const char *kind, const json_t *message);

/* takeovers_state.c */
void takeovers_save(struct takeovers *takeovers);
void takeovers_load(struct takeovers *takeovers);

#endif
