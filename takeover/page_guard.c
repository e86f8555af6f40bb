/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/page_guard.h"

#include <arpa/inet.h>
#include <stdint.h>
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
	bool has_tls;
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
	const char *listen_address, bool has_tls, const char *const *allowed_origins)
{
	struct page_guard *guard = xcalloc(1, sizeof(*guard));
	guard->loop = loop;
	guard->public_url = public_url;
	guard->listen_address = listen_address;
	guard->has_tls = has_tls;
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

/* The length of the name in "name", "name:port" or "[address]:port"; 0: it is none of these. */
static size_t name_len(const char *host)
{
	size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	if (len > strlen(host))
		return 0; /* the bracket is not closed */
	if (host[len] == '\0')
		return len;
	size_t digits = strspn(host + len + 1, "0123456789");
	bool is_port = host[len] == ':' && host[len + 1 + digits] == '\0' && digits <= 5 &&
		       strtol(host + len + 1, NULL, 10) <= UINT16_MAX;
	return is_port ? len : 0;
}

/* Whether host, with or without a port, is of that name. */
static bool host_is(const char *host, const char *name)
{
	size_t len = name_len(host);
	return len > 0 && len == strlen(name) && strncasecmp(host, name, len) == 0;
}

/* Whether host is an address rather than a name: nobody can make an address lead elsewhere. */
static bool host_is_address(const char *host)
{
	struct in6_addr address;
	char text[64];
	bool is_v6 = host[0] == '[';
	size_t len = name_len(host);
	if (len < 3 || len >= sizeof(text))
		return false;
	memcpy(text, host, len);
	text[is_v6 ? len - 1 : len] = '\0';
	return inet_pton(is_v6 ? AF_INET6 : AF_INET, text + is_v6, &address) == 1;
}

static bool listens_everywhere(const struct page_guard *guard)
{
	return strcmp(guard->listen_address, "0.0.0.0") == 0 ||
	       strcmp(guard->listen_address, "::") == 0;
}

static bool is_public_host(const struct page_guard *guard, const char *host)
{
	size_t public_len;
	const char *public_host = host_of(guard->public_url, &public_len);
	return is_same_host(
		host, strlen(host), public_host, public_len, is_https(guard->public_url));
}

bool page_guard_knows_host(const struct page_guard *guard, const struct http_request *request)
{
	const char *host = http_request_header(request, "host");
	if (host == NULL || host[0] == '\0')
		return false;
	if (is_public_host(guard, host))
		return true;
	char listen[80] = "";
	bool is_v6 = strchr(guard->listen_address, ':') != NULL;
	strcat(strncat(strcat(listen, is_v6 ? "[" : ""), guard->listen_address, 70),
		is_v6 ? "]" : "");
	return host_is(host, "localhost") || host_is(host, "127.0.0.1") || host_is(host, "[::1]") ||
	       host_is(host, listen) || (listens_everywhere(guard) && host_is_address(host));
}

/* Origins */

/*
 * Whether the origin, as a browser writes it, is that scheme and host. The scheme counts: whoever sits
 * on the line can make a page of http://, with any name in it, but none of https://.
 */
static bool is_origin_of(const char *origin, const char *host, size_t host_len, bool is_secure)
{
	const char *scheme = is_secure ? "https://" : "http://";
	size_t scheme_len = strlen(scheme);
	const char *from = origin + scheme_len;
	return strncasecmp(origin, scheme, scheme_len) == 0 &&
	       is_same_host(from, strlen(from), host, host_len, is_secure);
}

/* The page came from the very name it talks to now. */
static bool is_same_origin(const struct page_guard *guard, const char *origin, const char *host)
{
	/* What comes by the public name may have had its TLS taken off before it came here. */
	bool is_secure = is_public_host(guard, host) ? is_https(guard->public_url) : guard->has_tls;
	return is_origin_of(origin, host, strlen(host), is_secure);
}

bool page_guard_admits_origin(
	const struct page_guard *guard, const struct http_request *request, bool has_secret)
{
	const char *origin = http_request_header(request, "origin");
	const char *host = http_request_header(request, "host");
	size_t public_len;
	const char *public_host = host_of(guard->public_url, &public_len);
	if (origin == NULL)
		return has_secret;
	if (is_origin_of(origin, public_host, public_len, is_https(guard->public_url)) ||
		(host != NULL && is_same_origin(guard, origin, host)))
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
