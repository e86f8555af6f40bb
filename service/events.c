/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/list.h"

struct event {
	struct list link;
	uint64_t number;
	char *text; /* as it goes out, blank line included */
	size_t len;
};

struct reader {
	struct list link;
	struct events *events;
	struct http_request *request;
};

struct events {
	uint64_t boot_id;
	uint64_t last_number;
	struct list kept; /* of struct event, oldest first */
	size_t kept_count, kept_bytes;
	struct list readers;
	size_t reader_count;
};

struct events *events_create(uint64_t boot_id)
{
	struct events *events = xcalloc(1, sizeof(*events));
	events->boot_id = boot_id;
	list_init(&events->kept);
	list_init(&events->readers);
	return events;
}

static void drop_event(struct events *events, struct event *event)
{
	list_remove(&event->link);
	events->kept_count--;
	events->kept_bytes -= event->len;
	free(event->text);
	free(event);
}

static void drop_reader(struct reader *reader)
{
	list_remove(&reader->link);
	reader->events->reader_count--;
	free(reader);
}

void events_destroy(struct events *events)
{
	if (events == NULL)
		return;
	struct reader *reader, *tmp_reader;
	list_for_each_safe(reader, tmp_reader, &events->readers, link) {
		http_stream_close(reader->request);
		drop_reader(reader);
	}
	struct event *event, *tmp_event;
	list_for_each_safe(event, tmp_event, &events->kept, link)
		drop_event(events, event);
	free(events);
}

static void send_to(struct reader *reader, const char *text, size_t len)
{
	if (!http_stream_write(reader->request, text, len)) {
		http_stream_close(reader->request);
		drop_reader(reader);
	}
}

static void keep(struct events *events, struct event *event)
{
	list_append(&events->kept, &event->link);
	events->kept_count++;
	events->kept_bytes += event->len;
	while (events->kept_count > EVENTS_KEPT_MAX || events->kept_bytes > EVENTS_KEPT_BYTES)
		drop_event(events, container_of(events->kept.next, struct event, link));
}

void events_publish(struct events *events, const char *type, json_t *data)
{
	char when[CLOCK_RFC3339_SIZE];
	clock_format_rfc3339(clock_wall_us(), when);
	json_t *object = json_pack("{s:s, s:s}", "type", type, "time", when);
	if (data != NULL)
		json_object_update_missing(object, data);
	json_decref(data);
	char *json = json_dumps(object, JSON_COMPACT);
	json_decref(object);

	struct event *event = xcalloc(1, sizeof(*event));
	event->number = ++events->last_number;
	event->text = xasprintf("id: %08" PRIx64 ".%" PRIu64 "\nevent: %s\ndata: %s\n\n",
		events->boot_id & 0xffffffff, event->number, type, json != NULL ? json : "{}");
	event->len = strlen(event->text);
	free(json);
	struct reader *reader, *tmp;
	list_for_each_safe(reader, tmp, &events->readers, link)
		send_to(reader, event->text, event->len);
	keep(events, event);
}

static void on_reader_gone(void *arg)
{
	drop_reader(arg);
}

/* The first number the reader has not seen; *has_gap when some before it are lost for good. */
static uint64_t resume_at(const struct events *events, const char *last_id, bool *has_gap)
{
	unsigned long long boot, number;
	char rest;
	*has_gap = false;
	if (last_id == NULL)
		return events->last_number + 1;
	uint64_t oldest = events->last_number - events->kept_count + 1;
	bool is_ours = sscanf(last_id, "%llx.%llu%c", &boot, &number, &rest) == 2 &&
		       boot == (events->boot_id & 0xffffffff) && number <= events->last_number;
	if (!is_ours || number + 1 < oldest) {
		*has_gap = true;
		return oldest;
	}
	return number + 1;
}

void events_serve(struct events *events, struct http_request *request)
{
	bool has_gap;
	uint64_t from =
		resume_at(events, http_request_header(request, "last-event-id"), &has_gap);
	struct reader *reader = xcalloc(1, sizeof(*reader));
	reader->events = events;
	reader->request = request;
	list_append(&events->readers, &reader->link);
	events->reader_count++;
	http_request_set_on_gone(request, on_reader_gone, reader);
	http_stream_start(request, "text/event-stream", EVENTS_QUEUE_BYTES);

	struct buffer start = {0};
	buffer_printf(&start, "retry: 1000\n\n");
	if (has_gap) {
		char when[CLOCK_RFC3339_SIZE];
		clock_format_rfc3339(clock_wall_us(), when);
		buffer_printf(&start, "event: gap\ndata: {\"type\":\"gap\",\"time\":\"%s\"}\n\n", when);
	}
	struct event *event;
	list_for_each(event, &events->kept, link) {
		if (event->number >= from)
			buffer_append(&start, event->text, event->len);
	}
	send_to(reader, (const char *)start.data, start.len);
	buffer_finish(&start);
}

size_t events_reader_count(const struct events *events)
{
	return events->reader_count;
}
