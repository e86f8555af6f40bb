/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of base/json, json_schema and value_rule: what is read, and that the description says
 * so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/value_rule.h"

static const char *const sizes[] = {"small", "large", "huge", NULL};

struct wish {
	int count, size;
	bool is_loud;
	double share;
	const char *name;
	int width;
};

/* One of each kind, as a command reads them. */
static void read_wish(struct json_reader *reader, struct wish *wish)
{
	struct json_reader inner;
	*wish = (struct wish){.count = 3, .size = 1, .width = -1};
	json_read_int(reader, "count", 1, 9, &wish->count);
	json_read_choice(reader, "size", sizes, &wish->size);
	json_read_bool(reader, "loud", &wish->is_loud);
	json_read_double(reader, "share", 0, 1, &wish->share);
	if (!json_read_string(reader, "name", &wish->name))
		json_reader_fail(reader, "name", "is missing");
	const json_t *from = NULL, *to = NULL;
	bool has_from = json_read_any(reader, "from", &from),
	     has_to = json_read_any(reader, "to", &to);
	json_reader_explain(reader, "to", "{\"type\":\"array\"}");
	if (!has_from && !has_to)
		json_reader_fail_none(reader, "from", "from|to", "is missing beside to");
	if (!json_reader_enter(reader, "space", &inner))
		return;
	if (!json_read_int(&inner, "width", 1, 100, &wish->width))
		json_reader_fail(&inner, "width", "is missing");
	json_reader_leave(reader, "space", &inner);
}

static const char *reads(const char *text, struct wish *wish)
{
	static struct json_reader reader;
	static json_t *object;
	json_decref(object);
	object = json_loads(text, 0, NULL);
	json_reader_init(&reader, object, "");
	read_wish(&reader, wish);
	return json_reader_finish(&reader) ? "" : reader.error;
}

static void reads_what_is_there(void **state)
{
	struct wish wish;
	assert_string_equal(
		reads("{\"name\":\"a\",\"from\":1,\"count\":9,\"size\":\"huge\",\"loud\":true,"
		      "\"share\":0.5,\"space\":{\"width\":7}}",
			&wish),
		"");
	assert_int_equal(wish.count, 9);
	assert_int_equal(wish.size, 2);
	assert_true(wish.is_loud && wish.share == 0.5 && wish.width == 7);
	assert_string_equal(reads("{\"name\":\"a\",\"to\":1,\"count\":null}", &wish), "");
	assert_true(wish.count == 3 && wish.size == 1 && wish.width == -1);
}

static void names_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"{\"name\":\"a\",\"to\":1,\"count\":10}", "count: must be from 1 to 9"},
		{"{\"name\":\"a\",\"to\":1,\"size\":\"tiny\"}",
			"size: must be small, large or huge"},
		{"{\"name\":\"a\",\"to\":1,\"size\":1}", "size: must be a string"},
		{"{\"to\":1}", "name: is missing"},
		{"{\"name\":\"a\"}", "from: is missing beside to"},
		{"{\"name\":\"a\",\"to\":1,\"space\":{}}", "space.width: is missing"},
		{"{\"name\":\"a\",\"to\":1,\"space\":{\"width\":1,\"x\":1}}",
			"space.x: unknown member"},
		{"{\"name\":\"a\",\"to\":1,\"x\":1}", "x: unknown member"},
	};
	struct wish wish;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(reads(cases[i].text, &wish), cases[i].error);
}

static void expect_json(json_t *actual, const char *expected)
{
	json_t *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);
	char *text = json_dumps(actual, JSON_COMPACT | JSON_ENCODE_ANY);
	assert_non_null(wanted);
	if (!json_equal(actual, wanted))
		fail_msg("%s is not %s", text, expected);
	free(text);
	json_decref(wanted);
	json_decref(actual);
}

static void describes_what_it_would_read(void **state)
{
	struct wish wish;
	struct json_reader reader;
	json_reader_describe(&reader);
	read_wish(&reader, &wish);
	assert_true(json_reader_is_describing(&reader));
	expect_json(json_reader_take_schema(&reader),
		"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"name\"],"
		"\"properties\":{"
		"\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9,\"default\":3},"
		"\"size\":{\"enum\":[\"small\",\"large\",\"huge\"],\"default\":\"large\"},"
		"\"loud\":{\"type\":\"boolean\",\"default\":false},"
		"\"share\":{\"type\":\"number\",\"minimum\":0.0,\"maximum\":1.0},"
		"\"name\":{\"type\":\"string\"},\"from\":{},\"to\":{\"type\":\"array\"},"
		"\"space\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":["
		"\"width\"],"
		"\"properties\":{\"width\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}}}},"
		"\"allOf\":[{\"anyOf\":[{\"required\":[\"from\"]},{\"required\":[\"to\"]}]}]}");
	assert_false(json_reader_is_describing(&reader));
}

static const struct value_rule rules[] = {
	{"side", VALUE_INT, 16, 4096, .fallback = "320"},
	{"scale", VALUE_NUMBER, 0.01, 8, .fallback = "1"},
	{"cursor", VALUE_FLAG, .fallback = "0"},
	{"size", VALUE_CHOICE, .choices = sizes, .fallback = "large"},
	{"region", VALUE_TEXT, .pattern = "^[0-9]+$"},
	{NULL},
};

static void texts_are_held_against_their_rules(void **state)
{
	static const struct {
		const char *name, *text, *error;
		double value;
	} cases[] = {
		{"side", "16", "", 16},
		{"side", "4097", "side must be a whole number from 16 to 4096", 0},
		{"side", "16x", "side must be a whole number from 16 to 4096", 0},
		{"side", "", "side must be a whole number from 16 to 4096", 0},
		{"side", "99999999999999999999", "side must be a whole number from 16 to 4096", 0},
		{"scale", "0.5", "", 0.5},
		{"scale", "nan", "scale must be a number from 0.01 to 8", 0},
		{"scale", "9", "scale must be a number from 0.01 to 8", 0},
		{"cursor", "1", "", 1},
		{"cursor", "false", "", 0},
		{"cursor", "true", "", 1},
		{"cursor", "yes", "cursor must be 1 or 0", 0},
		{"size", "huge", "", 2},
		{"size", "", "size must be small, large or huge", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char error[100];
		const struct value_rule *rule = value_rule_find(rules, cases[i].name);
		const char *fault = value_rule_fault(rule, cases[i].text, error, sizeof(error));
		assert_string_equal(fault != NULL ? fault : "", cases[i].error);
		if (fault == NULL)
			assert_true(value_rule_value(rule, cases[i].text) == cases[i].value);
	}
	assert_null(value_rule_find(rules, "sides"));
	assert_null(value_rule_find(NULL, "side"));
}

static void rules_are_described(void **state)
{
	static const char *const expected[] = {
		"{\"type\":\"integer\",\"minimum\":16,\"maximum\":4096,\"default\":320}",
		"{\"type\":\"number\",\"minimum\":0.01,\"maximum\":8,\"default\":1}",
		"{\"enum\":[0,1,false,true],\"default\":0}",
		"{\"enum\":[\"small\",\"large\",\"huge\"],\"default\":\"large\"}",
		"{\"type\":\"string\",\"pattern\":\"^[0-9]+$\"}",
	};
	for (size_t i = 0; rules[i].name != NULL; i++)
		expect_json(value_rule_schema(&rules[i]), expected[i]);
}

static void bodies_of_too_many_values_are_refused_unparsed(void **state)
{
	char error[200] = "";
	for (size_t count = 99000; count <= 101000; count += 2000) {
		char *text = malloc(2 * count + 32);
		assert_non_null(text);
		strcpy(text, "{\"a\":[1");
		size_t len = strlen(text);
		for (size_t i = 1; i < count; i++, len += 2)
			memcpy(text + len, ",1", 2);
		memcpy(text + len, "]}", 3);
		json_t *body = json_parse_body(text, len + 2, error, sizeof(error));
		assert_int_equal(body != NULL, count < 100000);
		json_decref(body);
		/* In a text commas are but letters. */
		memset(text, ',', len);
		memcpy(text, "{\"a\":\"", 6);
		memcpy(text + len, "\"}", 3);
		body = json_parse_body(text, len + 2, error, sizeof(error));
		assert_non_null(body);
		json_decref(body);
		free(text);
	}
	assert_string_equal(error, "the body has more than 100000 values; send it in parts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_is_there),
		cmocka_unit_test(bodies_of_too_many_values_are_refused_unparsed),
		cmocka_unit_test(names_what_is_wrong),
		cmocka_unit_test(describes_what_it_would_read),
		cmocka_unit_test(texts_are_held_against_their_rules),
		cmocka_unit_test(rules_are_described),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
