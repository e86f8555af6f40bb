/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/thumbnail.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libyuv.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "capture/picture.h"

#define QUALITY 80

/* The first picture that comes out of the decoder from here on. */
static int decode_one(AVFormatContext *in, AVCodecContext *decoder, AVFrame *frame)
{
	AVPacket *packet = av_packet_alloc();
	int ret = packet != NULL ? AVERROR(EAGAIN) : AVERROR(ENOMEM);
	while (ret == AVERROR(EAGAIN)) {
		int read = av_read_frame(in, packet);
		if (read == AVERROR_EOF)
			avcodec_send_packet(decoder, NULL);
		else if (read >= 0 && packet->stream_index == 0)
			avcodec_send_packet(decoder, packet);
		else if (read < 0)
			break;
		av_packet_unref(packet);
		ret = avcodec_receive_frame(decoder, frame);
	}
	av_packet_free(&packet);
	return ret;
}

static int open_decoder(const AVStream *stream, AVCodecContext **out)
{
	const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
	AVCodecContext *decoder = codec != NULL ? avcodec_alloc_context3(codec) : NULL;
	if (decoder == NULL)
		return AVERROR(ENOMEM);
	int ret = avcodec_parameters_to_context(decoder, stream->codecpar);
	decoder->thread_count = 1;
	if (ret >= 0)
		ret = avcodec_open2(decoder, codec, NULL);
	if (ret < 0)
		avcodec_free_context(&decoder);
	*out = decoder;
	return ret;
}

/* To B, G, R, X, at most max_side. */
static struct picture *to_picture(const AVFrame *frame, int max_side)
{
	struct picture *whole = picture_create(frame->width, frame->height);
	if (whole == NULL)
		return NULL;
	bool is_444 = frame->format == AV_PIX_FMT_YUV444P;
	(is_444 ? I444ToARGB : I420ToARGB)(frame->data[0], frame->linesize[0], frame->data[1],
		frame->linesize[1], frame->data[2], frame->linesize[2], whole->data, whole->stride,
		frame->width, frame->height);
	int longest = frame->width > frame->height ? frame->width : frame->height;
	if (longest <= max_side)
		return whole;
	int width = frame->width * max_side / longest, height = frame->height * max_side / longest;
	struct pixels pixels = picture_pixels(whole);
	struct picture *small = picture_scale(&pixels, width > 0 ? width : 1, height > 0 ? height : 1);
	picture_destroy(whole);
	return small;
}

int thumbnail_make(const char *path, int max_side, struct buffer *out)
{
	AVFormatContext *in = NULL;
	AVCodecContext *decoder = NULL;
	AVFrame *frame = av_frame_alloc();
	char *url = xasprintf("file:%s", path);
	int ret = frame != NULL ? avformat_open_input(&in, url, NULL, NULL) : AVERROR(ENOMEM);
	free(url);
	if (ret >= 0 && in->nb_streams > 0) {
		ret = open_decoder(in->streams[0], &decoder);
		if (ret >= 0 && in->duration > 0)
			av_seek_frame(in, -1, in->duration / 2, AVSEEK_FLAG_BACKWARD);
		if (ret >= 0)
			ret = decode_one(in, decoder, frame);
	} else if (ret >= 0) {
		ret = AVERROR_INVALIDDATA;
	}
	struct picture *picture = ret >= 0 ? to_picture(frame, max_side) : NULL;
	const struct picture_meta meta = {0};
	int result = -ENODATA;
	if (picture != NULL) {
		struct pixels pixels = picture_pixels(picture);
		result = picture_encode(&pixels, PICTURE_JPEG, QUALITY, 1, &meta, out);
	}
	picture_destroy(picture);
	avcodec_free_context(&decoder);
	avformat_close_input(&in);
	av_frame_free(&frame);
	return result;
}
