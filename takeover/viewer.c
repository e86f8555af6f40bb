/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/viewer.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/live_source.h"
#include "display/screen.h"
#include "display/viewer_input.h"
#include "takeover/guesses.h"
#include "takeover/peer_link.h"
#include "takeover/rfb.h"
#include "takeover/rfb_extensions.h"
#include "takeover/viewer_thread.h"
#include "takeover/vnc_auth.h"
#define LOG_MODULE "viewer"
#include "base/log.h"

/* A handshake that takes longer is a port scanner's, or a dead peer's. */
#define HANDSHAKE_MS 10000

/* Native viewers come from the loopback, or from a socket that needs no password. */
#define PASSWORD_GUESSER      "loopback"
#define PASSWORDS_WAITING_MAX 8

static void send_bytes(struct viewer *viewer, struct buffer *bytes)
{
	if (viewer->peer != NULL)
		peer_link_send(viewer->peer, bytes->data, bytes->len);
	else
		free(bytes->data);
	*bytes = (struct buffer){0};
}

/* The handshake (RFC 6143, 7.1 to 7.3) */

static void send_security(struct viewer *viewer)
{
	unsigned type = viewer->password != NULL ? RFB_SECURITY_VNC : RFB_SECURITY_NONE;
	struct buffer out = {0};
	if (viewer->minor >= 7) {
		rfb_put_u8(&out, 1);
		rfb_put_u8(&out, type);
		viewer->reader.phase = RFB_PHASE_SECURITY;
	} else { /* 3.3: the server decides */
		rfb_put_u32(&out, type);
		viewer->reader.phase = viewer->password != NULL ? RFB_PHASE_VNC_RESPONSE
								: RFB_PHASE_CLIENT_INIT;
	}
	if (viewer->minor < 7 && viewer->password != NULL)
		buffer_append(&out, viewer->challenge, sizeof(viewer->challenge));
	send_bytes(viewer, &out);
}

static bool on_security(struct viewer *viewer, int type)
{
	struct buffer out = {0};
	if (type != (viewer->password != NULL ? RFB_SECURITY_VNC : RFB_SECURITY_NONE))
		return false;
	if (viewer->password != NULL) {
		buffer_append(&out, viewer->challenge, sizeof(viewer->challenge));
		viewer->reader.phase = RFB_PHASE_VNC_RESPONSE;
	} else {
		if (viewer->minor >= 8)
			rfb_put_u32(&out, 0);
		viewer->reader.phase = RFB_PHASE_CLIENT_INIT;
	}
	if (out.len > 0)
		send_bytes(viewer, &out);
	return true;
}

/* reason: NULL when it is right. */
static void send_security_result(struct viewer *viewer, const char *reason)
{
	struct buffer out = {0};
	rfb_put_u32(&out, reason == NULL ? 0 : 1);
	if (reason != NULL && viewer->minor >= 8) {
		rfb_put_u32(&out, (uint32_t)strlen(reason));
		buffer_append(&out, reason, strlen(reason));
	}
	send_bytes(viewer, &out);
	viewer->reader.phase = RFB_PHASE_CLIENT_INIT;
}

static bool check_password(struct viewer *viewer)
{
	uint8_t expected[16];
	vnc_auth_encrypt(viewer->password, viewer->challenge, expected);
	bool is_right = CRYPTO_memcmp(expected, viewer->response, sizeof(expected)) == 0;
	send_security_result(viewer, is_right ? NULL : "the password is wrong");
	if (is_right)
		return true;
	int delay_ms = guesses_note(
		viewer->host->passwords->guesses, clock_monotonic_us(), PASSWORD_GUESSER);
	if (delay_ms == 0) /* the further ones of the minute would fill the log */
		log_warn("a viewer gave a wrong password");
	else if (delay_ms == GUESSES_DELAY_MS)
		log_warn("many wrong passwords from viewers: tries are answered late for a minute");
	return false;
}

static void end_password_wait(struct viewer *viewer)
{
	if (viewer->password_timer == NULL)
		return;
	loop_timer_destroy(viewer->password_timer);
	viewer->password_timer = NULL;
	viewer->host->passwords->waiting--;
}

static void on_password_timer(void *arg)
{
	struct viewer *viewer = arg;
	end_password_wait(viewer);
	if (!check_password(viewer))
		viewer_end(viewer, PEER_CLOSE_PROTOCOL, "the password is wrong");
}

/*
 * Eight characters can be guessed. Who is let in at once when they are right learns all from the
 * silence otherwise: after ten wrong ones in a minute everybody waits, and few at a time may.
 */
static bool on_vnc_response(struct viewer *viewer, const uint8_t *response)
{
	struct viewer_passwords *passwords = viewer->host->passwords;
	if (viewer->password_timer != NULL)
		return false; /* it goes on before it has been let in */
	int delay_ms = guesses_delay_ms(
		passwords->guesses, clock_monotonic_us(), PASSWORD_GUESSER);
	memcpy(viewer->response, response, sizeof(viewer->response));
	if (delay_ms == 0)
		return check_password(viewer);
	if (passwords->waiting >= PASSWORDS_WAITING_MAX) {
		send_security_result(viewer, "too many wrong passwords; try again in a minute");
		return false;
	}
	passwords->waiting++;
	viewer->password_timer = loop_timer_create(viewer->host->loop, on_password_timer, viewer);
	loop_timer_arm(viewer->password_timer, delay_ms);
	return true;
}

static void put_server_init(struct viewer *viewer, struct buffer *out, int width, int height)
{
	const struct rfb_pixel_format *format = &rfb_native_format;
	static const uint8_t padding[3];
	rfb_put_u16(out, (unsigned)width);
	rfb_put_u16(out, (unsigned)height);
	rfb_put_u8(out, format->bits_per_pixel);
	rfb_put_u8(out, format->depth);
	rfb_put_u8(out, format->is_big_endian);
	rfb_put_u8(out, format->is_true_colour);
	rfb_put_u16(out, format->red_max);
	rfb_put_u16(out, format->green_max);
	rfb_put_u16(out, format->blue_max);
	rfb_put_u8(out, format->red_shift);
	rfb_put_u8(out, format->green_shift);
	rfb_put_u8(out, format->blue_shift);
	buffer_append(out, padding, sizeof(padding));
	rfb_put_u32(out, (uint32_t)strlen(viewer->host->name));
	buffer_append(out, viewer->host->name, strlen(viewer->host->name));
}

/* The thread tells */

static void on_output(void *arg, uint8_t *data, size_t len)
{
	struct viewer *viewer = arg;
	if (viewer->peer != NULL)
		peer_link_send(viewer->peer, data, len);
	else
		free(data);
}

static void on_thread_clipboard(void *arg, char *text, size_t len)
{
	struct viewer *viewer = arg;
	/* What the holder copies is nobody else's. */
	if (viewer->is_ending || viewer->host->is_covered(viewer->host->arg, viewer))
		free(text);
	else
		viewer_offer_clipboard(viewer, text, len);
}

static void on_thread_failed(void *arg, const char *reason)
{
	struct viewer *viewer = arg;
	if (viewer->is_ending)
		return;
	log_info("viewer %u: %s", viewer->id, reason);
	viewer_end(viewer, PEER_CLOSE_INTERNAL, reason);
}

static void on_thread_stopped(void *arg)
{
	struct viewer *viewer = arg;
	viewer->thread = NULL;
	viewer->is_stopped = true;
	viewer_maybe_gone(viewer);
}

void viewer_maybe_gone(struct viewer *viewer)
{
	if (viewer->is_stopped && viewer->pending == 0)
		viewer->host->on_gone(viewer->host->arg, viewer);
}

static bool on_client_init(struct viewer *viewer)
{
	const struct viewer_host *host = viewer->host;
	struct screen_info info;
	screen_info(host->screen, &info);
	if (info.width <= 0) {
		viewer_end(viewer, PEER_CLOSE_NO_SCREEN, "the screen is not there yet");
		return true;
	}
	const struct viewer_thread_config config = {.main_loop = host->loop,
		.jpegs = host->jpegs,
		.card = host->card,
		.encoders = host->encoders,
		.name = host->name,
		.width = info.width,
		.height = info.height,
		.wants_clipboard = viewer->role == VIEWER_CONTROL,
		.is_covered = host->is_covered(host->arg, viewer)};
	const struct viewer_thread_events events = {
		on_output, on_thread_clipboard, on_thread_failed, on_thread_stopped, viewer};
	viewer->thread = viewer_thread_start(&config, &events);
	if (viewer->thread == NULL) {
		viewer_end(viewer, PEER_CLOSE_INTERNAL, "there are no resources for one more viewer");
		return true;
	}
	struct buffer out = {0};
	put_server_init(viewer, &out, info.width, info.height);
	send_bytes(viewer, &out);
	viewer->reader.phase = RFB_PHASE_NORMAL;
	viewer->reader.text_max = viewer->role == VIEWER_CONTROL ? RFB_CUT_TEXT_MAX : 0;
	viewer->is_ready = true;
	loop_timer_disarm(viewer->timer);
	screen_watch_live(host->screen, viewer_thread_watch(viewer->thread));
	host->on_ready(host->arg, viewer);
	return true;
}

/* False: not RFB, or not allowed in. */
static bool handle_handshake(struct viewer *viewer, const struct rfb_message *message)
{
	switch (message->kind) {
	case RFB_KIND_VERSION:
		viewer->minor = message->minor;
		send_security(viewer);
		return true;
	case RFB_KIND_SECURITY:
		return on_security(viewer, message->security);
	case RFB_KIND_VNC_RESPONSE:
		return on_vnc_response(viewer, message->data);
	case RFB_KIND_CLIENT_INIT:
		return on_client_init(viewer);
	default:
		return false;
	}
}

/* The link tells */

static void on_data(void *arg, const uint8_t *data, size_t len)
{
	struct viewer *viewer = arg;
	struct rfb_message message;
	if (viewer->is_ending)
		return;
	rfb_reader_feed(&viewer->reader, data, len);
	for (;;) {
		enum rfb_read read = rfb_reader_next(&viewer->reader, &message);
		if (read == RFB_READ_MORE)
			return;
		bool is_fine = read == RFB_READ_MESSAGE &&
			       (viewer->is_ready ? viewer_handle(viewer, &message)
						 : handle_handshake(viewer, &message));
		if (viewer->is_ending)
			return;
		if (!is_fine) {
			viewer_end(viewer, PEER_CLOSE_PROTOCOL, "this is not the RFB protocol");
			return;
		}
	}
}

static void on_text(void *arg, const char *text, size_t len)
{
	struct viewer *viewer = arg;
	if (!viewer->is_ending)
		viewer_handle_json(viewer, text, len);
}

static void on_drained(void *arg)
{
	struct viewer *viewer = arg;
	if (viewer->thread != NULL)
		viewer_thread_drained(viewer->thread);
}

static void on_closed(void *arg)
{
	struct viewer *viewer = arg;
	viewer_end(viewer, PEER_CLOSE_NORMAL, NULL);
}

static void on_handshake_timeout(void *arg)
{
	struct viewer *viewer = arg;
	log_info("viewer %u did not finish its handshake within %d s", viewer->id,
		HANDSHAKE_MS / 1000);
	viewer_end(viewer, PEER_CLOSE_PROTOCOL, "the handshake took too long");
}

struct viewer *viewer_create(const struct viewer_host *host, struct peer_link *link, unsigned id,
	const struct viewer_pass *pass, uint8_t source, const char *password, const char *from)
{
	static const char greeting[] = "RFB 003.008\n";
	struct viewer *viewer = xcalloc(1, sizeof(*viewer));
	const struct peer_link_events events = {on_data, on_text, on_drained, on_closed, viewer};
	list_init(&viewer->link);
	viewer->host = host;
	viewer->peer = link;
	viewer->id = id;
	viewer->role = pass->role;
	viewer->link_id = pass->link != NULL ? xstrdup(pass->link) : NULL;
	viewer->session = pass->session != 0 ? pass->session : VIEWER_SESSION_NATIVE | id;
	viewer->source = source;
	viewer->from = from;
	viewer->since_wall_us = clock_wall_us();
	viewer->password = password != NULL ? xstrdup(password) : NULL;
	RAND_bytes(viewer->challenge, sizeof(viewer->challenge));
	viewer->timer = loop_timer_create(host->loop, on_handshake_timeout, viewer);
	loop_timer_arm(viewer->timer, HANDSHAKE_MS);
	peer_link_start(link, &events);
	peer_link_send(link, xmemdup(greeting, sizeof(greeting) - 1), sizeof(greeting) - 1);
	return viewer;
}

static void on_unwatched(void *arg)
{
	struct viewer *viewer = arg;
	viewer_thread_stop(viewer->thread);
}

static void post_gone(void *arg)
{
	struct viewer *viewer = arg;
	viewer->is_stopped = true;
	viewer_maybe_gone(viewer);
}

void viewer_end(struct viewer *viewer, int close_code, const char *reason)
{
	const struct viewer_host *host = viewer->host;
	if (viewer->is_ending)
		return;
	viewer->is_ending = true;
	loop_timer_disarm(viewer->timer);
	end_password_wait(viewer);
	if (viewer->source <= INPUT_SOURCE_MAX) {
		const struct viewer_event gone = {
			.kind = VIEWER_GONE, .ticket = {.source = viewer->source}};
		screen_post_viewer_event(host->screen, &gone);
	}
	host->on_ending(host->arg, viewer);
	if (viewer->peer != NULL)
		peer_link_close(viewer->peer, (enum peer_close)close_code, reason);
	viewer->peer = NULL;
	/* The display thread may be telling the viewer's thread something right now. */
	if (viewer->thread != NULL)
		screen_unwatch_live(host->screen, viewer_thread_watch(viewer->thread),
			on_unwatched, viewer);
	else
		loop_post(host->loop, post_gone, viewer);
}

bool viewer_is_open(const struct viewer *viewer)
{
	return viewer->is_ready && !viewer->is_ending;
}

json_t *viewer_identity(const struct viewer *viewer)
{
	return json_pack("{s:i, s:s, s:s}", "id", (int)viewer->id, "role",
		viewer_role_name(viewer->role), "from", viewer->from);
}

void viewer_free(struct viewer *viewer)
{
	loop_timer_destroy(viewer->timer);
	rfb_reader_finish(&viewer->reader);
	free(viewer->password);
	free(viewer->link_id);
	free(viewer->clip_text);
	free(viewer);
}

void viewer_tell(struct viewer *viewer, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	if (text != NULL && viewer->peer != NULL)
		peer_link_send_text(viewer->peer, text);
	free(text);
	json_decref(message);
}
