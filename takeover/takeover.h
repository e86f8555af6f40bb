/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds the screen, and the takeover that asks a person to: the states of takeover.md and
 * nothing else. No I/O and no clock: every call is told the time, on the scale of base/lifetime.h,
 * and what is to be done about a change is told through on_effect, in the order in which it must
 * happen.
 *
 *   open → connected ⇄ away → handed_back | expired | cancelled
 *
 * A person holds the screen by a lease, which belongs to a session (a number that is never reused).
 * A lease can also be taken while no takeover is open (the plain live screen). Main thread only.
 */
#ifndef TAKEOVER_TAKEOVER_H
#define TAKEOVER_TAKEOVER_H

#include <stdbool.h>
#include <stdint.h>

#define TAKEOVER_EXTENSIONS_MAX 3
#define TAKEOVER_EXTENSION_US   INT64_C(600000000)
/* How long a person who has pressed the button may take to open the socket. */
#define TAKEOVER_SOCKET_US INT64_C(30000000)

enum takeover_state {
	TAKEOVER_NONE, /* there has been none yet */
	TAKEOVER_OPEN,
	TAKEOVER_CONNECTED,
	TAKEOVER_AWAY,
	TAKEOVER_HANDED_BACK,
	TAKEOVER_EXPIRED,
	TAKEOVER_CANCELLED,
};

enum takeover_effect {
	/* The lease has another owner, or none: takeover->holder. */
	TAKEOVER_HOLDER_CHANGED,
	/* The takeover's state is another, or a new owner of the lease is connected to it. */
	TAKEOVER_STATE_CHANGED,
	TAKEOVER_LEFT,      /* the grace is over: it is open again */
	TAKEOVER_END_MOVED, /* takeover->ends_us is another */
	TAKEOVER_WARNED,    /* takeover->warned_s seconds are left, and somebody is connected */
};

#define TAKEOVER_NOBODY 0 /* as a holder: the agent has the screen */

struct takeover {
	/* immutable */
	int64_t grace_us;
	void (*on_effect)(void *arg, enum takeover_effect effect);
	void *arg;
	/* the lease */
	uint32_t holder;       /* a session, or TAKEOVER_NOBODY */
	bool has_socket;       /* the holder is connected */
	bool is_coming;        /* the button was pressed, and no socket has come yet */
	int64_t away_until_us; /* without a socket: when the lease ends */
	int64_t held_since_us;
	/* the takeover */
	enum takeover_state state;
	int64_t window_us; /* how long its link is good, twice: before and after the first opening
			    */
	int64_t ends_us;
	int64_t first_opened_us; /* -1: not yet */
	int64_t held_us;         /* by people so far, all in all */
	int extensions;          /* used */
	int warned_s;            /* 0, 300 or 60 */
};

void takeover_init(struct takeover *takeover, int64_t grace_us,
	void (*on_effect)(void *arg, enum takeover_effect effect), void *arg);

/* Whether one is open, connected or away. */
bool takeover_is_alive(const struct takeover *takeover);

/* Asks a person. One at a time: there must be none alive. */
void takeover_open(struct takeover *takeover, int64_t now_us, int64_t window_us);

/* The agent's side gives it up. False: none is alive. */
bool takeover_cancel(struct takeover *takeover, int64_t now_us);

enum takeover_take {
	TAKEOVER_TAKEN, /* also when the session had it already */
	TAKEOVER_HELD,  /* by another session, and `confirm` was not given */
};
enum takeover_take_flags {
	TAKEOVER_CONFIRM = 1 << 0,  /* also from another person */
	TAKEOVER_NO_CLOCK = 1 << 1, /* a native viewer's first key: starts no clock */
};
/* The button: the session wants the screen. */
enum takeover_take takeover_take(
	struct takeover *takeover, int64_t now_us, uint32_t session, int flags);

/* The session's socket has come or gone. Of others than the holder it means nothing. */
void takeover_set_socket(
	struct takeover *takeover, int64_t now_us, uint32_t session, bool has_socket);

/* The holder gives the screen back, which ends the takeover. False: it is not the holder. */
bool takeover_hand_back(struct takeover *takeover, int64_t now_us, uint32_t session);

/* The session is valid no more: its lease, if it has it, ends at once. */
void takeover_end_session(struct takeover *takeover, int64_t now_us, uint32_t session);

/* Ten minutes more. False: not the holder, no takeover, or too often already. */
bool takeover_extend(struct takeover *takeover, int64_t now_us, uint32_t session);

/* Does what is due by now. Call it before anything that depends on the state. */
void takeover_tick(struct takeover *takeover, int64_t now_us);

/* Whether the holder has lost the line. Who has just pressed the button is still coming. */
bool takeover_is_away(const struct takeover *takeover);

/* When the next thing is due; INT64_MAX: nothing is. */
int64_t takeover_next_due(const struct takeover *takeover);

/* All the time that people have held the screen in this takeover. */
int64_t takeover_held_us(const struct takeover *takeover, int64_t now_us);

const char *takeover_state_name(enum takeover_state state);
bool takeover_state_parse(const char *text, enum takeover_state *out);

#endif
