/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an agent may do, as values: parsed and checked whole from JSON before anything is sent. The
 * vocabularies of the two large vendors' computer-use tools are accepted as aliases (their facts are
 * in docs/actions.md). Pure; any thread.
 */
#ifndef DISPLAY_ACTION_H
#define DISPLAY_ACTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "display/keynames.h"
#include "display/rect.h"

enum action_type {
	ACTION_MOVE,
	ACTION_CLICK,
	ACTION_BUTTON_DOWN,
	ACTION_BUTTON_UP,
	ACTION_DRAG,
	ACTION_SCROLL,
	ACTION_KEY,
	ACTION_KEY_DOWN,
	ACTION_KEY_UP,
	ACTION_HOLD_KEY,
	ACTION_TYPE,
	ACTION_PASTE,
	ACTION_WAIT,
	ACTION_WAIT_STABLE,
	ACTION_WAIT_CHANGE,
	ACTION_SCREENSHOT,
	ACTION_ZOOM,
	ACTION_CURSOR_POSITION,
};

struct action_point {
	int x, y; /* screen pixels */
};

struct action {
	enum action_type type;
	const char *name;              /* as the table of verbs has it; static */
	bool has_point;
	struct action_point point;     /* click, move, button, scroll: where */
	int button;                    /* 1..9 */
	bool is_kept;                  /* button_down, key_down: not let go at the batch's end */
	int count;                     /* clicks; presses of a key */
	struct action_point *path;     /* drag: at least two points; owned */
	size_t path_count;
	int steps_x, steps_y;          /* scroll: wheel clicks, right and down positive */
	struct key_chord *chords;      /* keys: pressed one after the other; owned */
	size_t chord_count;
	struct key_chord modifiers;    /* held around pointer actions; count 0: none */
	char *text;                    /* type, paste: UTF-8; owned */
	size_t text_len;
	bool via_paste;
	int delay_ms;                  /* type: between characters */
	int duration_ms;               /* wait, hold_key */
	int quiet_ms, timeout_ms;      /* wait_stable, wait_change */
	struct rect region;            /* zoom */
};

struct action_list {
	struct action *items;
	size_t count;
};

#define ACTION_COUNT_MAX  1000
#define ACTION_TEXT_MAX   (1u << 20)
#define ACTION_WAIT_MAX_MS 100000

/*
 * A double or triple click is none when a click at the same spot has gone before by less than this: the
 * toolkits count on. Chromium and others take up to 500 ms as one. So it waits for that.
 */
#define ACTION_CLICKS_APART_MS 550

/* What coordinates mean: the screen's size and the size of the picture that the caller saw (equal
   when it saw the screen itself). */
struct action_space {
	int screen_width, screen_height;
	int shown_width, shown_height;
};

/* A point of the screen in the picture's pixels: one that an action named is told as it was named. */
struct action_point action_point_shown(
	const struct action_space *space, struct action_point point);

/*
 * Parses one action, a list of them, or a vendor's wrapping of either ({"actions":[…]},
 * {"action":{…}}, {"input":{…}}, a tool_use block). Returns false with a sentence in
 * error[error_size] that names the action by its index and what is wrong; *out is empty then. Call
 * action_list_finish on *out in every case.
 */
bool action_list_parse(const json_t *value, const struct action_space *space,
	struct action_list *out, char *error, size_t error_size);
void action_list_finish(struct action_list *list);

/*
 * What action_list_parse takes, as JSON Schemas by name: "Action", one for each type made by the code that
 * parses them, and what they refer to, "Point" and "Keys". The caller's.
 */
json_t *action_schemas(void);

/* The canonical verbs, for documentation and its check; ends with NULL. */
const char *const *action_verbs(void);

#endif
