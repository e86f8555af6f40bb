/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/notify.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/loop.h"
#define LOG_MODULE "notify"
#include "base/log.h"

#define BACK_OFF_FIRST_MS 500
#define BACK_OFF_MAX_MS   60000
#define TRY_S             10 /* one post, all in all */
#define CONNECT_S         5
#define FINAL_US          INT64_C(600000000) /* how long the last event of a takeover is tried */
#define QUEUE_MAX         64
#define SECRET_BYTES      32

struct delivery {
	struct list link; /* in target->queue */
	char id[33];
	char *event;
	char *body;
	int64_t made_us; /* monotonic */
	bool is_final;   /* nothing comes after it */
};

struct target {
	struct notify *notify;
	char *url;
	char *unix_path;   /* NULL: https */
	char *name;        /* for the log: without what may be secret in an address */
	struct list queue; /* the first is being delivered */
	int count;
	bool is_ended; /* the last event that came was final */
	int back_off_ms;
	CURL *easy; /* a try that runs; NULL: none does */
	struct curl_slist *headers;
	struct loop_timer *timer;
};

/* A socket of curl's that the loop watches. */
struct watch {
	struct list link;
	struct notify *notify;
	curl_socket_t fd;
	struct loop_io *io;
};

struct notify {
	struct loop *loop;
	char *secret;
	const char *box_id;
	CURLM *multi;             /* NULL without targets */
	struct loop_timer *timer; /* curl's */
	struct list watches;
	struct target *targets;
	size_t target_count;
};

/* unix:/path.sock:/route */
static bool split_unix(const char *text, char **path, char **url)
{
	const char *route = text[5] == '/' ? strstr(text + 6, ":/") : NULL;
	if (strncmp(text, "unix:", 5) != 0 || route == NULL)
		return false;
	if (path != NULL)
		*path = xstrndup(text + 5, (size_t)(route - text) - 5);
	if (url != NULL)
		*url = xasprintf("http://localhost%s", route + 1);
	return true;
}

bool notify_target_check(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
		if (*p <= ' ' || *p == 0x7f)
			return false;
	}
	if (strncmp(text, "unix:", 5) == 0)
		return split_unix(text, NULL, NULL);
	return strncmp(text, "https://", 8) == 0 && text[8] != '\0' && text[8] != '/';
}

/* Curl on the loop */

static void look_at_results(struct notify *notify);

static void on_fd(void *arg, int events)
{
	struct watch *watch = arg;
	struct notify *notify = watch->notify;
	int running, flags = 0;
	if ((events & LOOP_READABLE) != 0)
		flags |= CURL_CSELECT_IN;
	if ((events & LOOP_WRITABLE) != 0)
		flags |= CURL_CSELECT_OUT;
	curl_multi_socket_action(notify->multi, watch->fd, flags, &running);
	look_at_results(notify); /* watch may be gone */
}

static void unwatch(struct watch *watch)
{
	list_remove(&watch->link);
	loop_io_destroy(watch->io);
	free(watch);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	struct notify *notify = arg;
	struct watch *watch = socket_arg;
	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watch != NULL)
			unwatch(watch);
		curl_multi_assign(notify->multi, fd, NULL);
		return 0;
	}
	int events = (what & CURL_POLL_IN ? LOOP_READABLE : 0) |
		     (what & CURL_POLL_OUT ? LOOP_WRITABLE : 0);
	if (watch == NULL) {
		watch = xcalloc(1, sizeof(*watch));
		watch->notify = notify;
		watch->fd = fd;
		list_append(&notify->watches, &watch->link);
		curl_multi_assign(notify->multi, fd, watch);
	}
	loop_io_destroy(watch->io);
	watch->io = loop_io_create(notify->loop, fd, events, on_fd, watch);
	return 0;
}

static int on_timer_wish(CURLM *multi, long delay_ms, void *arg)
{
	struct notify *notify = arg;
	(void)multi;
	if (delay_ms < 0)
		loop_timer_disarm(notify->timer);
	else
		loop_timer_arm(notify->timer, delay_ms);
	return 0;
}

static void on_timer(void *arg)
{
	struct notify *notify = arg;
	int running;
	curl_multi_socket_action(notify->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	look_at_results(notify);
}

/* Deliveries */

static void drop(struct target *target, struct delivery *delivery)
{
	list_remove(&delivery->link);
	target->count--;
	free(delivery->event);
	free(delivery->body);
	free(delivery);
}

static struct delivery *first(struct target *target)
{
	return list_is_empty(&target->queue)
		       ? NULL
		       : container_of(target->queue.next, struct delivery, link);
}

/* The time is signed too, so that nobody can post an old event again later. */
static char *signature(const struct notify *notify, const char *body)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	int64_t now_s = clock_wall_us() / 1000000;
	char *text = xasprintf("%" PRId64 ".%s", now_s, body);
	HMAC(EVP_sha256(), notify->secret, (int)strlen(notify->secret), (const unsigned char *)text,
		strlen(text), mac, &len);
	free(text);
	char hex[2 * EVP_MAX_MD_SIZE + 1];
	for (unsigned i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", mac[i]);
	return xasprintf("t=%" PRId64 ",v1=%s", now_s, hex);
}

static void add_header(struct target *target, const char *name, const char *value)
{
	char *line = xasprintf("%s: %s", name, value);
	target->headers = curl_slist_append(target->headers, line);
	free(line);
}

static size_t swallow(char *data, size_t size, size_t count, void *arg)
{
	(void)data, (void)arg;
	return size * count;
}

static void set_options(struct target *target, const struct delivery *delivery)
{
	CURL *easy = target->easy;
	const char *authorities = getenv("SSL_CERT_FILE");
	bool is_unix = target->unix_path != NULL;
	curl_easy_setopt(easy, CURLOPT_URL, target->url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, is_unix ? "http" : "https");
	if (is_unix)
		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, target->unix_path);
	else if (authorities != NULL)
		curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, delivery->body);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(delivery->body));
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, target->headers);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, swallow);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)TRY_S);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/* On a connection that is used again curl repeats a post by itself, at once, when that
	 * breaks. */
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "boxscreen/" BOXSCREEN_VERSION);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, target);
}

static void begin(struct target *target)
{
	const struct delivery *delivery = first(target);
	if (target->easy != NULL || delivery == NULL)
		return;
	char *signed_by = signature(target->notify, delivery->body);
	add_header(target, "Content-Type", "application/json");
	add_header(target, "X-Boxscreen-Event", delivery->event);
	add_header(target, "X-Boxscreen-Delivery", delivery->id);
	add_header(target, "X-Boxscreen-Signature", signed_by);
	add_header(target, "Expect", ""); /* small bodies need no permission */
	free(signed_by);
	target->easy = curl_easy_init();
	set_options(target, delivery);
	curl_multi_add_handle(target->notify->multi, target->easy);
}

static void end_try(struct target *target)
{
	if (target->easy != NULL) {
		curl_multi_remove_handle(target->notify->multi, target->easy);
		curl_easy_cleanup(target->easy);
	}
	curl_slist_free_all(target->headers);
	target->easy = NULL;
	target->headers = NULL;
}

/* A random part keeps many boxes from coming back at the same moment. */
static int with_jitter(int delay_ms)
{
	uint16_t random = 0;
	RAND_bytes((unsigned char *)&random, sizeof(random));
	return delay_ms * 4 / 5 + (int)(delay_ms * 2ll / 5 * random / 65536);
}

static bool is_worth_another_try(const struct target *target, const struct delivery *delivery)
{
	if (delivery->is_final)
		return clock_monotonic_us() - delivery->made_us < FINAL_US;
	return !target->is_ended;
}

static void fail(struct target *target, const char *reason)
{
	struct delivery *delivery = first(target);
	log_warn("%s did not take %s: %s", target->name, delivery->event, reason);
	if (!is_worth_another_try(target, delivery)) {
		drop(target, delivery);
		target->back_off_ms = BACK_OFF_FIRST_MS;
		begin(target);
		return;
	}
	loop_timer_arm(target->timer, with_jitter(target->back_off_ms));
	target->back_off_ms *= 2;
	if (target->back_off_ms > BACK_OFF_MAX_MS)
		target->back_off_ms = BACK_OFF_MAX_MS;
}

static void finish_try(struct target *target, CURLcode result)
{
	long status = 0;
	char text[40];
	curl_easy_getinfo(target->easy, CURLINFO_RESPONSE_CODE, &status);
	end_try(target);
	if (result == CURLE_OK && status >= 200 && status < 300) {
		target->back_off_ms = BACK_OFF_FIRST_MS;
		drop(target, first(target));
		begin(target);
		return;
	}
	snprintf(text, sizeof(text), "HTTP status %ld", status);
	fail(target, result == CURLE_OK ? text : curl_easy_strerror(result));
}

static void look_at_results(struct notify *notify)
{
	CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(notify->multi, &left)) != NULL) {
		struct target *target = NULL;
		CURLcode result = message->data.result;
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&target);
		finish_try(target, result);
	}
}

static void on_retry(void *arg)
{
	begin(arg);
}

static bool is_final(const char *event)
{
	return strcmp(event, "takeover.handed_back") == 0 ||
	       strcmp(event, "takeover.expired") == 0 || strcmp(event, "takeover.cancelled") == 0;
}

/* What a target that is down has missed is of no use once the takeover has ended. */
static void forget_missed(struct target *target)
{
	bool is_down = target->back_off_ms > BACK_OFF_FIRST_MS && target->easy == NULL;
	struct delivery *delivery, *tmp;
	list_for_each_safe (delivery, tmp, &target->queue, link) {
		if (is_down && !delivery->is_final)
			drop(target, delivery);
	}
}

static void enqueue(struct target *target, const char *event, const char *body, const char *id)
{
	struct delivery *delivery = xcalloc(1, sizeof(*delivery));
	strcpy(delivery->id, id);
	delivery->event = xstrdup(event);
	delivery->body = xstrdup(body);
	delivery->made_us = clock_monotonic_us();
	delivery->is_final = target->is_ended = is_final(event);
	if (delivery->is_final)
		forget_missed(target);
	list_append(&target->queue, &delivery->link);
	if (++target->count > QUEUE_MAX) /* the first may be on its way */
		drop(target, container_of(target->queue.next->next, struct delivery, link));
	if (!loop_timer_is_armed(target->timer))
		begin(target);
}

static bool make_id(char id[33])
{
	unsigned char bytes[16];
	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

void notify_send(struct notify *notify, const char *event, const json_t *data)
{
	char id[33];
	if (notify == NULL || notify->target_count == 0 || strncmp(event, "takeover.", 9) != 0 ||
		!make_id(id))
		return;
	json_t *object = json_pack("{s:s, s:o, s:s, s:s}", "type", event, "time",
		json_time(clock_wall_us()), "box_id", notify->box_id, "delivery", id);
	json_object_update_missing(object, (json_t *)(uintptr_t)data);
	char *body = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	for (size_t i = 0; body != NULL && i < notify->target_count; i++)
		enqueue(&notify->targets[i], event, body, id);
	free(body);
}

/* The whole */

/* Receivers must know it over a restart: it is kept where they (root, or our user) can read it. */
static char *own_secret(const char *state_dir)
{
	char *path = xasprintf("%s/notify.key", state_dir), *secret = NULL;
	size_t len;
	if (file_read_all(path, 256, &secret, &len) == 0 && len >= 32) {
		secret[strcspn(secret, "\r\n")] = '\0';
		free(path);
		return secret;
	}
	free(secret);
	secret = NULL;
	unsigned char bytes[SECRET_BYTES];
	if (RAND_bytes(bytes, sizeof(bytes)) == 1) {
		secret = xmalloc(2 * SECRET_BYTES + 2);
		for (size_t i = 0; i < SECRET_BYTES; i++)
			snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
		strcat(secret, "\n");
		int ret = atomic_file_write(path, secret, strlen(secret), 0600, ATOMIC_FILE_SYNC);
		secret[2 * SECRET_BYTES] = '\0';
		if (ret < 0)
			log_error("cannot write %s: %s; name a secret with --notify-secret-file",
				path, strerror(-ret));
		if (ret < 0) {
			free(secret);
			secret = NULL;
		}
	}
	free(path);
	return secret;
}

static void init_target(struct target *target, struct notify *notify, const char *text)
{
	target->notify = notify;
	target->back_off_ms = BACK_OFF_FIRST_MS;
	list_init(&target->queue);
	target->timer = loop_timer_create(notify->loop, on_retry, target);
	if (split_unix(text, &target->unix_path, &target->url)) {
		target->name = xstrdup(target->unix_path);
	} else {
		target->url = xstrdup(text);
		const char *at = strchr(text + 8, '@');
		size_t host = at != NULL && (size_t)(at - text) < 8 + strcspn(text + 8, "/?#")
				      ? (size_t)(at + 1 - text)
				      : 8;
		target->name = xstrndup(text + host, strcspn(text + host, "/?#"));
	}
}

struct notify *notify_create(const struct notify_config *config)
{
	struct notify *notify = xcalloc(1, sizeof(*notify));
	notify->loop = config->loop;
	notify->box_id = config->box_id;
	list_init(&notify->watches);
	while (config->targets != NULL && config->targets[notify->target_count] != NULL)
		notify->target_count++;
	if (notify->target_count == 0)
		return notify;
	notify->secret =
		config->secret != NULL ? xstrdup(config->secret) : own_secret(config->state_dir);
	if (notify->secret != NULL && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		notify->multi = curl_multi_init();
	if (notify->multi == NULL) {
		log_error("--notify cannot be served");
		notify->target_count = 0;
		notify_destroy(notify);
		return NULL;
	}
	notify->timer = loop_timer_create(notify->loop, on_timer, notify);
	curl_multi_setopt(notify->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(notify->multi, CURLMOPT_SOCKETDATA, notify);
	curl_multi_setopt(notify->multi, CURLMOPT_TIMERFUNCTION, on_timer_wish);
	curl_multi_setopt(notify->multi, CURLMOPT_TIMERDATA, notify);
	notify->targets = xcalloc(notify->target_count, sizeof(notify->targets[0]));
	for (size_t i = 0; i < notify->target_count; i++)
		init_target(&notify->targets[i], notify, config->targets[i]);
	return notify;
}

static void finish_target(struct target *target)
{
	struct delivery *delivery, *tmp;
	end_try(target);
	list_for_each_safe (delivery, tmp, &target->queue, link)
		drop(target, delivery);
	loop_timer_destroy(target->timer);
	free(target->url);
	free(target->unix_path);
	free(target->name);
}

void notify_destroy(struct notify *notify)
{
	if (notify == NULL)
		return;
	for (size_t i = 0; i < notify->target_count; i++)
		finish_target(&notify->targets[i]);
	if (notify->multi != NULL)
		curl_multi_cleanup(notify->multi);
	struct watch *watch, *tmp;
	list_for_each_safe (watch, tmp, &notify->watches, link)
		unwatch(watch);
	if (notify->timer != NULL)
		loop_timer_destroy(notify->timer);
	free(notify->targets);
	free(notify->secret);
	free(notify);
}
