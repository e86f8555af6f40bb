/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/encoder.h"

#include <libyuv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x264.h>

#include "base/alloc.h"
#include "capture/packet.h"
#include "capture/picture.h"
#define LOG_MODULE "encoder"
#include "base/log.h"

#define MACROBLOCK 16

/* In grain nobody sees what would cost twice the bytes; what comes to rest as text is text again. */
#define MOVING_MORE 4
/* What a key picture is better by: all that follows builds on it. So is a fine one, which is small. */
#define KEY_LESS 3

/*
 * A constant quantizer for each quality: rating each picture beforehand, as a constant rate factor has
 * it done, takes a third of all the encoder's time (scrolling text 3.4 ms a picture instead of 5.2, of
 * as many bytes). crf 23 of a low-delay encoder left a grey haze around small text.
 */
static const int quantizers[] = {
	[ENCODER_SMALL] = 28,
	[ENCODER_BALANCED] = 21,
	[ENCODER_SHARP] = 15,
	[ENCODER_LOSSLESS] = 0,
};

const char *const encoder_quality_names[] = {
	[ENCODER_SMALL] = "small",
	[ENCODER_BALANCED] = "balanced",
	[ENCODER_SHARP] = "sharp",
	[ENCODER_LOSSLESS] = "lossless",
	NULL,
};

struct encoder {
	struct encoder_settings settings;
	x264_t *x264;
	x264_param_t param;
	x264_picture_t picture;
	uint8_t *planes[3];
	int strides[3];
	uint8_t *blocks;      /* one byte a macroblock: X264_MBINFO_CONSTANT or 0 */
	int blocks_across, blocks_down;
	bool is_dirty;
	bool is_text, is_fine; /* as the encoder is set */
	int64_t next_pts;
	uint8_t *extradata;
	size_t extradata_len;
};

bool encoder_quality_parse(const char *text, enum encoder_quality *out)
{
	for (size_t i = 0; encoder_quality_names[i] != NULL; i++) {
		if (strcmp(text, encoder_quality_names[i]) == 0) {
			*out = (enum encoder_quality)i;
			return true;
		}
	}
	return false;
}

const char *encoder_quality_name(enum encoder_quality quality)
{
	return encoder_quality_names[quality];
}

static bool is_444(const struct encoder *encoder)
{
	return encoder->settings.quality == ENCODER_LOSSLESS;
}

__attribute__((format(printf, 3, 0))) static void on_log(
	void *arg, int level, const char *format, va_list args)
{
	(void)arg;
	if (level <= X264_LOG_WARNING)
		log_vwrite(LOG_LEVEL_WARN, LOG_MODULE, format, args);
}

/*
 * A scroll by lines of text no small search finds, and text wants its small blocks. On moving pictures
 * that costs more than twice the CPU: with grain all over 1280x800 21 ms a picture instead of 8. What is
 * next to nothing is left out to save bytes, but not of a fine picture: a dot of a ring that has gone would
 * stay until something else is drawn there.
 */
static void set_search(x264_param_t *param, bool is_text, bool is_fine)
{
	param->analyse.b_dct_decimate = !is_fine;
	param->analyse.b_fast_pskip = !is_fine;
	param->analyse.i_me_method = is_text ? X264_ME_UMH : X264_ME_DIA;
	param->analyse.i_me_range = is_text ? 48 : 16;
	param->analyse.i_subpel_refine = is_text ? 2 : 1;
	param->analyse.inter = is_text ? X264_ANALYSE_I4x4 | X264_ANALYSE_I8x8 | X264_ANALYSE_PSUB16x16 : 0;
}

static void configure(const struct encoder *encoder, x264_param_t *param)
{
	x264_param_default_preset(param, "veryfast", "zerolatency");
	param->i_log_level = X264_LOG_WARNING;
	param->pf_log = on_log;
	param->i_width = encoder->settings.width;
	param->i_height = encoder->settings.height;
	param->i_csp = is_444(encoder) ? X264_CSP_I444 : X264_CSP_I420;
	/* One core at most, so that the programs on the screen keep theirs. */
	param->i_threads = 1;
	param->b_sliced_threads = 0;
	param->i_fps_num = (uint32_t)encoder->settings.fps;
	param->i_fps_den = 1;
	param->b_vfr_input = 0; /* the containers keep the time; vfr input would hold a picture back */
	param->i_keyint_max = X264_KEYINT_MAX_INFINITE; /* asked for by the caller */
	param->i_scenecut_threshold = 0;
	param->b_repeat_headers = 0;
	param->b_annexb = 1;
	param->b_intra_refresh = 0;
	/* Full colour range would not play as such everywhere; libyuv's matrix is BT.601's. */
	param->vui.b_fullrange = 0;
	param->vui.i_colorprim = 1;  /* BT.709's primaries are sRGB's */
	param->vui.i_transfer = 13;  /* sRGB */
	param->vui.i_colmatrix = 6;  /* SMPTE 170M */
	param->rc.i_rc_method = X264_RC_CQP;
	param->rc.i_qp_constant = quantizers[encoder->settings.quality];
	/* Weighted prediction would keep unchanged macroblocks from being skipped. */
	param->analyse.i_weighted_pred = X264_WEIGHTP_NONE;
	param->analyse.b_mb_info = 1;
	set_search(param, false, false);
	x264_param_apply_profile(param, is_444(encoder) ? "high444" : "high");
}

static bool keep_headers(struct encoder *encoder)
{
	x264_nal_t *nals;
	int count;
	if (x264_encoder_headers(encoder->x264, &nals, &count) < 0)
		return false;
	for (int i = 0; i < count; i++) {
		if (nals[i].i_type != NAL_SPS && nals[i].i_type != NAL_PPS)
			continue; /* the encoder's greeting */
		size_t len = (size_t)nals[i].i_payload;
		encoder->extradata = xrealloc(encoder->extradata, encoder->extradata_len + len);
		memcpy(encoder->extradata + encoder->extradata_len, nals[i].p_payload, len);
		encoder->extradata_len += len;
	}
	return true;
}

/* A canvas with every plane's rows at multiples of 64 bytes, as the converters like them. */
static bool make_canvas(struct encoder *encoder)
{
	int width = encoder->settings.width, height = encoder->settings.height;
	for (int i = 0; i < 3; i++) {
		bool is_half = i > 0 && !is_444(encoder);
		size_t rows = (size_t)(is_half ? height / 2 : height);
		encoder->strides[i] = ((is_half ? width / 2 : width) + 63) & ~63;
		size_t size = (size_t)encoder->strides[i] * rows;
		encoder->planes[i] = malloc(size);
		if (encoder->planes[i] == NULL)
			return false;
		memset(encoder->planes[i], i == 0 ? 16 : 128, size);
	}
	encoder->blocks_across = (width + MACROBLOCK - 1) / MACROBLOCK;
	encoder->blocks_down = (height + MACROBLOCK - 1) / MACROBLOCK;
	encoder->blocks = xcalloc((size_t)encoder->blocks_across, (size_t)encoder->blocks_down);
	return true;
}

struct encoder *encoder_create(const struct encoder_settings *settings)
{
	struct encoder *encoder = xcalloc(1, sizeof(*encoder));
	encoder->settings = *settings;
	configure(encoder, &encoder->param);
	if (make_canvas(encoder))
		encoder->x264 = x264_encoder_open(&encoder->param);
	if (encoder->x264 == NULL || !keep_headers(encoder)) {
		log_warn("no H.264 encoder for %dx%d", settings->width, settings->height);
		encoder_destroy(encoder);
		return NULL;
	}
	x264_picture_init(&encoder->picture);
	encoder->picture.img.i_csp = encoder->param.i_csp;
	encoder->picture.img.i_plane = 3;
	for (int i = 0; i < 3; i++) {
		encoder->picture.img.plane[i] = encoder->planes[i];
		encoder->picture.img.i_stride[i] = encoder->strides[i];
	}
	return encoder;
}

void encoder_destroy(struct encoder *encoder)
{
	if (encoder == NULL)
		return;
	if (encoder->x264 != NULL)
		x264_encoder_close(encoder->x264);
	x264_param_cleanup(&encoder->param);
	for (int i = 0; i < 3; i++)
		free(encoder->planes[i]);
	free(encoder->blocks);
	free(encoder->extradata);
	free(encoder);
}

const uint8_t *encoder_extradata(const struct encoder *encoder, size_t *len)
{
	*len = encoder->extradata_len;
	return encoder->extradata;
}

static void mark_blocks(struct encoder *encoder, int x, int y, int width, int height)
{
	int right = (x + width - 1) / MACROBLOCK, bottom = (y + height - 1) / MACROBLOCK;
	int left = x / MACROBLOCK;
	for (int row = y / MACROBLOCK; row <= bottom && row < encoder->blocks_down; row++) {
		for (int column = left; column <= right && column < encoder->blocks_across; column++)
			encoder->blocks[row * encoder->blocks_across + column] = 0;
	}
	encoder->is_dirty = true;
}

void encoder_paint(struct encoder *encoder, const struct pixels *pixels, int x, int y)
{
	uint8_t *luma = encoder->planes[0] + (ptrdiff_t)y * encoder->strides[0] + x;
	if (is_444(encoder)) {
		ptrdiff_t offset = (ptrdiff_t)y * encoder->strides[1] + x;
		ARGBToI444(pixels->data, pixels->stride, luma, encoder->strides[0],
			encoder->planes[1] + offset, encoder->strides[1], encoder->planes[2] + offset,
			encoder->strides[2], pixels->width, pixels->height);
	} else {
		ptrdiff_t offset = (ptrdiff_t)(y / 2) * encoder->strides[1] + x / 2;
		ARGBToI420(pixels->data, pixels->stride, luma, encoder->strides[0],
			encoder->planes[1] + offset, encoder->strides[1], encoder->planes[2] + offset,
			encoder->strides[2], pixels->width, pixels->height);
	}
	mark_blocks(encoder, x, y, pixels->width, pixels->height);
}

bool encoder_is_dirty(const struct encoder *encoder)
{
	return encoder->is_dirty;
}

static struct packet *make_packet(
	const struct encoder *encoder, const x264_nal_t *nals, int count, bool is_key)
{
	/* The payloads of one call lie behind each other; the first IDR's greeting is left out. */
	size_t len = 0;
	for (int i = 0; i < count; i++)
		len += nals[i].i_type != NAL_SEI ? (size_t)nals[i].i_payload : 0;
	struct packet *packet = packet_create(len);
	if (packet == NULL)
		return NULL;
	size_t at = 0;
	for (int i = 0; i < count; i++) {
		if (nals[i].i_type == NAL_SEI)
			continue;
		memcpy(packet->data + at, nals[i].p_payload, (size_t)nals[i].i_payload);
		at += (size_t)nals[i].i_payload;
	}
	packet->is_key = is_key;
	packet->is_change = encoder->is_dirty;
	return packet;
}

struct packet *encoder_encode(struct encoder *encoder, const struct encoder_wish *wish)
{
	x264_nal_t *nals;
	int count;
	x264_picture_t out;
	if (wish->is_text != encoder->is_text || wish->is_fine != encoder->is_fine) {
		encoder->is_text = wish->is_text;
		encoder->is_fine = wish->is_fine;
		set_search(&encoder->param, wish->is_text, wish->is_fine);
		x264_encoder_reconfig(encoder->x264, &encoder->param);
	}
	encoder->picture.i_pts = encoder->next_pts++;
	encoder->picture.i_type = wish->is_key ? X264_TYPE_IDR : X264_TYPE_P;
	encoder->picture.prop.mb_info = encoder->blocks;
	if (encoder->settings.quality != ENCODER_LOSSLESS)
		encoder->picture.i_qpplus1 = 1 + quantizers[encoder->settings.quality] +
					     (wish->is_text || wish->is_fine ? 0 : MOVING_MORE) -
					     (wish->is_key || wish->is_fine ? KEY_LESS : 0);
	int size = x264_encoder_encode(encoder->x264, &nals, &count, &encoder->picture, &out);
	if (size <= 0) {
		log_warn("encoding a picture failed");
		return NULL;
	}
	struct packet *packet = make_packet(encoder, nals, count, out.b_keyframe != 0);
	memset(encoder->blocks, X264_MBINFO_CONSTANT,
		(size_t)encoder->blocks_across * (size_t)encoder->blocks_down);
	encoder->is_dirty = false;
	return packet;
}
