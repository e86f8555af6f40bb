/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/sse_reader.h"

#include <string.h>

#define LINE_MAX_LEN (1024 * 1024)

void sse_reader_finish(struct sse_reader *reader)
{
	buffer_finish(&reader->line);
	buffer_finish(&reader->id);
	buffer_finish(&reader->type);
	buffer_finish(&reader->data);
}

/* The buffers hold text with its NUL at data[len]. */
static void set_text(struct buffer *buffer, const char *text, size_t len)
{
	buffer->len = 0;
	buffer_append(buffer, text, len);
	buffer_append(buffer, "", 1);
	buffer->len--;
}

static const char *text_of(const struct buffer *buffer, const char *fallback)
{
	return buffer->len > 0 ? (const char *)buffer->data : fallback;
}

static void drop_event(struct sse_reader *reader)
{
	reader->type.len = 0;
	reader->data.len = 0;
	reader->has_data = false;
}

static void finish_event(struct sse_reader *reader)
{
	if (reader->has_data) {
		const struct sse_event event = {
			.id = text_of(&reader->id, ""),
			.type = text_of(&reader->type, "message"),
			.data = text_of(&reader->data, ""),
		};
		reader->on_event(reader->arg, &event);
	}
	drop_event(reader);
}

static void append_data(struct sse_reader *reader, const char *value, size_t len)
{
	if (reader->has_data)
		buffer_append(&reader->data, "\n", 1);
	buffer_append(&reader->data, value, len);
	buffer_append(&reader->data, "", 1);
	reader->data.len--;
	reader->has_data = true;
}

static void finish_line(struct sse_reader *reader)
{
	const char *line = (const char *)reader->line.data;
	size_t len = reader->line.len;
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (len == 0) {
		finish_event(reader);
		return;
	}
	const char *colon = memchr(line, ':', len);
	size_t name_len = colon != NULL ? (size_t)(colon - line) : len;
	const char *value = line + name_len + (colon != NULL);
	size_t value_len = len - (size_t)(value - line);
	if (value_len > 0 && value[0] == ' ') {
		value++;
		value_len--;
	}
	if (name_len == 2 && memcmp(line, "id", 2) == 0 && memchr(value, '\0', value_len) == NULL)
		set_text(&reader->id, value, value_len);
	else if (name_len == 5 && memcmp(line, "event", 5) == 0)
		set_text(&reader->type, value, value_len);
	else if (name_len == 4 && memcmp(line, "data", 4) == 0)
		append_data(reader, value, value_len);
}

bool sse_reader_feed(struct sse_reader *reader, const void *data, size_t len)
{
	const char *next = data, *end = next + len;
	while (next < end) {
		const char *newline = memchr(next, '\n', (size_t)(end - next));
		const char *stop = newline != NULL ? newline : end;
		buffer_append(&reader->line, next, (size_t)(stop - next));
		if (reader->line.len > LINE_MAX_LEN)
			return false;
		if (newline == NULL)
			return true;
		finish_line(reader);
		reader->line.len = 0;
		next = newline + 1;
	}
	return true;
}

void sse_reader_resume(struct sse_reader *reader, const char *last_id)
{
	set_text(&reader->id, last_id, strlen(last_id));
}
