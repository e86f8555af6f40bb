/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http_parse.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/utf8.h"

#define METHOD_LEN_MAX 32

static bool fail(struct http_fault *fault, int status, const char *message)
{
	fault->status = status;
	fault->code = "bad_request";
	fault->message = message;
	return false;
}

/* Whether c may stand in a token: a method or a header name (RFC 9110, 5.6.2). */
static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (!is_token_char(*text))
			return false;
	}
	return true;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

size_t http_head_skip_empty_lines(const char *data, size_t len)
{
	size_t skipped = 0;
	while (len - skipped >= 2 && data[skipped] == '\r' && data[skipped + 1] == '\n')
		skipped += 2;
	return skipped;
}

enum http_scan http_head_scan(
	const char *data, size_t len, size_t *scanned, struct http_fault *fault)
{
	/* Told at the first byte, so that TLS on a plain port need not wait for a time-out. */
	if (len > 0 && !is_token_char(data[0]) && data[0] != '\r') {
		fail(fault, 400, "this is not an HTTP request");
		return HTTP_SCAN_FAULT;
	}
	size_t at = *scanned;
	const char *lf;
	while (at < len && (lf = memchr(data + at, '\n', len - at)) != NULL) {
		size_t end = (size_t)(lf - data);
		if (end == 0 || data[end - 1] != '\r') {
			fail(fault, 400, "lines of the request must end in CR LF");
			return HTTP_SCAN_FAULT;
		}
		at = end + 1;
		if (end >= 3 && data[end - 2] == '\n') {
			*scanned = at;
			return HTTP_SCAN_DONE;
		}
	}
	*scanned = len;
	return HTTP_SCAN_MORE;
}

/* --- the target ------------------------------------------------------------------------------ */

/* Decodes text in place. Fails on bad escapes, NUL and what is not UTF-8. */
static bool percent_decode(char *text)
{
	char *out = text;
	for (const char *in = text; *in != '\0'; in++) {
		if (*in != '%') {
			*out++ = *in;
			continue;
		}
		int high = hex_value(in[1]);
		int low = high < 0 ? -1 : hex_value(in[2]);
		if (low < 0 || (high == 0 && low == 0))
			return false;
		*out++ = (char)(high * 16 + low);
		in += 2;
	}
	*out = '\0';
	return utf8_is_valid(text, (size_t)(out - text));
}

/* Whether a decoded path has a segment that some reader would take for something else. */
static bool has_odd_segment(const char *path)
{
	for (const char *slash = path; slash != NULL; slash = strchr(slash + 1, '/')) {
		const char *segment = slash + 1;
		size_t len = strcspn(segment, "/");
		bool is_last = segment[len] == '\0';
		if ((len == 0 && !is_last) || (len == 1 && segment[0] == '.') ||
			(len == 2 && segment[0] == '.' && segment[1] == '.'))
			return true;
	}
	return false;
}

static bool parse_path(struct http_head *head, char *path, struct http_fault *fault)
{
	if (path[0] != '/')
		return fail(fault, 400, "the request target must start with '/'");
	for (const char *percent = path; (percent = strchr(percent, '%')) != NULL; percent++) {
		if (percent[1] == '2' && (percent[2] == 'f' || percent[2] == 'F'))
			return fail(fault, 400, "the path must not hold %2F");
	}
	if (!percent_decode(path))
		return fail(fault, 400, "the path has a bad percent escape, or is not UTF-8");
	if (has_odd_segment(path))
		return fail(fault, 400, "the path must not hold '//', '/./' or '/../'");
	head->path = path;
	return true;
}

static bool parse_query(struct http_head *head, char *query, struct http_fault *fault)
{
	size_t count = 1;
	for (const char *c = query; *c != '\0'; c++)
		count += *c == '&';
	head->query = xcalloc(count, sizeof(*head->query));
	char *rest = query;
	char *pair;
	while ((pair = strsep(&rest, "&")) != NULL) {
		if (*pair == '\0')
			continue;
		char *name = strsep(&pair, "=");
		char *value = pair != NULL ? pair : name + strlen(name);
		if (!percent_decode(name) || !percent_decode(value))
			return fail(fault, 400,
				"the query has a bad percent escape, or is not UTF-8");
		head->query[head->query_count++] = (struct http_field){name, value};
	}
	return true;
}

/*
 * Takes "http://host" off an absolute target. *host becomes the host, or stays NULL for a plain
 * path. Returns what is left, NULL when it is neither.
 */
static char *take_authority(char *target, const char **host)
{
	size_t scheme = strncasecmp(target, "http://", 7) == 0    ? 7
			: strncasecmp(target, "https://", 8) == 0 ? 8
								  : 0;
	if (scheme == 0)
		return target;
	char *authority = target + scheme;
	size_t len = strcspn(authority, "/?");
	if (len == 0 || memchr(authority, '@', len) != NULL || authority[len] == '?')
		return NULL;
	/* One byte to the left, over a slash of "//", makes room for its NUL. */
	memmove(authority - 1, authority, len);
	authority[len - 1] = '\0';
	*host = authority - 1;
	return authority + len;
}

static bool parse_target(
	struct http_head *head, char *target, const char **host, struct http_fault *fault)
{
	for (const char *c = target; *c != '\0'; c++) {
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '#')
			return fail(fault, 400, "the request target has characters it must not have");
	}
	target = take_authority(target, host);
	if (target == NULL)
		return fail(fault, 400, "the request target must start with '/'");
	if (*target == '\0' && *host != NULL) {
		head->path = "/"; /* "http://host" */
		return true;
	}
	char *query = strchr(target, '?');
	if (query != NULL) {
		*query++ = '\0';
		if (!parse_query(head, query, fault))
			return false;
	}
	return parse_path(head, target, fault);
}

/* "METHOD target HTTP/1.x" */
static bool parse_request_line(
	struct http_head *head, char *line, const char **host, struct http_fault *fault)
{
	char *method = strsep(&line, " ");
	char *target = line != NULL ? strsep(&line, " ") : NULL;
	const char *version = line;
	if (version == NULL || !is_token(method) || strlen(method) > METHOD_LEN_MAX)
		return fail(fault, 400, "the request line must be: METHOD target HTTP/1.1");
	if (strlen(version) != 8 || strncmp(version, "HTTP/", 5) != 0 || version[6] != '.' ||
		hex_value(version[5]) < 0 || hex_value(version[7]) < 0 || hex_value(version[5]) > 9 ||
		hex_value(version[7]) > 9)
		return fail(fault, 400, "the request line must end in HTTP/1.1");
	if (version[5] != '1')
		return fail(fault, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
	head->method = method;
	head->minor_version = version[7] == '0' ? 0 : 1;
	return parse_target(head, target, host, fault);
}

/* --- headers --------------------------------------------------------------------------------- */

static bool parse_header(struct http_head *head, char *line, struct http_fault *fault)
{
	if (*line == ' ' || *line == '\t')
		return fail(fault, 400, "headers must not be folded over lines");
	char *value = line;
	char *name = strsep(&value, ":");
	if (value == NULL || !is_token(name))
		return fail(fault, 400, "each header must be a name, a colon and a value");
	for (char *c = name; *c != '\0'; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + ('a' - 'A'));
	}
	for (const char *c = value; *c != '\0'; c++) {
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return fail(fault, 400, "a header value has a control character");
	}
	value += strspn(value, " \t");
	size_t len = strlen(value);
	while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		value[--len] = '\0';
	head->headers[head->header_count++] = (struct http_field){name, value};
	return true;
}

const char *http_head_header(const struct http_head *head, const char *name)
{
	for (size_t i = 0; i < head->header_count; i++) {
		if (strcmp(head->headers[i].name, name) == 0)
			return head->headers[i].value;
	}
	return NULL;
}

bool http_list_has(const char *list, const char *token)
{
	size_t token_len = strlen(token);
	while (*list != '\0') {
		list += strspn(list, ", \t");
		size_t len = strcspn(list, ",");
		size_t word = len;
		while (word > 0 && (list[word - 1] == ' ' || list[word - 1] == '\t'))
			word--;
		if (word == token_len && strncasecmp(list, token, word) == 0)
			return true;
		list += len;
	}
	return false;
}

/* Headers of which a second one would let two readers see two requests. */
static bool check_single_headers(const struct http_head *head, struct http_fault *fault)
{
	static const char *const singles[] = {"host", "content-length", "transfer-encoding", "origin",
		"authorization", "content-type", "range", "expect"};
	for (size_t i = 0; i < ARRAY_LEN(singles); i++) {
		int count = 0;
		for (size_t k = 0; k < head->header_count; k++)
			count += strcmp(head->headers[k].name, singles[i]) == 0;
		if (count > 1)
			return fail(fault, 400, "a header that may come only once came twice");
	}
	return true;
}

static bool parse_content_length(const char *text, uint64_t *out)
{
	size_t len = strlen(text);
	if (len == 0 || len > 18 || strspn(text, "0123456789") != len)
		return false;
	*out = strtoull(text, NULL, 10);
	return true;
}

/* How long the body is, and how the connection goes on: RFC 9112, 6.3 and 9.3. */
static bool read_framing(struct http_head *head, struct http_fault *fault)
{
	const char *length = http_head_header(head, "content-length");
	const char *coding = http_head_header(head, "transfer-encoding");
	if (length != NULL && coding != NULL)
		return fail(fault, 400, "Content-Length and Transfer-Encoding exclude each other");
	if (length != NULL && !parse_content_length(length, &head->content_length))
		return fail(fault, 400, "Content-Length must be a number");
	if (coding != NULL && (strcasecmp(coding, "chunked") != 0 || head->minor_version == 0))
		return fail(fault, 400, "Transfer-Encoding must be chunked, of HTTP/1.1");
	head->is_chunked = coding != NULL;

	const char *expect = http_head_header(head, "expect");
	if (expect != NULL && strcasecmp(expect, "100-continue") != 0)
		return fail(fault, 417, "only 100-continue may be expected");
	head->expects_continue = expect != NULL && head->minor_version > 0;

	head->wants_keep_alive = head->minor_version > 0;
	for (size_t i = 0; i < head->header_count; i++) {
		if (strcmp(head->headers[i].name, "connection") != 0)
			continue;
		if (http_list_has(head->headers[i].value, "keep-alive"))
			head->wants_keep_alive = true;
	}
	for (size_t i = 0; i < head->header_count; i++) {
		if (strcmp(head->headers[i].name, "connection") == 0 &&
			http_list_has(head->headers[i].value, "close"))
			head->wants_keep_alive = false;
	}
	return true;
}

/* The host of an absolute target takes the place of what the Host header says (RFC 9112, 3.2.2). */
static void set_host(struct http_head *head, const char *host)
{
	for (size_t i = 0; i < head->header_count; i++) {
		if (strcmp(head->headers[i].name, "host") == 0) {
			head->headers[i].value = host;
			return;
		}
	}
	head->headers[head->header_count++] = (struct http_field){"host", host};
}

/* Cuts the next line off at its CR LF; NULL for a CR or NUL that stands elsewhere. */
static char *take_line(char **rest)
{
	char *line = *rest;
	char *cr = strchr(line, '\r');
	if (cr == NULL || cr[1] != '\n')
		return NULL;
	*cr = '\0';
	*rest = cr + 2;
	return line;
}

static bool parse_lines(struct http_head *head, size_t len, struct http_fault *fault)
{
	if (strlen(head->storage) != len)
		return fail(fault, 400, "the request has a NUL byte in its head");
	size_t lines = 0;
	for (size_t i = 0; i < len; i++)
		lines += head->storage[i] == '\n';
	head->headers = xcalloc(lines + 1, sizeof(*head->headers));

	const char *host = NULL;
	char *rest = head->storage;
	char *line = take_line(&rest);
	if (line == NULL)
		return fail(fault, 400, "lines of the request must end in CR LF");
	if (!parse_request_line(head, line, &host, fault))
		return false;
	while ((line = take_line(&rest)) != NULL && *line != '\0') {
		if (!parse_header(head, line, fault))
			return false;
	}
	if (line == NULL)
		return fail(fault, 400, "lines of the request must end in CR LF");
	if (!check_single_headers(head, fault) || !read_framing(head, fault))
		return false;
	if (host != NULL)
		set_host(head, host);
	return true;
}

bool http_head_parse(
	struct http_head *head, const char *data, size_t len, struct http_fault *fault)
{
	memset(head, 0, sizeof(*head));
	head->storage = xmalloc(len + 1);
	memcpy(head->storage, data, len);
	head->storage[len] = '\0';
	if (parse_lines(head, len, fault))
		return true;
	http_head_finish(head);
	return false;
}

void http_head_finish(struct http_head *head)
{
	free(head->query);
	free(head->headers);
	free(head->storage);
	memset(head, 0, sizeof(*head));
}

/* --- bodies in chunks ------------------------------------------------------------------------ */

/* More than any honest sender needs for a size and its extensions, or for all trailers. */
#define CHUNK_LINE_MAX    256
#define CHUNK_TRAILER_MAX 8192

enum chunk_state {
	CHUNK_SIZE_FIRST, /* the first digit */
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_BODY,
	CHUNK_BODY_CR,
	CHUNK_BODY_LF,
	CHUNK_TRAILER_START, /* at the start of a trailer line */
	CHUNK_TRAILER,
	CHUNK_TRAILER_LF,
	CHUNK_LAST_LF,
	CHUNK_END,
};

/* A byte of the line with the size. Returns the next state, -1 for a fault. */
static int step_size(struct http_chunked *chunked, char c)
{
	if (++chunked->line_len > CHUNK_LINE_MAX)
		return -1;
	int digit = hex_value(c);
	switch (chunked->state) {
	case CHUNK_SIZE_FIRST:
	case CHUNK_SIZE:
		if (digit >= 0) {
			if (chunked->left >> 56 != 0)
				return -1;
			chunked->left = chunked->left * 16 + (uint64_t)digit;
			return CHUNK_SIZE;
		}
		if (chunked->state == CHUNK_SIZE_FIRST)
			return -1;
		return c == '\r' ? CHUNK_SIZE_LF
		       : c == ';' || c == ' ' || c == '\t' ? CHUNK_EXTENSION
							   : -1;
	case CHUNK_EXTENSION:
		if (c == '\r')
			return CHUNK_SIZE_LF;
		return (unsigned char)c < ' ' && c != '\t' ? -1 : CHUNK_EXTENSION;
	default: /* CHUNK_SIZE_LF */
		if (c != '\n')
			return -1;
		chunked->line_len = 0;
		return chunked->left > 0 ? CHUNK_BODY : CHUNK_TRAILER_START;
	}
}

/* A byte behind a chunk, or of the trailers. */
static int step_rest(struct http_chunked *chunked, char c)
{
	switch (chunked->state) {
	case CHUNK_BODY_CR:
		return c == '\r' ? CHUNK_BODY_LF : -1;
	case CHUNK_BODY_LF:
		return c == '\n' ? CHUNK_SIZE_FIRST : -1;
	case CHUNK_LAST_LF:
		return c == '\n' ? CHUNK_END : -1;
	case CHUNK_TRAILER_LF:
		return c == '\n' ? CHUNK_TRAILER_START : -1;
	default: /* CHUNK_TRAILER_START, CHUNK_TRAILER */
		if (++chunked->line_len > CHUNK_TRAILER_MAX)
			return -1;
		if (c == '\r')
			return chunked->state == CHUNK_TRAILER ? CHUNK_TRAILER_LF : CHUNK_LAST_LF;
		return (unsigned char)c < ' ' && c != '\t' ? -1 : CHUNK_TRAILER;
	}
}

enum http_chunk http_chunked_feed(struct http_chunked *chunked, const char *data, size_t len,
	size_t *used, size_t *piece_len, struct http_fault *fault)
{
	*used = 0;
	*piece_len = 0;
	while (chunked->state != CHUNK_END && *used < len) {
		if (chunked->state == CHUNK_BODY) {
			size_t have = len - *used;
			*piece_len = have < chunked->left ? have : (size_t)chunked->left;
			*used += *piece_len;
			chunked->left -= *piece_len;
			if (chunked->left == 0)
				chunked->state = CHUNK_BODY_CR;
			return HTTP_CHUNK_DATA;
		}
		char c = data[(*used)++];
		int next = chunked->state <= CHUNK_SIZE_LF ? step_size(chunked, c)
							   : step_rest(chunked, c);
		if (next < 0) {
			fail(fault, 400, "the chunks of the body are not well formed");
			return HTTP_CHUNK_FAULT;
		}
		chunked->state = next;
	}
	return chunked->state == CHUNK_END ? HTTP_CHUNK_DONE : HTTP_CHUNK_MORE;
}

/* --- ranges ---------------------------------------------------------------------------------- */

/* Reads digits; returns what follows them, NULL when there is none or too many. */
static const char *parse_position(const char *text, uint64_t *out)
{
	size_t len = strspn(text, "0123456789");
	if (len == 0 || len > 18)
		return NULL;
	*out = strtoull(text, NULL, 10);
	return text + len;
}

enum http_range http_range_parse(
	const char *value, uint64_t size, uint64_t *first, uint64_t *last)
{
	if (value == NULL || strncasecmp(value, "bytes=", 6) != 0)
		return HTTP_RANGE_WHOLE;
	value += 6;
	if (*value == '-') { /* the last so many bytes */
		uint64_t count;
		const char *end = parse_position(value + 1, &count);
		if (end == NULL || *end != '\0')
			return HTTP_RANGE_WHOLE;
		if (count == 0 || size == 0)
			return HTTP_RANGE_UNSATISFIABLE;
		*first = count < size ? size - count : 0;
		*last = size - 1;
		return HTTP_RANGE_PART;
	}
	uint64_t from, to = UINT64_MAX;
	value = parse_position(value, &from);
	if (value == NULL || *value != '-')
		return HTTP_RANGE_WHOLE;
	value++;
	if (*value != '\0') {
		value = parse_position(value, &to);
		if (value == NULL || *value != '\0' || to < from)
			return HTTP_RANGE_WHOLE;
	}
	if (from >= size)
		return HTTP_RANGE_UNSATISFIABLE;
	*first = from;
	*last = to < size ? to : size - 1;
	return HTTP_RANGE_PART;
}
