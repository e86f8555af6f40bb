/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All viewers of the screen: watchers and controllers, on WebSockets and plain sockets. Owns what they
 * share (the encoders, the JPEG pictures) and knows who holds the screen. Main thread only.
 *
 * A `view` peer's keys, pointer, clipboard and size requests are dropped here and counted. A `control`
 * peer takes the screen from the agent with its first key, click or text, and gives it back when it
 * leaves or says so; every change of holder lets go of everything that is held down.
 */
#ifndef TAKEOVER_VIEWERS_H
#define TAKEOVER_VIEWERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct loop;
struct peer_link;
struct screen;
struct viewers;

enum viewer_role {
	VIEWER_VIEW,
	VIEWER_CONTROL,
};

struct viewers_events {
	/* A state change for /v1/events: "viewer.connected", "viewer.left", "control.locked",
	   "control.unlocked"; data is taken. */
	void (*on_event)(void *arg, const char *name, json_t *data);
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
 * A new viewer; the link is taken (and closed when there are too many). password: for VNC
 * authentication, NULL for none; copied. from: "websocket", "unix" or "tcp", for status.
 */
void viewers_add(struct viewers *viewers, struct peer_link *link, enum viewer_role role,
	const char *password, const char *from);

/* For /v1/status: a list with one object a viewer. The caller owns it. */
json_t *viewers_json(const struct viewers *viewers);
/* {"holder","locked","since"}. The caller owns it. */
json_t *viewers_control_json(const struct viewers *viewers);
/* Appends Prometheus text. */
void viewers_write_metrics(const struct viewers *viewers, struct buffer *out);

bool viewer_role_parse(const char *text, enum viewer_role *out);
const char *viewer_role_name(enum viewer_role role);

#endif
