/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/fragments.h"

#include <errno.h>
#include <libavformat/avformat.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "capture/packet.h"
#define LOG_MODULE "fragments"
#include "base/log.h"

#define SAMPLE_KEY     0x02000000u /* depends on no other */
#define SAMPLE_NOT_KEY 0x01010000u /* depends on others, not a sync sample */
#define FREE_HEADER    8           /* the box around a fragment while it is written */
#define TRUN_SAMPLE    12          /* duration, size, flags */
/* Where things stand in a moof as build() makes it. */
#define MOOF_TIME      60
#define MOOF_COUNT     80
#define MOOF_SAMPLES   88

struct sample {
	struct packet *packet;
	int64_t pts;
};

struct fragments {
	int fd;
	int64_t file_bytes;          /* good ones */
	uint32_t sequence;
	struct sample *samples;      /* that wait */
	size_t count, capacity;
	size_t waiting_bytes;
	/* the last sample written: where its duration stands, and what it is */
	int64_t duration_offset;     /* 0: none written yet */
	int64_t last_pts, last_end;
	struct buffer scratch;
};

/* The ftyp and moov of a file without samples. */
static int make_header(const struct video_format *format, uint8_t **out, size_t *len)
{
	AVFormatContext *context = NULL;
	AVDictionary *options = NULL;
	int ret = avformat_alloc_output_context2(&context, NULL, "mp4", NULL);
	if (ret < 0)
		return -ENOMEM;
	AVStream *stream = avformat_new_stream(context, NULL);
	AVCodecParameters *par = stream->codecpar;
	par->codec_type = AVMEDIA_TYPE_VIDEO;
	par->codec_id = AV_CODEC_ID_H264;
	par->codec_tag = MKTAG('a', 'v', 'c', '1');
	par->width = format->width;
	par->height = format->height;
	par->sample_aspect_ratio = (AVRational){1, 1};
	par->color_range = AVCOL_RANGE_MPEG;
	par->color_primaries = AVCOL_PRI_BT709;
	par->color_trc = AVCOL_TRC_IEC61966_2_1;
	par->color_space = AVCOL_SPC_SMPTE170M;
	par->extradata = av_mallocz(format->extradata_len + AV_INPUT_BUFFER_PADDING_SIZE);
	par->extradata_size = (int)format->extradata_len;
	memcpy(par->extradata, format->extradata, format->extradata_len);
	stream->time_base = (AVRational){1, FRAGMENTS_TIMESCALE};
	av_dict_set(&options, "movflags", "empty_moov+frag_custom+default_base_moof+write_colr", 0);
	av_dict_set_int(&options, "video_track_timescale", FRAGMENTS_TIMESCALE, 0);
	ret = avio_open_dyn_buf(&context->pb);
	if (ret >= 0) {
		ret = avformat_write_header(context, &options);
		int size = avio_close_dyn_buf(context->pb, out);
		*len = (size_t)size;
		if (ret < 0)
			av_freep(out);
	}
	av_dict_free(&options);
	avformat_free_context(context);
	return ret < 0 ? -EINVAL : 0;
}

/* All of it or an error. */
static int write_at(int fd, const uint8_t *data, size_t len, int64_t offset)
{
	while (len > 0) {
		ssize_t written = pwrite(fd, data, len, offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		data += written;
		len -= (size_t)written;
		offset += written;
	}
	return 0;
}

int fragments_create(int fd, const struct video_format *format, struct fragments **out)
{
	uint8_t *header = NULL;
	size_t len = 0;
	int ret = make_header(format, &header, &len);
	if (ret == 0)
		ret = write_at(fd, header, len, 0);
	av_free(header);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	struct fragments *fragments = xcalloc(1, sizeof(*fragments));
	fragments->fd = fd;
	fragments->file_bytes = (int64_t)len;
	*out = fragments;
	return 0;
}

void fragments_add(struct fragments *fragments, struct packet *packet, int64_t pts)
{
	if (fragments->count == fragments->capacity) {
		fragments->capacity = fragments->capacity > 0 ? fragments->capacity * 2 : 64;
		fragments->samples = xrealloc(
			fragments->samples, fragments->capacity * sizeof(fragments->samples[0]));
	}
	fragments->samples[fragments->count++] = (struct sample){packet_ref(packet), pts};
	fragments->waiting_bytes += packet->len;
}

static void put32(struct buffer *out, uint32_t value)
{
	uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
		(uint8_t)value};
	buffer_append(out, bytes, sizeof(bytes));
}

static void put64(struct buffer *out, uint64_t value)
{
	put32(out, (uint32_t)(value >> 32));
	put32(out, (uint32_t)value);
}

static void put_box(struct buffer *out, size_t size, const char *type)
{
	put32(out, (uint32_t)size);
	buffer_append(out, type, 4);
}

/* An access unit with the lengths of its NAL units before them, as avc1 has it. */
static void put_sample(struct buffer *out, const struct packet *packet)
{
	const uint8_t *p = packet->data, *end = p + packet->len;
	while (p < end) {
		/* Start codes are 00 00 01, with a further zero before some. */
		while (p < end && *p == 0)
			p++;
		p++;
		const uint8_t *next = p;
		while (next < end && !(end - next > 3 && next[0] == 0 && next[1] == 0 &&
					     (next[2] == 1 || (next[2] == 0 && next[3] == 1))))
			next++;
		if (next > p) {
			put32(out, (uint32_t)(next - p));
			buffer_append(out, p, (size_t)(next - p));
		}
		p = next;
	}
}

static int64_t sample_end(const struct fragments *fragments, size_t i, int64_t end)
{
	if (i + 1 < fragments->count)
		return fragments->samples[i + 1].pts;
	int64_t least = fragments->samples[i].pts + 1;
	return end > least ? end : least;
}

/* moof and mdat of what waits; *duration_at: where in it the last duration stands. */
static void build(struct fragments *fragments, int64_t end, struct buffer *body,
	struct buffer *out, size_t *duration_at)
{
	size_t trun = 20 + TRUN_SAMPLE * fragments->count;
	size_t traf = 8 + 16 + 20 + trun, moof = 8 + 16 + traf;
	put_box(out, FREE_HEADER, "free");
	put_box(out, moof, "moof");
	put_box(out, 16, "mfhd");
	put32(out, 0);
	put32(out, ++fragments->sequence);
	put_box(out, traf, "traf");
	put_box(out, 16, "tfhd");
	put32(out, 0x020000); /* default-base-is-moof */
	put32(out, 1);        /* the track */
	put_box(out, 20, "tfdt");
	put32(out, 1u << 24);
	put64(out, (uint64_t)fragments->samples[0].pts);
	put_box(out, trun, "trun");
	put32(out, 0x000701); /* data offset; duration, size and flags of each */
	put32(out, (uint32_t)fragments->count);
	put32(out, (uint32_t)(moof + 8));
	for (size_t i = 0; i < fragments->count; i++) {
		const struct sample *sample = &fragments->samples[i];
		size_t before = body->len;
		put_sample(body, sample->packet);
		*duration_at = out->len;
		put32(out, (uint32_t)(sample_end(fragments, i, end) - sample->pts));
		put32(out, (uint32_t)(body->len - before));
		put32(out, sample->packet->is_key ? SAMPLE_KEY : SAMPLE_NOT_KEY);
	}
	put_box(out, 8 + body->len, "mdat");
	buffer_append(out, body->data, body->len);
}

static void forget_waiting(struct fragments *fragments)
{
	for (size_t i = 0; i < fragments->count; i++)
		packet_unref(fragments->samples[i].packet);
	fragments->count = 0;
	fragments->waiting_bytes = 0;
}

static void to_bytes(uint32_t value, uint8_t out[4])
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Sets how long the last sample of the file lasts. */
static int patch_duration(struct fragments *fragments, int64_t end)
{
	if (fragments->duration_offset == 0 || end == fragments->last_end ||
		end <= fragments->last_pts)
		return 0;
	uint8_t bytes[4];
	to_bytes((uint32_t)(end - fragments->last_pts), bytes);
	fragments->last_end = end;
	return write_at(fragments->fd, bytes, sizeof(bytes), fragments->duration_offset);
}

/* The fragment hides in its box until all of it is on the disk. */
static int write_fragment(struct fragments *fragments, struct buffer *out)
{
	uint8_t size[4];
	to_bytes((uint32_t)out->len, size);
	memcpy(out->data, size, sizeof(size));
	int ret = write_at(fragments->fd, out->data, out->len, fragments->file_bytes);
	if (ret == 0 && fdatasync(fragments->fd) < 0 && errno != EINVAL && errno != EROFS)
		ret = -errno;
	to_bytes(FREE_HEADER, size);
	if (ret == 0)
		ret = write_at(fragments->fd, size, sizeof(size), fragments->file_bytes);
	if (ret < 0 && ftruncate(fragments->fd, fragments->file_bytes) < 0)
		log_warn("cannot cut off half a fragment: %s", strerror(errno));
	return ret;
}

int fragments_flush(struct fragments *fragments, int64_t end)
{
	if (fragments->count == 0)
		return patch_duration(fragments, end);
	struct buffer body = {0};
	struct buffer *out = &fragments->scratch;
	size_t duration_at = 0;
	const struct sample *last = &fragments->samples[fragments->count - 1];
	int64_t last_pts = last->pts;
	int64_t last_end = sample_end(fragments, fragments->count - 1, end);
	int ret = patch_duration(fragments, fragments->samples[0].pts);
	out->len = 0;
	build(fragments, end, &body, out, &duration_at);
	buffer_finish(&body);
	if (ret == 0)
		ret = write_fragment(fragments, out);
	if (ret == 0) {
		fragments->duration_offset = fragments->file_bytes + (int64_t)duration_at;
		fragments->last_pts = last_pts;
		fragments->last_end = last_end;
		fragments->file_bytes += (int64_t)out->len;
	}
	forget_waiting(fragments);
	return ret;
}

size_t fragments_waiting_bytes(const struct fragments *fragments)
{
	return fragments->waiting_bytes;
}

bool fragments_is_empty(const struct fragments *fragments)
{
	return fragments->count == 0;
}

int64_t fragments_file_bytes(const struct fragments *fragments)
{
	return fragments->file_bytes;
}

void fragments_destroy(struct fragments *fragments)
{
	if (fragments == NULL)
		return;
	forget_waiting(fragments);
	close(fragments->fd);
	free(fragments->samples);
	buffer_finish(&fragments->scratch);
	free(fragments);
}

static uint32_t from_bytes(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

struct box {
	int64_t size;
	char type[5];
};

/* The box at offset, if all of it is there. */
static bool read_box(int fd, int64_t offset, int64_t file_bytes, struct box *out)
{
	uint8_t header[8];
	if (pread(fd, header, sizeof(header), offset) != sizeof(header))
		return false;
	out->size = from_bytes(header);
	memcpy(out->type, header + 4, 4);
	out->type[4] = '\0';
	return out->size >= 8 && out->size <= file_bytes - offset;
}

/* When the last sample of the fragment ends whose moof is there; -1 when it is none of ours. */
static int64_t read_end(int fd, int64_t offset, int64_t size)
{
	uint8_t *moof = size <= 1 << 24 ? malloc((size_t)size) : NULL;
	int64_t end = -1;
	if (moof != NULL && pread(fd, moof, (size_t)size, offset) == size && size >= MOOF_SAMPLES) {
		int64_t count = from_bytes(moof + MOOF_COUNT);
		end = (int64_t)from_bytes(moof + MOOF_TIME) << 32 | from_bytes(moof + MOOF_TIME + 4);
		for (int64_t i = 0; i < count && MOOF_SAMPLES + (i + 1) * TRUN_SAMPLE <= size; i++)
			end += from_bytes(moof + MOOF_SAMPLES + i * TRUN_SAMPLE);
	}
	free(moof);
	return end;
}

bool fragments_inspect(int fd, struct fragments_summary *out)
{
	struct box box;
	int64_t offset = 0, moof_bytes = 0, file_bytes = lseek(fd, 0, SEEK_END);
	int64_t moof_offset = 0, last_moof_offset = 0, last_moof_bytes = 0;
	bool has_moov = false;
	*out = (struct fragments_summary){0};
	while (read_box(fd, offset, file_bytes, &box)) {
		if (offset == 0 && strcmp(box.type, "ftyp") != 0)
			return false;
		has_moov |= strcmp(box.type, "moov") == 0;
		if (strcmp(box.type, "moof") == 0) {
			moof_offset = offset;
			moof_bytes = box.size;
		} else if (strcmp(box.type, "mdat") == 0 && moof_bytes > 0) {
			out->fragment_count++;
			out->sample_count += moof_bytes / TRUN_SAMPLE;
			out->good_bytes = offset + box.size;
			last_moof_offset = moof_offset;
			last_moof_bytes = moof_bytes;
			moof_bytes = 0;
		}
		offset += box.size;
	}
	if (last_moof_bytes > 0)
		out->end = read_end(fd, last_moof_offset, last_moof_bytes);
	return has_moov && out->end >= 0;
}
