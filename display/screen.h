/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder's face: one screen, its X connection and the thread that owns them. It waits for the
 * display, attaches, survives the server's death and attaches again when it comes back.
 *
 * Called on the main thread; answers come back on the main thread, never from inside the call.
 * screen_info may be called from any thread.
 */
#ifndef DISPLAY_SCREEN_H
#define DISPLAY_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/act_runner.h"
#include "display/clipboard.h"
#include "display/frame_request.h"
#include "display/windows.h"

struct input_gate;
struct live_watch;
struct loop;
struct screen;
struct viewer_event;

struct screen_info {
	bool is_ready;       /* attached, pictures can be had */
	int width, height;   /* of the last attachment, 0 before the first */
	int depth;
	bool has_shm, has_damage, has_fixes, has_randr, has_xtest, has_xres;
	uint64_t attach_count;
	char display[64];
};

/* What the agent does with pointer and keys; text is valid during the call. */
struct screen_deeds {
	void (*on_click)(void *arg, int x_root, int y_root);
	void (*on_keys)(void *arg, const char *text);
	void *arg;
};

struct screen_events {
	/* The state or the size changed; screen_info tells the new one. */
	void (*on_change)(void *arg);
	void *arg;
};

/* Starts the thread, which attaches to `display` (":99") as soon as somebody answers there. */
struct screen *screen_create(
	struct loop *main_loop, const char *display, const struct screen_events *events);

/* Detaches, ends the thread and waits for it. Open requests are answered -ENOTCONN first. */
void screen_destroy(struct screen *screen);

void screen_info(struct screen *screen, struct screen_info *out);

/* Asks for a picture (frame_request.h). Returns an id for screen_cancel_frame. */
uint64_t screen_request_frame(struct screen *screen, const struct frame_options *options,
	frame_request_done done, void *arg);

/* Ends the wait of a request early: `done` is called as if its time were over. */
void screen_cancel_frame(struct screen *screen, uint64_t id);

/*
 * Who may act. Read it from any thread; change the holder with input_gate_give on the main thread
 * only: everything held down is let go then, and batches of actions end with ACT_LOCKED.
 */
struct input_gate *screen_gate(struct screen *screen);

/* Runs a batch of actions (act_runner.h). `list` is taken. Returns an id for screen_cancel_act. */
uint64_t screen_act(struct screen *screen, struct action_list *list,
	const struct act_options *options, act_done done, void *arg);
/* Ends a batch; `done` is called with ACT_CANCELED unless it was done already. */
void screen_cancel_act(struct screen *screen, uint64_t id);

/*
 * Runs a chain or script of the xdotool language (xdotool.h). `request` and all it points to must
 * stay until done. on_chain tells of each chain that acts, before it does. error: 0 with the result
 * (borrowed); -ENOTCONN, -ECANCELED.
 */
struct xdotool_outline;
struct xdotool_request;
struct xdotool_result;
typedef void (*screen_xdotool_begins)(void *arg, const struct xdotool_outline *outline);
typedef void (*screen_xdotool_done)(void *arg, int error, const struct xdotool_result *result);
uint64_t screen_xdotool(struct screen *screen, const struct xdotool_request *request,
	screen_xdotool_begins on_chain, screen_xdotool_done done, void *arg);
void screen_cancel_xdotool(struct screen *screen, uint64_t id);

/* What can be done to a window from outside; errors as in window_ops.h, -EACCES when the agent does
   not hold the screen. */
enum screen_window_change_type {
	SCREEN_WINDOW_ACTIVATE,
	SCREEN_WINDOW_CLOSE, /* asks it to close; one that cannot be asked is destroyed */
	SCREEN_WINDOW_MOVE,
	SCREEN_WINDOW_RESIZE,
};
struct screen_window_change {
	enum screen_window_change_type type;
	int x, y;
	int width, height;
};
typedef void (*screen_window_done)(void *arg, int error);
void screen_change_window(struct screen *screen, unsigned long window,
	const struct screen_window_change *change, screen_window_done done, void *arg);

/*
 * Puts data[0..len) (copied; UTF-8 text or a PNG) on a selection, owned by the daemon until another
 * program copies. -EACCES as above, -EIO when the server refused.
 */
void screen_write_clipboard(struct screen *screen, enum clipboard_selection selection,
	enum clipboard_content content, const char *data, size_t len, screen_window_done done,
	void *arg);

/* error 0 with the windows (borrowed, bottom of the stack first) or -ENOTCONN. */
typedef void (*screen_windows_done)(void *arg, int error, const struct window_list *windows);
void screen_list_windows(struct screen *screen, screen_windows_done done, void *arg);

/* Errors and data as clipboard_read says. */
void screen_read_clipboard(struct screen *screen, enum clipboard_selection selection,
	enum clipboard_content content, clipboard_done done, void *arg);

/* Errors as screen_resize_to says. */
typedef void (*screen_resize_done)(void *arg, int error, int max_width, int max_height);
void screen_resize(
	struct screen *screen, int width, int height, screen_resize_done done, void *arg);

/*
 * Tells the watch (display/live_source.h) of everything that viewers see, on the display thread,
 * until screen_unwatch_live has called done (on the main thread). Watches stay while the display
 * is away.
 */
void screen_watch_live(struct screen *screen, struct live_watch *watch);
void screen_unwatch_live(
	struct screen *screen, struct live_watch *watch, void (*done)(void *arg), void *arg);

/* Whom to tell of what the agent does; told only while it is wanted. On the main thread. */
void screen_set_deeds(struct screen *screen, const struct screen_deeds *deeds);
void screen_want_deeds(struct screen *screen, bool is_wanted);

/*
 * Has a viewer's event (display/viewer_input.h) carried out, after all that were posted before. Any
 * thread. *event is copied, its text taken. False when too many wait already (a server that does not
 * answer): the event is dropped then, except VIEWER_GONE.
 */
bool screen_post_viewer_event(struct screen *screen, const struct viewer_event *event);

#endif
