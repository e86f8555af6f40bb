/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/http_transport.h"

/* So that a fast reader of something large does not keep the loop from everybody else. */
#define FLUSH_MAX ((size_t)1024 * 1024)

/* An empty byte buffer larger than this is given back. */
#define KEEP_MAX 4096

void http_output_init(struct http_output *output)
{
	memset(output, 0, sizeof(*output));
	output->file = -1;
}

static void drop_body(struct http_output *output)
{
	free(output->body_block);
	output->body_block = NULL;
	output->body = NULL;
	output->body_len = 0;
	output->body_sent = 0;
}

static void drop_file(struct http_output *output)
{
	if (output->file >= 0)
		close(output->file);
	output->file = -1;
	output->file_left = 0;
}

void http_output_finish(struct http_output *output)
{
	buffer_finish(&output->bytes);
	drop_body(output);
	drop_file(output);
	http_output_init(output);
}

void http_output_set_body(struct http_output *output, const void *data, size_t len)
{
	output->body = data;
	output->body_len = len;
}

void http_output_take_body(struct http_output *output, void *data, size_t len)
{
	http_output_set_body(output, data, len);
	output->body_block = data;
}

bool http_output_own_body(struct http_output *output)
{
	size_t left = output->body_len - output->body_sent;
	if (left == 0 || output->body_block != NULL)
		return true;
	void *copy = malloc(left);
	if (copy == NULL) {
		drop_body(output);
		return false;
	}
	memcpy(copy, output->body + output->body_sent, left);
	output->body_sent = 0;
	http_output_take_body(output, copy, left);
	return true;
}

void http_output_take_file(struct http_output *output, int file, off_t offset, uint64_t len)
{
	output->file = file;
	output->file_offset = offset;
	output->file_left = len;
}

bool http_output_is_empty(const struct http_output *output)
{
	return output->bytes_sent == output->bytes.len && output->body_sent == output->body_len &&
	       output->file_left == 0;
}

static void drop_what_is_sent(struct http_output *output)
{
	if (output->bytes_sent == output->bytes.len) {
		output->bytes.len = 0;
		output->bytes_sent = 0;
		if (output->bytes.capacity > KEEP_MAX)
			buffer_finish(&output->bytes);
	} else if (output->bytes_sent > output->bytes.len / 2) {
		buffer_consume(&output->bytes, output->bytes_sent);
		output->bytes_sent = 0;
	}
	if (output->body_sent == output->body_len)
		drop_body(output);
	if (output->file_left == 0)
		drop_file(output);
}

static ssize_t send_memory(struct http_output *output, struct http_transport *transport)
{
	size_t bytes_left = output->bytes.len - output->bytes_sent;
	size_t body_left = output->body_len - output->body_sent;
	struct iovec parts[2];
	int count = 0;
	if (bytes_left > 0)
		parts[count++] = (struct iovec){output->bytes.data + output->bytes_sent, bytes_left};
	if (body_left > 0)
		parts[count++] = (struct iovec){(char *)output->body + output->body_sent,
			body_left < FLUSH_MAX ? body_left : FLUSH_MAX};
	ssize_t sent = transport->ops->writev(transport, parts, count);
	if (sent > 0) {
		size_t of_bytes = (size_t)sent < bytes_left ? (size_t)sent : bytes_left;
		output->bytes_sent += of_bytes;
		output->body_sent += (size_t)sent - of_bytes;
	}
	return sent;
}

static ssize_t send_file(struct http_output *output, struct http_transport *transport)
{
	size_t len = output->file_left < FLUSH_MAX ? (size_t)output->file_left : FLUSH_MAX;
	ssize_t sent = transport->ops->send_file(
		transport, output->file, &output->file_offset, len);
	if (sent == 0)
		return -EIO; /* the file has become shorter than its answer said */
	if (sent > 0)
		output->file_left -= (uint64_t)sent;
	return sent;
}

enum http_send http_output_flush(
	struct http_output *output, struct http_transport *transport, uint64_t *sent)
{
	uint64_t start = *sent;
	while (!http_output_is_empty(output)) {
		if (*sent - start >= FLUSH_MAX)
			return HTTP_SEND_AGAIN;
		bool has_memory = output->bytes_sent < output->bytes.len ||
				  output->body_sent < output->body_len;
		ssize_t count = has_memory ? send_memory(output, transport)
					   : send_file(output, transport);
		if (count < 0 && count != -EAGAIN)
			return HTTP_SEND_FAILED;
		if (count > 0)
			*sent += (uint64_t)count;
		drop_what_is_sent(output);
		if (count == -EAGAIN)
			return HTTP_SEND_AGAIN;
	}
	drop_what_is_sent(output);
	return HTTP_SEND_DONE;
}
