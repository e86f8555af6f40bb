/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of client/sse_reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/sse_reader.h"

static void note_event(void *arg, const struct sse_event *event)
{
	buffer_printf(arg, "[%s|%s|%s]", event->id, event->type, event->data);
}

static void expect_events(const char *stream, const char *expected)
{
	for (size_t step = 1; step <= 64; step *= 4) {
		struct buffer seen = {0};
		struct sse_reader reader = {.on_event = note_event, .arg = &seen};
		size_t len = strlen(stream);
		for (size_t at = 0; at < len; at += step)
			assert_true(sse_reader_feed(
				&reader, stream + at, at + step < len ? step : len - at));
		buffer_append(&seen, "", 1);
		assert_string_equal((const char *)seen.data, expected);
		buffer_finish(&seen);
		sse_reader_finish(&reader);
	}
}

static void reads_events(void **state)
{
	(void)state;
	expect_events("id: 1\nevent: shot\ndata: {\"a\":1}\n\n", "[1|shot|{\"a\":1}]");
	expect_events("id:1\r\ndata:x\r\n\r\ndata: y\r\n\r\n", "[1|message|x][1|message|y]");
	expect_events(
		": ping\n\n:\n\nevent: lost\n\ndata: a\ndata:\ndata: b\n\n", "[|message|a\n\nb]");
	expect_events("data\n\nretry: 5\nunknown: x\n\n", "[|message|]");
	expect_events("data: not ended", "");
}

/* "gap" has no id of its own: whoever asks again from its id must not start at the beginning. */
static void keeps_the_id_of_an_earlier_stream(void **state)
{
	(void)state;
	static const char stream[] = "event: gap\ndata: x\n\nid: 42\ndata: y\n\n";
	struct buffer seen = {0};
	struct sse_reader reader = {.on_event = note_event, .arg = &seen};
	sse_reader_resume(&reader, "41");
	assert_true(sse_reader_feed(&reader, stream, strlen(stream)));
	buffer_append(&seen, "", 1);
	assert_string_equal((const char *)seen.data, "[41|gap|x][42|message|y]");
	buffer_finish(&seen);
	sse_reader_finish(&reader);
}

static void refuses_endless_lines(void **state)
{
	(void)state;
	static char block[64 * 1024];
	memset(block, 'x', sizeof(block));
	struct buffer seen = {0};
	struct sse_reader reader = {.on_event = note_event, .arg = &seen};
	int fed = 0;
	while (fed < 100 && sse_reader_feed(&reader, block, sizeof(block)))
		fed++;
	assert_in_range(fed, 1, 20);
	sse_reader_finish(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_events),
		cmocka_unit_test(keeps_the_id_of_an_earlier_stream),
		cmocka_unit_test(refuses_endless_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
