/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens when a compressed strip cannot be joined to the next, which libdeflate has never
 * given cause for. This file's deflate_join takes the place of the real one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <png.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/log.h"
#include "capture/deflate_join.h"
#include "capture/picture.h"
#include "tests/unit/picture_rig.h"

static unsigned int scans;

int deflate_join_scan(const uint8_t *stream, size_t len, struct deflate_tail *out)
{
	__atomic_fetch_add(&scans, 1, __ATOMIC_RELAXED);
	return -EBADMSG;
}

size_t deflate_join_reopen(uint8_t *stream, const struct deflate_tail *tail)
{
	abort();
}

static void compresses_in_one_piece(void **state)
{
	struct pixels pixels = rig_make(RIG_TEXT, 1000, 600, 0, 1);
	const struct picture_meta meta = {0};
	struct buffer out = {0};
	assert_int_equal(picture_encode(&pixels, PICTURE_PNG, 0, 2, &meta, &out), 0);
	assert_true(scans > 0);
	png_image image = {.version = PNG_IMAGE_VERSION};
	assert_true(png_image_begin_read_from_memory(&image, out.data, out.len));
	image.format = PNG_FORMAT_BGRA;
	uint8_t *data = xmalloc(PNG_IMAGE_SIZE(image));
	assert_true(png_image_finish_read(&image, NULL, data, 0, NULL));
	struct pixels read = {.data = data, .width = 1000, .height = 600, .stride = 4000};
	for (int y = 0; y < 600; y++) {
		for (int x = 0; x < 1000; x++)
			assert_int_equal(rig_rgb(&read, x, y), rig_rgb(&pixels, x, y));
	}
	rig_free(&read);
	rig_free(&pixels);
	buffer_finish(&out);
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(compresses_in_one_piece),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
