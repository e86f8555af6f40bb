/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of base/: no X, no network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

static void scrub_blanks_secrets(void **state)
{
	char line[] = "GET /box/1?t=abcDEF&x=1 authorization: Bearer zzz word=ok";
	log_scrub(line);
	assert_string_equal(line, "GET /box/1?t=******&x=1 authorization: ****** *** word=ok");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scrub_blanks_secrets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
