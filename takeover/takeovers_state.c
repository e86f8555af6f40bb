/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that keeps takeovers, links and their clocks over a restart of the daemon. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "takeover/takeovers_private.h"
#include "takeover/viewers.h"
#define LOG_MODULE "takeover"
#include "base/log.h"

#define FILE_MAX (8u << 20)
#define FORMAT   1

static char *state_path(const struct takeovers *takeovers)
{
	return xasprintf("%s/takeover.json", takeovers->config.state_dir);
}

/* Tells one run of the machine from the next: the boot-time clock begins anew with each. */
static char *read_boot_id(void)
{
	char *text = NULL;
	size_t len;
	if (file_read_all("/proc/sys/kernel/random/boot_id", 4096, &text, &len) != 0)
		return xstrdup("");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static json_t *clock_json(struct takeovers *takeovers)
{
	char *boot_id = read_boot_id();
	int64_t now_us = lifetime_now(&takeovers->lifetime);
	json_t *json = json_pack("{s:s, s:I, s:I, s:I, s:I}", "boot_id", boot_id, "now_us",
		(json_int_t)now_us, "wall_us", (json_int_t)clock_wall_us(), "offset_us",
		(json_int_t)takeovers->lifetime.offset_us, "missed_us",
		(json_int_t)takeovers->lifetime.missed_us);
	free(boot_id);
	return json;
}

static json_t *takeover_json(const struct takeover *takeover)
{
	return json_pack("{s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:i, s:i}", "holder",
		(json_int_t)takeover->holder, "held_since_us", (json_int_t)takeover->held_since_us,
		"away_until_us", (json_int_t)takeover->away_until_us, "state",
		takeover_state_name(takeover->state), "window_us", (json_int_t)takeover->window_us,
		"ends_us", (json_int_t)takeover->ends_us, "first_opened_us",
		(json_int_t)takeover->first_opened_us, "held_us", (json_int_t)takeover->held_us,
		"extensions", takeover->extensions, "warned_s", takeover->warned_s);
}

void takeovers_save(struct takeovers *takeovers)
{
	json_t *records = json_array();
	const struct takeover_record *record;
	list_for_each (record, &takeovers->records, link)
		json_array_append_new(records, takeover_record_save(record));
	json_t *state = json_pack("{s:i, s:o, s:o, s:I, s:o, s:o}", "format", FORMAT, "clock",
		clock_json(takeovers), "takeover", takeover_json(&takeovers->takeover),
		"held_since_wall_us", (json_int_t)takeovers->held_since_wall_us, "records", records,
		"links", links_save(takeovers->links));
	char *text = json_dumps(state, JSON_COMPACT), *path = state_path(takeovers);
	int ret = text != NULL ? atomic_file_keep(path, text, strlen(text), 0600) : -ENOMEM;
	if (ret < 0 && takeovers->save_error == 0)
		log_error("cannot keep takeovers and links in %s: %s; until that is mended locks and "
			  "revocations end with a restart",
			path, strerror(-ret));
	takeovers->save_error = ret;
	takeovers->save_tried_us = clock_monotonic_us();
	free(path);
	free(text);
	json_decref(state);
}

/*
 * The clock goes on. In the same run of the machine its own clocks say what has passed; in another
 * only the wall clock does, and when that went backwards nobody knows: then everything is over.
 */
static bool load_clock(struct takeovers *takeovers, const json_t *saved)
{
	const char *boot_id;
	json_int_t now_us, wall_us, offset_us, missed_us;
	if (json_unpack((json_t *)(uintptr_t)saved, "{s:s, s:I, s:I, s:I, s:I}", "boot_id",
		    &boot_id, "now_us", &now_us, "wall_us", &wall_us, "offset_us", &offset_us,
		    "missed_us", &missed_us) != 0)
		return false;
	char *boot_now = read_boot_id();
	bool is_same_boot = boot_now[0] != '\0' && strcmp(boot_now, boot_id) == 0;
	free(boot_now);
	int64_t passed_us = clock_wall_us() - wall_us;
	if (is_same_boot) {
		takeovers->lifetime.offset_us = offset_us;
		takeovers->lifetime.missed_us = missed_us;
	} else {
		if (passed_us < 0)
			passed_us = (LINK_TTL_MAX_S + 1) * INT64_C(1000000);
		lifetime_init(&takeovers->lifetime, now_us + passed_us, clock_wall_us(),
			clock_boottime_us());
	}
	return true;
}

static bool load_takeover(struct takeovers *takeovers, const json_t *saved)
{
	struct takeover *takeover = &takeovers->takeover;
	const char *state;
	json_int_t holder, since, away, window, ends, opened, held;
	if (json_unpack((json_t *)(uintptr_t)saved,
		    "{s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:i, s:i}", "holder", &holder,
		    "held_since_us", &since, "away_until_us", &away, "state", &state, "window_us",
		    &window, "ends_us", &ends, "first_opened_us", &opened, "held_us", &held,
		    "extensions", &takeover->extensions, "warned_s", &takeover->warned_s) != 0 ||
		!takeover_state_parse(state, &takeover->state))
		return false;
	takeover->holder = (uint32_t)holder;
	takeover->held_since_us = since;
	takeover->away_until_us = away;
	takeover->window_us = window;
	takeover->ends_us = ends;
	takeover->first_opened_us = opened;
	takeover->held_us = held;
	return true;
}

static void load_records(struct takeovers *takeovers, const json_t *saved)
{
	for (size_t i = 0; i < json_array_size(saved); i++) {
		struct takeover_record *record = takeover_record_load(json_array_get(saved, i));
		if (record != NULL)
			list_append(&takeovers->records, &record->link);
	}
}

/* All sockets are gone: whoever held the screen is away, with the whole grace to come back. */
static void lose_sockets(struct takeovers *takeovers)
{
	struct takeover *takeover = &takeovers->takeover;
	if (takeover->holder == TAKEOVER_NOBODY)
		return;
	int64_t grace_ends_us = lifetime_now(&takeovers->lifetime) + takeover->grace_us;
	bool was_connected = takeover->state == TAKEOVER_CONNECTED || !takeover_is_alive(takeover);
	if (was_connected || takeover->away_until_us > grace_ends_us)
		takeover->away_until_us = grace_ends_us;
	if (takeover_is_alive(takeover)) {
		struct takeover_record *record =
			container_of(takeovers->records.next, struct takeover_record, link);
		takeover->state = record->state = TAKEOVER_AWAY;
	}
	if ((takeover->holder & VIEWER_SESSION_NATIVE) != 0)
		takeover_end_session(
			takeover, lifetime_now(&takeovers->lifetime), takeover->holder);
	takeovers->is_dirty = true;
}

static bool load(struct takeovers *takeovers, const json_t *state)
{
	const json_t *format = json_object_get(state, "format");
	if (json_integer_value(format) != FORMAT ||
		!load_clock(takeovers, json_object_get(state, "clock")) ||
		!load_takeover(takeovers, json_object_get(state, "takeover")))
		return false;
	load_records(takeovers, json_object_get(state, "records"));
	links_load(takeovers->links, json_object_get(state, "links"));
	takeovers->held_since_wall_us =
		json_integer_value(json_object_get(state, "held_since_wall_us"));
	if (takeover_is_alive(&takeovers->takeover) && list_is_empty(&takeovers->records))
		return false;
	lose_sockets(takeovers);
	return true;
}

/* What cannot be read is laid aside: a takeover is lost, but the box comes up. */
static void lay_aside(const char *path)
{
	char *aside = xasprintf("%s.bad", path);
	if (rename(path, aside) == 0)
		log_error("%s cannot be understood; it is %s now, and open takeovers and links are "
			  "lost",
			path, aside);
	free(aside);
}

void takeovers_load(struct takeovers *takeovers)
{
	char *path = state_path(takeovers), *text = NULL;
	size_t len;
	int ret = file_read_all(path, FILE_MAX, &text, &len);
	json_t *state = ret == 0 ? json_loadb(text, len, 0, NULL) : NULL;
	if (ret != 0 && ret != -ENOENT)
		log_error("cannot read %s: %s; open takeovers and links are lost", path,
			strerror(-ret));
	if (ret == 0 && (state == NULL || !load(takeovers, state))) {
		lay_aside(path);
		takeover_init(&takeovers->takeover, takeovers->takeover.grace_us,
			takeovers->takeover.on_effect, takeovers);
	}
	json_decref(state);
	free(text);
	free(path);
}
