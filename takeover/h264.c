/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/h264.h"

#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <libyuv.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#define LOG_MODULE "h264"
#include "base/log.h"

/* What a constant quantizer adds to the rate factor for about as many bytes. */
#define QP_MORE      2
#define QP_MORE_TEXT 5

struct h264 {
	AVCodecContext *context;
	AVFrame *frame;
	AVPacket *packet;
	int64_t next_pts;
};

static const AVCodec *find_encoder(void)
{
	return avcodec_find_encoder_by_name("libx264");
}

bool h264_is_possible(void)
{
	return find_encoder() != NULL;
}

static void configure(AVCodecContext *context, const struct h264_settings *settings)
{
	context->width = settings->width;
	context->height = settings->height;
	context->pix_fmt = AV_PIX_FMT_YUV420P;
	context->time_base = (AVRational){1, settings->fps};
	context->framerate = (AVRational){settings->fps, 1};
	/* libyuv's matrix, and tags that say so: without them players guess by the size. */
	context->color_range = AVCOL_RANGE_MPEG;
	context->colorspace = AVCOL_SPC_SMPTE170M;
	context->color_primaries = AVCOL_PRI_SMPTE170M;
	context->color_trc = AVCOL_TRC_SMPTE170M;
	context->gop_size = 100000; /* IDRs come when somebody joins or lags */
	context->max_b_frames = 0;
	context->thread_count = 1;  /* one slice: noVNC takes each slice for a frame */
	context->slices = 1;
	if (settings->max_kbps > 0) {
		context->rc_max_rate = settings->max_kbps * 1000l;
		context->rc_buffer_size = settings->max_kbps * 1000 / 2; /* half a second */
	}
	/*
	 * Without a limit a constant quantizer: rating each frame beforehand takes a fifth to a third of
	 * the encoder's time (scrolling text 2.0 ms a frame instead of 2.8, as many bytes), and buys
	 * nothing where nobody counts bytes.
	 */
	bool is_limited = settings->max_kbps > 0;
	int more = is_limited ? 0 : settings->is_text ? QP_MORE_TEXT : QP_MORE;
	char quality[16];
	snprintf(quality, sizeof(quality), "%d", settings->crf + more);
	av_opt_set(context->priv_data, is_limited ? "crf" : "qp", quality, 0);
	av_opt_set(context->priv_data, "preset", "ultrafast", 0);
	av_opt_set(context->priv_data, "tune", "zerolatency", 0);
	av_opt_set(context->priv_data, "profile", "baseline", 0);
	av_opt_set(context->priv_data, "forced-idr", "1", 0);
	/*
	 * The clock's jitter is no business of the rate control, and vfr input delays a frame. A scroll
	 * by a line or three of text no small diamond finds: on a scrolling terminal the wide search
	 * makes 3.5 kB a frame of 55, in less time; on a full-screen video it would cost twice the CPU
	 * for 4 % of the bytes. There four steps from the best neighbour are enough: the sixteen of the
	 * preset follow the grain, for 9 % of the CPU and no byte less. Looking for blocks with next to
	 * nothing in them (decimation) costs 5 %, and saves bytes only on text, where it also blurs.
	 */
	char params[200];
	snprintf(params, sizeof(params),
		"sliced-threads=0:threads=1:vfr-input=0:force-cfr=1:scenecut=0:repeat-headers=1:%s%s",
		settings->is_text ? "me=umh:me_range=48:aq-mode=1" : "me_range=4",
		is_limited ? "" : ":no-dct-decimate=1");
	av_opt_set(context->priv_data, "x264-params", params, 0);
}

struct h264 *h264_create(const struct h264_settings *settings)
{
	const AVCodec *codec = find_encoder();
	if (codec == NULL) {
		log_warn("libavcodec has no libx264: viewers get JPEG for what moves");
		return NULL;
	}
	struct h264 *h264 = xcalloc(1, sizeof(*h264));
	h264->context = avcodec_alloc_context3(codec);
	h264->frame = av_frame_alloc();
	h264->packet = av_packet_alloc();
	if (h264->context != NULL && h264->frame != NULL && h264->packet != NULL) {
		configure(h264->context, settings);
		h264->frame->format = h264->context->pix_fmt;
		h264->frame->width = settings->width;
		h264->frame->height = settings->height;
		int ret = avcodec_open2(h264->context, codec, NULL);
		if (ret >= 0 && av_frame_get_buffer(h264->frame, 0) >= 0)
			return h264;
		log_warn("the H.264 encoder refuses %dx%d (%s)", settings->width, settings->height,
			av_err2str(ret));
	}
	h264_destroy(h264);
	return NULL;
}

void h264_destroy(struct h264 *h264)
{
	if (h264 == NULL)
		return;
	avcodec_free_context(&h264->context);
	av_frame_free(&h264->frame);
	av_packet_free(&h264->packet);
	free(h264);
}

bool h264_encode(struct h264 *h264, const uint8_t *pixels, int stride, bool force_idr,
	const uint8_t **data, size_t *len, bool *is_idr)
{
	AVFrame *frame = h264->frame;
	if (av_frame_make_writable(frame) < 0)
		return false;
	ARGBToI420(pixels, stride, frame->data[0], frame->linesize[0], frame->data[1],
		frame->linesize[1], frame->data[2], frame->linesize[2], frame->width,
		frame->height);
	frame->pts = h264->next_pts++;
	frame->pict_type = force_idr ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
	av_packet_unref(h264->packet);
	int ret = avcodec_send_frame(h264->context, frame);
	if (ret >= 0)
		ret = avcodec_receive_packet(h264->context, h264->packet);
	if (ret < 0) {
		log_warn("encoding H.264 failed (%s)", av_err2str(ret));
		return false;
	}
	*data = h264->packet->data;
	*len = (size_t)h264->packet->size;
	*is_idr = (h264->packet->flags & AV_PKT_FLAG_KEY) != 0;
	return true;
}
