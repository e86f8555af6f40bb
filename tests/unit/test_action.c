/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the action vocabulary and the way of a drag: pure, no X server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "display/action.h"
#include "display/drag_path.h"

static const struct action_space full = {1280, 800, 1280, 800};

static bool parse_in(const char *json, const struct action_space *space, struct action_list *list,
	char error[300])
{
	json_error_t fault;
	json_t *value = json_loads(json, 0, &fault);
	assert_non_null(value);
	error[0] = '\0';
	bool is_good = action_list_parse(value, space, list, error, 300);
	json_decref(value);
	return is_good;
}

static struct action only(const char *json)
{
	static struct action_list list;
	char error[300];
	action_list_finish(&list);
	if (!parse_in(json, &full, &list, error))
		fail_msg("%s: %s", json, error);
	assert_int_equal(list.count, 1);
	return list.items[0];
}

static void refuse(const char *json, const char *expected)
{
	struct action_list list;
	char error[300];
	bool is_good = parse_in(json, &full, &list, error);
	action_list_finish(&list);
	if (is_good || strstr(error, expected) == NULL)
		fail_msg("%s: expected \"%s\", got \"%s\"", json, expected, is_good ? "ok" : error);
}

static void every_canonical_verb_is_known(void **state)
{
	const char *const *verbs = action_verbs();
	for (size_t i = 0; verbs[i] != NULL; i++) {
		json_t *value = json_pack("{s:s, s:i}", "type", verbs[i], "nosuchmember", 1);
		struct action_list list;
		char error[300];
		assert_false(action_list_parse(value, &full, &list, error, sizeof(error)));
		assert_null(strstr(error, "there is no action"));
		json_decref(value);
	}
}

static void clicks_of_both_vendors_are_the_same(void **state)
{
	struct action action = only("{\"action\":\"left_click\",\"coordinate\":[5,6]}");
	assert_int_equal(action.type, ACTION_CLICK);
	assert_int_equal(action.button, 1);
	assert_int_equal(action.point.x, 5);
	action = only("{\"type\":\"click\",\"x\":5,\"y\":6,\"button\":\"wheel\"}");
	assert_int_equal(action.button, 2);
	assert_int_equal(action.point.y, 6);
	action = only("{\"action\":\"triple_click\"}");
	assert_int_equal(action.count, 3);
	assert_false(action.has_point);
	action = only("{\"action\":\"right_click\",\"coordinate\":[1,2],\"text\":\"ctrl+shift\"}");
	assert_int_equal(action.button, 3);
	assert_int_equal(action.modifiers.count, 2);
	assert_true(only("{\"action\":\"left_mouse_down\"}").is_kept);
	assert_false(only("{\"type\":\"button_down\"}").is_kept);
}

static void scrolls_count_in_wheel_steps(void **state)
{
	struct action action = only("{\"action\":\"scroll\",\"coordinate\":[1,1],"
				    "\"scroll_direction\":\"left\",\"scroll_amount\":3}");
	assert_int_equal(action.steps_x, -3);
	action = only("{\"type\":\"scroll\",\"x\":1,\"y\":1,\"scroll_x\":0,\"scroll_y\":-250}");
	assert_int_equal(action.steps_x, 0);
	assert_int_equal(action.steps_y, -3);
	action = only("{\"type\":\"scroll\",\"x\":1,\"y\":1,\"scroll_x\":7,\"scroll_y\":0}");
	assert_int_equal(action.steps_x, 1);
	action = only("{\"type\":\"scroll\",\"dy\":-2}");
	assert_int_equal(action.steps_y, -2);
	refuse("{\"type\":\"scroll\",\"x\":1,\"y\":1}", "actions[0].dy: is missing");
	refuse("{\"action\":\"scroll\",\"scroll_direction\":\"north\"}", "up, down, left or right");
}

static void keys_may_be_text_or_list(void **state)
{
	struct action action = only("{\"action\":\"key\",\"text\":\"ctrl+s alt+Tab\"}");
	assert_int_equal(action.chord_count, 2);
	assert_int_equal(action.chords[0].count, 2);
	action = only("{\"type\":\"keypress\",\"keys\":[\"CTRL\",\"A\"]}");
	assert_int_equal(action.chord_count, 1);
	assert_int_equal(action.chords[0].count, 2);
	assert_int_equal(only("{\"type\":\"key\",\"keys\":\" \"}").chords[0].keysyms[0], 0x20);
	action = only("{\"action\":\"hold_key\",\"text\":\"a\",\"duration\":1.5}");
	assert_int_equal(action.duration_ms, 1500);
	refuse("{\"type\":\"key\",\"keys\":\"a nosuch\"}", "nosuch");
	refuse("{\"type\":\"key\"}", "actions[0].keys: is missing");
	refuse("{\"type\":\"hold_key\",\"keys\":\"a\"}", "ms");
	refuse("{\"type\":\"hold_key\",\"keys\":\"a\",\"duration\":101}", "duration");
}

/* Picture 606x1280 of a 1440x3040 screen (case S15): picture points map to screen points. */
static void coordinates_are_scaled_from_the_picture(void **state)
{
	const struct action_space scaled = {1440, 3040, 606, 1280};
	struct action_list list;
	char error[300];
	assert_true(parse_in("{\"type\":\"click\",\"x\":414,\"y\":1069}", &scaled, &list, error));
	assert_int_equal(list.items[0].point.x, 984);
	assert_int_equal(list.items[0].point.y, 2539);
	action_list_finish(&list);
	assert_true(parse_in("{\"type\":\"move\",\"x\":606,\"y\":1280}", &scaled, &list, error));
	assert_int_equal(list.items[0].point.x, 1439);
	assert_int_equal(list.items[0].point.y, 3039);
	action_list_finish(&list);
}

/* What cursor_position tells is the pixel that was moved to. */
static void points_come_back_as_they_were_given(void **state)
{
	static const struct action_space spaces[] = {{3840, 2160, 1568, 882}, {1571, 900, 1568, 898},
		{900, 3000, 470, 1568}, {1280, 800, 1280, 800}, {640, 480, 640, 1}};
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		int height = spaces[i].shown_height;
		for (int x = 0; x < spaces[i].shown_width; x++) {
			struct action_list list;
			char error[300], json[100];
			snprintf(json, sizeof(json), "{\"type\":\"move\",\"x\":%d,\"y\":%d}", x,
				x % height);
			assert_true(parse_in(json, &spaces[i], &list, error));
			struct action_point shown =
				action_point_shown(&spaces[i], list.items[0].point);
			assert_int_equal(shown.x, x);
			assert_int_equal(shown.y, x % height);
			action_list_finish(&list);
		}
	}
	const struct action_space larger = {640, 480, 1280, 960};
	assert_int_equal(action_point_shown(&larger, (struct action_point){639, 479}).x, 1278);
	const struct action_space smaller = {640, 480, 64, 48};
	assert_int_equal(action_point_shown(&smaller, (struct action_point){639, 479}).x, 63);
}

static void points_outside_are_errors(void **state)
{
	assert_int_equal(only("{\"type\":\"move\",\"x\":1280,\"y\":800}").point.x, 1279);
	refuse("{\"type\":\"move\",\"x\":1281,\"y\":0}", "lies outside the 1280x800 picture");
	refuse("{\"type\":\"move\",\"x\":-1,\"y\":0}", "lies outside");
	refuse("{\"type\":\"move\",\"x\":3}", "actions[0].y: is missing beside x");
	refuse("{\"type\":\"move\"}", "actions[0].x: is missing");
	refuse("{\"type\":\"move\",\"coordinate\":[1]}", "must be a point");
	refuse("{\"type\":\"move\",\"x\":1e300,\"y\":0}", "actions[0].x");
}

static void drags_take_a_path_or_two_ends(void **state)
{
	struct action action = only("{\"type\":\"drag\",\"path\":[{\"x\":1,\"y\":2},[3,4],[5,6]]}");
	assert_int_equal(action.path_count, 3);
	assert_int_equal(action.path[1].x, 3);
	action = only("{\"action\":\"left_click_drag\",\"start_coordinate\":[1,2],"
		      "\"coordinate\":[30,40]}");
	assert_int_equal(action.path_count, 2);
	assert_int_equal(action.path[0].x, 1);
	assert_int_equal(action.path[1].y, 40);
	assert_int_equal(
		only("{\"action\":\"left_click_drag\",\"coordinate\":[30,40]}").path_count, 1);
	refuse("{\"type\":\"drag\"}", "path: is missing");
	refuse("{\"type\":\"drag\",\"path\":[]}", "1 to 1000 points");
}

static void vendor_wrappings_come_off(void **state)
{
	assert_int_equal(only("{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"computer\","
			      "\"input\":{\"action\":\"screenshot\"}}")
				 .type,
		ACTION_SCREENSHOT);
	assert_int_equal(only("{\"type\":\"computer_call\",\"call_id\":\"c\","
			      "\"action\":{\"type\":\"wait\"}}")
				 .duration_ms,
		1000);
	assert_int_equal(only("[[{\"actions\":[{\"type\":\"screenshot\"}]}]]").type,
		ACTION_SCREENSHOT);
	/* As model_dump() of OpenAI's library writes a call: of "action" and "actions" one is null. */
	assert_int_equal(only("{\"type\":\"computer_call\",\"actions\":null,\"status\":null,"
			      "\"action\":{\"type\":\"move\",\"x\":7,\"y\":1,\"keys\":null}}")
				 .point.x,
		7);
	assert_int_equal(only("{\"type\":\"computer_call\",\"action\":null,\"input\":null,"
			      "\"actions\":[{\"type\":\"screenshot\"}]}")
				 .type,
		ACTION_SCREENSHOT);
}

static void texts_that_no_key_can_send_are_refused(void **state)
{
	assert_string_equal(only("{\"type\":\"type\",\"text\":\"-1\\tÄ\\n\"}").text, "-1\tÄ\n");
	refuse("{\"type\":\"type\",\"text\":\"ab\\u0001\"}", "U+0001 at character 2");
	refuse("{\"type\":\"type\"}", "actions[0].text: is missing");
	refuse("{\"type\":\"type\",\"text\":7}", "must be a string");
	refuse("{\"type\":\"type\",\"text\":\"x\",\"via\":\"mail\"}", "keys or paste");
}

static void unknown_things_are_named(void **state)
{
	refuse("[{\"type\":\"wait\"},{\"type\":\"fly\"}]", "actions[1].type: there is no action \"fly\"");
	refuse("{\"type\":\"click\",\"xx\":1}", "actions[0].xx: unknown member");
	refuse("{\"x\":1}", "is missing: what to do");
	refuse("[]", "nothing to do");
	refuse("[3]", "must be a JSON object");
}

static void a_drag_moves_enough_and_twice_within_the_target(void **state)
{
	const struct action_point ends[] = {{100, 100}, {300, 200}};
	struct drag_path path;
	drag_path_plan(&path, NULL, ends, 2);
	assert_true(path.count >= DRAG_STEPS && path.count <= DRAG_STEPS + 4);
	assert_int_equal(path.points[0].x, 100);
	assert_int_equal(path.points[path.count - 1].x, 300);
	assert_int_equal(path.points[path.count - 1].y, 200);
	int near = 0;
	for (size_t i = 0; i < path.count; i++)
		near += abs(path.points[i].x - 300) <= 3 && abs(path.points[i].y - 200) <= 3;
	assert_true(near >= 2);
	drag_path_finish(&path);

	drag_path_plan(&path, &ends[0], &ends[1], 1);
	assert_int_equal(path.points[0].x, 100);
	assert_int_equal(path.points[path.count - 1].x, 300);
	drag_path_finish(&path);
}

static void a_drag_on_one_spot_stays_there(void **state)
{
	const struct action_point spot[] = {{0, 0}, {0, 0}};
	struct drag_path path;
	drag_path_plan(&path, NULL, spot, 2);
	for (size_t i = 0; i < path.count; i++)
		assert_int_equal(path.points[i].x, 0);
	drag_path_finish(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_canonical_verb_is_known),
		cmocka_unit_test(clicks_of_both_vendors_are_the_same),
		cmocka_unit_test(scrolls_count_in_wheel_steps),
		cmocka_unit_test(keys_may_be_text_or_list),
		cmocka_unit_test(coordinates_are_scaled_from_the_picture),
		cmocka_unit_test(points_come_back_as_they_were_given),
		cmocka_unit_test(points_outside_are_errors),
		cmocka_unit_test(drags_take_a_path_or_two_ends),
		cmocka_unit_test(vendor_wrappings_come_off),
		cmocka_unit_test(texts_that_no_key_can_send_are_refused),
		cmocka_unit_test(unknown_things_are_named),
		cmocka_unit_test(a_drag_moves_enough_and_twice_within_the_target),
		cmocka_unit_test(a_drag_on_one_spot_stays_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
