/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a screenshot: what the descriptions of the call say is what they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/shot.h"

static void set(struct shot_options *options, const char *name, const char *value)
{
	char error[120];
	const char *fault = shot_option_set(options, name, value, error, sizeof(error));
	if (fault != NULL)
		fail_msg("%s=%s: %s", name, value, fault);
}

static void options_left_out_mean_what_their_rules_say(void **state)
{
	int count = 0;
	for (const struct value_rule *rule = shot_option_rules; rule->name != NULL; rule++) {
		struct shot_options options;
		if (rule->fallback == NULL)
			continue;
		memcpy(&options, &shot_defaults, sizeof(options));
		set(&options, rule->name, rule->fallback);
		if (memcmp(&options, &shot_defaults, sizeof(options)) != 0)
			fail_msg("without %s it is not %s", rule->name, rule->fallback);
		count++;
	}
	assert_in_range(count, 8, 20);
}

/* The choices stand in one table, what they mean in others. */
static void choices_mean_what_they_say(void **state)
{
	struct shot_options options = shot_defaults;
	set(&options, "format", "jpg");
	assert_int_equal(options.format, PICTURE_JPEG);
	set(&options, "format", "webp");
	assert_int_equal(options.format, PICTURE_WEBP);
	set(&options, "wait", "change");
	assert_int_equal(options.frame.wait, FRAME_WAIT_CHANGE);
	set(&options, "wait", "stable");
	assert_int_equal(options.frame.wait, FRAME_WAIT_STABLE);
	set(&options, "annotate", "grid");
	assert_true(options.has_grid);
	set(&options, "cursor", "1");
	assert_true(options.frame.want_cursor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_left_out_mean_what_their_rules_say),
		cmocka_unit_test(choices_mean_what_they_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
