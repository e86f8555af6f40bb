/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of a takeover and the clock they run on, with a clock that the tests turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/lifetime.h"
#include "takeover/guesses.h"
#include "takeover/links.h"
#include "takeover/takeover.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define GRACE  (180 * SECOND)
#define WINDOW (30 * MINUTE)

/* A takeover, and what it told since it was asked last: H holder, S state, L left, E end, W warned.
 */
struct rig {
	struct takeover takeover;
	char told[200];
};

static void on_effect(void *arg, enum takeover_effect effect)
{
	struct rig *rig = arg;
	static const char letters[] = "HSLEW";
	size_t len = strlen(rig->told);
	rig->told[len] = letters[effect];
	rig->told[len + 1] = '\0';
}

static void rig_init(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	takeover_init(&rig->takeover, GRACE, on_effect, rig);
}

static void assert_told(struct rig *rig, const char *expected)
{
	assert_string_equal(rig->told, expected);
	rig->told[0] = '\0';
}

static void assert_state(const struct rig *rig, enum takeover_state state, uint32_t holder)
{
	assert_string_equal(takeover_state_name(rig->takeover.state), takeover_state_name(state));
	assert_int_equal(rig->takeover.holder, holder);
}

static void opened(struct rig *rig)
{
	rig_init(rig);
	takeover_open(&rig->takeover, 0, WINDOW);
	rig->told[0] = '\0';
}

/* Session 1 has taken over and is connected. */
static void connected(struct rig *rig, int64_t now)
{
	opened(rig);
	assert_int_equal(takeover_take(&rig->takeover, now, 1, 0), TAKEOVER_TAKEN);
	takeover_set_socket(&rig->takeover, now, 1, true);
	rig->told[0] = '\0';
}

static void passes_from_open_to_handed_back(void **state)
{
	struct rig rig;
	opened(&rig);
	assert_state(&rig, TAKEOVER_OPEN, 0);
	assert_int_equal(takeover_take(&rig.takeover, MINUTE, 1, 0), TAKEOVER_TAKEN);
	assert_told(&rig, "HES");
	assert_state(&rig, TAKEOVER_CONNECTED, 1);
	assert_false(takeover_is_away(&rig.takeover)); /* on their way */
	takeover_set_socket(&rig.takeover, MINUTE, 1, true);
	assert_false(takeover_is_away(&rig.takeover));
	assert_told(&rig, "");
	assert_true(takeover_hand_back(&rig.takeover, 3 * MINUTE, 1));
	assert_told(&rig, "HS");
	assert_state(&rig, TAKEOVER_HANDED_BACK, 0);
	assert_int_equal(takeover_held_us(&rig.takeover, 9 * MINUTE), 2 * MINUTE);
	assert_false(takeover_hand_back(&rig.takeover, 3 * MINUTE, 1));
	assert_int_equal(takeover_next_due(&rig.takeover), INT64_MAX);
}

static void lasts_thirty_minutes_and_thirty_from_the_first_opening(void **state)
{
	struct rig rig;
	opened(&rig);
	takeover_tick(&rig.takeover, WINDOW - 1);
	assert_state(&rig, TAKEOVER_OPEN, 0);
	takeover_tick(&rig.takeover, WINDOW);
	assert_state(&rig, TAKEOVER_EXPIRED, 0);
	assert_told(&rig, "S");

	connected(&rig, WINDOW - 1);
	takeover_tick(&rig.takeover, 2 * WINDOW - 2);
	assert_state(&rig, TAKEOVER_CONNECTED, 1);
	takeover_tick(&rig.takeover, 2 * WINDOW - 1);
	assert_state(&rig, TAKEOVER_EXPIRED, 0);
}

static void opening_again_does_not_begin_the_window_anew(void **state)
{
	struct rig rig;
	connected(&rig, 10 * MINUTE);
	takeover_set_socket(&rig.takeover, 12 * MINUTE, 1, false);
	takeover_tick(&rig.takeover, 12 * MINUTE + GRACE);
	assert_state(&rig, TAKEOVER_OPEN, 0);
	takeover_take(&rig.takeover, 20 * MINUTE, 2, 0);
	assert_int_equal(rig.takeover.ends_us, 40 * MINUTE);
}

static void away_keeps_the_lock_for_the_grace(void **state)
{
	struct rig rig;
	connected(&rig, 0);
	takeover_set_socket(&rig.takeover, MINUTE, 1, false);
	assert_told(&rig, "S");
	assert_state(&rig, TAKEOVER_AWAY, 1);
	assert_true(takeover_is_away(&rig.takeover));
	takeover_take(&rig.takeover, 2 * MINUTE, 1, 0); /* the button alone brings nobody back */
	assert_true(takeover_is_away(&rig.takeover));
	takeover_tick(&rig.takeover, MINUTE + GRACE - 1);
	assert_state(&rig, TAKEOVER_AWAY, 1);
	takeover_set_socket(&rig.takeover, MINUTE + GRACE - 1, 1, true);
	assert_told(&rig, "S");
	assert_state(&rig, TAKEOVER_CONNECTED, 1);
	takeover_set_socket(&rig.takeover, 10 * MINUTE, 1, false);
	takeover_tick(&rig.takeover, 10 * MINUTE + GRACE);
	assert_told(&rig, "SHL");
	assert_state(&rig, TAKEOVER_OPEN, 0);
}

static void a_press_without_a_socket_counts_for_little(void **state)
{
	struct rig rig;
	opened(&rig);
	takeover_take(&rig.takeover, 0, 1, 0);
	takeover_tick(&rig.takeover, TAKEOVER_SOCKET_US - 1);
	assert_state(&rig, TAKEOVER_CONNECTED, 1);
	assert_false(takeover_is_away(&rig.takeover));
	takeover_tick(&rig.takeover, TAKEOVER_SOCKET_US);
	assert_state(&rig, TAKEOVER_OPEN, 0);
	assert_false(takeover_is_away(&rig.takeover));
}

static void one_opened_while_somebody_comes_by_a_plain_link_is_connected(void **state)
{
	struct rig rig;
	rig_init(&rig);
	takeover_take(&rig.takeover, 0, 1, 0);
	takeover_open(&rig.takeover, 1, WINDOW);
	assert_state(&rig, TAKEOVER_CONNECTED, 1);
	takeover_set_socket(&rig.takeover, 2, 1, true);
	takeover_set_socket(&rig.takeover, 3, 1, false);
	takeover_cancel(&rig.takeover, 4);
	takeover_take(&rig.takeover, 5, 1, 0);
	takeover_set_socket(&rig.takeover, 6, 1, true);
	takeover_set_socket(&rig.takeover, 7, 1, false);
	takeover_open(&rig.takeover, 8, WINDOW);
	assert_state(&rig, TAKEOVER_AWAY, 1);
}

static void a_second_person_must_confirm(void **state)
{
	struct rig rig;
	connected(&rig, 0);
	assert_int_equal(takeover_take(&rig.takeover, MINUTE, 2, 0), TAKEOVER_HELD);
	assert_told(&rig, "");
	assert_int_equal(takeover_take(&rig.takeover, MINUTE, 1, 0), TAKEOVER_TAKEN);
	assert_told(&rig, "");
	assert_int_equal(takeover_take(&rig.takeover, MINUTE, 2, TAKEOVER_CONFIRM), TAKEOVER_TAKEN);
	assert_told(&rig, "HS");
	assert_state(&rig, TAKEOVER_CONNECTED, 2);
	/* The first one's socket, which goes now, and its wishes mean nothing. */
	takeover_set_socket(&rig.takeover, MINUTE, 1, false);
	assert_false(takeover_hand_back(&rig.takeover, MINUTE, 1));
	assert_false(takeover_extend(&rig.takeover, MINUTE, 1));
	assert_state(&rig, TAKEOVER_CONNECTED, 2);
}

static void extends_three_times_and_warns_anew(void **state)
{
	struct rig rig;
	connected(&rig, 0);
	takeover_tick(&rig.takeover, WINDOW - 5 * MINUTE);
	assert_told(&rig, "W");
	assert_int_equal(rig.takeover.warned_s, 300);
	takeover_tick(&rig.takeover, WINDOW - MINUTE);
	assert_told(&rig, "W");
	assert_int_equal(rig.takeover.warned_s, 60);
	for (int i = 1; i <= 3; i++) {
		assert_true(takeover_extend(&rig.takeover, WINDOW - MINUTE, 1));
		assert_int_equal(rig.takeover.ends_us, WINDOW + i * 10 * MINUTE);
	}
	assert_false(takeover_extend(&rig.takeover, WINDOW - MINUTE, 1));
	assert_told(&rig, "EEE");
	assert_int_equal(takeover_next_due(&rig.takeover), WINDOW + 25 * MINUTE);
	takeover_tick(&rig.takeover, WINDOW + 25 * MINUTE);
	assert_told(&rig, "W");
	takeover_tick(&rig.takeover, WINDOW + 30 * MINUTE);
	assert_told(&rig, "HS");
}

static void a_short_window_warns_only_of_what_it_has(void **state)
{
	struct rig rig;
	rig_init(&rig);
	takeover_open(&rig.takeover, 0, 90 * SECOND);
	takeover_take(&rig.takeover, 0, 1, 0);
	takeover_set_socket(&rig.takeover, 0, 1, true);
	rig.told[0] = '\0';
	takeover_tick(&rig.takeover, 29 * SECOND);
	assert_told(&rig, "");
	takeover_tick(&rig.takeover, 30 * SECOND);
	assert_told(&rig, "W");
	assert_int_equal(rig.takeover.warned_s, 60);
}

static void cancels(void **state)
{
	struct rig rig;
	connected(&rig, 0);
	assert_true(takeover_cancel(&rig.takeover, MINUTE));
	assert_told(&rig, "HS");
	assert_state(&rig, TAKEOVER_CANCELLED, 0);
	assert_false(takeover_cancel(&rig.takeover, MINUTE));
}

static void a_session_that_ends_lets_go(void **state)
{
	struct rig rig;
	connected(&rig, 0);
	takeover_end_session(&rig.takeover, MINUTE, 7);
	assert_told(&rig, "");
	takeover_end_session(&rig.takeover, MINUTE, 1);
	assert_told(&rig, "HL");
	assert_state(&rig, TAKEOVER_OPEN, 0);
}

static void a_plain_lease_needs_no_takeover(void **state)
{
	struct rig rig;
	rig_init(&rig);
	assert_int_equal(takeover_take(&rig.takeover, 0, 4, 0), TAKEOVER_TAKEN);
	assert_told(&rig, "H");
	takeover_set_socket(&rig.takeover, 0, 4, true);
	assert_false(takeover_extend(&rig.takeover, 0, 4));
	/* An agent that asks now has its person already. */
	takeover_open(&rig.takeover, MINUTE, WINDOW);
	assert_state(&rig, TAKEOVER_CONNECTED, 4);
	assert_int_equal(rig.takeover.ends_us, MINUTE + WINDOW);
	rig.told[0] = '\0';
	assert_true(takeover_hand_back(&rig.takeover, 2 * MINUTE, 4));
	assert_told(&rig, "HS");
	assert_int_equal(takeover_held_us(&rig.takeover, 2 * MINUTE), MINUTE);
	takeover_take(&rig.takeover, 3 * MINUTE, 4, 0);
	takeover_set_socket(&rig.takeover, 3 * MINUTE, 4, true);
	assert_true(takeover_hand_back(&rig.takeover, 3 * MINUTE, 4));
	assert_state(&rig, TAKEOVER_HANDED_BACK, 0);
}

static void a_native_viewer_starts_no_clock(void **state)
{
	struct rig rig;
	opened(&rig);
	takeover_take(&rig.takeover, 10 * MINUTE, 9, TAKEOVER_NO_CLOCK);
	assert_int_equal(rig.takeover.first_opened_us, -1);
	assert_int_equal(rig.takeover.ends_us, WINDOW);
}

static void a_frozen_time_is_over_in_one_step(void **state)
{
	struct rig rig;
	connected(&rig, 0);
	takeover_set_socket(&rig.takeover, MINUTE, 1, false);
	takeover_tick(&rig.takeover, 5 * HOUR);
	assert_told(&rig, "SHS");
	assert_state(&rig, TAKEOVER_EXPIRED, 0);
}

/* The clock */

static void clock_ignores_clocks_put_right(void **state)
{
	struct lifetime lifetime;
	const int64_t wall = 1700000000 * SECOND, boot = 1000 * SECOND;
	lifetime_init(&lifetime, 0, wall, boot);
	assert_int_equal(lifetime_at(&lifetime, wall + SECOND, boot + SECOND), SECOND);
	/* An hour forwards, an hour back, any step back, and a slow drift. */
	assert_int_equal(
		lifetime_at(&lifetime, wall + HOUR + 2 * SECOND, boot + 2 * SECOND), 2 * SECOND);
	assert_int_equal(lifetime_at(&lifetime, wall + 3 * SECOND, boot + 3 * SECOND), 3 * SECOND);
	assert_int_equal(lifetime_at(&lifetime, wall - 17 * MINUTE, boot + 4 * SECOND), 4 * SECOND);
	for (int i = 0; i < 600; i++)
		lifetime_at(&lifetime, wall - 17 * MINUTE + i * (SECOND + 300000),
			boot + (4 + i) * SECOND);
	assert_int_equal(lifetime_at(&lifetime, wall - 17 * MINUTE + 599 * (SECOND + 300000),
				 boot + 603 * SECOND),
		603 * SECOND);
}

static void clock_counts_what_a_machine_slept(void **state)
{
	struct lifetime lifetime;
	const int64_t wall = 1700000000 * SECOND, boot = 1000 * SECOND;
	lifetime_init(&lifetime, 0, wall, boot);
	/* Suspended: both go on. Frozen from outside: only the wall clock is set right afterwards.
	 */
	assert_int_equal(lifetime_at(&lifetime, wall + HOUR, boot + HOUR), HOUR);
	assert_int_equal(
		lifetime_at(&lifetime, wall + HOUR + 40 * MINUTE, boot + HOUR), HOUR + 40 * MINUTE);
	assert_int_equal(
		lifetime_at(&lifetime, wall + 2 * HOUR, boot + HOUR + 20 * MINUTE), 2 * HOUR);
}

/* Links */

struct ended {
	uint32_t sessions[200];
	int count;
	uint32_t busy;
};

static void on_session_end(void *arg, uint32_t session)
{
	struct ended *ended = arg;
	ended->sessions[ended->count++] = session;
}

static bool is_session_busy(void *arg, uint32_t session)
{
	struct ended *ended = arg;
	return session == ended->busy;
}

struct link_rig {
	struct lifetime lifetime;
	struct ended ended;
	struct links *links;
};

static void link_rig_init(struct link_rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	lifetime_init(&rig->lifetime, 0, clock_wall_us(), clock_boottime_us());
	const struct links_events events = {on_session_end, is_session_busy, &rig->ended};
	rig->links = links_create(&rig->lifetime, &events);
}

static void links_are_exact_and_tickets_single(void **state)
{
	struct link_rig rig;
	struct link_info info, session;
	char secret[LINK_SECRET_SIZE], key[LINK_SECRET_SIZE], ticket[LINK_SECRET_SIZE], wrong[64];
	link_rig_init(&rig);
	assert_true(links_mint(rig.links, VIEWER_CONTROL, HOUR, "", secret, &info));
	assert_int_equal(strlen(secret), 43);
	snprintf(wrong, sizeof(wrong), "%s12345", secret);
	assert_false(links_check(rig.links, LINK_KIND_LINK, wrong, &info));
	wrong[42] = '\0';
	assert_false(links_check(rig.links, LINK_KIND_LINK, wrong, &info));
	assert_false(links_check(rig.links, LINK_KIND_SESSION, secret, &info));
	for (int i = 0; i < 3; i++)
		assert_true(links_check(rig.links, LINK_KIND_LINK, secret, &session));
	assert_true(links_open_session(rig.links, &session, key));
	assert_true(links_check(rig.links, LINK_KIND_SESSION, key, &session));
	assert_true(links_give_ticket(rig.links, &session, ticket));
	assert_true(links_check(rig.links, LINK_KIND_TICKET, ticket, &info));
	assert_int_equal(info.session, session.session);
	assert_false(links_check(rig.links, LINK_KIND_TICKET, ticket, &info));
	assert_true(links_revoke(rig.links, session.id));
	assert_false(links_check(rig.links, LINK_KIND_SESSION, key, &info));
	assert_int_equal(rig.ended.count, 1);
	links_destroy(rig.links);
}

/* Every comparison of secrets goes through here (tests/meson.build). */
static struct {
	int calls;
	size_t bytes;
} compared;
int __real_CRYPTO_memcmp(const void *a, const void *b, size_t len);
int __wrap_CRYPTO_memcmp(const void *a, const void *b, size_t len);

int __wrap_CRYPTO_memcmp(const void *a, const void *b, size_t len)
{
	compared.calls++;
	compared.bytes += len;
	return __real_CRYPTO_memcmp(a, b, len);
}

/* That the time tells nothing, seen by what is done rather than by a clock: each secret, right or wrong
   in whatever way, is compared with all that are kept, in full, by a function that takes constant time. */
static void secrets_right_and_wrong_take_the_same_comparisons(void **state)
{
	enum { LINKS = 5, HASH = 32 };
	struct link_rig rig;
	struct link_info info, session;
	char secrets[LINKS][LINK_SECRET_SIZE], key[LINK_SECRET_SIZE], near[LINK_SECRET_SIZE];
	link_rig_init(&rig);
	for (int i = 0; i < LINKS; i++)
		assert_true(links_mint(
			rig.links, VIEWER_CONTROL, i == 2 ? SECOND : HOUR, "", secrets[i], &info));
	assert_true(links_check(rig.links, LINK_KIND_LINK, secrets[0], &session));
	assert_true(links_open_session(rig.links, &session, key));
	strcpy(near, secrets[0]);
	near[0] = near[0] == 'A' ? 'B' : 'A'; /* differs at once */
	char far[LINK_SECRET_SIZE];
	strcpy(far, secrets[0]);
	far[LINK_SECRET_SIZE - 3] = far[LINK_SECRET_SIZE - 3] == 'A' ? 'B' : 'A'; /* only in the end */
	rig.lifetime.missed_us += 2 * SECOND; /* secrets[2] is over now, but not forgotten yet */
	const struct {
		const char *secret;
		enum link_kind kind;
		bool is_right;
	} cases[] = {
		{secrets[0], LINK_KIND_LINK, true},
		{secrets[LINKS - 1], LINK_KIND_LINK, true},
		{key, LINK_KIND_SESSION, true},
		{secrets[2], LINK_KIND_LINK, false},
		{near, LINK_KIND_LINK, false},
		{far, LINK_KIND_LINK, false},
		{secrets[0], LINK_KIND_SESSION, false},
		{secrets[0], LINK_KIND_TICKET, false},
		{"", LINK_KIND_LINK, false},
		{"short", LINK_KIND_SESSION, false},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", LINK_KIND_LINK, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		compared.calls = 0;
		compared.bytes = 0;
		assert_int_equal(links_check(rig.links, cases[i].kind, cases[i].secret, &info),
			cases[i].is_right);
		assert_int_equal(compared.calls, LINKS + 1);
		assert_int_equal(compared.bytes, (LINKS + 1) * HASH);
	}
	links_destroy(rig.links);
}

static void links_end_in_time(void **state)
{
	struct link_rig rig;
	struct link_info info;
	char secret[LINK_SECRET_SIZE], key[LINK_SECRET_SIZE];
	link_rig_init(&rig);
	assert_true(links_mint(rig.links, VIEWER_CONTROL, 20 * SECOND, "t-1", secret, &info));
	assert_true(links_check(rig.links, LINK_KIND_LINK, secret, &info));
	assert_true(links_open_session(rig.links, &info, key));
	links_move_takeover(rig.links, "t-1", 30 * SECOND);
	rig.lifetime.missed_us += 21 * SECOND;
	assert_true(links_check(rig.links, LINK_KIND_SESSION, key, &info));
	rig.lifetime.missed_us += 9 * SECOND;
	assert_false(links_check(rig.links, LINK_KIND_SESSION, key, &info));
	assert_false(links_check(rig.links, LINK_KIND_LINK, secret, &info));
	assert_int_equal(links_tick(rig.links), INT64_MAX);
	assert_int_equal(rig.ended.count, 1);
	links_destroy(rig.links);
}

static void links_survive_a_restart_as_hashes(void **state)
{
	struct link_rig rig, other;
	struct link_info info, session;
	char secret[LINK_SECRET_SIZE], key[LINK_SECRET_SIZE];
	link_rig_init(&rig);
	link_rig_init(&other);
	links_mint(rig.links, VIEWER_CONTROL, HOUR, "t-1", secret, &info);
	links_check(rig.links, LINK_KIND_LINK, secret, &session);
	links_open_session(rig.links, &session, key);
	json_t *saved = links_save(rig.links);
	char *text = json_dumps(saved, 0);
	assert_null(strstr(text, secret));
	assert_null(strstr(text, key));
	free(text);
	links_load(other.links, saved);
	json_decref(saved);
	assert_true(links_check(other.links, LINK_KIND_LINK, secret, &info));
	assert_string_equal(info.takeover, "t-1");
	assert_true(links_check(other.links, LINK_KIND_SESSION, key, &info));
	assert_int_equal(info.session, session.session);
	assert_int_equal(links_next_session(other.links), session.session + 1);
	links_destroy(rig.links);
	links_destroy(other.links);
}

static void a_link_has_so_many_sessions_and_keeps_those_in_use(void **state)
{
	struct link_rig rig;
	struct link_info link, info;
	char secret[LINK_SECRET_SIZE], first[LINK_SECRET_SIZE], key[LINK_SECRET_SIZE];
	link_rig_init(&rig);
	links_mint(rig.links, VIEWER_CONTROL, HOUR, "t-1", secret, &link);
	info = link;
	links_open_session(rig.links, &info, first);
	rig.ended.busy = info.session;
	for (int i = 0; i < 150; i++) {
		info = link;
		assert_true(links_open_session(rig.links, &info, key));
	}
	assert_int_equal(rig.ended.count, 151 - 64);
	assert_true(links_check(rig.links, LINK_KIND_SESSION, first, &info));
	assert_true(links_check(rig.links, LINK_KIND_SESSION, key, &info));
	/* Reopening keeps the first link. */
	for (int i = 0; i < 50; i++)
		links_mint(rig.links, VIEWER_CONTROL, HOUR, "t-1", key, &info);
	assert_true(links_check(rig.links, LINK_KIND_LINK, secret, &info));
	links_destroy(rig.links);
}

static void guesses_are_slowed_down_by_address(void **state)
{
	struct guesses *guesses = guesses_create();
	for (int i = 0; i < 10; i++)
		assert_int_equal(guesses_note(guesses, i, "192.0.2.1"), 0);
	assert_int_equal(guesses_note(guesses, SECOND, "192.0.2.1"), 500);
	assert_int_equal(guesses_note(guesses, SECOND, "192.0.2.1"), 1000);
	assert_int_equal(guesses_note(guesses, SECOND, "192.0.2.2"), 0);
	for (int i = 0; i < 100; i++)
		guesses_note(guesses, SECOND, "192.0.2.1");
	assert_int_equal(guesses_note(guesses, SECOND, "192.0.2.1"), 5000);
	assert_int_equal(guesses_note(guesses, MINUTE, "192.0.2.1"), 0);
	/* A flood of addresses forgets the oldest, and grows nothing. */
	char address[20];
	for (int i = 0; i < 5000; i++) {
		snprintf(address, sizeof(address), "10.0.%d.%d", i / 256, i % 256);
		assert_int_equal(guesses_note(guesses, 2 * MINUTE + i, address), 0);
	}
	guesses_destroy(guesses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_from_open_to_handed_back),
		cmocka_unit_test(lasts_thirty_minutes_and_thirty_from_the_first_opening),
		cmocka_unit_test(opening_again_does_not_begin_the_window_anew),
		cmocka_unit_test(away_keeps_the_lock_for_the_grace),
		cmocka_unit_test(a_press_without_a_socket_counts_for_little),
		cmocka_unit_test(one_opened_while_somebody_comes_by_a_plain_link_is_connected),
		cmocka_unit_test(a_second_person_must_confirm),
		cmocka_unit_test(extends_three_times_and_warns_anew),
		cmocka_unit_test(a_short_window_warns_only_of_what_it_has),
		cmocka_unit_test(cancels),
		cmocka_unit_test(a_session_that_ends_lets_go),
		cmocka_unit_test(a_plain_lease_needs_no_takeover),
		cmocka_unit_test(a_native_viewer_starts_no_clock),
		cmocka_unit_test(a_frozen_time_is_over_in_one_step),
		cmocka_unit_test(clock_ignores_clocks_put_right),
		cmocka_unit_test(clock_counts_what_a_machine_slept),
		cmocka_unit_test(links_are_exact_and_tickets_single),
		cmocka_unit_test(secrets_right_and_wrong_take_the_same_comparisons),
		cmocka_unit_test(links_end_in_time),
		cmocka_unit_test(links_survive_a_restart_as_hashes),
		cmocka_unit_test(a_link_has_so_many_sessions_and_keeps_those_in_use),
		cmocka_unit_test(guesses_are_slowed_down_by_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
