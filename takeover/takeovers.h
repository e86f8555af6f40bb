/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takeovers as a whole: joins the states (takeover.h), the secrets (links.h), the viewers and the
 * gate, the privacy of the screen, the messages and the file that keeps all of it over a restart.
 * What happens is told as events; who asks is the control socket (service) and the page
 * (page_server.c). Main thread only.
 */
#ifndef TAKEOVER_TAKEOVERS_H
#define TAKEOVER_TAKEOVERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "takeover/links.h"

struct loop;
struct privacy;
struct json_reader;
struct takeovers;
struct viewers;
struct viewers_events;

struct takeovers_config {
	struct loop *loop;
	struct privacy *privacy; /* set here */
	const char *state_dir;   /* all borrowed */
	const char *public_url;
	const char *box_id;
	int grace_s;
	bool has_privacy;        /* while a person holds the screen nobody else sees it */
	bool has_fragment_links; /* "#t=" instead of "?t=" */
};

struct takeovers_events {
	/* A state change for /v1/events; data is taken. */
	void (*on_event)(void *arg, const char *name, json_t *data);
	/* A takeover or the lock has changed: whoever waits may look again. */
	void (*on_change)(void *arg);
	void *arg;
};

/* Goes on with what the last run of the daemon left in its file. */
struct takeovers *takeovers_create(
	const struct takeovers_config *config, const struct takeovers_events *events);
/* What viewers tell, except on_event. */
void takeovers_listen(struct takeovers *takeovers, struct viewers_events *out);
/* Once there are viewers, before anything else. */
void takeovers_attach(struct takeovers *takeovers, struct viewers *viewers);
/* The daemon ends: saves, and no longer acts by itself. After viewers_close_all. Accepts NULL. */
void takeovers_detach(struct takeovers *takeovers);
/* After viewers_destroy. Accepts NULL. */
void takeovers_destroy(struct takeovers *takeovers);

/* 0, or why what is to survive a restart is not in its file: a negative errno. */
int takeovers_save_error(struct takeovers *takeovers);

struct links *takeovers_links(struct takeovers *takeovers);

/* The agent's side */

struct takeover_request {
	const char *note;
	json_t *instructions; /* a list of texts; borrowed */
	json_t *shot;         /* options of the picture at the end, NULL for none; borrowed */
	int timeout_s;
	bool has_timeout, has_shot; /* they were asked for, rather than what goes without saying */
};
#define TAKEOVER_TIMEOUT_MAX_S (24 * 3600)

/*
 * Opens a takeover, or, while one is alive, resumes that: *is_new says which, and `kept` of the answer
 * what of the request differs and was not taken over. The answer carries a fresh link and what is to
 * be pushed to a phone. NULL when there are too many links.
 */
json_t *takeovers_open(
	struct takeovers *takeovers, const struct takeover_request *request, bool *is_new);
/* The takeover of that id (NULL: the one that is alive), or NULL. The caller owns it. */
json_t *takeovers_json(struct takeovers *takeovers, const char *id);
/* Those that are remembered, the newest first. The caller owns it. */
json_t *takeovers_list_json(struct takeovers *takeovers);
/* Notes that a caller who waited for its end was cut off, or that somebody has been told the end. */
void takeovers_set_unheard(struct takeovers *takeovers, const char *id, bool is_unheard);
/* Options of the picture that goes with the outcome, or NULL. Borrowed. */
const json_t *takeovers_shot(struct takeovers *takeovers, const char *id);
/* 0, -ENOENT (there is no such), -EALREADY (it has ended). */
int takeovers_cancel(struct takeovers *takeovers, const char *id);
/* {"holder","locked","since"}. The caller owns it. */
json_t *takeovers_control_json(struct takeovers *takeovers);
bool takeovers_is_locked(struct takeovers *takeovers);
int64_t takeovers_locked_since_wall_us(const struct takeovers *takeovers);
/* Adds a message of the agent's. {"id",…}; the caller owns it. */
json_t *takeovers_say(struct takeovers *takeovers, const char *text);
json_t *takeovers_notes_json(const struct takeovers *takeovers, int64_t since);

/* Links; each saves. */
bool takeovers_mint(struct takeovers *takeovers, enum viewer_role role, int ttl_s,
	char secret[LINK_SECRET_SIZE], struct link_info *info);
bool takeovers_revoke(struct takeovers *takeovers, const char *link_id);
/* The address with the secret; the caller frees it. */
char *takeovers_url(const struct takeovers *takeovers, const char *secret);
/* When the link ends, as the wall clock will show it. */
int64_t takeovers_wall_us(struct takeovers *takeovers, int64_t ends_us);

/* The page's side. `session`: a checked one. */

bool takeovers_open_session(
	struct takeovers *takeovers, struct link_info *info, char secret[LINK_SECRET_SIZE]);
json_t *takeovers_state_json(
	struct takeovers *takeovers, uint32_t session, enum viewer_role role, bool with_messages);

/* NULL, or what stands in the way: a static code of page-api.md, with a sentence in *why. */
const char *takeovers_take(struct takeovers *takeovers, const struct link_info *session,
	bool confirm, const char **why);
/* message: NULL for none. On success *reply tells what came of it. */
const char *takeovers_hand_back(struct takeovers *takeovers, uint32_t session, const char *outcome,
	const char *message, const char **why, json_t **reply);
const char *takeovers_extend(
	struct takeovers *takeovers, uint32_t session, const char **why, json_t **reply);
const char *takeovers_allow_watchers(
	struct takeovers *takeovers, uint32_t session, bool is_allowed, const char **why);
/* The id of the note; 0: too many at once. */
int64_t takeovers_note(struct takeovers *takeovers, const char *text);
/* A view link that is good as long as the session's. */
bool takeovers_share(struct takeovers *takeovers, const struct link_info *session,
	char secret[LINK_SECRET_SIZE], struct link_info *info);

/* Does what is due by now: before anything that depends on time. */
void takeovers_tick(struct takeovers *takeovers);

/*
 * Reads the members of a hand back, of a call or of a socket's message; what is wrong is told to the
 * reader, and *outcome is NULL then. *message may be NULL. Both live as long as what is read.
 */
void takeovers_read_hand_back(
	struct json_reader *reader, const char **outcome, const char **message);

#endif
