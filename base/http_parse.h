/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading of HTTP/1.x requests (RFC 9112), strict where leniency would let two programs read the
 * same bytes differently. Pure: no I/O, no clock; any thread, one user per object.
 *
 * Decided here:
 *   - lines end in CR LF; a bare LF or a bare CR is a fault. Empty lines before a request line are
 *     for the caller to skip (http_head_skip_empty_lines);
 *   - folded headers, blanks before the colon and control characters in values are faults;
 *   - Content-Length twice, in a list, or together with Transfer-Encoding is a fault, and so is any
 *     transfer coding other than one "chunked";
 *   - host, origin, authorization, content-type, range and expect may come once only; of other
 *     headers that come more than once the first is found;
 *   - the path is percent-decoded once. "%2F", empty segments ("//") and the segments "." and ".."
 *     (encoded or not) are faults, so a path means the same to whoever looks at it;
 *   - path and query must decode to UTF-8 without NUL. '+' stays '+' (RFC 3986; no forms here);
 *   - the target may be absolute ("http://host/path"); its host then replaces the Host header.
 */
#ifndef BASE_HTTP_PARSE_H
#define BASE_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a request is refused: what the answer to it says. Strings are static. */
struct http_fault {
	int status;
	const char *code;
	const char *message;
};

struct http_field {
	const char *name;
	const char *value;
};

/* A request line and its headers. All strings point into storage. */
struct http_head {
	char *storage;
	const char *method;
	const char *path;          /* decoded; starts with '/' */
	struct http_field *query;  /* decoded, in order */
	size_t query_count;
	struct http_field *headers; /* names in lower case, values without blanks around */
	size_t header_count;
	int minor_version;         /* 0 or 1: HTTP/1.x with x > 1 is read as 1.1 */
	bool wants_keep_alive;     /* what version and Connection header amount to */
	bool expects_continue;     /* Expect: 100-continue, of HTTP/1.1 only */
	bool is_chunked;
	uint64_t content_length;   /* 0 when absent; meaningless when chunked */
};

/* The number of bytes of empty lines at the start of data. */
size_t http_head_skip_empty_lines(const char *data, size_t len);

enum http_scan {
	HTTP_SCAN_MORE, /* the head is not all here */
	HTTP_SCAN_DONE,
	HTTP_SCAN_FAULT,
};

/*
 * Looks for the end of the head in data[0..len). *scanned says how far earlier calls on the same
 * head got (0 at first); with HTTP_SCAN_DONE it becomes the length of the head with its empty line.
 */
enum http_scan http_head_scan(
	const char *data, size_t len, size_t *scanned, struct http_fault *fault);

/*
 * Parses the head data[0..len) that http_head_scan found. Returns false and *fault when it is not
 * valid; *head then needs no finish.
 */
bool http_head_parse(
	struct http_head *head, const char *data, size_t len, struct http_fault *fault);
void http_head_finish(struct http_head *head);

/* The value of the first header called name (lower case), or NULL. */
const char *http_head_header(const struct http_head *head, const char *name);

/* Whether a comma separated list such as that of Connection holds token; any letter case. */
bool http_list_has(const char *list, const char *token);

/* Decodes a body in chunks (RFC 9112, 7.1); drops extensions and trailers. Zero-initialise it. */
struct http_chunked {
	int state;
	uint64_t left;    /* of the current chunk */
	size_t line_len;  /* of the current chunk size line, or of all trailers */
};

enum http_chunk {
	HTTP_CHUNK_MORE, /* all bytes used, more are needed */
	HTTP_CHUNK_DATA, /* *piece_len bytes of body at data + *used - *piece_len */
	HTTP_CHUNK_DONE, /* the body has ended */
	HTTP_CHUNK_FAULT,
};

/*
 * Reads on at data[0..len) and says in *used how many bytes are done with. Called again with what
 * is left until it wants more or has ended.
 */
enum http_chunk http_chunked_feed(struct http_chunked *chunked, const char *data, size_t len,
	size_t *used, size_t *piece_len, struct http_fault *fault);

/* What a Range header asks of a representation of `size` bytes. */
enum http_range {
	HTTP_RANGE_WHOLE,         /* none, several, or not understood: send all */
	HTTP_RANGE_PART,          /* *first to *last, both included */
	HTTP_RANGE_UNSATISFIABLE, /* nothing of it is there */
};
enum http_range http_range_parse(
	const char *value, uint64_t size, uint64_t *first, uint64_t *last);

#endif
