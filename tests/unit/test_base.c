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
#include "base/loop.h"

static void scrub_blanks_secrets(void **state)
{
	char line[] = "GET /box/1?t=abcDEF&x=1 authorization: Bearer zzz word=ok";
	log_scrub(line);
	assert_string_equal(line, "GET /box/1?t=******&x=1 authorization: ****** *** word=ok");
}

/* A chain of timers that each arm the next at once: files and posts must get their turn between. */
struct chain {
	struct loop *loop;
	struct loop_timer *timer;
	int links;
	bool is_post_run;
};

static void on_post(void *arg)
{
	struct chain *chain = arg;
	chain->is_post_run = true;
}

static void on_link(void *arg)
{
	struct chain *chain = arg;
	if (++chain->links == 1)
		loop_post(chain->loop, on_post, chain);
	if (chain->is_post_run || chain->links == 1000)
		loop_stop(chain->loop);
	else
		loop_timer_arm(chain->timer, 0);
}

static void timers_leave_room_for_posts(void **state)
{
	struct chain chain = {.loop = loop_create()};
	chain.timer = loop_timer_create(chain.loop, on_link, &chain);
	loop_timer_arm(chain.timer, 0);
	assert_true(loop_timer_is_armed(chain.timer));
	loop_run(chain.loop);
	assert_true(chain.is_post_run);
	assert_in_range(chain.links, 2, 5);
	loop_timer_arm(chain.timer, 0);
	loop_timer_disarm(chain.timer);
	assert_false(loop_timer_is_armed(chain.timer));
	loop_timer_destroy(chain.timer);
	loop_destroy(chain.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scrub_blanks_secrets),
		cmocka_unit_test(timers_leave_room_for_posts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
