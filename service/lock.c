/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/lock.h"

#include "base/json.h"
#include "display/privacy.h"
#include "service/reply.h"
#include "service/service.h"
#include "takeover/takeovers.h"

json_t *lock_error_json(struct service *service, const char *message)
{
	json_t *error = reply_error_json(REPLY_LOCKED, message);
	json_object_set_new(error, "holder", json_string("person"));
	json_object_set_new(
		error, "since", json_time(takeovers_locked_since_wall_us(service->takeovers)));
	return error;
}

void lock_reply(struct service *service, struct http_request *request)
{
	reply_json(request, reply_status(REPLY_LOCKED),
		lock_error_json(service,
			"a person holds the screen; wait for the event "
			"control.unlocked, or for the takeover to be handed back"));
}

bool lock_refuses_acting(struct service *service, struct http_request *request)
{
	bool is_locked = takeovers_is_locked(service->takeovers);
	if (is_locked)
		lock_reply(service, request);
	return is_locked;
}

bool lock_hides(struct service *service)
{
	/* A lock whose time is over hides nothing any more. */
	return takeovers_is_locked(service->takeovers) && privacy_is_on(service->privacy);
}

bool lock_refuses_looking(struct service *service, struct http_request *request)
{
	bool is_hidden = lock_hides(service);
	if (is_hidden)
		lock_reply(service, request);
	return is_hidden;
}
