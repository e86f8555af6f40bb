/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/answer_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_MAX_LEN 4096

void answer_reader_finish(struct answer_reader *reader)
{
	buffer_finish(&reader->body);
	buffer_finish(&reader->head);
	buffer_finish(&reader->line);
}

const char *answer_reader_header(const struct answer_reader *reader, const char *name)
{
	size_t name_len = strlen(name);
	const char *line = (const char *)reader->head.data;
	const char *end = line + reader->head.len;
	for (; line != NULL && line < end; line += strlen(line) + 1) {
		if (strncasecmp(line, name, name_len) == 0 && line[name_len] == ':') {
			const char *value = line + name_len + 1;
			return value + strspn(value, " \t");
		}
	}
	return NULL;
}

/* Turns "A: b\r\nC: d\r\n" into NUL-ended lines without blanks at their ends. */
static void split_lines(struct buffer *head)
{
	char *text = (char *)head->data;
	size_t used = 0;
	for (size_t i = 0; i < head->len; i++) {
		if (text[i] != '\n') {
			text[used++] = text[i];
			continue;
		}
		while (used > 0 && text[used - 1] != '\0' && isspace((unsigned char)text[used - 1]))
			used--;
		text[used++] = '\0';
	}
	head->len = used;
}

static bool parse_number(const char *text, int base, uint64_t *out)
{
	char *end;
	if (!isxdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoull(text, &end, base);
	while (*end == ' ' || *end == '\t')
		end++;
	/* a chunk size may be followed by ";extension" */
	return errno == 0 && (*end == '\0' || (base == 16 && *end == ';'));
}

static int parse_status(struct answer_reader *reader)
{
	const char *line = (const char *)reader->head.data;
	if (strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)line[7]) || line[8] != ' ')
		return -EPROTO;
	const char *code = line + 9;
	for (int i = 0; i < 3; i++) {
		if (!isdigit((unsigned char)code[i]))
			return -EPROTO;
	}
	reader->status = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
	return reader->status >= 100 ? 0 : -EPROTO;
}

static bool collects_body(const struct answer_reader *reader)
{
	return reader->on_body == NULL || reader->status >= 400;
}

/* Chooses how the body is delimited (RFC 9112, 6.3). */
static int begin_body(struct answer_reader *reader)
{
	const char *coding = answer_reader_header(reader, "transfer-encoding");
	const char *length = answer_reader_header(reader, "content-length");
	if (reader->status == 204 || reader->status == 304) {
		reader->state = ANSWER_COMPLETE;
	} else if (coding != NULL) {
		if (strcasecmp(coding, "chunked") != 0)
			return -EPROTO;
		reader->state = ANSWER_CHUNK_SIZE;
	} else if (length != NULL) {
		if (!parse_number(length, 10, &reader->left))
			return -EPROTO;
		if (collects_body(reader)) {
			if (reader->left > ANSWER_BODY_MAX)
				return -EMSGSIZE;
			if (buffer_try_reserve(&reader->body, (size_t)reader->left + 1) == NULL)
				return -ENOMEM;
		}
		reader->state = reader->left > 0 ? ANSWER_BODY : ANSWER_COMPLETE;
	} else {
		reader->is_until_close = true;
		reader->state = ANSWER_BODY;
	}
	return 0;
}

static int finish_head(struct answer_reader *reader)
{
	if (memchr(reader->head.data, '\0', reader->head.len) != NULL)
		return -EPROTO;
	split_lines(&reader->head);
	int ret = parse_status(reader);
	if (ret < 0)
		return ret;
	if (reader->status < 200) {
		reader->head.len = 0;
		return 0;
	}
	return begin_body(reader);
}

/*
 * Takes one line (with its newline) into `into`. Returns how many bytes were used; *is_complete
 * tells whether the newline was among them.
 */
static size_t take_line(struct buffer *into, const char *data, size_t len, bool *is_complete)
{
	const char *newline = memchr(data, '\n', len);
	size_t used = newline != NULL ? (size_t)(newline - data) + 1 : len;
	buffer_append(into, data, used);
	*is_complete = newline != NULL;
	return used;
}

static bool ends_with_empty_line(const struct buffer *head)
{
	const char *end = (const char *)head->data + head->len;
	return (head->len >= 4 && memcmp(end - 4, "\r\n\r\n", 4) == 0) ||
	       (head->len >= 2 && memcmp(end - 2, "\n\n", 2) == 0);
}

static int take_head(struct answer_reader *reader, const char *data, size_t len, size_t *used)
{
	bool is_complete;
	*used = take_line(&reader->head, data, len, &is_complete);
	if (reader->head.len > ANSWER_HEAD_MAX)
		return -EMSGSIZE;
	if (is_complete && ends_with_empty_line(&reader->head))
		return finish_head(reader);
	return 0;
}

/* Collects the next bytes of the body, with a NUL behind them that is not counted. */
static int collect(struct answer_reader *reader, const char *data, size_t len)
{
	if (reader->body.len + len > ANSWER_BODY_MAX)
		return -EMSGSIZE;
	uint8_t *end = buffer_try_reserve(&reader->body, len + 1);
	if (end == NULL)
		return -ENOMEM;
	memcpy(end, data, len);
	end[len] = '\0';
	reader->body.len += len;
	return 0;
}

static int take_body(struct answer_reader *reader, const char *data, size_t len, size_t *used)
{
	if (!reader->is_until_close && len > reader->left)
		len = (size_t)reader->left;
	*used = len;
	if (collects_body(reader)) {
		int ret = collect(reader, data, len);
		if (ret < 0)
			return ret;
	} else if (!reader->on_body(reader->arg, data, len)) {
		return -ECANCELED;
	}
	if (reader->is_until_close)
		return 0;
	reader->left -= len;
	if (reader->left == 0)
		reader->state =
			reader->state == ANSWER_CHUNK_DATA ? ANSWER_CHUNK_END : ANSWER_COMPLETE;
	return 0;
}

/* A complete chunk size line, the line end behind a chunk's data, or a trailer line. */
static int finish_line(struct answer_reader *reader)
{
	split_lines(&reader->line);
	const char *line = (const char *)reader->line.data;
	reader->line.len = 0;
	switch (reader->state) {
	case ANSWER_CHUNK_SIZE:
		if (!parse_number(line, 16, &reader->left))
			return -EPROTO;
		reader->state = reader->left > 0 ? ANSWER_CHUNK_DATA : ANSWER_TRAILER;
		return 0;
	case ANSWER_CHUNK_END:
		if (line[0] != '\0')
			return -EPROTO;
		reader->state = ANSWER_CHUNK_SIZE;
		return 0;
	default:
		if (line[0] == '\0')
			reader->state = ANSWER_COMPLETE;
		return 0;
	}
}

static int take_chunk_line(struct answer_reader *reader, const char *data, size_t len, size_t *used)
{
	bool is_complete;
	*used = take_line(&reader->line, data, len, &is_complete);
	if (reader->line.len > LINE_MAX_LEN)
		return -EPROTO;
	return is_complete ? finish_line(reader) : 0;
}

int answer_reader_feed(struct answer_reader *reader, const void *data, size_t len)
{
	const char *next = data;
	while (len > 0 && reader->state != ANSWER_COMPLETE) {
		size_t used = 0;
		int ret;
		if (reader->state == ANSWER_HEAD)
			ret = take_head(reader, next, len, &used);
		else if (reader->state == ANSWER_BODY || reader->state == ANSWER_CHUNK_DATA)
			ret = take_body(reader, next, len, &used);
		else
			ret = take_chunk_line(reader, next, len, &used);
		if (ret < 0)
			return ret;
		next += used;
		len -= used;
	}
	return reader->state == ANSWER_COMPLETE ? 1 : 0;
}

int answer_reader_feed_end(struct answer_reader *reader)
{
	if (reader->state == ANSWER_BODY && reader->is_until_close)
		reader->state = ANSWER_COMPLETE;
	return reader->state == ANSWER_COMPLETE ? 1 : -ECONNRESET;
}
