/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/page_guard.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/list.h"
#include "base/loop.h"
#include "takeover/guesses.h"

/* Answers that wait: few enough that they leave connections for everybody else. */
#define LATE_MAX 32

static const char not_valid[] =
	"{\"error\":\"not_valid\",\"message\":\"this link is not valid; ask for a new one\"}";
static const char too_many[] =
	"{\"error\":\"too_many\",\"message\":\"too many wrong tries; wait a minute\"}";

struct page_guard {
	struct loop *loop;
	const char *public_url;
	const char *listen_address;
	const char *const *allowed_origins;
	struct guesses *guesses;
	struct list late; /* of struct late_answer */
	int late_count;
};

struct late_answer {
	struct list link;
	struct page_guard *guard;
	struct http_request *request;
	struct loop_timer *timer;
};

struct page_guard *page_guard_create(struct loop *loop, const char *public_url,
	const char *listen_address, const char *const *allowed_origins)
{
	struct page_guard *guard = xcalloc(1, sizeof(*guard));
	guard->loop = loop;
	guard->public_url = public_url;
	guard->listen_address = listen_address;
	guard->allowed_origins = allowed_origins;
	guard->guesses = guesses_create();
	list_init(&guard->late);
	return guard;
}

static void drop_late(struct late_answer *answer)
{
	list_remove(&answer->link);
	answer->guard->late_count--;
	loop_timer_destroy(answer->timer);
	free(answer);
}

void page_guard_destroy(struct page_guard *guard)
{
	if (guard == NULL)
		return;
	struct late_answer *answer, *tmp;
	list_for_each_safe (answer, tmp, &guard->late, link) {
		http_reply(
			answer->request, 401, "application/json", not_valid, sizeof(not_valid) - 1);
		drop_late(answer);
	}
	guesses_destroy(guard->guesses);
	free(guard);
}

/* Names */

/* The host of "http://host:port/…", which is `len` long. */
static const char *host_of(const char *url, size_t *len)
{
	const char *begin = strstr(url, "://");
	begin = begin != NULL ? begin + 3 : url;
	*len = strcspn(begin, "/");
	return begin;
}

static bool is_https(const char *url)
{
	return strncasecmp(url, "https://", 8) == 0;
}

/* The length without the port that goes without saying, which some write and some do not. */
static size_t len_without_default_port(const char *host, size_t len, bool is_secure)
{
	const char *port = is_secure ? ":443" : ":80";
	size_t port_len = strlen(port);
	bool has_it = len > port_len && memcmp(host + len - port_len, port, port_len) == 0;
	return has_it ? len - port_len : len;
}

/* Whether two hosts with or without ports are one under a scheme. */
static bool is_same_host(const char *a, size_t a_len, const char *b, size_t b_len, bool is_secure)
{
	a_len = len_without_default_port(a, a_len, is_secure);
	b_len = len_without_default_port(b, b_len, is_secure);
	return a_len == b_len && strncasecmp(a, b, a_len) == 0;
}

/* Whether host ("name" or "name:port") is of that name. */
static bool host_is(const char *host, const char *name)
{
	size_t len = strlen(name);
	return strncasecmp(host, name, len) == 0 &&
	       (host[len] == '\0' || (host[len] == ':' && strspn(host + len + 1, "0123456789") ==
								  strlen(host + len + 1)));
}

/* Whether host is an address rather than a name: nobody can make an address lead elsewhere. */
static bool host_is_address(const char *host)
{
	struct in6_addr address;
	char text[64];
	size_t len = host[0] == '[' ? strcspn(host + 1, "]") : strcspn(host, ":");
	if (len >= sizeof(text))
		return false;
	memcpy(text, host + (host[0] == '['), len);
	text[len] = '\0';
	return inet_pton(host[0] == '[' ? AF_INET6 : AF_INET, text, &address) == 1;
}

static bool listens_everywhere(const struct page_guard *guard)
{
	return strcmp(guard->listen_address, "0.0.0.0") == 0 ||
	       strcmp(guard->listen_address, "::") == 0;
}

bool page_guard_knows_host(const struct page_guard *guard, const struct http_request *request)
{
	const char *host = http_request_header(request, "host");
	size_t public_len;
	const char *public_host = host_of(guard->public_url, &public_len);
	if (host == NULL || host[0] == '\0')
		return false;
	if (is_same_host(host, strlen(host), public_host, public_len, is_https(guard->public_url)))
		return true;
	char listen[80] = "";
	bool is_v6 = strchr(guard->listen_address, ':') != NULL;
	strcat(strncat(strcat(listen, is_v6 ? "[" : ""), guard->listen_address, 70),
		is_v6 ? "]" : "");
	return host_is(host, "localhost") || host_is(host, "127.0.0.1") || host_is(host, "[::1]") ||
	       host_is(host, listen) || (listens_everywhere(guard) && host_is_address(host));
}

/* Origins */

/* The scheme and host that the public address has, as a browser writes an origin. */
static bool is_public_origin(const struct page_guard *guard, const char *origin)
{
	size_t public_len, len;
	const char *public_host = host_of(guard->public_url, &public_len);
	size_t scheme_len = (size_t)(public_host - guard->public_url);
	if (strncasecmp(origin, guard->public_url, scheme_len) != 0)
		return false;
	const char *host = origin + scheme_len;
	len = strlen(host);
	return is_same_host(host, len, public_host, public_len, is_https(origin));
}

/* The page came from the very name it talks to now. */
static bool is_same_origin(const char *origin, const char *host)
{
	size_t scheme_len = is_https(origin)                         ? 8
			    : strncasecmp(origin, "http://", 7) == 0 ? 7
								     : 0;
	const char *from = origin + scheme_len;
	return scheme_len > 0 &&
	       is_same_host(from, strlen(from), host, strlen(host), is_https(origin));
}

bool page_guard_admits_origin(
	const struct page_guard *guard, const struct http_request *request, bool has_secret)
{
	const char *origin = http_request_header(request, "origin");
	const char *host = http_request_header(request, "host");
	if (origin == NULL)
		return has_secret;
	if (is_public_origin(guard, origin) || (host != NULL && is_same_origin(origin, host)))
		return true;
	return page_guard_allowed_origin(guard, request) != NULL;
}

const char *page_guard_allowed_origin(
	const struct page_guard *guard, const struct http_request *request)
{
	const char *origin = http_request_header(request, "origin");
	for (size_t i = 0; guard->allowed_origins != NULL && guard->allowed_origins[i] != NULL;
		i++) {
		if (origin != NULL && strcmp(guard->allowed_origins[i], origin) == 0)
			return guard->allowed_origins[i];
	}
	return NULL;
}

/* Guesses */

static void on_late(void *arg)
{
	struct late_answer *answer = arg;
	http_reply(answer->request, 401, "application/json", not_valid, sizeof(not_valid) - 1);
	drop_late(answer);
}

static void on_gone(void *arg)
{
	drop_late(arg);
}

int page_guard_note_guess(struct page_guard *guard, const struct http_request *request)
{
	return guesses_note(guard->guesses, clock_monotonic_us(), http_request_peer(request));
}

void page_guard_refuse_secret(struct page_guard *guard, struct http_request *request)
{
	int delay_ms = page_guard_note_guess(guard, request);
	if (delay_ms == 0) {
		http_reply(request, 401, "application/json", not_valid, sizeof(not_valid) - 1);
	} else if (guard->late_count >= LATE_MAX) {
		http_request_add_header(request, "Retry-After", "60");
		http_reply(request, 429, "application/json", too_many, sizeof(too_many) - 1);
	} else {
		struct late_answer *answer = xcalloc(1, sizeof(*answer));
		answer->guard = guard;
		answer->request = request;
		answer->timer = loop_timer_create(guard->loop, on_late, answer);
		list_append(&guard->late, &answer->link);
		guard->late_count++;
		loop_timer_arm(answer->timer, delay_ms);
		http_request_set_on_gone(request, on_gone, answer);
	}
}
