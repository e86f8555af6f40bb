/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what a program copied when the program ends: X selections die with their owner. Each new
 * owner of CLIPBOARD is asked for its text (or picture) once; when it goes away, the copy is served
 * in its place. Nothing is read while a person holds the screen. Display thread only; event driven.
 */
#ifndef DISPLAY_CLIPBOARD_KEEPER_H
#define DISPLAY_CLIPBOARD_KEEPER_H

struct clipboard;
struct clipboard_keeper;
struct input_gate;
struct selection_owner;
struct xconn;

/* Larger contents are not kept. */
#define CLIPBOARD_KEEPER_MAX_BYTES (8u << 20)

/* All stay the caller's and outlive the keeper. NULL without the XFIXES extension. */
struct clipboard_keeper *clipboard_keeper_create(struct xconn *conn, struct clipboard *clipboard,
	struct selection_owner *owner, const struct input_gate *gate);
/* To be called after the clipboard is destroyed (which answers what the keeper asked). Accepts NULL. */
void clipboard_keeper_destroy(struct clipboard_keeper *keeper);

#endif
