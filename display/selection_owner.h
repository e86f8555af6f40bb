/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owns CLIPBOARD and PRIMARY for a moment to serve a text to the program that pastes it, and puts
 * back what was there before (text, or a PNG picture; other kinds are lost with their owner). Never
 * blocks: reading the old contents and serving go by events and timers. Display thread only.
 */
#ifndef DISPLAY_SELECTION_OWNER_H
#define DISPLAY_SELECTION_OWNER_H

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stddef.h>

struct selection_owner;
struct xconn;

struct selection_owner *selection_owner_create(struct xconn *conn);
/* Gives up what it owns. Accepts NULL. */
void selection_owner_destroy(struct selection_owner *owner);

/*
 * Saves both selections' contents (given 300 ms at the most), then owns both with text[0..len)
 * (UTF-8, copied) and calls ready(arg, is_owned) from the loop.
 */
void selection_owner_take(struct selection_owner *owner, const char *text, size_t len,
	void (*ready)(void *arg, bool is_owned), void *arg);

/*
 * Owns CLIPBOARD (or PRIMARY) with data[0..len) (copied; UTF-8 text or a PNG picture) until another
 * program takes it. False when the server did not make us the owner.
 */
bool selection_owner_set(
	struct selection_owner *owner, bool is_primary, bool is_png, const char *data, size_t len);

/* Whether this is the window by which `owner` owns selections. */
bool selection_owner_is(const struct selection_owner *owner, Window window);

/* Whether one client made both windows; false for None. Windows that are gone will do. Pure. */
bool selection_is_same_client(Window window, Window other);

/*
 * From now on served(arg) is called, once, when the client that owns `window` has been given the
 * text; other clients (clipboard managers) are served without a word.
 */
void selection_owner_watch(
	struct selection_owner *owner, Window window, void (*served)(void *arg), void *arg);

/*
 * From now on the client that owns `window` is refused whatever it asks for, until this is called
 * with None: a paste key that it has not come to yet must bring neither the text nor what is put
 * back. Selections that held nothing before stay with us for so long.
 */
void selection_owner_refuse(struct selection_owner *owner, Window window);

/* The clock_monotonic_us of the last piece served to anyone; 0 for none since take. */
long long selection_owner_last_served_us(const struct selection_owner *owner);

/*
 * Ends the moment: calls nothing any more and puts the old contents back, owned by us until another
 * program copies. Selections that somebody else took meanwhile are left alone. Fine when nothing
 * was taken.
 */
void selection_owner_give_back(struct selection_owner *owner);

#endif
