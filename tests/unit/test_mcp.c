/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of cli/mcp/rpc, and of cli/base64, by which its pictures travel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base64.h"
#include "cli/mcp/rpc.h"

/* Lines */

static void note_line(void *arg, const char *line, size_t len, bool is_whole)
{
	if (is_whole)
		assert_int_equal(line[len], '\0');
	else
		assert_memory_equal(line, "xxxx", 4); /* its beginning */
	buffer_printf(arg, "[%s]", is_whole ? line : "too long");
}

static void expect_lines(const char *stream, const char *expected)
{
	size_t len = strlen(stream);
	for (size_t step = 1; step <= len + 1; step++) {
		struct buffer seen = {0};
		struct rpc_lines lines = {.on_line = note_line, .arg = &seen};
		for (size_t at = 0; at < len; at += step)
			rpc_lines_feed(&lines, stream + at, at + step < len ? step : len - at);
		buffer_append(&seen, "", 1);
		assert_string_equal((const char *)seen.data, expected);
		buffer_finish(&seen);
		rpc_lines_finish(&lines);
	}
}

static void splits_lines(void **state)
{
	(void)state;
	expect_lines("a\nbc\n\nd", "[a][bc][]");
	expect_lines("\n", "[]");
	expect_lines("unfinished", "");
	expect_lines("{\"a\":1}\r\n{}\n", "[{\"a\":1}\r][{}]");
}

static void tells_a_line_that_is_too_long_once(void **state)
{
	(void)state;
	struct buffer seen = {0};
	struct rpc_lines lines = {.on_line = note_line, .arg = &seen};
	char *part = malloc(1 << 20);
	memset(part, 'x', 1 << 20);
	for (int i = 0; i < 40; i++)
		rpc_lines_feed(&lines, part, 1 << 20);
	assert_true(lines.line.capacity < RPC_LINE_MAX); /* it is not kept */
	rpc_lines_feed(&lines, "x\nnext\n", 7);
	buffer_append(&seen, "", 1);
	assert_string_equal((const char *)seen.data, "[too long][next]");
	buffer_finish(&seen);
	/* One of just the greatest length is whole. */
	for (int i = 0; i < 16; i++)
		rpc_lines_feed(&lines, part, 1 << 20);
	rpc_lines_feed(&lines, "\n", 1);
	assert_int_equal(seen.len, RPC_LINE_MAX + 2);
	buffer_finish(&seen);
	rpc_lines_finish(&lines);
	free(part);
}

/* Messages */

static struct rpc_message read_text(const char *text, json_t **json)
{
	struct rpc_message message;
	*json = json_loads(text, JSON_DECODE_ANY, NULL);
	assert_non_null(*json);
	rpc_read(*json, &message);
	return message;
}

static void expect(const char *text, enum rpc_kind kind, enum rpc_code code)
{
	json_t *json;
	struct rpc_message message = read_text(text, &json);
	assert_int_equal(message.kind, kind);
	if (kind == RPC_FAULTY) {
		assert_int_equal(message.code, code);
		assert_true(strlen(message.fault) > 10);
	}
	json_decref(json);
}

static void reads_messages(void **state)
{
	(void)state;
	expect("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", RPC_REQUEST, 0);
	expect("{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\",\"params\":{}}", RPC_REQUEST, 0);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", RPC_NOTIFICATION, 0);
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}", RPC_NOTIFICATION, 0);
	expect("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", RPC_RESPONSE, 0);
	expect("{\"jsonrpc\":\"2.0\",\"error\":{}}", RPC_RESPONSE, 0);
	expect("[]", RPC_FAULTY, RPC_INVALID_REQUEST);
	expect("{\"id\":1,\"method\":\"m\"}", RPC_FAULTY, RPC_INVALID_REQUEST);
	expect("{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_FAULTY, RPC_INVALID_REQUEST);
	expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", RPC_FAULTY, RPC_INVALID_REQUEST);
	expect("{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", RPC_FAULTY, RPC_INVALID_REQUEST);
	expect("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", RPC_FAULTY,
		RPC_INVALID_PARAMS);
}

static void expect_id(const char *line, const char *expected)
{
	json_t *id = rpc_find_id(line, strlen(line));
	char *text = id != NULL ? json_dumps(id, JSON_ENCODE_ANY) : NULL;
	if (expected == NULL)
		assert_null(text);
	else
		assert_string_equal(text != NULL ? text : "none", expected);
	free(text);
	json_decref(id);
}

/* What jansson refuses may be good JSON of other languages, or nearly. */
static void finds_ids_in_what_cannot_be_read(void **state)
{
	(void)state;
	static const char line[] = "{\"params\":{\"id\":1,\"x\":[{\"id\":2}],"
				   "\"y\":\"}\\\"\\u0000\"}, \"id\" : 7 ,\"m\":1}";
	expect_id(line, "7");
	expect_id("{\"id\":\"a\\\"b\",\"t\":\"\\ud800\"}", "\"a\\\"b\"");
	expect_id("{\"t\":1e999,\"id\":-3}", "-3");
	expect_id("{\"jsonrpc\":\"2.0\",\"id\":1,", "1"); /* cut */
	expect_id("{\"id\":12", NULL);                     /* of 123, perhaps */
	expect_id("{\"id\":\"ab", NULL);
	expect_id("{\"id\":", NULL);
	expect_id("{\"id\"", NULL);
	expect_id("{\"id", NULL);
	expect_id("{\"x\":\"\\", NULL);
	expect_id("{\"id\":1,\"id\":2}", NULL);
	expect_id("{\"x\":\"id\",\"id \":1,\"ID\":2}", NULL);
	for (size_t i = 0; i < 4; i++) {
		static const char *const values[] = {"null", "1.5", "{\"id\":1}", "\"\\ud800\""};
		char text[100];
		snprintf(text, sizeof(text), "{\"id\":%s,\"x\":1}", values[i]);
		expect_id(text, NULL);
	}
	expect_id("[{\"id\":1}]", NULL);
	expect_id("nonsense {\"id\":1}", NULL);
	expect_id("", NULL);
	for (size_t len = 0; len < sizeof(line); len++) { /* no byte behind the end is looked at */
		char *cut = malloc(len > 0 ? len : 1);
		memcpy(cut, line, len);
		json_decref(rpc_find_id(cut, len));
		free(cut);
	}
}

static void tells_ids_apart(void **state)
{
	(void)state;
	json_t *one = json_integer(1), *same = json_integer(1), *text = json_string("1");
	assert_true(rpc_id_equals(one, same));
	assert_false(rpc_id_equals(one, text));
	assert_false(rpc_id_equals(NULL, NULL));
	json_decref(one);
	json_decref(same);
	json_decref(text);
}

/* Base64 */

static void expect_base64(const char *bytes, const char *expected)
{
	struct buffer text = {0}, back = {0};
	base64_encode(bytes, strlen(bytes), &text);
	buffer_append(&text, "", 1);
	assert_string_equal((const char *)text.data, expected);
	assert_true(base64_decode(expected, &back));
	assert_int_equal(back.len, strlen(bytes));
	assert_memory_equal(back.data != NULL ? (const char *)back.data : "", bytes, back.len);
	buffer_finish(&text);
	buffer_finish(&back);
}

static void encodes_base64(void **state)
{
	(void)state;
	/* RFC 4648, section 10 */
	expect_base64("", "");
	expect_base64("f", "Zg==");
	expect_base64("fo", "Zm8=");
	expect_base64("foo", "Zm9v");
	expect_base64("foob", "Zm9vYg==");
	expect_base64("fooba", "Zm9vYmE=");
	expect_base64("foobar", "Zm9vYmFy");
	expect_base64("\xfb\xff\xfe", "+//+");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_lines),
		cmocka_unit_test(tells_a_line_that_is_too_long_once),
		cmocka_unit_test(reads_messages),
		cmocka_unit_test(finds_ids_in_what_cannot_be_read),
		cmocka_unit_test(tells_ids_apart),
		cmocka_unit_test(encodes_base64),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
