/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What acts on the screen, bundled: the connection, the injector, the typist and the gate they pass.
 * Those who act (JSON actions, the xdotool language, viewers) borrow one. Display thread only; all
 * pointers are valid as long as the connection is.
 */
#ifndef DISPLAY_HAND_H
#define DISPLAY_HAND_H

#include <stdbool.h>

struct frame_requests;
struct injector;
struct input_gate;
struct loop;
struct typist;
struct xconn;

struct hand {
	struct loop *loop;                /* the display thread's */
	struct xconn *conn;
	struct injector *injector;
	struct typist *typist;            /* NULL where the server lacks XKB or XTEST: no typing */
	const struct input_gate *gate;
	struct frame_requests *requests;  /* for waits and pictures in the middle of a batch */
};

#endif
