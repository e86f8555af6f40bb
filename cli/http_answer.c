/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/http_answer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_MAX_LEN 4096

void http_answer_finish(struct http_answer *answer)
{
	buffer_finish(&answer->body);
	buffer_finish(&answer->head);
	buffer_finish(&answer->line);
}

const char *http_answer_header(const struct http_answer *answer, const char *name)
{
	size_t name_len = strlen(name);
	const char *line = (const char *)answer->head.data;
	const char *end = line + answer->head.len;
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

static int parse_status(struct http_answer *answer)
{
	const char *line = (const char *)answer->head.data;
	if (strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)line[7]) || line[8] != ' ')
		return -EPROTO;
	const char *code = line + 9;
	for (int i = 0; i < 3; i++) {
		if (!isdigit((unsigned char)code[i]))
			return -EPROTO;
	}
	answer->status = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
	return answer->status >= 100 ? 0 : -EPROTO;
}

static bool collects_body(const struct http_answer *answer)
{
	return answer->on_body == NULL || answer->status >= 400;
}

/* Chooses how the body is delimited (RFC 9112, 6.3). */
static int begin_body(struct http_answer *answer)
{
	const char *coding = http_answer_header(answer, "transfer-encoding");
	const char *length = http_answer_header(answer, "content-length");
	if (answer->status == 204 || answer->status == 304) {
		answer->state = HTTP_ANSWER_COMPLETE;
	} else if (coding != NULL) {
		if (strcasecmp(coding, "chunked") != 0)
			return -EPROTO;
		answer->state = HTTP_ANSWER_CHUNK_SIZE;
	} else if (length != NULL) {
		if (!parse_number(length, 10, &answer->left))
			return -EPROTO;
		if (collects_body(answer)) {
			if (answer->left > HTTP_ANSWER_BODY_MAX)
				return -EMSGSIZE;
			buffer_reserve(&answer->body, (size_t)answer->left);
		}
		answer->state = answer->left > 0 ? HTTP_ANSWER_BODY : HTTP_ANSWER_COMPLETE;
	} else {
		answer->is_until_close = true;
		answer->state = HTTP_ANSWER_BODY;
	}
	return 0;
}

static int finish_head(struct http_answer *answer)
{
	if (memchr(answer->head.data, '\0', answer->head.len) != NULL)
		return -EPROTO;
	split_lines(&answer->head);
	int ret = parse_status(answer);
	if (ret < 0)
		return ret;
	if (answer->status < 200) {
		answer->head.len = 0;
		return 0;
	}
	return begin_body(answer);
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

static int take_head(struct http_answer *answer, const char *data, size_t len, size_t *used)
{
	bool is_complete;
	*used = take_line(&answer->head, data, len, &is_complete);
	if (answer->head.len > HTTP_ANSWER_HEAD_MAX)
		return -EMSGSIZE;
	if (is_complete && ends_with_empty_line(&answer->head))
		return finish_head(answer);
	return 0;
}

static int take_body(struct http_answer *answer, const char *data, size_t len, size_t *used)
{
	if (!answer->is_until_close && len > answer->left)
		len = (size_t)answer->left;
	*used = len;
	if (!collects_body(answer)) {
		if (!answer->on_body(answer->arg, data, len))
			return -ECANCELED;
	} else if (answer->body.len + len > HTTP_ANSWER_BODY_MAX) {
		return -EMSGSIZE;
	} else {
		buffer_append(&answer->body, data, len);
	}
	if (answer->is_until_close)
		return 0;
	answer->left -= len;
	if (answer->left == 0)
		answer->state = answer->state == HTTP_ANSWER_CHUNK_DATA ? HTTP_ANSWER_CHUNK_END
									: HTTP_ANSWER_COMPLETE;
	return 0;
}

/* A complete chunk size line, the line end behind a chunk's data, or a trailer line. */
static int finish_line(struct http_answer *answer)
{
	split_lines(&answer->line);
	const char *line = (const char *)answer->line.data;
	answer->line.len = 0;
	switch (answer->state) {
	case HTTP_ANSWER_CHUNK_SIZE:
		if (!parse_number(line, 16, &answer->left))
			return -EPROTO;
		answer->state = answer->left > 0 ? HTTP_ANSWER_CHUNK_DATA : HTTP_ANSWER_TRAILER;
		return 0;
	case HTTP_ANSWER_CHUNK_END:
		if (line[0] != '\0')
			return -EPROTO;
		answer->state = HTTP_ANSWER_CHUNK_SIZE;
		return 0;
	default:
		if (line[0] == '\0')
			answer->state = HTTP_ANSWER_COMPLETE;
		return 0;
	}
}

static int take_chunk_line(struct http_answer *answer, const char *data, size_t len, size_t *used)
{
	bool is_complete;
	*used = take_line(&answer->line, data, len, &is_complete);
	if (answer->line.len > LINE_MAX_LEN)
		return -EPROTO;
	return is_complete ? finish_line(answer) : 0;
}

int http_answer_feed(struct http_answer *answer, const void *data, size_t len)
{
	const char *next = data;
	while (len > 0 && answer->state != HTTP_ANSWER_COMPLETE) {
		size_t used = 0;
		int ret;
		if (answer->state == HTTP_ANSWER_HEAD)
			ret = take_head(answer, next, len, &used);
		else if (answer->state == HTTP_ANSWER_BODY ||
			 answer->state == HTTP_ANSWER_CHUNK_DATA)
			ret = take_body(answer, next, len, &used);
		else
			ret = take_chunk_line(answer, next, len, &used);
		if (ret < 0)
			return ret;
		next += used;
		len -= used;
	}
	return answer->state == HTTP_ANSWER_COMPLETE ? 1 : 0;
}

int http_answer_feed_end(struct http_answer *answer)
{
	if (answer->state == HTTP_ANSWER_BODY && answer->is_until_close)
		answer->state = HTTP_ANSWER_COMPLETE;
	return answer->state == HTTP_ANSWER_COMPLETE ? 1 : -ECONNRESET;
}
