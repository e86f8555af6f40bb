/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the screen is a person's business now: a person holds it, and what it shows (passwords
 * being typed, mail, bank pages) goes to nobody but that person. Shots are refused then, recordings
 * and watchers show a card in its place.
 *
 * It is set before the person can act, and taken back after they no longer can. privacy_is_on is
 * one atomic read, any thread: look at it when a frame is used, not only when it is fetched. The
 * rest is the main thread's.
 */
#ifndef DISPLAY_PRIVACY_H
#define DISPLAY_PRIVACY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"

/* Embedded in whoever wants to know of changes (a chapter in a recording); main thread. */
struct privacy_watch {
	struct list link; /* private */
	void (*on_change)(void *arg, bool is_private);
	void *arg;
};

struct privacy {
	_Atomic bool is_on;
	struct list watches; /* the main thread's */
};

/* What a card says in place of the picture. */
#define PRIVACY_CARD_TEXT "a person has the screen"

void privacy_init(struct privacy *privacy);

/* Any thread. */
bool privacy_is_on(const struct privacy *privacy);

/* Tells the watches when it is a change. They may not add or remove watches from inside. */
void privacy_set(struct privacy *privacy, bool is_on);

void privacy_add_watch(struct privacy *privacy, struct privacy_watch *watch);
void privacy_remove_watch(struct privacy_watch *watch);

#endif
