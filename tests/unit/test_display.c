/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of display/'s pure parts: no X server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "display/activity.h"
#include "display/damage_history.h"
#include "display/display_probe.h"
#include "display/frame.h"
#include "display/frame_diff.h"

static void note(struct activity *activity, int x, int y, int w, int h, uint64_t serial, int64_t us)
{
	pixman_region32_t region;
	pixman_region32_init_rect(&region, x, y, (unsigned)w, (unsigned)h);
	activity_note(activity, &region, serial, us);
	pixman_region32_fini(&region);
}

static void activity_knows_when_an_area_changed(void **state)
{
	struct activity *activity = activity_create(300, 200);
	struct rect all = {0, 0, 300, 200}, corner = {256, 128, 44, 72}, outside = {400, 0, 9, 9};
	assert_true(activity_last_change_us(activity, &all) == INT64_MIN);
	assert_int_equal(activity_last_serial(activity, &all), 0);
	note(activity, 0, 0, 10, 10, 7, 1000);
	assert_int_equal(activity_last_change_us(activity, &all), 1000);
	assert_true(activity_last_change_us(activity, &corner) == INT64_MIN);
	note(activity, 299, 199, 1, 1, 9, 5000);
	assert_int_equal(activity_last_change_us(activity, &corner), 5000);
	assert_int_equal(activity_last_serial(activity, &corner), 9);
	assert_int_equal(activity_last_serial(activity, &all), 9);
	assert_int_equal(activity_last_serial(activity, &outside), 0);
	activity_destroy(activity);
}

static void activity_tells_what_changed_lately(void **state)
{
	struct activity *activity = activity_create(300, 200);
	struct rect changed = activity_changed_since(activity, INT64_MIN);
	assert_true(rect_is_empty(&changed));
	note(activity, 70, 0, 10, 10, 1, 1000);
	note(activity, 299, 199, 1, 1, 2, 5000);
	changed = activity_changed_since(activity, 1000);
	assert_true(rect_equals(&changed, &(struct rect){64, 0, 236, 200}));
	changed = activity_changed_since(activity, 1001);
	assert_true(rect_equals(&changed, &(struct rect){256, 192, 44, 8}));
	changed = activity_changed_since(activity, 5001);
	assert_true(rect_is_empty(&changed));
	activity_destroy(activity);
}

static void what_moves_becomes_hot_and_cools(void **state)
{
	struct activity *activity = activity_create(1280, 800);
	struct rect hot;
	int64_t now = 1000000;
	uint64_t serial = 1;
	for (int i = 0; i < 3; i++, now += 40000)
		note(activity, 130, 70, 100, 50, serial++, now);
	assert_false(activity_hot_rect(activity, now, &hot));
	note(activity, 130, 70, 100, 50, serial++, now);
	assert_true(activity_hot_rect(activity, now, &hot));
	struct rect expected = {128, 64, 128, 64};
	assert_true(rect_equals(&hot, &expected));
	assert_true(activity_hot_rect(activity, now + ACTIVITY_COOL_US, &hot));
	assert_false(activity_hot_rect(activity, now + ACTIVITY_COOL_US + 1, &hot));
	activity_destroy(activity);
}

static void a_blinking_caret_is_never_hot(void **state)
{
	struct activity *activity = activity_create(1280, 800);
	struct rect hot;
	for (int i = 0; i < 40; i++) {
		note(activity, 10, 10, 2, 16, (uint64_t)i + 1, i * 500000);
		assert_false(activity_hot_rect(activity, i * 500000, &hot));
	}
	activity_destroy(activity);
}

/* One rectangle for an encoder to live on: it grows at once and shrinks late. */
static void the_hot_rectangle_is_stable(void **state)
{
	struct activity *activity = activity_create(1280, 800);
	struct rect hot;
	uint64_t serial = 1;
	int64_t now = 0;
	for (int i = 0; i < 10; i++, now += 33000) {
		note(activity, 0, 0, 64, 64, serial, now);
		note(activity, 640, 400, 64, 64, serial++, now);
	}
	assert_true(activity_hot_rect(activity, now, &hot));
	int wide = hot.width;
	assert_int_equal(wide, 704);
	int64_t narrow_since = now;
	for (; now < narrow_since + ACTIVITY_SHRINK_US; now += 33000) {
		note(activity, 0, 0, 64, 64, serial++, now);
		assert_true(activity_hot_rect(activity, now, &hot));
		assert_int_equal(hot.width, wide);
	}
	for (int i = 0; i < 10; i++, now += 33000) {
		note(activity, 0, 0, 64, 64, serial++, now);
		assert_true(activity_hot_rect(activity, now, &hot));
	}
	assert_int_equal(hot.width, 64);
	activity_destroy(activity);
}

static struct frame make_frame(int width, int height, uint32_t color)
{
	size_t count = (size_t)width * (size_t)height;
	uint32_t *pixels = malloc(count * 4);
	assert_non_null(pixels);
	for (size_t i = 0; i < count; i++)
		pixels[i] = color;
	return (struct frame){.width = width,
		.height = height,
		.stride = width * 4,
		.pixels = (uint8_t *)pixels};
}

static void set_pixel(struct frame *frame, int x, int y, uint32_t color)
{
	memcpy((uint8_t *)(uintptr_t)frame->pixels + y * frame->stride + x * 4, &color, 4);
}

static void the_difference_is_found_in_its_tile(void **state)
{
	struct frame before = make_frame(150, 100, 0x00112233), after = make_frame(150, 100, 0x00112233);
	pixman_region32_t damage, out;
	pixman_region32_init_rect(&damage, 0, 0, 150, 100);
	pixman_region32_init(&out);
	frame_diff(&before, &after, &damage, &out);
	assert_false(pixman_region32_not_empty(&out));

	set_pixel(&after, 149, 99, 0x00112234);
	frame_diff(&before, &after, &damage, &out);
	const pixman_box32_t *box = pixman_region32_extents(&out);
	assert_int_equal(box->x1, 128);
	assert_int_equal(box->y1, 64);
	assert_int_equal(box->x2, 150);
	assert_int_equal(box->y2, 100);
	pixman_region32_fini(&damage);
	pixman_region32_fini(&out);
	free((void *)(uintptr_t)before.pixels);
	free((void *)(uintptr_t)after.pixels);
}

/* Case S04: 32-bit windows leave their alpha in the fourth byte, which nobody sees. */
static void the_fourth_byte_is_no_difference(void **state)
{
	struct frame before = make_frame(70, 70, 0x00336699), after = make_frame(70, 70, 0xff336699);
	pixman_region32_t damage, out;
	pixman_region32_init_rect(&damage, 0, 0, 70, 70);
	pixman_region32_init(&out);
	frame_diff(&before, &after, &damage, &out);
	assert_false(pixman_region32_not_empty(&out));
	pixman_region32_fini(&damage);
	pixman_region32_fini(&out);
	free((void *)(uintptr_t)before.pixels);
	free((void *)(uintptr_t)after.pixels);
}

/* Only tiles that the damage touches are looked at, and damage may reach outside the frame. */
static void damage_bounds_the_search(void **state)
{
	struct frame before = make_frame(200, 200, 0), after = make_frame(200, 200, 0);
	set_pixel(&after, 10, 10, 1);
	set_pixel(&after, 190, 190, 1);
	pixman_region32_t damage, out;
	pixman_region32_init_rect(&damage, -50, -50, 100, 100);
	pixman_region32_init(&out);
	frame_diff(&before, &after, &damage, &out);
	int count;
	pixman_box32_t *boxes = pixman_region32_rectangles(&out, &count);
	assert_int_equal(count, 1);
	assert_int_equal(boxes[0].x2, 64);
	pixman_region32_fini(&damage);
	pixman_region32_fini(&out);
	free((void *)(uintptr_t)before.pixels);
	free((void *)(uintptr_t)after.pixels);
}

static bool is_inside(const struct rect *area, int x, int y)
{
	return x >= area->x && x < area->x + area->width && y >= area->y &&
	       y < area->y + area->height;
}

/* Some pixels differ, others in rubbish only; compared with the plain way to find the extents. */
static void extents_are_exact(void **state)
{
	srand(1);
	for (int round = 0; round < 300; round++) {
		struct frame before = make_frame(1 + rand() % 90, 1 + rand() % 40, 0x00112233);
		struct frame after = make_frame(before.width, before.height, 0x55112233);
		struct rect area = {rand() % before.width, rand() % before.height,
			1 + rand() % before.width, 1 + rand() % before.height};
		struct rect found;
		int x1 = INT_MAX, y1 = INT_MAX, x2 = -1, y2 = -1;
		for (int i = rand() % 5; i > 0; i--) {
			int x = rand() % before.width, y = rand() % before.height;
			set_pixel(&after, x, y, 0x00112234);
			if (!is_inside(&area, x, y))
				continue;
			x1 = x < x1 ? x : x1;
			x2 = x > x2 ? x : x2;
			y1 = y < y1 ? y : y1;
			y2 = y > y2 ? y : y2;
		}
		found = area;
		frame_diff_extents(&before, &after, &found, &found);
		if (x2 < 0) {
			assert_true(rect_is_empty(&found));
		} else {
			assert_int_equal(found.x, x1);
			assert_int_equal(found.y, y1);
			assert_int_equal(found.width, x2 - x1 + 1);
			assert_int_equal(found.height, y2 - y1 + 1);
		}
		/* Growing what is known already finds the rest. */
		struct rect inside = rect_intersect(&area, &(struct rect){0, 0, before.width, before.height});
		struct rect grown = {inside.x + rand() % inside.width, inside.y + rand() % inside.height, 1, 1};
		x1 = grown.x < x1 ? grown.x : x1;
		x2 = grown.x > x2 ? grown.x : x2;
		y1 = grown.y < y1 ? grown.y : y1;
		y2 = grown.y > y2 ? grown.y : y2;
		frame_diff_grow(&before, &after, &area, &grown);
		assert_int_equal(grown.x, x1);
		assert_int_equal(grown.y, y1);
		assert_int_equal(grown.width, x2 - x1 + 1);
		assert_int_equal(grown.height, y2 - y1 + 1);
		free((void *)(uintptr_t)before.pixels);
		free((void *)(uintptr_t)after.pixels);
	}
}

static void add_change(struct damage_history *history, int y)
{
	pixman_region32_t region;
	pixman_region32_init_rect(&region, 0, y, 10, 1);
	damage_history_add(history, &region);
	pixman_region32_fini(&region);
}

static bool changed_rows_since(
	const struct damage_history *history, uint64_t serial, int *y1, int *y2)
{
	pixman_region32_t out;
	pixman_region32_init(&out);
	bool is_known = damage_history_since(history, serial, &out);
	*y1 = pixman_region32_extents(&out)->y1;
	*y2 = pixman_region32_extents(&out)->y2;
	pixman_region32_fini(&out);
	return is_known;
}

static void changes_are_remembered_for_a_few_frames(void **state)
{
	struct damage_history history;
	int y1, y2;
	damage_history_init(&history, 100);
	assert_false(changed_rows_since(&history, 0, &y1, &y2));
	assert_true(changed_rows_since(&history, 100, &y1, &y2));
	assert_int_equal(y2 - y1, 0);
	add_change(&history, 5); /* 101 */
	add_change(&history, 9); /* 102 */
	assert_true(changed_rows_since(&history, 101, &y1, &y2));
	assert_int_equal(y1, 9);
	assert_int_equal(y2, 10);
	assert_true(changed_rows_since(&history, 100, &y1, &y2));
	assert_int_equal(y1, 5);
	assert_int_equal(y2, 10);
	assert_false(changed_rows_since(&history, 99, &y1, &y2)); /* before its time */
	assert_false(changed_rows_since(&history, 103, &y1, &y2));
	for (int i = 0; i < DAMAGE_HISTORY_MAX - 1; i++)
		add_change(&history, 20);
	assert_false(changed_rows_since(&history, 100, &y1, &y2));
	assert_true(changed_rows_since(&history, 101, &y1, &y2));
	assert_int_equal(y1, 9);
	damage_history_finish(&history);
}

static void display_names_are_read(void **state)
{
	assert_int_equal(display_number(":99"), 99);
	assert_int_equal(display_number(":0.1"), 0);
	assert_int_equal(display_number("host:1"), -1);
	assert_int_equal(display_number(":"), -1);
	assert_int_equal(display_number(":9x"), -1);
	assert_int_equal(display_number(":99999999999"), -1);
	assert_int_equal(display_number(NULL), -1);
}

static void nobody_answers_on_an_unused_display(void **state)
{
	assert_false(display_probe(":64999"));
}

/* Case L05: a lock that names a live process which is no X server is stale too. */
static void stale_locks_are_removed(void **state)
{
	const char *lock = "/tmp/.X64998-lock";
	FILE *file = fopen(lock, "w");
	assert_non_null(file);
	fprintf(file, "%10d\n", (int)getpid());
	fclose(file);
	assert_int_equal(display_remove_stale(64998), 0);
	assert_int_not_equal(access(lock, F_OK), 0);
	assert_int_equal(display_remove_stale(64998), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activity_knows_when_an_area_changed),
		cmocka_unit_test(activity_tells_what_changed_lately),
		cmocka_unit_test(what_moves_becomes_hot_and_cools),
		cmocka_unit_test(a_blinking_caret_is_never_hot),
		cmocka_unit_test(the_hot_rectangle_is_stable),
		cmocka_unit_test(the_difference_is_found_in_its_tile),
		cmocka_unit_test(the_fourth_byte_is_no_difference),
		cmocka_unit_test(damage_bounds_the_search),
		cmocka_unit_test(extents_are_exact),
		cmocka_unit_test(changes_are_remembered_for_a_few_frames),
		cmocka_unit_test(display_names_are_read),
		cmocka_unit_test(nobody_answers_on_an_unused_display),
		cmocka_unit_test(stale_locks_are_removed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
