/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/action_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

/* One browser wheel notch in the pixels that vendors scroll by. */
#define PIXELS_PER_STEP 100
#define STEPS_MAX       1000
#define PATH_MAX_POINTS 1000

/* action_private.h has what they refer to. */
#define KEYS_SCHEMA  "{\"$ref\":\"#/components/schemas/Keys\"}"
#define POINT_SCHEMA "{\"$ref\":\"#/components/schemas/Point\"}"

/* From the picture's pixels to the screen's; the far edge counts as the last pixel. */
static bool map_axis(double value, int shown, int screen, int *out)
{
	double mapped = floor(value * screen / shown + 0.5);
	if (!(mapped >= 0 && mapped <= screen))
		return false;
	*out = mapped >= screen ? screen - 1 : (int)mapped;
	return true;
}

/* The way back: to the nearest, as there, or a pixel would come back as the one before it. */
static int unmap_axis(int value, int shown, int screen)
{
	int mapped = (int)floor((double)value * shown / screen + 0.5);
	return mapped >= shown ? shown - 1 : mapped;
}

struct action_point action_point_shown(
	const struct action_space *space, struct action_point point)
{
	return (struct action_point){unmap_axis(point.x, space->shown_width, space->screen_width),
		unmap_axis(point.y, space->shown_height, space->screen_height)};
}

static bool map_point(struct action_parse *parse, const char *name, double x, double y,
	struct action_point *out)
{
	const struct action_space *space = parse->space;
	if (map_axis(x, space->shown_width, space->screen_width, &out->x) &&
		map_axis(y, space->shown_height, space->screen_height, &out->y))
		return true;
	json_reader_fail(&parse->reader, name, "%g,%g lies outside the %dx%d picture", x, y,
		space->shown_width, space->shown_height);
	return false;
}

/* [x, y] or {"x":…, "y":…}. */
static bool read_pair(struct action_parse *parse, const char *name, const json_t *value,
	struct action_point *out)
{
	const json_t *x = json_is_array(value) ? json_array_get(value, 0) : json_object_get(value, "x");
	const json_t *y = json_is_array(value) ? json_array_get(value, 1) : json_object_get(value, "y");
	if (!json_is_number(x) || !json_is_number(y) ||
		(json_is_array(value) && json_array_size(value) != 2) ||
		(json_is_object(value) && json_object_size(value) != 2)) {
		json_reader_fail(&parse->reader, name, "must be a point: [x, y]");
		return false;
	}
	return map_point(parse, name, json_number_value(x), json_number_value(y), out);
}

/* Where: "x" and "y", or "coordinate". */
static void read_point(struct action_parse *parse, bool is_needed)
{
	struct action *action = parse->action;
	const json_t *pair = NULL;
	double x = 0, y = 0;
	bool has_x = json_read_double(&parse->reader, "x", -1e6, 1e6, &x);
	bool has_y = json_read_double(&parse->reader, "y", -1e6, 1e6, &y);
	bool has_pair = json_read_any(&parse->reader, "coordinate", &pair);
	json_reader_explain(&parse->reader, "coordinate", POINT_SCHEMA);
	if (has_pair)
		action->has_point = read_pair(parse, "coordinate", pair, &action->point);
	else if (has_x && has_y)
		action->has_point = map_point(parse, "x,y", x, y, &action->point);
	else if (has_x || has_y)
		json_reader_fail(&parse->reader, has_x ? "y" : "x", "is missing beside %s",
			has_x ? "x" : "y");
	else if (is_needed)
		json_reader_fail_none(&parse->reader, "x", "x,y|coordinate",
			"is missing: give x and y in pixels");
}

static void read_button(struct action_parse *parse)
{
	static const struct {
		const char *name;
		int button;
	} names[] = {{"left", 1}, {"middle", 2}, {"wheel", 2}, {"right", 3}, {"back", 8},
		{"forward", 9}};
	const json_t *value = NULL;
	bool is_given = json_read_any(&parse->reader, "button", &value);
	json_reader_explain(&parse->reader, "button",
		"{\"enum\":[\"left\",\"middle\",\"wheel\",\"right\",\"back\",\"forward\",1,2,3,4,5,6,7,8,9]}");
	if (!is_given)
		return;
	if (json_is_integer(value) && json_integer_value(value) >= 1 &&
		json_integer_value(value) <= 9) {
		parse->action->button = (int)json_integer_value(value);
		return;
	}
	for (size_t i = 0; json_is_string(value) && i < ARRAY_LEN(names); i++) {
		if (strcmp(json_string_value(value), names[i].name) == 0) {
			parse->action->button = names[i].button;
			return;
		}
	}
	json_reader_fail(&parse->reader, "button",
		"must be left, middle, right, back, forward or a number from 1 to 9");
}

static bool parse_chord(struct action_parse *parse, const char *name, const char *text,
	struct key_chord *out)
{
	char error[200];
	if (keynames_parse_chord(text, out, error, sizeof(error)))
		return true;
	json_reader_fail(&parse->reader, name, "%s", error);
	return false;
}

/* A list of key names as one chord: each element is one key, or itself a chord. */
static bool chord_from_list(struct action_parse *parse, const char *name, const json_t *list,
	struct key_chord *out)
{
	size_t i;
	json_t *item;
	*out = (struct key_chord){0};
	json_array_foreach(list, i, item)
	{
		struct key_chord part;
		if (!json_is_string(item)) {
			json_reader_fail(&parse->reader, name, "must be a list of key names");
			return false;
		}
		if (!parse_chord(parse, name, json_string_value(item), &part))
			return false;
		for (int k = 0; k < part.count; k++) {
			if (out->count == KEY_CHORD_MAX) {
				json_reader_fail(&parse->reader, name, "has more than %d keys",
					KEY_CHORD_MAX);
				return false;
			}
			out->keysyms[out->count++] = part.keysyms[k];
		}
	}
	return true;
}

static void add_chord(struct action *action, const struct key_chord *chord)
{
	action->chords = xrealloc(
		action->chords, (action->chord_count + 1) * sizeof(action->chords[0]));
	action->chords[action->chord_count++] = *chord;
}

/* "ctrl+s", several chords with blanks between them; a lone blank is the space bar. */
static void chords_from_text(struct action_parse *parse, const char *name, const char *text)
{
	struct key_chord chord;
	if (strcmp(text, " ") == 0) {
		if (parse_chord(parse, name, "space", &chord))
			add_chord(parse->action, &chord);
		return;
	}
	for (const char *word = text + strspn(text, " "); *word != '\0';) {
		size_t len = strcspn(word, " ");
		char *part = xstrndup(word, len);
		bool is_good = parse_chord(parse, name, part, &chord);
		free(part);
		if (!is_good)
			return;
		add_chord(parse->action, &chord);
		word += len + strspn(word + len, " ");
	}
	if (parse->action->chord_count == 0)
		json_reader_fail(&parse->reader, name, "names no key");
}

/* The keys of a key action: "keys" (text or list), or the vendors' "text" and "key". */
static void read_keys(struct action_parse *parse)
{
	static const char *const names[] = {"keys", "key", "text"};
	const char *used = NULL;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const json_t *value = NULL;
		struct key_chord chord;
		bool is_given = json_read_any(&parse->reader, names[i], &value);
		json_reader_explain(&parse->reader, names[i], KEYS_SCHEMA);
		if (!is_given)
			continue;
		if (used != NULL) {
			json_reader_fail(&parse->reader, names[i], "stands beside %s", used);
			return;
		}
		used = names[i];
		if (json_is_string(value))
			chords_from_text(parse, names[i], json_string_value(value));
		else if (json_is_array(value) && json_array_size(value) > 0 &&
			 chord_from_list(parse, names[i], value, &chord))
			add_chord(parse->action, &chord);
		else
			json_reader_fail(
				&parse->reader, names[i], "must be a key such as \"ctrl+s\" or a list");
	}
	if (used == NULL)
		json_reader_fail_none(&parse->reader, "keys", "keys|key|text",
			"is missing: a key such as \"ctrl+s\"");
}

/* Keys held around a pointer action: "modifiers", or the vendors' "keys", "text" and "key". */
static void read_modifiers(struct action_parse *parse)
{
	static const char *const names[] = {"modifiers", "keys", "key", "text"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const json_t *value = NULL;
		bool is_given = json_read_any(&parse->reader, names[i], &value);
		json_reader_explain(&parse->reader, names[i], KEYS_SCHEMA);
		if (!is_given)
			continue;
		if (json_is_string(value) && json_string_length(value) == 0)
			continue;
		if (json_is_string(value))
			parse_chord(parse, names[i], json_string_value(value),
				&parse->action->modifiers);
		else if (json_is_array(value))
			chord_from_list(parse, names[i], value, &parse->action->modifiers);
		else
			json_reader_fail(&parse->reader, names[i],
				"must be a key such as \"ctrl\" or a list of keys");
	}
}

static void add_path_point(struct action *action, struct action_point point)
{
	action->path = xrealloc(action->path, (action->path_count + 1) * sizeof(action->path[0]));
	action->path[action->path_count++] = point;
}

static void read_path(struct action_parse *parse, const json_t *list)
{
	size_t i;
	json_t *item;
	struct action_point point;
	if (json_array_size(list) < 1 || json_array_size(list) > PATH_MAX_POINTS) {
		json_reader_fail(&parse->reader, "path", "must be a list of 1 to %d points",
			PATH_MAX_POINTS);
		return;
	}
	json_array_foreach(list, i, item)
	{
		if (!read_pair(parse, "path", item, &point))
			return;
		add_path_point(parse->action, point);
	}
	if (parse->action->path_count == 1) /* a press and a release at one spot */
		add_path_point(parse->action, point);
}

/* The point of that name, when it is there; `is_wanted`: else it is only known. */
static void read_path_end(struct action_parse *parse, const char *name, bool *is_wanted)
{
	const json_t *value = NULL;
	struct action_point point;
	bool is_given = json_read_any(&parse->reader, name, &value);
	json_reader_explain(&parse->reader, name, POINT_SCHEMA);
	if (is_given && *is_wanted && read_pair(parse, name, value, &point)) {
		add_path_point(parse->action, point);
		*is_wanted = false;
	}
}

/* "path", or start and end; without a start from where the pointer is. */
static void read_drag(struct action_parse *parse)
{
	static const char *const ends[] = {"coordinate", "end_coordinate", "to"};
	static const char *const starts[] = {"start_coordinate", "from"};
	const json_t *path = NULL;
	bool has_path = json_read_any(&parse->reader, "path", &path);
	bool wants_start = !has_path, wants_end = !has_path;
	json_reader_explain(&parse->reader, "path",
		"{\"type\":\"array\",\"items\":" POINT_SCHEMA ",\"minItems\":1,\"maxItems\":1000}");
	if (has_path)
		read_path(parse, path);
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		read_path_end(parse, starts[i], &wants_start);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		read_path_end(parse, ends[i], &wants_end);
	if (wants_end)
		json_reader_fail_none(&parse->reader, "path", "path|coordinate|end_coordinate|to",
			"is missing: a list of points, or start_coordinate and coordinate");
}

static int pixels_to_steps(double pixels)
{
	if (pixels == 0)
		return 0;
	double steps = floor(fabs(pixels) / PIXELS_PER_STEP + 0.5);
	if (steps < 1)
		steps = 1;
	return pixels > 0 ? (int)steps : -(int)steps;
}

static const char *const directions[] = {"up", "down", "left", "right", NULL};

static void read_amount(struct action_parse *parse, int direction)
{
	struct action *action = parse->action;
	int amount = 1;
	bool has_amount = json_read_int(&parse->reader, "scroll_amount", 0, STEPS_MAX, &amount);
	if (!has_amount)
		json_read_int(&parse->reader, "amount", 0, STEPS_MAX, &amount);
	int steps = direction % 2 == 0 ? -amount : amount;
	if (direction < 2)
		action->steps_y = steps;
	else
		action->steps_x = steps;
}

/* Wheel steps "dx","dy"; a direction and an amount; or the vendors' pixels "scroll_x","scroll_y". */
static void read_scroll(struct action_parse *parse)
{
	struct action *action = parse->action;
	struct json_reader *reader = &parse->reader;
	int direction = -1;
	double pixels_x = 0, pixels_y = 0;
	bool has_steps = json_read_int(reader, "dx", -STEPS_MAX, STEPS_MAX, &action->steps_x);
	has_steps |= json_read_int(reader, "dy", -STEPS_MAX, STEPS_MAX, &action->steps_y);
	bool has_pixels = json_read_double(reader, "scroll_x", -1e5, 1e5, &pixels_x);
	has_pixels |= json_read_double(reader, "scroll_y", -1e5, 1e5, &pixels_y);
	bool has_direction = json_read_choice(reader, "scroll_direction", directions, &direction) ||
			     json_read_choice(reader, "direction", directions, &direction);
	if (has_direction || json_reader_is_describing(reader))
		read_amount(parse, direction);
	if (has_pixels && !has_direction) {
		action->steps_x = pixels_to_steps(pixels_x);
		action->steps_y = pixels_to_steps(pixels_y);
	} else if (!has_steps && !has_direction) {
		json_reader_fail_none(reader, "dy",
			"dx|dy|direction|scroll_direction|scroll_x|scroll_y",
			"is missing: wheel steps dx and dy, or direction and amount");
	}
}

/* Whether every character can be sent; the fault names the first that cannot. */
static bool text_is_typable(struct action_parse *parse, const char *text, size_t len)
{
	size_t index = 0;
	for (size_t at = 0; at < len; index++) {
		uint32_t code_point = 0;
		size_t used = utf8_decode(text + at, len - at, &code_point);
		if (used == 0 || keysym_from_char(code_point) == 0) {
			json_reader_fail(&parse->reader, "text",
				"holds U+%04X at character %zu, which no key can send", code_point,
				index);
			return false;
		}
		at += used;
	}
	return true;
}

static void read_text(struct action_parse *parse)
{
	const char *text = NULL;
	if (!json_read_string(&parse->reader, "text", &text)) {
		json_reader_fail(&parse->reader, "text", "is missing: what to type");
		return;
	}
	parse->action->text_len = strlen(text);
	if (parse->action->text_len > ACTION_TEXT_MAX)
		json_reader_fail(&parse->reader, "text", "is longer than %u bytes", ACTION_TEXT_MAX);
	else if (text_is_typable(parse, text, parse->action->text_len))
		parse->action->text = xstrdup(text);
}

static void read_type(struct action_parse *parse)
{
	static const char *const ways[] = {"keys", "paste", NULL};
	int way = 0;
	read_text(parse);
	json_read_int(&parse->reader, "delay_ms", 0, 10000, &parse->action->delay_ms);
	json_read_choice(&parse->reader, "via", ways, &way);
	parse->action->via_paste = way == 1;
}

/* "ms", or the vendors' "duration" in seconds. */
static void read_duration(struct action_parse *parse, int default_ms)
{
	double seconds = 0;
	parse->action->duration_ms = default_ms;
	if (!json_read_int(
		    &parse->reader, "ms", 0, ACTION_WAIT_MAX_MS, &parse->action->duration_ms) &&
		json_read_double(
			&parse->reader, "duration", 0, ACTION_WAIT_MAX_MS / 1000, &seconds))
		parse->action->duration_ms = (int)(seconds * 1000 + 0.5);
	if (parse->action->duration_ms < 0)
		json_reader_fail_none(&parse->reader, "ms", "ms|duration",
			"is missing: how long, in milliseconds");
}

static void read_waits(struct action_parse *parse)
{
	struct action *action = parse->action;
	action->quiet_ms = 150;
	action->timeout_ms = 5000;
	json_read_int(&parse->reader, "quiet_ms", 10, 60000, &action->quiet_ms);
	json_read_int(&parse->reader, "timeout_ms", 0, 120000, &action->timeout_ms);
}

/* [x0, y0, x1, y1] in the caller's pixels. */
static void read_zoom(struct action_parse *parse)
{
	const json_t *value = NULL;
	struct action_point a, b;
	json_read_any(&parse->reader, "region", &value);
	json_reader_explain(&parse->reader, "region",
		"{\"type\":\"array\",\"items\":{\"type\":\"number\"},\"minItems\":4,\"maxItems\":4}");
	if (json_array_size(value) != 4) {
		json_reader_fail(&parse->reader, "region", "must be [x0, y0, x1, y1]");
		return;
	}
	double edges[4];
	for (size_t i = 0; i < 4; i++) {
		if (!json_is_number(json_array_get(value, i))) {
			json_reader_fail(&parse->reader, "region", "must be four numbers");
			return;
		}
		edges[i] = json_number_value(json_array_get(value, i));
	}
	if (!map_point(parse, "region", edges[0], edges[1], &a) ||
		!map_point(parse, "region", edges[2], edges[3], &b))
		return;
	parse->action->region = (struct rect){a.x, a.y, b.x - a.x, b.y - a.y};
	if (rect_is_empty(&parse->action->region))
		json_reader_fail(&parse->reader, "region", "is empty");
}

void action_read_members(struct action_parse *parse)
{
	struct action *action = parse->action;
	switch (action->type) {
	case ACTION_MOVE:
	case ACTION_BUTTON_DOWN:
	case ACTION_BUTTON_UP:
	case ACTION_CLICK:
		read_point(parse, action->type == ACTION_MOVE);
		read_modifiers(parse);
		if (action->type != ACTION_MOVE)
			read_button(parse);
		if (action->type == ACTION_CLICK)
			json_read_int(&parse->reader, "count", 1, 10, &action->count);
		if (action->type == ACTION_BUTTON_DOWN)
			json_read_bool(&parse->reader, "keep", &action->is_kept);
		break;
	case ACTION_DRAG:
		read_drag(parse);
		read_modifiers(parse);
		read_button(parse);
		break;
	case ACTION_SCROLL:
		read_point(parse, false);
		read_modifiers(parse);
		read_scroll(parse);
		break;
	case ACTION_KEY:
		read_keys(parse);
		json_read_int(&parse->reader, "count", 1, 1000, &action->count);
		break;
	case ACTION_KEY_DOWN:
	case ACTION_KEY_UP:
		read_keys(parse);
		json_read_bool(&parse->reader, "keep", &action->is_kept);
		break;
	case ACTION_HOLD_KEY:
		read_keys(parse);
		read_duration(parse, -1);
		break;
	case ACTION_TYPE:
		read_type(parse);
		break;
	case ACTION_PASTE:
		read_text(parse);
		action->via_paste = true;
		break;
	case ACTION_WAIT:
		read_duration(parse, 1000);
		break;
	case ACTION_WAIT_STABLE:
	case ACTION_WAIT_CHANGE:
		read_waits(parse);
		break;
	case ACTION_ZOOM:
		read_zoom(parse);
		break;
	case ACTION_SCREENSHOT:
	case ACTION_CURSOR_POSITION:
		break;
	}
}
