/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of recordings, and files of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/encoder.h"
#include "capture/fragments.h"
#include "capture/mp4_finish.h"
#include "capture/pacer.h"
#include "capture/packet.h"
#include "capture/picture.h"

#define SECOND 1000000ll

static void frozen_time_is_left_out(void **state)
{
	struct awake_clock clock = {0};
	(void)state;
	assert_int_equal(awake_clock_now(&clock, 100 * SECOND), 100 * SECOND);
	assert_int_equal(awake_clock_now(&clock, 101 * SECOND), 101 * SECOND);
	/* A busy machine: late, but not frozen. */
	assert_int_equal(awake_clock_now(&clock, 104 * SECOND), 104 * SECOND);
	/* Two minutes of which a tick is not known to have been frozen. */
	assert_int_equal(awake_clock_now(&clock, 224 * SECOND), 105 * SECOND);
	assert_int_equal(awake_clock_now(&clock, 225 * SECOND), 106 * SECOND);
	/* A time of before the last question does not go back. */
	assert_int_equal(awake_clock_now(&clock, 224 * SECOND), 105 * SECOND);
	assert_int_equal(awake_clock_now(&clock, 226 * SECOND), 107 * SECOND);
}

static void pauses_and_idle_stretches_are_left_out(void **state)
{
	struct pacer pacer;
	int64_t cut = 0;
	(void)state;
	pacer_init(&pacer, 10 * SECOND, 2 * SECOND);
	assert_int_equal(pacer_advance(&pacer, 11 * SECOND, true, &cut), 1 * SECOND);
	assert_int_equal(cut, 0);
	assert_int_equal(pacer_advance(&pacer, 12 * SECOND, false, &cut), 2 * SECOND);
	assert_false(pacer_is_cutting(&pacer));
	assert_int_equal(pacer_advance(&pacer, 20 * SECOND, false, &cut), 3 * SECOND);
	assert_true(pacer_is_cutting(&pacer));
	assert_int_equal(pacer_advance(&pacer, 21 * SECOND, true, &cut), 3 * SECOND);
	assert_int_equal(cut, 8 * SECOND);
	pacer_pause(&pacer, 22 * SECOND);
	assert_int_equal(pacer_advance(&pacer, 50 * SECOND, false, &cut), 4 * SECOND);
	pacer_resume(&pacer, 60 * SECOND);
	assert_int_equal(pacer_advance(&pacer, 61 * SECOND, true, &cut), 5 * SECOND);
	assert_int_equal(cut, 0);
	/* Packets that are older than what was written on already. */
	assert_int_equal(pacer_advance(&pacer, 60 * SECOND, true, &cut), 5 * SECOND);
}

static void no_two_pictures_stand_in_one_place(void **state)
{
	(void)state;
	for (int fps = 1; fps <= 60; fps++) {
		struct frame_grid grid = {.fps = fps, .last_slot = -1};
		int64_t last = -1;
		for (int64_t us = 0; us < 20 * SECOND; us += us % 7 * 9000 + 1000) {
			int64_t tick = frame_grid_place(&grid, us);
			assert_true(tick > last);
			assert_true(last < 0 || tick - last >= FRAME_GRID_TICKS / fps);
			last = tick;
		}
	}
	struct frame_grid grid = {.fps = 30, .last_slot = -1};
	assert_int_equal(frame_grid_place(&grid, 0), 0);
	assert_int_equal(frame_grid_place(&grid, SECOND), 90000);
	assert_int_equal(frame_grid_place(&grid, SECOND + 10000), 93000);
	assert_int_equal(frame_grid_place(&grid, 2 * SECOND), 180000);
}

static struct packet *encode(struct encoder *encoder, int colour, bool is_key)
{
	uint8_t *data = malloc(64 * 64 * 4);
	memset(data, colour, 64 * 64 * 4);
	const struct pixels pixels = {data, 64, 64, 64 * 4};
	const struct encoder_wish wish = {.is_key = is_key};
	encoder_paint(encoder, &pixels, 0, 0);
	struct packet *packet = encoder_encode(encoder, &wish);
	assert_non_null(packet);
	free(data);
	return packet;
}

/* The sanitizers keep freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

static long resident_kb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* R19: two hours at ten pictures a second, with a faked clock. */
static void long_recordings_need_no_memory_and_end_at_once(void **state)
{
	const struct encoder_settings settings = {64, 64, ENCODER_BALANCED, 10};
	struct encoder *encoder = encoder_create(&settings);
	struct video_format format = {.width = 64, .height = 64};
	struct fragments *fragments;
	char path[] = "/tmp/test_recording.XXXXXX";
	int fd = mkstemp(path);
	(void)state;
	assert_non_null(encoder);
	format.extradata = encoder_extradata(encoder, &format.extradata_len);
	assert_int_equal(fragments_create(fd, &format, &fragments), 0);
	long before_kb = 0;
	for (int64_t i = 0; i < 2 * 3600 * 10; i++) {
		struct packet *packet = encode(encoder, (int)(i % 200), i % 100 == 0);
		fragments_add(fragments, packet, i * 9000);
		packet_unref(packet);
		if (i % 10 == 9)
			assert_int_equal(fragments_flush(fragments, (i + 1) * 9000), 0);
		if (i == 1000)
			before_kb = resident_kb();
	}
	assert_true(IS_SANITIZED || resident_kb() - before_kb < 10 * 1024);
	fragments_destroy(fragments);
	encoder_destroy(encoder);
	const struct mp4_notes none = {0};
	struct mp4_result result, probed;
	int64_t start_us = clock_monotonic_us();
	assert_int_equal(mp4_finish(path, &none, &none, &result), 0);
	/* 0.3 s here; what matters is that it is no function of the length in time. */
	assert_true(clock_monotonic_us() - start_us < 20 * SECOND);
	assert_int_equal(result.duration_ms, 2 * 3600 * 1000);
	assert_int_equal(mp4_probe(path, &probed), 0);
	assert_int_equal(probed.duration_ms, 2 * 3600 * 1000);
	unlink(path);
}

static void what_is_no_recording_is_left_alone(void **state)
{
	char path[] = "/tmp/test_recording.XXXXXX";
	int fd = mkstemp(path);
	const struct mp4_notes none = {0};
	struct mp4_result result;
	struct stat st;
	(void)state;
	assert_int_equal(write(fd, "no video at all", 15), 15);
	close(fd);
	assert_int_equal(mp4_finish(path, &none, &none, &result), -ENODATA);
	assert_int_equal(mp4_probe(path, &result), -ENODATA);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 15);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frozen_time_is_left_out),
		cmocka_unit_test(pauses_and_idle_stretches_are_left_out),
		cmocka_unit_test(no_two_pictures_stand_in_one_place),
		cmocka_unit_test(long_recordings_need_no_memory_and_end_at_once),
		cmocka_unit_test(what_is_no_recording_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
