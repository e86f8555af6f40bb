/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/viewers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/loop.h"
#include "display/input_gate.h"
#include "display/live_source.h"
#include "display/privacy_card.h"
#include "display/screen.h"
#include "takeover/guesses.h"
#include "takeover/jpeg_share.h"
#include "takeover/link_rate.h"
#include "takeover/live_encoder.h"
#include "takeover/peer_link.h"
#include "takeover/rfb.h"
#include "takeover/steps.h"
#include "takeover/viewer.h"
#include "takeover/viewer_text.h"
#include "takeover/viewer_thread.h"
#include "takeover/viewers_private.h"
#define LOG_MODULE "viewers"
#include "base/log.h"

/* Each has a thread and some descriptors; libvncserver keeps these below 1024. */
#define VIEWERS_MAX 200
/* Kept free for controllers, however many watch. */
#define CONTROLLERS_RESERVED 40
/* And of those only for whoever holds the screen: the sockets of one session, twice. */
#define HOLDER_RESERVED 6
/* Sockets of one session: a page has one, and for a moment that of before a reload. */
#define SESSION_SOCKETS_MAX 3
/* Who watch by one link; a link that is passed around must not cost the person their keys' speed. */
#define LINK_WATCHERS_MAX 32

const char *const viewer_role_names[] = {
	[VIEWER_VIEW] = "view", [VIEWER_CONTROL] = "control", NULL};

bool viewer_role_parse(const char *text, enum viewer_role *out)
{
	*out = strcmp(text, "control") == 0 ? VIEWER_CONTROL : VIEWER_VIEW;
	return *out == VIEWER_CONTROL || strcmp(text, "view") == 0;
}

const char *viewer_role_name(enum viewer_role role)
{
	return viewer_role_names[role];
}

static void publish(struct viewers *viewers, const char *name, json_t *data)
{
	viewers->events.on_event(viewers->events.on_event_arg, name, data);
}

/* Who holds the screen */

static bool is_covered(void *arg, const struct viewer *viewer)
{
	const struct viewers *viewers = arg;
	return viewers->is_covered && viewer->session != viewers->holder_session;
}

static void cover_all(struct viewers *viewers)
{
	struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link) {
		if (viewer_is_open(viewer))
			viewer_thread_cover(viewer->thread, is_covered(viewers, viewer));
	}
}

/* Native viewers have no ear for it. */
static void tell_state(struct viewers *viewers, struct viewer *viewer)
{
	if ((viewer->session & VIEWER_SESSION_NATIVE) == 0)
		viewer_tell(viewer, viewers->events.state_json(viewers->events.arg,
					    viewer->session, viewer->role));
}

void viewers_tell_state(struct viewers *viewers)
{
	struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link) {
		if (viewer_is_open(viewer))
			tell_state(viewers, viewer);
	}
}

/* The newest socket of a session, or NULL. */
static struct viewer *find_newest(const struct viewers *viewers, uint32_t session)
{
	struct viewer *viewer, *newest = NULL;
	list_for_each(viewer, &viewers->list, link) {
		if (viewer_is_open(viewer) && viewer->session == session)
			newest = viewer;
	}
	return newest;
}

bool viewers_have_pages(const struct viewers *viewers)
{
	const struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link) {
		if (!viewer->is_ending && (viewer->session & VIEWER_SESSION_NATIVE) == 0)
			return true;
	}
	return false;
}

bool viewers_has_screen(const struct viewers *viewers)
{
	struct screen_info info = {0};
	if (viewers->host.screen != NULL)
		screen_info(viewers->host.screen, &info);
	return info.is_ready;
}

bool viewers_has_socket(const struct viewers *viewers, uint32_t session)
{
	return find_newest(viewers, session) != NULL;
}

/* Moves the gate: from here on nothing of whoever held it before gets through. */
static void point_gate(struct viewers *viewers)
{
	uint8_t source = INPUT_SOURCE_AGENT;
	viewers->holder = NULL;
	if (viewers->holder_session != 0) {
		viewers->holder = find_newest(viewers, viewers->holder_session);
		source = viewers->holder != NULL ? viewers->holder->source : INPUT_SOURCE_NONE;
	}
	if (viewers->host.screen != NULL)
		input_gate_give(screen_gate(viewers->host.screen), source);
	if (viewers->holder != NULL)
		viewer_on_control(viewers->holder);
}

void viewers_give(struct viewers *viewers, uint32_t session)
{
	viewers->holder_session = session;
	/* Nobody sees a pixel of what the holder does, nor does the old one. */
	cover_all(viewers);
	point_gate(viewers);
}

void viewers_cover(struct viewers *viewers, bool is_on)
{
	viewers->is_covered = is_on;
	cover_all(viewers);
}

void viewers_close_session(
	struct viewers *viewers, uint32_t session, enum peer_close code, const char *reason)
{
	struct viewer *viewer;
	viewer_texts_end_session(&viewers->host, session);
	list_for_each(viewer, &viewers->list, link) {
		if (viewer->session == session)
			viewer_end(viewer, (int)code, reason);
	}
}

void viewers_tell(struct viewers *viewers, uint32_t session, json_t *message)
{
	struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link) {
		bool is_meant = session != 0 ? viewer->session == session
					     : viewer->role == VIEWER_CONTROL;
		if (viewer_is_open(viewer) && is_meant)
			viewer_tell(viewer, json_incref(message));
	}
	json_decref(message);
}

void viewers_tell_step(struct viewers *viewers, const struct step *step)
{
	struct viewer *viewer;
	json_t *message = steps_add(viewers->steps, step);
	list_for_each(viewer, &viewers->list, link) {
		if (viewer_is_open(viewer))
			viewer_tell(viewer, json_incref(message));
	}
	json_decref(message);
}

static void tell_steps(const struct viewers *viewers, struct viewer *viewer)
{
	size_t i;
	json_t *message;
	json_array_foreach(steps_list(viewers->steps), i, message)
		viewer_tell(viewer, json_incref(message));
}

static bool claim(void *arg, struct viewer *viewer)
{
	struct viewers *viewers = arg;
	bool is_native = (viewer->session & VIEWER_SESSION_NATIVE) != 0;
	return is_native && viewers->events.on_claim(viewers->events.arg, viewer->session) &&
	       viewers->holder == viewer;
}

static void on_input(void *arg)
{
	struct viewers *viewers = arg;
	viewers->events.on_input(viewers->events.arg);
}

static void tell_session(void *arg, uint32_t session, json_t *message)
{
	viewers_tell(arg, session, message);
}

static void tell_holder(void *arg, uint32_t session, json_t *message)
{
	struct viewers *viewers = arg;
	if (viewers->holder_session == session)
		viewers_tell(viewers, session, message);
	else
		json_decref(message);
}

static void on_message(void *arg, struct viewer *viewer, const char *kind, const json_t *message)
{
	struct viewers *viewers = arg;
	viewers->events.on_message(viewers->events.arg, viewer->session, kind, message);
}

/* The session acts through its newest socket: a phone that lost its line may not have noticed yet. */
static void adopt(struct viewers *viewers, struct viewer *viewer)
{
	struct viewer *older;
	if (viewer->session == viewers->holder_session) {
		point_gate(viewers);
		list_for_each(older, &viewers->list, link) {
			if (older != viewer && viewer_is_open(older) && older->session == viewer->session)
				viewer_end(older, PEER_CLOSE_TAKEN_OVER,
					"a newer connection of this session goes on");
		}
	}
	viewers->events.on_socket(viewers->events.arg, viewer->session, true);
}

/* The encoders look at the screen only while somebody can decode what they make */

static void on_encoder_view(void *arg, const struct live_view *view)
{
	struct viewers *viewers = arg;
	for (int i = 0; i < LINK_TIERS; i++)
		live_encoder_show(viewers->encoders[i], view);
}

static void on_encoder_unwatched(void *arg)
{
	(void)arg;
}

static void look_at_encoders(struct viewers *viewers)
{
	bool is_wanted = false;
	const struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link)
		is_wanted |= viewer->caps.has_h264 && !viewer->is_ending;
	if (is_wanted && !viewers->is_encoder_watching)
		screen_watch_live(viewers->host.screen, &viewers->encoder_watch);
	else if (!is_wanted && viewers->is_encoder_watching)
		screen_unwatch_live(viewers->host.screen, &viewers->encoder_watch,
			on_encoder_unwatched, viewers);
	viewers->is_encoder_watching = is_wanted;
}

/* What viewers tell */

static void on_ready(void *arg, struct viewer *viewer)
{
	struct viewers *viewers = arg;
	viewers->total++;
	log_info("viewer %u has come (%s, %s)", viewer->id, viewer_role_name(viewer->role),
		viewer->from);
	publish(viewers, "viewer.connected", viewer_identity(viewer));
	json_t *hello = viewer_identity(viewer);
	json_object_set_new(hello, "t", json_string("hello"));
	viewer_tell(viewer, hello);
	adopt(viewers, viewer);
	tell_state(viewers, viewer);
	tell_steps(viewers, viewer);
}

static void on_caps(void *arg, struct viewer *viewer)
{
	struct viewers *viewers = arg;
	look_at_encoders(viewers);
	if (viewers->holder == viewer)
		viewer_on_control(viewer);
}

static void on_ending(void *arg, struct viewer *viewer)
{
	struct viewers *viewers = arg;
	look_at_encoders(viewers);
	if (!viewer->is_ready)
		return;
	if (viewers->holder == viewer)
		point_gate(viewers);
	struct viewer_stats stats = {0};
	viewer_thread_stats(viewer->thread, &stats);
	viewers->bytes += stats.bytes;
	log_info("viewer %u has left", viewer->id);
	if (!viewers_has_socket(viewers, viewer->session))
		viewers->events.on_socket(viewers->events.arg, viewer->session, false);
	publish(viewers, "viewer.left", viewer_identity(viewer));
}

static void on_gone(void *arg, struct viewer *viewer)
{
	struct viewers *viewers = arg;
	if (viewer->source <= INPUT_SOURCE_MAX)
		viewers->is_source_used[viewer->source] = false;
	viewers->refused += viewer->refused;
	viewers->count--;
	list_remove(&viewer->link);
	viewer_free(viewer);
}

struct viewers *viewers_create(
	struct loop *loop, const char *name, const struct viewers_events *events)
{
	struct viewers *viewers = xcalloc(1, sizeof(*viewers));
	viewers->events = *events;
	viewers->name = xstrdup(name);
	list_init(&viewers->list);
	viewers->steps = steps_create();
	viewers->passwords.guesses = guesses_create();
	rfb_library_init();
	bool has_h264 = live_encoder_is_possible();
	for (int i = 0; i < LINK_TIERS && has_h264; i++)
		viewers->encoders[i] = live_encoder_create(i);
	viewers->encoder_watch = (struct live_watch){.on_view = on_encoder_view, .arg = viewers};
	viewers->host = (struct viewer_host){.loop = loop,
		.name = viewers->name,
		.jpegs = jpeg_share_create(),
		.card = privacy_card_create(),
		.encoders = has_h264 ? viewers->encoders : NULL,
		.claim = claim,
		.on_input = on_input,
		.is_covered = is_covered,
		.on_message = on_message,
		.tell_session = tell_session,
		.tell_holder = tell_holder,
		.texts = viewer_texts_create(),
		.passwords = &viewers->passwords,
		.on_ready = on_ready,
		.on_caps = on_caps,
		.on_ending = on_ending,
		.on_gone = on_gone,
		.arg = viewers};
	return viewers;
}

void viewers_close_all(struct viewers *viewers)
{
	struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link)
		viewer_end(viewer, PEER_CLOSE_GOING_AWAY, "the service ends");
}

void viewers_destroy(struct viewers *viewers)
{
	if (viewers == NULL)
		return;
	struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link) {
		if (viewer->thread != NULL)
			viewer_thread_join(viewer->thread);
	}
	loop_run_posts(viewers->host.loop); /* the last of them go */
	for (int i = 0; i < LINK_TIERS; i++)
		live_encoder_destroy(viewers->encoders[i]);
	jpeg_share_destroy(viewers->host.jpegs);
	steps_destroy(viewers->steps);
	privacy_card_destroy(viewers->host.card);
	viewer_texts_destroy(viewers->host.texts);
	guesses_destroy(viewers->passwords.guesses);
	free(viewers->name);
	free(viewers);
}

void viewers_set_screen(struct viewers *viewers, struct screen *screen)
{
	viewers->host.screen = screen;
	point_gate(viewers); /* a person may hold it since before the daemon was started anew */
}

/* The number of a controller in the gate and the injector; NONE when all are in use. */
static uint8_t free_source(struct viewers *viewers, bool is_holder)
{
	int last = INPUT_SOURCE_MAX - (is_holder ? 0 : HOLDER_RESERVED);
	for (uint8_t source = INPUT_SOURCE_AGENT + 1; source <= last; source++) {
		if (!viewers->is_source_used[source]) {
			viewers->is_source_used[source] = true;
			return source;
		}
	}
	return INPUT_SOURCE_NONE;
}

/* Whoever has a session cannot use up everybody's places: its oldest socket goes. */
static void limit_session(struct viewers *viewers, uint32_t session)
{
	struct viewer *viewer, *oldest = NULL;
	int count = 0;
	list_for_each(viewer, &viewers->list, link) {
		if (viewer->session != session || viewer->is_ending)
			continue;
		count++;
		if (oldest == NULL)
			oldest = viewer;
	}
	if (count >= SESSION_SOCKETS_MAX)
		viewer_end(oldest, PEER_CLOSE_TAKEN_OVER,
			"a newer connection of this session goes on");
}

static bool is_link_full(const struct viewers *viewers, const struct viewer_pass *pass)
{
	const struct viewer *viewer;
	int count = 0;
	if (pass->role != VIEWER_VIEW || pass->link == NULL)
		return false;
	list_for_each(viewer, &viewers->list, link)
		count += viewer->link_id != NULL && strcmp(viewer->link_id, pass->link) == 0;
	return count >= LINK_WATCHERS_MAX;
}

void viewers_add(struct viewers *viewers, struct peer_link *link, const struct viewer_pass *pass,
	const char *password, const char *from)
{
	enum viewer_role role = pass->role;
	if (viewers->host.screen == NULL) {
		peer_link_refuse(link, PEER_CLOSE_NO_SCREEN, "the screen is not there yet");
		return;
	}
	bool is_holder = pass->session != 0 && pass->session == viewers->holder_session;
	uint8_t source =
		role == VIEWER_CONTROL ? free_source(viewers, is_holder) : INPUT_SOURCE_NONE;
	int reserved = role != VIEWER_CONTROL ? CONTROLLERS_RESERVED
		       : is_holder            ? 0
					      : HOLDER_RESERVED;
	int places = VIEWERS_MAX - reserved;
	if (pass->session != 0)
		limit_session(viewers, pass->session);
	if (viewers->count >= places || is_link_full(viewers, pass) ||
		(role == VIEWER_CONTROL && source == INPUT_SOURCE_NONE)) {
		if (source != INPUT_SOURCE_NONE)
			viewers->is_source_used[source] = false;
		log_warn("too many viewers: one more is refused");
		peer_link_refuse(link, PEER_CLOSE_INTERNAL, "there are too many viewers");
		return;
	}
	struct viewer *viewer = viewer_create(
		&viewers->host, link, ++viewers->next_id, pass, source, password, from);
	viewers->count++;
	list_append(&viewers->list, &viewer->link);
}
