/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the handlers of the xdotool language share: the run, its steps and its waits. Display thread
 * only. A handler (xdotool_spec.start) does its work in one go or in steps that call each other
 * through xdotool_after_ms, xdotool_await and the typist, and ends exactly once with
 * xdotool_succeed, xdotool_fail or xdotool_end_window. Only xdotool*.c include this.
 */
#ifndef DISPLAY_XDOTOOL_PRIVATE_H
#define DISPLAY_XDOTOOL_PRIVATE_H

#include <X11/Xlib.h>
#include <stdint.h>

#include "display/input_gate.h"
#include "display/rect.h"
#include "display/typist.h"
#include "display/window_search.h"
#include "display/xconn.h"
#include "display/xdotool.h"
#include "display/xdotool_parse.h"
#include "display/xdotool_script.h"

struct hand;
struct loop_timer;

#define XDOTOOL_LIFT_MAX 16

typedef void (*xdotool_step)(struct xdotool_run *run);

/* A key or button that the run has put down. */
enum xdotool_pressed_kind { XDOTOOL_KEYSYM, XDOTOOL_KEYCODE, XDOTOOL_BUTTON };
struct xdotool_pressed {
	enum xdotool_pressed_kind kind;
	uint32_t code;
};

/* One going down or up of a key, or a pause between them. */
struct xdotool_stroke {
	enum { XDOTOOL_DOWN, XDOTOOL_UP, XDOTOOL_PAUSE } kind;
	bool is_keycode;
	uint32_t code;                /* keysym or keycode */
};
#define XDOTOOL_STROKES_MAX 34

/* Whose events are listened to, and which mask that took. */
struct xdotool_watched {
	Window window;
	long added_mask;
};

struct xdotool_run {
	/* immutable while it runs */
	struct hand *hand;
	struct xconn *conn;
	struct input_ticket ticket;
	xdotool_chain_begins on_chain; /* may be NULL */
	xdotool_done done;
	void *done_arg;
	struct xdotool_file *files;   /* owned, with what is in them */
	size_t file_count;
	struct xdotool_script script; /* one line when it is none */

	/* where it stands */
	struct xdotool_result result;
	size_t line;                  /* the next one */
	int64_t told_us;              /* when on_chain was called last; 0: never */
	struct xdotool_chain chain;
	size_t command_index;         /* the next one */
	const struct xdotool_command *command;
	struct window_ids targets;    /* the windows of the command */
	size_t target_index;          /* the next one */
	Window window;                /* the present one; None: whatever has focus or pointer */
	bool is_step_done, is_driving, is_over;
	struct loop_timer *timer;     /* for `next` */
	xdotool_step next;
	uint64_t typist_id;           /* of the request under way, 0: none */

	/* what lives from command to command */
	struct window_ids stack;
	bool has_place;
	int place_x, place_y;         /* of the pointer before the last mousemove */
	struct xdotool_pressed *pressed;
	size_t pressed_count;
	uint8_t lifted[XDOTOOL_LIFT_MAX]; /* by --clearmodifiers */
	int lifted_count;

	/* the wait under way */
	struct {
		bool is_active;
		struct xconn_listener listener;
		struct loop_timer *check_timer, *cap_timer;
		int pause_ms;         /* between two checks at least */
		bool (*is_over)(struct xdotool_run *run);
		void (*next)(struct xdotool_run *run, bool is_over);
		struct xdotool_watched *watched;
		size_t watched_count;
		bool has_configured;  /* the watched window was told its place and size */
	} wait;

	/* scratch of the command under way */
	struct rect area;             /* the window's, before */
	int wanted_x, wanted_y;       /* place or size */
	struct {
		int from_x, from_y, to_x, to_y, step, step_count;
	} drag;
	int repeats_left;
	size_t word_index;
	struct xdotool_stroke strokes[XDOTOOL_STROKES_MAX];
	int stroke_count, stroke_index;
	xdotool_step after_strokes;
	Window focus_before, focus_taken;  /* by --window of the key commands */
	Window focus_wanted;               /* by a click */
};

/* Steps */

/* The present command (for the present window) is done. */
void xdotool_succeed(struct xdotool_run *run);
/* It failed: the message goes to stderr behind the command's name, the line ends with status 1. */
void xdotool_fail(struct xdotool_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same without a word, as for a search without hits. */
void xdotool_fail_silently(struct xdotool_run *run);
/* The same for what window_ops.h says about run->window, when result is not 0; else succeeds. */
void xdotool_end_window(struct xdotool_run *run, int result);
/* next is called from the loop unless the screen has another holder by then. */
void xdotool_after_ms(struct xdotool_run *run, int64_t delay_ms, xdotool_step next);
/* For the done of a typist's request: goes on with run->next, or fails. arg is the run. */
void xdotool_on_typed(void *arg, const struct typist_result *result);

void xdotool_print(struct xdotool_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line on stderr behind the command's name, for what is no failure. */
void xdotool_warn(struct xdotool_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Replaces the window stack by this one window. */
void xdotool_set_stack(struct xdotool_run *run, Window window);
/* A file of the request; NULL when the caller sent none of that name. */
const struct xdotool_file *xdotool_find_file(const struct xdotool_run *run, const char *path);
/* A window as written: a number (0: none in particular). False for anything else. */
bool xdotool_parse_window(const char *text, Window *out);

/* Waits: watch, act, await */

/* Listens to events of the window (mask as for XSelectInput) until the wait is over. */
void xdotool_watch(struct xdotool_run *run, Window window, long mask);
/*
 * Asks is_over now and after each event of a watched window, at most cap_ms long; then calls
 * next(run, true), or false when it never held. next may be called from inside.
 */
void xdotool_await(struct xdotool_run *run, int cap_ms, bool (*is_over)(struct xdotool_run *run),
	void (*next)(struct xdotool_run *run, bool is_over));
/* For next: succeeds, or fails with "did not … within 30 s". */
void xdotool_end_wait(struct xdotool_run *run, bool is_over, const char *what);
void xdotool_wait_init(struct xdotool_run *run);
void xdotool_wait_stop(struct xdotool_run *run);
void xdotool_wait_finish(struct xdotool_run *run);

/* Keys and buttons */

/* The focus goes back to where it was before the command took it, when it is still where it was put. */
void xdotool_give_back_focus(struct xdotool_run *run);
/* Presses or releases, and remembers it. */
void xdotool_press_button(struct xdotool_run *run, int button, bool is_down);
void xdotool_press_keycode(struct xdotool_run *run, uint8_t keycode, bool is_down);
void xdotool_note_pressed(
	struct xdotool_run *run, enum xdotool_pressed_kind kind, uint32_t code, bool is_down);
void xdotool_release_pressed(struct xdotool_run *run);
/* --clearmodifiers around something that is no key: nothing without the option. */
void xdotool_lift_modifiers(struct xdotool_run *run);
void xdotool_put_back_modifiers(struct xdotool_run *run);

/* The table */

const struct xdotool_spec *xdotool_specs(size_t *count);

/* Tells on_chain of the chain that is about to run, unless it only looks or follows too soon. */
void xdotool_tell_chain(struct xdotool_run *run);

/* Static checks and handlers, by file */

char *xdotool_check_keys(const struct xdotool_command *command);
char *xdotool_check_type(const struct xdotool_command *command);
void xdotool_do_key(struct xdotool_run *run);
void xdotool_do_keydown(struct xdotool_run *run);
void xdotool_do_keyup(struct xdotool_run *run);
void xdotool_do_type(struct xdotool_run *run);

char *xdotool_check_button(const struct xdotool_command *command);
char *xdotool_check_place(const struct xdotool_command *command);
void xdotool_do_click(struct xdotool_run *run);
void xdotool_do_mousedown(struct xdotool_run *run);
void xdotool_do_mouseup(struct xdotool_run *run);
void xdotool_do_mousemove(struct xdotool_run *run);
void xdotool_do_mousemove_relative(struct xdotool_run *run);
void xdotool_do_getmouselocation(struct xdotool_run *run);

char *xdotool_check_search(const struct xdotool_command *command);
void xdotool_do_search(struct xdotool_run *run);

void xdotool_do_getactivewindow(struct xdotool_run *run);
void xdotool_do_getwindowfocus(struct xdotool_run *run);
void xdotool_do_getwindowname(struct xdotool_run *run);
void xdotool_do_getwindowclassname(struct xdotool_run *run);
void xdotool_do_getwindowpid(struct xdotool_run *run);
void xdotool_do_getwindowgeometry(struct xdotool_run *run);

char *xdotool_check_move(const struct xdotool_command *command);
char *xdotool_check_size(const struct xdotool_command *command);
void xdotool_do_windowactivate(struct xdotool_run *run);
void xdotool_do_windowfocus(struct xdotool_run *run);
void xdotool_do_windowmap(struct xdotool_run *run);
void xdotool_do_windowunmap(struct xdotool_run *run);
void xdotool_do_windowminimize(struct xdotool_run *run);
void xdotool_do_windowraise(struct xdotool_run *run);
void xdotool_do_windowlower(struct xdotool_run *run);
void xdotool_do_windowclose(struct xdotool_run *run);
void xdotool_do_windowquit(struct xdotool_run *run);
void xdotool_do_windowkill(struct xdotool_run *run);
void xdotool_do_windowmove(struct xdotool_run *run);
void xdotool_do_windowsize(struct xdotool_run *run);

char *xdotool_check_state(const struct xdotool_command *command);
char *xdotool_check_set_window(const struct xdotool_command *command);
char *xdotool_check_reparent(const struct xdotool_command *command);
void xdotool_do_windowstate(struct xdotool_run *run);
void xdotool_do_set_window(struct xdotool_run *run);
void xdotool_do_windowreparent(struct xdotool_run *run);

char *xdotool_check_numbers(const struct xdotool_command *command);
void xdotool_do_getdisplaygeometry(struct xdotool_run *run);
void xdotool_do_get_desktop(struct xdotool_run *run);
void xdotool_do_set_desktop(struct xdotool_run *run);
void xdotool_do_get_num_desktops(struct xdotool_run *run);
void xdotool_do_set_num_desktops(struct xdotool_run *run);
void xdotool_do_get_desktop_for_window(struct xdotool_run *run);
void xdotool_do_set_desktop_for_window(struct xdotool_run *run);
void xdotool_do_get_desktop_viewport(struct xdotool_run *run);
void xdotool_do_set_desktop_viewport(struct xdotool_run *run);

char *xdotool_check_sleep(const struct xdotool_command *command);
char *xdotool_refuse(const struct xdotool_command *command);
void xdotool_do_sleep(struct xdotool_run *run);
void xdotool_print_commands(struct xdotool_run *run);
void xdotool_do_help(struct xdotool_run *run);
void xdotool_do_version(struct xdotool_run *run);

#endif
