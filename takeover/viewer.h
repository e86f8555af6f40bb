/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One peer: its link, its handshake, what it says and what it may do. Its picture is made by a thread of
 * its own (viewer_thread.h); its keys and pointer go from here straight to the display thread, so
 * that input never waits behind output. Main thread only; owned by viewers.c.
 */
#ifndef TAKEOVER_VIEWER_H
#define TAKEOVER_VIEWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "takeover/rfb_caps.h"
#include "takeover/rfb_reader.h"
#include "takeover/viewer_thread.h"
#include "takeover/viewers.h"

struct guesses;
struct jpeg_share;
struct live_encoder;
struct loop;
struct peer_link;
struct privacy_card;
struct rfb_message;
struct screen;
struct viewer;
struct viewer_texts;

/* Wrong passwords of native viewers. All come from the loopback, where addresses tell nothing. */
struct viewer_passwords {
	struct guesses *guesses;
	int waiting; /* tries that are answered late */
};

/* What is told of a viewer in status and metrics. */
struct viewer_figures {
	struct viewer_stats stats;
	uint64_t refused;
};

/* What viewers.c gives to each viewer, and hears from it. */
struct viewer_host {
	struct loop *loop;
	struct screen *screen;
	const char *name;
	struct jpeg_share *jpegs;
	struct privacy_card *card;
	struct live_encoder *const *encoders; /* NULL: no H.264 */
	/* It wants to act and does not hold the screen: whether it does from here on. */
	bool (*claim)(void *arg, struct viewer *viewer);
	/* It acts: what is due by now is done first. */
	void (*on_input)(void *arg);
	/* Whether it is shown a card instead of the screen, and the clipboard is not its business. */
	bool (*is_covered)(void *arg, const struct viewer *viewer);
	/* Tell all pages of the session; only if it holds the screen. message: taken. */
	void (*tell_session)(void *arg, uint32_t session, json_t *message);
	void (*tell_holder)(void *arg, uint32_t session, json_t *message);
	struct viewer_texts *texts;
	struct viewer_passwords *passwords;
	/* A JSON message that is not the viewer's own business. */
	void (*on_message)(
		void *arg, struct viewer *viewer, const char *kind, const json_t *message);
	void (*on_ready)(void *arg, struct viewer *viewer);  /* the handshake is done */
	void (*on_caps)(void *arg, struct viewer *viewer);
	void (*on_ending)(void *arg, struct viewer *viewer); /* no input comes any more */
	void (*on_gone)(void *arg, struct viewer *viewer);   /* to be freed by viewer_free */
	void *arg;
};

struct viewer {
	struct list link;              /* the host's */
	unsigned id;                   /* immutable, like role, session, from, source */
	enum viewer_role role;
	uint32_t session;
	char *link_id;                 /* the link it came by; NULL: none */
	uint8_t source;                /* input_gate.h; INPUT_SOURCE_NONE for watchers */
	const char *from;
	int64_t since_wall_us;
	const struct viewer_host *host;
	struct peer_link *peer;        /* NULL once closed */
	struct viewer_thread *thread;  /* NULL before the handshake is done */
	struct loop_timer *timer;      /* ends handshakes that stall */
	struct rfb_reader reader;
	struct rfb_caps caps;
	bool is_ready;                 /* handshake done */
	bool is_ending;
	char *password;
	uint8_t challenge[16], response[16];
	struct loop_timer *password_timer; /* the response is looked at when it is over; NULL: none */
	int minor;                     /* of the protocol */
	uint64_t refused;              /* messages that its role does not allow */
	struct viewer_figures frozen;  /* told while a person holds the screen privately */
	int pending;                   /* calls to the screen not answered yet: they point here */
	bool is_stopped;               /* its thread has ended, or there was none */
	/* the clipboard */
	char *clip_text;               /* the box's, to be had on request */
	size_t clip_len;
};

struct viewer *viewer_create(const struct viewer_host *host, struct peer_link *link, unsigned id,
	const struct viewer_pass *pass, uint8_t source, const char *password, const char *from);
/* Its handshake is done and it is not leaving. */
bool viewer_is_open(const struct viewer *viewer);
/* {id, role, from}, as events and status tell it; the caller's. */
json_t *viewer_identity(const struct viewer *viewer);
/* Begins the end: the peer is closed, what it holds is let go; on_gone comes later. */
void viewer_end(struct viewer *viewer, int close_code, const char *reason);
void viewer_free(struct viewer *viewer);
/* Calls on_gone once nothing points to the viewer any more. */
void viewer_maybe_gone(struct viewer *viewer);

/* A JSON text to the page; nothing for native viewers. */
void viewer_tell(struct viewer *viewer, json_t *message); /* taken */

/* viewer_messages.c: a message of a viewer whose handshake is done. False: protocol error. */
bool viewer_handle(struct viewer *viewer, const struct rfb_message *message);
/* The box's clipboard has a new text (taken). */
void viewer_offer_clipboard(struct viewer *viewer, char *text, size_t len);
void viewer_handle_json(struct viewer *viewer, const char *text, size_t len);
/* It has the screen now: what goes with that. */
void viewer_on_control(struct viewer *viewer);

#endif
