/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/call.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/http_server.h"
#include "base/loop.h"
#include "service/reply.h"
#include "service/service.h"

struct call {
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
	call->request = request;
	call->on_gone = on_gone;
	call->arg = arg;
	call->timer = loop_timer_create(service->loop, on_timeout, call);
	loop_timer_arm(call->timer, timeout_ms);
	http_request_set_on_gone(request, on_peer_gone, call);
	return call;
}

struct http_request *call_request(struct call *call)
{
	return call->request;
}

void call_end(struct call *call)
{
	if (call == NULL)
		return;
	loop_timer_destroy(call->timer);
	/* Not answered yet: the answer follows; nobody may call back into a freed call. */
	free(call);
}
