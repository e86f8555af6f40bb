/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PNG: libpng frames the chunks, libdeflate makes the compressed bytes (2 to 4 times faster than
 * zlib at the same size), on two threads when the picture is large. Never an alpha channel.
 */
#include "capture/picture_encoders.h"

#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "capture/parallel.h"
#include "capture/pixel.h"
#include "capture/png_strip.h"

#define LOG_MODULE "picture"

/* Below this many pixels starting a thread costs more than it saves. */
#define TWO_THREADS_FROM 200000

/*
 * Strips of about so many bytes before compression. None can look back into the one before, but on
 * a 1280x800 page of text eight strips come out as small as one (164 KB) and 4 % quicker, since
 * they stay in the second-level cache; and two threads that take them in turn finish together.
 */
#define STRIP_BYTES 400000

/* One row in so many is looked at to find out at once that there are more than 256 colours. */
#define SAMPLE_EVERY 16

#define ZLIB_HEADER_SIZE  2
#define ZLIB_TRAILER_SIZE 4
#define IDAT_MAX          (1u << 30) /* bytes in one chunk; PNG allows just under 2^31 */

/* One encoding on its way, shared by the threads that work on it. */
struct png_job {
	const struct pixels *src; /* immutable */
	size_t strip_bytes;       /* of a strip before compression, about; immutable */
	int threads;              /* 1 or 2, immutable while they run */
	/* Written by find_palette, then immutable. */
	struct palette palettes[2]; /* what each thread has found; at last the first has all */
	bool has_palette;
	/* Laid out by lay_out; then each strip is owned by the thread that took it. */
	struct png_strip *strips;
	int strip_count;
	uint8_t *work[2]; /* of each thread, in memory */
	uint8_t *memory;
	int error;     /* of lay_out, or of a strip */
	uint8_t *idat; /* the zlib stream, in memory */
	size_t idat_len;
	struct parallel_meeting meeting;
	atomic_int next_chunk, next_strip; /* the piece of work to take next */
	atomic_bool has_too_many_colours;
};

/* What one of the threads gets. */
struct job_thread {
	struct png_job *job;
	int index;
};

/* Waits for the other thread to come as far, if there is one. */
static void meet(struct png_job *job)
{
	if (job->threads == 2)
		parallel_meet(&job->meeting);
}

/* Adds the colours of a sampled row's followers, up to the next sampled row. */
static bool collect_chunk(const struct pixels *src, int chunk, struct palette *palette)
{
	int start = chunk * SAMPLE_EVERY;
	for (int i = 1; i < SAMPLE_EVERY && i < src->height - start; i++) {
		const uint8_t *row = pixels_row(src, start + i);
		const uint8_t *above = pixels_row(src, start + i - 1);
		if (memcmp(row, above, (size_t)src->width * 4) != 0 &&
		        !palette_add_row(palette, row, src->width))
			return false;
	}
	return true;
}

/* The colours of some sampled rows, which tell soon of a photo, then all between. */
static void collect_colours(struct png_job *job, struct palette *palette)
{
	const struct pixels *src = job->src;
	int chunks = (src->height - 1) / SAMPLE_EVERY + 1, chunk;
	palette_init(palette);
	while (!atomic_load(&job->has_too_many_colours) &&
		(chunk = atomic_fetch_add(&job->next_chunk, 1)) < 2 * chunks) {
		bool is_sample = chunk < chunks;
		bool fits = is_sample ? palette_add_row(palette,
						pixels_row(src, chunk * SAMPLE_EVERY), src->width)
				      : collect_chunk(src, chunk - chunks, palette);
		if (!fits)
			atomic_store(&job->has_too_many_colours, true);
	}
}

/* Of what the threads have found: has_palette says whether there are at most 256 colours. */
static void find_palette(struct png_job *job)
{
	job->has_palette = !job->has_too_many_colours;
	for (int i = 1; i < job->threads && job->has_palette; i++)
		job->has_palette = palette_merge(&job->palettes[0], &job->palettes[i]);
	/* Which thread came upon which colour is chance, and must not show in the file. */
	if (job->has_palette)
		palette_sort(&job->palettes[0]);
}

static const struct palette *job_palette(const struct png_job *job)
{
	return job->has_palette ? &job->palettes[0] : NULL;
}

/* Cuts the picture into strips and gives them and the threads their memory, all in one block. */
static int lay_out(struct png_job *job)
{
	const struct palette *palette = job_palette(job);
	int width = job->src->width, height = job->src->height;
	size_t bytes = png_row_size(width, palette) * (size_t)height;
	size_t wanted = (bytes - 1) / job->strip_bytes + 1;
	int rows_per_strip = wanted < (size_t)height ? (int)(((size_t)height - 1) / wanted + 1) : 1;
	job->strip_count = (height - 1) / rows_per_strip + 1;
	size_t work_size = png_strip_work_size(width, rows_per_strip, palette);
	size_t out_size = png_strip_out_size(width, rows_per_strip, palette);
	job->memory = malloc(work_size * (size_t)job->threads + ZLIB_HEADER_SIZE +
	                     out_size * (size_t)job->strip_count + ZLIB_TRAILER_SIZE);
	job->strips = calloc((size_t)job->strip_count, sizeof(*job->strips));
	if (job->memory == NULL || job->strips == NULL)
		return -ENOMEM;
	job->idat = job->memory;
	for (int i = 0; i < job->threads; i++, job->idat += work_size)
		job->work[i] = job->idat;
	for (int i = 0; i < job->strip_count; i++) {
		struct png_strip *strip = &job->strips[i];
		strip->rows = *job->src;
		strip->rows.data = pixels_row(job->src, i * rows_per_strip);
		strip->is_last = i == job->strip_count - 1;
		strip->rows.height = strip->is_last ? height - i * rows_per_strip : rows_per_strip;
		strip->palette = palette;
		strip->out = job->idat + ZLIB_HEADER_SIZE + (size_t)i * out_size;
	}
	return 0;
}

static void compress_strips(struct png_job *job, uint8_t *work)
{
	int i;
	while ((i = atomic_fetch_add(&job->next_strip, 1)) < job->strip_count)
		png_strip_compress(&job->strips[i], work);
}

/* What each thread does. */
static void job_work(void *arg)
{
	const struct job_thread *thread = arg;
	struct png_job *job = thread->job;
	collect_colours(job, &job->palettes[thread->index]);
	meet(job);
	if (thread->index == 0) {
		find_palette(job);
		job->error = lay_out(job);
	}
	meet(job);
	if (job->error == 0)
		compress_strips(job, job->work[thread->index]);
}

/* Moves the strips' streams together and makes a zlib stream (RFC 1950) of them. */
static void job_join_strips(struct png_job *job)
{
	job->idat[0] = 0x78; /* deflate, 32 KiB window */
	job->idat[1] = 0x9c; /* default level; makes the header a multiple of 31 */
	uint8_t *end = job->idat + ZLIB_HEADER_SIZE;
	uLong adler = 1;
	for (int i = 0; i < job->strip_count; i++) {
		const struct png_strip *strip = &job->strips[i];
		memmove(end, strip->out, strip->out_len);
		end += strip->out_len;
		adler = adler32_combine(adler, strip->adler, (z_off_t)strip->filtered_len);
	}
	for (int shift = 24; shift >= 0; shift -= 8)
		*end++ = (uint8_t)(adler >> shift);
	job->idat_len = (size_t)(end - job->idat);
}

static int job_compress(struct png_job *job)
{
	struct job_thread threads[2] = {{job, 0}, {job, 1}};
	if (job->threads == 1 || !parallel_run_pair(job_work, &threads[0], &threads[1])) {
		job->threads = 1;
		job_work(&threads[0]);
	}
	for (int i = 0; i < job->strip_count && job->error == 0; i++)
		job->error = job->strips[i].error;
	if (job->error == 0)
		job_join_strips(job);
	return job->error;
}

static void on_png_error(png_structp png, png_const_charp message)
{
	log_error("PNG: %s", message);
	png_longjmp(png, 1);
}

static void on_png_warning(png_structp png, png_const_charp message)
{
	log_warn("PNG: %s", message);
}

static void on_png_write(png_structp png, png_bytep data, size_t len)
{
	struct buffer *out = png_get_io_ptr(png);
	uint8_t *to = buffer_try_reserve(out, len);
	if (to == NULL)
		png_error(png, "out of memory");
	memcpy(to, data, len);
	out->len += len;
}

static void on_png_flush(png_structp png)
{
}

static void set_palette(png_structp png, png_infop info, const struct palette *palette)
{
	png_color colours[PALETTE_MAX];
	for (int i = 0; i < palette->count; i++) {
		colours[i].red = (png_byte)(palette->colours[i] >> 16);
		colours[i].green = (png_byte)(palette->colours[i] >> 8);
		colours[i].blue = (png_byte)palette->colours[i];
	}
	png_set_PLTE(png, info, colours, palette->count);
}

static void set_meta(png_structp png, png_infop info, const struct picture_meta *meta)
{
	char taken[CLOCK_RFC3339_SIZE], origin[32];
	clock_format_rfc3339(meta->taken_wall_us, taken);
	snprintf(origin, sizeof(origin), "%d,%d", meta->origin_x, meta->origin_y);
	char time_key[] = "Creation Time", origin_key[] = "Screen Origin";
	png_text texts[] = {
	        {.compression = PNG_TEXT_COMPRESSION_NONE, .key = time_key, .text = taken},
	        {.compression = PNG_TEXT_COMPRESSION_NONE, .key = origin_key, .text = origin},
	};
	png_set_text(png, info, texts, ARRAY_LEN(texts));
}

static void write_chunks(
        png_structp png, png_infop info, const struct png_job *job, const struct picture_meta *meta)
{
	png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_IHDR(png, info, (png_uint_32)job->src->width, (png_uint_32)job->src->height,
	        job->has_palette ? palette_bit_depth(job_palette(job)) : 8,
	        job->has_palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
	if (job->has_palette)
		set_palette(png, info, job_palette(job));
	set_meta(png, info, meta);
	png_write_info(png, info);
	for (size_t at = 0; at < job->idat_len; at += IDAT_MAX) {
		size_t len = job->idat_len - at < IDAT_MAX ? job->idat_len - at : IDAT_MAX;
		png_write_chunk(png, (png_const_bytep) "IDAT", job->idat + at, len);
	}
	/* Not png_write_end: it knows nothing of our IDAT. */
	png_write_chunk(png, (png_const_bytep) "IEND", NULL, 0);
}

static int write_file(
        const struct png_job *job, const struct picture_meta *meta, struct buffer *out)
{
	png_structp png =
	        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_png_error, on_png_warning);
	png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
	int err = -ENOMEM; /* the only thing that can go wrong with valid input */
	if (info != NULL && setjmp(png_jmpbuf(png)) == 0) {
		png_set_write_fn(png, out, on_png_write, on_png_flush);
		write_chunks(png, info, job, meta);
		err = 0;
	}
	png_destroy_write_struct(&png, &info);
	return err;
}

static int encode_in_strips(const struct pixels *src, size_t strip_bytes, int threads,
        const struct picture_meta *meta, struct buffer *out)
{
	struct png_job *job = xcalloc(1, sizeof(*job));
	job->src = src;
	job->strip_bytes = strip_bytes;
	job->threads = threads;
	int err = job_compress(job);
	if (err == 0)
		err = write_file(job, meta, out);
	free(job->strips);
	free(job->memory);
	free(job);
	return err;
}

int picture_encode_png(
        const struct pixels *src, int threads, const struct picture_meta *meta, struct buffer *out)
{
	bool is_large = (int64_t)src->width * src->height >= TWO_THREADS_FROM;
	int err = encode_in_strips(src, STRIP_BYTES, threads >= 2 && is_large ? 2 : 1, meta, out);
	if (err == -EBADMSG) {
		log_warn("PNG: cannot join the compressed strips; compressing in one piece");
		err = encode_in_strips(src, SIZE_MAX, 1, meta, out);
	}
	return err;
}
