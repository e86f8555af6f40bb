/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing mp4 that can be played at every moment, whatever happens to the writer: fragments of
 * H.264 samples (ISO/IEC 14496-12, 8.8), each written in one go inside a `free` box and made visible
 * by one write of four bytes. A copy taken, or a power cut, in the middle of a fragment shows the
 * fragments before it and a box to be skipped.
 *
 * The last sample lasts as long as fragments_extend says; while nothing changes that is four more
 * bytes written now and then, and no picture needs to be encoded again. One thread at a time.
 */
#ifndef CAPTURE_FRAGMENTS_H
#define CAPTURE_FRAGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fragments;
struct packet;

struct video_format {
	int width, height;
	const uint8_t *extradata; /* SPS and PPS, Annex B */
	size_t extradata_len;
};

/* Times here and in the file are in ticks of 1/90000 s, into which the usual frame rates go evenly. */
#define FRAGMENTS_TIMESCALE 90000
static inline int64_t ticks_from_us(int64_t us)
{
	return us * 9 / 100;
}
static inline int64_t ticks_to_ms(int64_t ticks)
{
	return ticks / 90;
}

/*
 * Begins the file on fd (taken, empty, open for reading and writing). Returns 0 with *out or a
 * negative errno with fd closed.
 */
int fragments_create(int fd, const struct video_format *format, struct fragments **out);

/* Adds a sample that begins at pts, later than the one before. It is in memory until flushed. */
void fragments_add(struct fragments *fragments, struct packet *packet, int64_t pts);

/*
 * Writes what is in memory and lets the last sample of all last until `end` (a tick at least).
 * Returns 0 or a negative errno; after an error the file ends with the fragment before, and samples
 * that were in memory are lost.
 */
int fragments_flush(struct fragments *fragments, int64_t end);

/* What waits for fragments_flush. */
size_t fragments_waiting_bytes(const struct fragments *fragments);
bool fragments_is_empty(const struct fragments *fragments);

int64_t fragments_file_bytes(const struct fragments *fragments);

/* Closes the file as it is. Accepts NULL. */
void fragments_destroy(struct fragments *fragments);

/* What a file of this kind holds, as far as it is whole. */
struct fragments_summary {
	int64_t good_bytes;  /* up to the end of the last whole fragment */
	int64_t sample_count; /* or a few more */
	int fragment_count;
	int64_t end;          /* when the last sample ends */
};

/* Looks through a file. False when it does not begin like one of ours. */
bool fragments_inspect(int fd, struct fragments_summary *out);

#endif
