/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What viewers say, cut into messages; what is said to them, and in which order; the measure of their
   links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "display/frame.h"
#include "takeover/link_rate.h"
#include "takeover/live_encoder.h"
#include "takeover/rfb.h"
#include "takeover/rfb_caps.h"
#include "takeover/rfb_extensions.h"
#include "takeover/rfb_reader.h"
#include "takeover/rfb_update.h"
#include "takeover/scancodes.h"
#include "takeover/vnc_auth.h"

/* The reader */

static void expect(struct rfb_reader *reader, enum rfb_kind kind, struct rfb_message *message)
{
	assert_int_equal(rfb_reader_next(reader, message), RFB_READ_MESSAGE);
	assert_int_equal(message->kind, kind);
}

static void reads_the_handshake(void **state)
{
	static const struct {
		const char *text;
		int minor;
	} versions[] = {{"RFB 003.003\n", 3}, {"RFB 003.005\n", 3}, {"RFB 003.007\n", 7},
		{"RFB 003.008\n", 8}, {"RFB 003.889\n", 3}, {"RFB 003.130\n", 8}};
	struct rfb_message message;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct rfb_reader reader = {0};
		rfb_reader_feed(&reader, versions[i].text, 12);
		expect(&reader, RFB_KIND_VERSION, &message);
		assert_int_equal(message.minor, versions[i].minor);
		rfb_reader_finish(&reader);
	}
	struct rfb_reader reader = {0};
	rfb_reader_feed(&reader, "GET / HTTP/1.1", 14);
	assert_int_equal(rfb_reader_next(&reader, &message), RFB_READ_BAD);
	rfb_reader_finish(&reader);
}

static const uint8_t conversation[] = {
	/* SetPixelFormat: 16 bits */
	0, 0, 0, 0, 16, 16, 1, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0, 0, 0, 0,
	/* SetEncodings: Tight, Raw */
	2, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0,
	/* an update request */
	3, 1, 0, 1, 0, 2, 3, 4, 5, 6,
	/* a key, a QEMU key */
	4, 1, 0, 0, 0, 0, 0xff, 0x0d, 255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 0x9c,
	/* pointers: a plain one, an extended one */
	5, 5, 0, 10, 0, 20, 5, 0x81, 0, 10, 0, 20, 3,
	/* cut texts: plain, extended */
	6, 0, 0, 0, 0, 0, 0, 3, 'a', 'b', 'c', 6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfa, 8, 0, 0, 1, 'x', 'y',
	/* continuous updates, a fence, a size, power */
	150, 1, 0, 0, 0, 0, 5, 0, 3, 32, 248, 0, 0, 0, 0x80, 0, 0, 1, 2, 'p', 'q', 251, 0, 4, 0, 3, 0, 1,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 3, 0, 0, 0, 0, 0, 250, 0, 1, 2};

static void check_conversation(struct rfb_reader *reader, size_t piece)
{
	static const enum rfb_kind kinds[] = {RFB_KIND_PIXEL_FORMAT, RFB_KIND_ENCODINGS,
		RFB_KIND_UPDATE_REQUEST, RFB_KIND_KEY, RFB_KIND_QEMU_KEY, RFB_KIND_POINTER,
		RFB_KIND_POINTER, RFB_KIND_CUT_TEXT, RFB_KIND_CLIPBOARD, RFB_KIND_CONTINUOUS,
		RFB_KIND_FENCE, RFB_KIND_DESKTOP_SIZE, RFB_KIND_IGNORED};
	size_t seen = 0;
	struct rfb_message message;
	for (size_t at = 0; at < sizeof(conversation); at += piece) {
		size_t left = sizeof(conversation) - at;
		rfb_reader_feed(reader, conversation + at, left < piece ? left : piece);
		enum rfb_read read;
		while ((read = rfb_reader_next(reader, &message)) == RFB_READ_MESSAGE) {
			assert_int_equal(message.kind, kinds[seen]);
			if (message.kind == RFB_KIND_PIXEL_FORMAT)
				assert_int_equal(message.format.red_shift, 11);
			if (message.kind == RFB_KIND_UPDATE_REQUEST)
				assert_int_equal(message.height, 0x506);
			if (message.kind == RFB_KIND_QEMU_KEY)
				assert_int_equal(message.keycode, 0x9c);
			if (message.kind == RFB_KIND_POINTER)
				assert_int_equal(message.buttons, seen == 5 ? 5 : 1 | 3 << 7);
			if (message.kind == RFB_KIND_CUT_TEXT)
				assert_memory_equal(message.data, "abc", 3);
			if (message.kind == RFB_KIND_CLIPBOARD)
				assert_int_equal(message.flags, RFB_CLIP_NOTIFY | RFB_CLIP_TEXT);
			if (message.kind == RFB_KIND_FENCE)
				assert_memory_equal(message.data, "pq", 2);
			if (message.kind == RFB_KIND_DESKTOP_SIZE)
				assert_int_equal(message.width, 1024);
			seen++;
		}
		assert_int_equal(read, RFB_READ_MORE);
	}
	assert_int_equal(seen, sizeof(kinds) / sizeof(kinds[0]));
}

static void reads_messages_in_pieces_of_any_size(void **state)
{
	for (size_t piece = 1; piece <= sizeof(conversation); piece++) {
		struct rfb_reader reader = {
			.phase = RFB_PHASE_NORMAL, .text_max = 1000, .has_extended_pointer = true};
		check_conversation(&reader, piece);
		rfb_reader_finish(&reader);
	}
}

static void skips_texts_that_are_too_long_without_keeping_them(void **state)
{
	struct rfb_reader reader = {.phase = RFB_PHASE_NORMAL, .text_max = 10};
	struct rfb_message message;
	static const uint8_t head[] = {6, 0, 0, 0, 0, 1, 0, 0}, key[] = {4, 1, 0, 0, 0, 0, 0, 0x61};
	uint8_t chunk[1000] = {0};
	rfb_reader_feed(&reader, head, sizeof(head));
	expect(&reader, RFB_KIND_TEXT_TOO_LONG, &message);
	for (size_t left = 65536; left > 0;) {
		size_t size = left < sizeof(chunk) ? left : sizeof(chunk);
		rfb_reader_feed(&reader, chunk, size);
		assert_int_equal(reader.input.len, 0);
		left -= size;
	}
	rfb_reader_feed(&reader, key, sizeof(key));
	expect(&reader, RFB_KIND_KEY, &message);
	rfb_reader_finish(&reader);
}

static void refuses_what_is_no_message(void **state)
{
	static const uint8_t bad[][12] = {{7}, {255, 1}, {248, 0, 0, 0, 0, 0, 0, 0, 65}, {100}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rfb_reader reader = {.phase = RFB_PHASE_NORMAL};
		struct rfb_message message;
		rfb_reader_feed(&reader, bad[i], sizeof(bad[i]));
		assert_int_equal(rfb_reader_next(&reader, &message), RFB_READ_BAD);
		rfb_reader_finish(&reader);
	}
}

/* Capabilities */

static void put32(uint8_t *out, int32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)((uint32_t)value >> (24 - 8 * i));
}

static struct rfb_caps caps_of(const int32_t *list, size_t count)
{
	uint8_t data[64];
	struct rfb_caps caps;
	for (size_t i = 0; i < count; i++)
		put32(data + 4 * i, list[i]);
	rfb_caps_read(&caps, data, 4 * count);
	return caps;
}

static void reads_capabilities(void **state)
{
	const int32_t novnc[] = {1, 50, 7, 16, 0, -26, -254, -313, -312};
	struct rfb_caps caps = caps_of(novnc, 9);
	assert_int_equal(caps.lossless, RFB_ENCODING_TIGHT);
	assert_int_equal(caps.quality_level, 6);
	assert_int_equal(caps.compress_level, 2);
	assert_true(caps.has_h264 && caps.has_continuous && caps.has_fence);
	const int32_t zrle[] = {0, 16, 7};
	assert_int_equal(caps_of(zrle, 3).lossless, RFB_ENCODING_ZRLE);
	const int32_t without_tight[] = {5, -26};
	assert_int_equal(caps_of(without_tight, 2).quality_level, -1);
	const int32_t without_fence[] = {7, -313};
	assert_false(caps_of(without_fence, 2).has_continuous);
	assert_int_equal(caps_of(NULL, 0).lossless, RFB_ENCODING_RAW);
}

/* Texts */

static void carries_texts_both_ways(void **state)
{
	const char *text = "Grüße\n你好 😀";
	struct buffer out = {0};
	rfb_put_clipboard_text(&out, text, strlen(text));
	assert_int_equal(out.data[0], RFB_SERVER_CUT_TEXT);
	size_t size = (size_t)(0u - rfb_get32(out.data + 4)), len = 0;
	assert_int_equal(size + 8, out.len);
	char *back = rfb_read_clipboard_text(
		rfb_get32(out.data + 8), out.data + 12, out.len - 12, &len);
	assert_non_null(back);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(back, text, len);
	free(back);
	/* cut off, it is no text */
	assert_null(rfb_read_clipboard_text(RFB_CLIP_TEXT, out.data + 12, 5, &len));
	assert_null(rfb_read_clipboard_text(RFB_CLIP_TEXT, (const uint8_t *)"nonsense", 8, &len));
	buffer_finish(&out);
	char *latin = rfb_read_cut_text((const uint8_t *)"caf\xe9\r\n", 6, &len);
	assert_string_equal(latin, "café\n");
	assert_int_equal(len, 6);
	free(latin);
	rfb_put_cut_text(&out, "é你", 5);
	assert_int_equal(rfb_get32(out.data + 4), 2);
	assert_memory_equal(out.data + 8, "\xe9?", 2);
	buffer_finish(&out);
}

/* Keys and passwords */

static void knows_scan_codes(void **state)
{
	assert_int_equal(scancode_to_keycode(0x1e), 38);  /* A */
	assert_int_equal(scancode_to_keycode(0x9c), 104); /* Enter of the keypad */
	assert_int_equal(scancode_to_keycode(0xcb), 113); /* left */
	assert_int_equal(scancode_to_keycode(0), 0);
	assert_int_equal(scancode_to_keycode(0x12345), 0);
}

static void makes_vnc_responses(void **state)
{
	/* By openssl: des-ecb with the bits of each byte of the key in the other order. */
	static const uint8_t challenge[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	uint8_t short_one[16], long_one[16], other[16];
	vnc_auth_encrypt("password", challenge, short_one);
	vnc_auth_encrypt("password and more", challenge, long_one);
	vnc_auth_encrypt("Password", challenge, other);
	assert_memory_equal(short_one, long_one, 16);
	assert_memory_not_equal(short_one, other, 16);
}

/* Links */

#define MS 1000

/* Messages that are on their way over the link that is tried. */
static struct {
	struct {
		uint32_t id;
		int64_t at_us;
	} answers[8192];
	int first, count;
	int64_t free_us; /* when the link has sent what it was given */
} way;

static void begin_link(struct link_rate *link, int64_t now_us)
{
	way.first = way.count = 0;
	way.free_us = 0;
	link_rate_init(link, now_us);
}

/*
 * A link that takes `rate` bytes a second and needs `delay_us` each way, used as much as allowed for
 * `seconds`. Returns how many bytes were answered; *worst_us: the longest that one waited to be sent.
 */
static uint64_t run_link(struct link_rate *link, double rate, int64_t delay_us, double seconds,
	int64_t *now_us, int64_t *worst_us)
{
	int64_t end_us = *now_us + (int64_t)(seconds * 1e6);
	uint64_t begin = link->delivered;
	*worst_us = 0;
	for (; *now_us < end_us; *now_us += MS) {
		for (; way.first < way.count && way.answers[way.first].at_us <= *now_us; way.first++)
			link_rate_acked(link, way.answers[way.first].id, *now_us);
		while (link_rate_may_send(link, *now_us)) {
			size_t size = link_rate_piece(link);
			way.free_us = way.free_us > *now_us ? way.free_us : *now_us;
			way.free_us += (int64_t)((double)size / rate * 1e6);
			if (way.free_us - *now_us > *worst_us)
				*worst_us = way.free_us - *now_us;
			assert_true(way.count < 8192);
			way.answers[way.count].id = link_rate_sent(link, size, *now_us);
			way.answers[way.count++].at_us = way.free_us + 2 * delay_us;
		}
		if (way.first > 4096) {
			way.count -= way.first;
			memmove(way.answers, way.answers + way.first,
				sizeof(way.answers[0]) * (size_t)way.count);
			way.first = 0;
		}
	}
	return link->delivered - begin;
}

static void fills_links_without_queueing_on_them(void **state)
{
	static const struct {
		double rate;
		int64_t delay_us;
	} links[] = {{50e3, 20 * MS}, {1e6, 75 * MS}, {20e6, 5 * MS}, {100e6, 1 * MS}, {84e3, 150 * MS}};
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct link_rate link;
		int64_t now_us = 1000000, worst_us;
		begin_link(&link, now_us);
		run_link(&link, links[i].rate, links[i].delay_us, 8, &now_us, &worst_us);
		uint64_t bytes =
			run_link(&link, links[i].rate, links[i].delay_us, 4, &now_us, &worst_us);
		/* at least 80 % of it used, and what is sent now waits less than 400 ms for its turn */
		assert_true((double)bytes > links[i].rate * 4 * 0.8);
		assert_true(worst_us < 400 * MS);
	}
}

static void notices_that_a_link_got_worse_and_better(void **state)
{
	struct link_rate link;
	int64_t now_us = 1000000, worst_us;
	begin_link(&link, now_us);
	run_link(&link, 5e6, 10 * MS, 5, &now_us, &worst_us);
	run_link(&link, 100e3, 10 * MS, 10, &now_us, &worst_us);
	run_link(&link, 100e3, 10 * MS, 3, &now_us, &worst_us);
	assert_true(worst_us < 400 * MS);
	run_link(&link, 5e6, 10 * MS, 3, &now_us, &worst_us);
	uint64_t bytes = run_link(&link, 5e6, 10 * MS, 3, &now_us, &worst_us);
	assert_true((double)bytes > 5e6 * 3 * 0.8);
}

static void quality_goes_down_soon_and_comes_back(void **state)
{
	struct link_rate link;
	int64_t now_us = 10000000;
	link_rate_init(&link, now_us);
	assert_int_equal(link_rate_tier(&link, now_us), 0);
	link_rate_note_lag(&link, now_us);
	assert_int_equal(link_rate_tier(&link, now_us), 1);
	link_rate_note_lag(&link, now_us + 100 * MS); /* one hiccup is one step */
	assert_int_equal(link_rate_tier(&link, now_us + 100 * MS), 1);
	link_rate_note_lag(&link, now_us + 900 * MS);
	assert_int_equal(link_rate_tier(&link, now_us + 900 * MS), 2);
	int64_t back_us = now_us;
	while (link_rate_tier(&link, back_us) > 0)
		back_us += 100 * MS;
	assert_true(back_us - now_us < 12000 * MS);
}

/*
 * Five seconds of 30 messages a second, of which one in `one_in` is lost and holds up what follows:
 * the worst tier of that time.
 */
static int worst_tier_on_a_bad_line(int64_t rtt_us, int one_in)
{
	enum { MESSAGES = 150 };
	struct link_rate link;
	int64_t answers_us[MESSAGES], now_us = 0;
	uint32_t ids[MESSAGES];
	int sent = 0, answered = 0, worst = 0;
	link_rate_init(&link, 0);
	while (answered < MESSAGES) {
		int64_t send_us = sent < MESSAGES ? 1000000 + sent * 33 * MS : INT64_MAX;
		if (answered < sent && answers_us[answered] <= send_us) {
			now_us = answers_us[answered];
			link_rate_acked(&link, ids[answered++], now_us);
			worst = link.tier > worst ? link.tier : worst;
			continue;
		}
		ids[sent] = link_rate_sent(&link, 4000, send_us);
		answers_us[sent] = send_us + (sent % one_in == one_in - 1 ? 2 : 1) * rtt_us;
		if (sent > 0 && answers_us[sent] < answers_us[sent - 1])
			answers_us[sent] = answers_us[sent - 1];
		sent++;
	}
	return worst;
}

static void a_lossy_long_line_gets_smaller_pictures(void **state)
{
	assert_int_equal(worst_tier_on_a_bad_line(150 * MS, 10), 1);
	assert_int_equal(worst_tier_on_a_bad_line(150 * MS, 60), 0);
	assert_int_equal(worst_tier_on_a_bad_line(30 * MS, 10), 0);
}

static void made_up_answers_change_nothing(void **state)
{
	struct link_rate link;
	link_rate_init(&link, 0);
	link_rate_acked(&link, 77, 10);
	uint32_t id = link_rate_sent(&link, 1000, 20);
	link_rate_acked(&link, id + 1, 30);
	link_rate_acked(&link, id - 1, 30);
	assert_int_equal(link.delivered, 0);
	link_rate_acked(&link, id, 40);
	link_rate_acked(&link, id, 50);
	assert_int_equal(link.delivered, 1000);
}

/* Pictures */

/* One update beside a packet that is larger than the budget. */
static void build_beside(struct rfb_update *update, struct live_packet *packet)
{
	struct buffer out = {0};
	bool has_motion = false;
	assert_true(rfb_update_build(update, NULL, 4096, &packet, 1, &out, &has_motion));
	assert_true(has_motion);
	buffer_finish(&out);
}

static void what_waits_has_its_part_beside_a_film(void **state)
{
	enum { WIDTH = 640, HEIGHT = 480, PACKET = 20000 };
	uint32_t *pixels = xcalloc(WIDTH * HEIGHT, sizeof(*pixels));
	struct frame frame = {.width = WIDTH, .height = HEIGHT, .stride = WIDTH * 4,
		.pixels = (const uint8_t *)pixels};
	struct live_packet *packet = xcalloc(1, sizeof(*packet) + PACKET);
	struct rfb_update update;
	rfb_library_init();
	rfb_update_init(&update, rfb_encoder_create(), NULL, "box", WIDTH, HEIGHT);
	update.caps.has_h264 = true;
	update.frame = &frame;
	update.hot = packet->rect = (struct rect){0, 0, WIDTH / 2, HEIGHT};
	packet->len = PACKET;
	pixman_region32_t changed;
	pixman_region32_init_rect(&changed, WIDTH / 2, 0, WIDTH / 2, HEIGHT);
	rfb_update_damage(&update, &changed);
	pixman_region32_fini(&changed);
	for (int i = 0; i < 100 && rfb_update_has_work(&update, NULL); i++)
		build_beside(&update, packet);
	assert_false(rfb_update_has_work(&update, NULL));
	update.frame = NULL; /* it is ours */
	rfb_update_finish(&update);
	free(packet);
	free(pixels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_handshake),
		cmocka_unit_test(reads_messages_in_pieces_of_any_size),
		cmocka_unit_test(skips_texts_that_are_too_long_without_keeping_them),
		cmocka_unit_test(refuses_what_is_no_message),
		cmocka_unit_test(reads_capabilities),
		cmocka_unit_test(carries_texts_both_ways),
		cmocka_unit_test(knows_scan_codes),
		cmocka_unit_test(makes_vnc_responses),
		cmocka_unit_test(fills_links_without_queueing_on_them),
		cmocka_unit_test(notices_that_a_link_got_worse_and_better),
		cmocka_unit_test(quality_goes_down_soon_and_comes_back),
		cmocka_unit_test(a_lossy_long_line_gets_smaller_pictures),
		cmocka_unit_test(made_up_answers_change_nothing),
		cmocka_unit_test(what_waits_has_its_part_beside_a_film),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
