/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/call.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/list.h"
#include "base/loop.h"
#include "service/lock.h"
#include "service/reply.h"
#include "service/service.h"

struct call {
	struct list link;             /* in service->looking_calls, or in none */
	struct http_request *request; /* NULL once it is gone or answered */
	struct loop_timer *timer;
	void (*on_gone)(void *arg);
	void *arg;
};

static void tell_gone(struct call *call)
{
	call->request = NULL;
	loop_timer_disarm(call->timer);
	if (call->on_gone != NULL)
		call->on_gone(call->arg);
}

static void on_peer_gone(void *arg)
{
	tell_gone(arg);
}

static void on_timeout(void *arg)
{
	struct call *call = arg;
	struct http_request *request = call->request;
	tell_gone(call);
	reply_error(request, REPLY_TIMEOUT,
		"there was no answer in time: the X server may be stopped, or this machine is "
		"overloaded; try again, and look at it with boxscreen doctor");
}

struct call *call_begin(struct service *service, struct http_request *request, int timeout_ms,
	void (*on_gone)(void *arg), void *arg)
{
	struct call *call = xcalloc(1, sizeof(*call));
	list_init(&call->link);
	call->request = request;
	call->on_gone = on_gone;
	call->arg = arg;
	call->timer = loop_timer_create(service->loop, on_timeout, call);
	loop_timer_arm(call->timer, timeout_ms);
	http_request_set_on_gone(request, on_peer_gone, call);
	return call;
}

struct call *call_begin_looking(struct service *service, struct http_request *request,
	int timeout_ms, void (*on_gone)(void *arg), void *arg)
{
	struct call *call = call_begin(service, request, timeout_ms, on_gone, arg);
	list_append(&service->looking_calls, &call->link);
	return call;
}

void calls_refuse_looking(struct service *service)
{
	struct call *call, *tmp;
	list_for_each_safe (call, tmp, &service->looking_calls, link) {
		struct http_request *request = call->request;
		if (request == NULL)
			continue;
		tell_gone(call);
		lock_reply(service, request);
	}
}

struct http_request *call_request(struct call *call)
{
	return call->request;
}

void call_end(struct call *call)
{
	if (call == NULL)
		return;
	list_remove(&call->link);
	loop_timer_destroy(call->timer);
	/* Not answered yet: the answer follows; nobody may call back into a freed call. */
	free(call);
}
