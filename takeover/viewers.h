/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All viewers of the screen: watchers and controllers, on WebSockets and plain sockets. Owns what they
 * share (the encoders, the JPEG pictures) and moves the gate. Main thread only.
 *
 * Who may act is decided by takeovers.c: viewers_give names the session that may, and of its sockets the
 * newest does. Everybody else's keys, pointer, clipboard and size requests are dropped here and
 * counted. A native controller cannot press a button: with its first key, click or text it claims the
 * screen. Every change of holder lets go of everything that is held down.
 */
#ifndef TAKEOVER_VIEWERS_H
#define TAKEOVER_VIEWERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "takeover/peer_link.h"

struct buffer;
struct loop;
struct screen;
struct step;
struct viewers;

enum viewer_role {
	VIEWER_VIEW,
	VIEWER_CONTROL,
};

/* Who a viewer is. */
struct viewer_pass {
	enum viewer_role role;
	uint32_t session; /* of the page (links.h); 0: a native viewer, which gets one of its own */
	const char *link; /* the id of the link it came by, copied; NULL: a native viewer */
};

/* Sessions of native viewers have this bit. */
#define VIEWER_SESSION_NATIVE 0x80000000u

struct viewers_events {
	/* A state change for /v1/events: "viewer.connected", "viewer.left"; data is taken. */
	void (*on_event)(void *arg, const char *name, json_t *data);
	void *on_event_arg;
	/* A native controller wants to act: whether it may from here on (viewers_give has said so). */
	bool (*on_claim)(void *arg, uint32_t session);
	/* The holder acts: what is due by now must be done before. */
	void (*on_input)(void *arg);
	/* The first socket of a session has come, or its last has gone. */
	void (*on_socket)(void *arg, uint32_t session, bool is_there);
	/* What the session is told of itself and the screen: {"t":"state",…}. */
	json_t *(*state_json)(void *arg, uint32_t session, enum viewer_role role);
	/* A page's JSON message of a kind that is not the viewers' own. */
	void (*on_message)(void *arg, uint32_t session, const char *kind, const json_t *message);
	void *arg;
};

/* name: the desktop's, as viewers show it. */
struct viewers *viewers_create(
	struct loop *loop, const char *name, const struct viewers_events *events);
/* Closes all viewers; before screen_destroy. */
void viewers_close_all(struct viewers *viewers);
/* After screen_destroy. Accepts NULL. */
void viewers_destroy(struct viewers *viewers);

/* The screen, once there is one. Viewers that come before are closed with PEER_CLOSE_NO_SCREEN. */
void viewers_set_screen(struct viewers *viewers, struct screen *screen);

/*
 * A new viewer; the link is taken (and closed when there are too many, or too many watch by one
 * link). password: for VNC authentication, NULL for none; copied. from: "websocket", "unix" or
 * "tcp", for status.
 */
void viewers_add(struct viewers *viewers, struct peer_link *link, const struct viewer_pass *pass,
	const char *password, const char *from);

/*
 * The session may act, through its newest socket (now, or once it has one); 0: the agent may. An old
 * holder's sockets stay open, unless they are closed by viewers_close_session.
 */
void viewers_give(struct viewers *viewers, uint32_t session);

/* Whether all but the holder see a card instead of the screen. */
void viewers_cover(struct viewers *viewers, bool is_covered);

/*
 * A person has the screen to themselves: every key that they press moves the figures of those who see
 * it. What viewers_json and viewers_write_metrics tell stands still from here on, and is true again
 * when they are let go.
 */
void viewers_freeze_figures(struct viewers *viewers, bool is_frozen);

/* Whether any page is connected. */
bool viewers_have_pages(const struct viewers *viewers);

/* Whether there is a screen to be seen. */
bool viewers_has_screen(const struct viewers *viewers);

/* Whether the session has a socket whose handshake is done. */
bool viewers_has_socket(const struct viewers *viewers, uint32_t session);
void viewers_close_session(
	struct viewers *viewers, uint32_t session, enum peer_close code, const char *reason);

/* A JSON message (taken) to the session's pages; 0: to all controllers'. */
void viewers_tell(struct viewers *viewers, uint32_t session, json_t *message);
/* Everybody's state has changed. */
void viewers_tell_state(struct viewers *viewers);
/* The agent does something: all pages are told, and those that come later. */
void viewers_tell_step(struct viewers *viewers, const struct step *step);

/* For /v1/status: a list with one object a viewer. The caller owns it. */
json_t *viewers_json(const struct viewers *viewers);
/* Appends Prometheus text. */
void viewers_write_metrics(const struct viewers *viewers, struct buffer *out);

/* By their numbers; ends with NULL. */
extern const char *const viewer_role_names[];
bool viewer_role_parse(const char *text, enum viewer_role *out);
const char *viewer_role_name(enum viewer_role role);

#endif
