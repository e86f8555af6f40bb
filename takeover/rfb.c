/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/rfb.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rfb/rfb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "display/frame.h"
#include "display/rect.h"
#define LOG_MODULE "rfb"
#include "base/log.h"

/* Room for the worst that one rectangle can become: 32-bit Raw is its area * 4; zlib adds little. */
#define FILE_SIZE (RFB_RECT_AREA_MAX * 4 + (256 << 10))
/* The library keeps its sockets in an fd_set. */
#define FD_MAX (FD_SETSIZE - 1)

const struct rfb_pixel_format rfb_native_format = {
	.bits_per_pixel = 32,
	.depth = 24,
	.is_true_colour = true,
	.red_max = 255,
	.green_max = 255,
	.blue_max = 255,
	.red_shift = 16,
	.green_shift = 8,
	.blue_shift = 0,
};

/*
 * rfbGetScreen initialises a mutex of the whole library each time it is called, which others may hold
 * (found by TSan): making and ending encoders goes one at a time.
 */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

struct rfb_encoder {
	rfbScreenInfoPtr screen;
	rfbClientPtr client;
	uint8_t *output; /* the memory file that is the client's socket, mapped */
	int lossless;
};

__attribute__((format(printf, 1, 2))) static void library_log(const char *format, ...)
{
	va_list args;
	if (!log_is_enabled(LOG_LEVEL_DEBUG))
		return;
	va_start(args, format);
	log_vwrite(LOG_LEVEL_DEBUG, "libvncserver", format, args);
	va_end(args);
}

void rfb_library_init(void)
{
	rfbLog = library_log;
	rfbErr = library_log;
}

static void set_server_format(rfbPixelFormat *format)
{
	*format = (rfbPixelFormat){.bitsPerPixel = 32,
		.depth = 24,
		.bigEndian = FALSE,
		.trueColour = TRUE,
		.redMax = 255,
		.greenMax = 255,
		.blueMax = 255,
		.redShift = 16,
		.greenShift = 8,
		.blueShift = 0};
}

/*
 * A client record of the library whose socket is our memory file. rfbNewClient waits 100 ms for what
 * could be a WebSocket client to speak first, unless bytes are there already that say otherwise: so
 * it gets a socket with an RFB greeting in it, and the file takes the socket's number afterwards.
 */
static rfbClientPtr make_client(rfbScreenInfoPtr screen, int file)
{
	static const char greeting[] = "RFB 003.008\n";
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return NULL;
	rfbClientPtr client = NULL;
	bool is_usable = pair[0] < FD_MAX && pair[1] < FD_MAX &&
			 write(pair[1], greeting, sizeof(greeting) - 1) == sizeof(greeting) - 1;
	if (is_usable)
		client = rfbNewClient(screen, pair[0]); /* closes pair[0] when it fails */
	else
		close(pair[0]);
	close(pair[1]);
	if (client != NULL && dup3(file, client->sock, O_CLOEXEC) < 0) {
		rfbClientConnectionGone(client);
		return NULL;
	}
	if (client != NULL) {
		client->state = RFB_NORMAL;
		client->protocolMinorVersion = 8;
	}
	return client;
}

static bool make_output(struct rfb_encoder *encoder, int file)
{
	void *output = MAP_FAILED;
	if (ftruncate(file, FILE_SIZE) == 0)
		output = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, file, 0);
	if (output == MAP_FAILED)
		return false;
	encoder->output = output;
	encoder->client = make_client(encoder->screen, file);
	return encoder->client != NULL;
}

static void destroy_unlocked(struct rfb_encoder *encoder)
{
	if (encoder->client != NULL)
		rfbClientConnectionGone(encoder->client);
	if (encoder->screen != NULL) {
		encoder->screen->frameBuffer = NULL;
		rfbScreenCleanup(encoder->screen);
	}
	if (encoder->output != NULL)
		munmap(encoder->output, FILE_SIZE);
	free(encoder);
}

static struct rfb_encoder *create_unlocked(void)
{
	struct rfb_encoder *encoder = xcalloc(1, sizeof(*encoder));
	int file = memfd_create("boxscreen-rfb", MFD_CLOEXEC);
	encoder->lossless = RFB_ENCODING_RAW;
	encoder->screen = file >= 0 ? rfbGetScreen(NULL, NULL, 16, 16, 8, 3, 4) : NULL;
	bool is_made = false;
	if (encoder->screen != NULL) {
		set_server_format(&encoder->screen->serverFormat);
		is_made = make_output(encoder, file);
	}
	if (!is_made)
		log_warn("no resources for one more viewer: %s", strerror(errno));
	if (file >= 0)
		close(file); /* the client's number for it stays */
	if (is_made)
		return encoder;
	destroy_unlocked(encoder);
	return NULL;
}

struct rfb_encoder *rfb_encoder_create(void)
{
	pthread_mutex_lock(&library_lock);
	struct rfb_encoder *encoder = create_unlocked();
	pthread_mutex_unlock(&library_lock);
	return encoder;
}

void rfb_encoder_destroy(struct rfb_encoder *encoder)
{
	if (encoder == NULL)
		return;
	pthread_mutex_lock(&library_lock);
	destroy_unlocked(encoder);
	pthread_mutex_unlock(&library_lock);
}

/* What the library has written since the file was rewound, moved to out. */
static bool take_output(struct rfb_encoder *encoder, struct buffer *out)
{
	off_t len = lseek(encoder->client->sock, 0, SEEK_CUR);
	if (len < 0 || len > FILE_SIZE)
		return false;
	buffer_append(out, encoder->output, (size_t)len);
	return lseek(encoder->client->sock, 0, SEEK_SET) == 0;
}

void rfb_encoder_set_format(
	struct rfb_encoder *encoder, const struct rfb_pixel_format *format, struct buffer *out)
{
	rfbClientPtr client = encoder->client;
	client->format = (rfbPixelFormat){.bitsPerPixel = format->bits_per_pixel,
		.depth = format->depth,
		.bigEndian = format->is_big_endian,
		.trueColour = format->is_true_colour,
		.redMax = format->red_max,
		.greenMax = format->green_max,
		.blueMax = format->blue_max,
		.redShift = format->red_shift,
		.greenShift = format->green_shift,
		.blueShift = format->blue_shift};
	client->readyForSetColourMapEntries = TRUE;
	if (!rfbSetTranslateFunction(client))
		log_warn("a viewer's pixel format cannot be made");
	take_output(encoder, out);
}

void rfb_encoder_set_caps(struct rfb_encoder *encoder, const struct rfb_caps *caps)
{
	rfbClientPtr client = encoder->client;
	/* Beyond level 1 lossless Tight costs CPU for next to nothing (libjpeg-turbo's study); the
	   level for slow links, 9, is worth it only when it is asked for. */
	client->tightCompressLevel = caps->compress_level >= 0 ? caps->compress_level : 1;
	client->tightQualityLevel = -1;
	client->turboQualityLevel = -1;
	client->turboSubsampLevel = 0;
	client->tightEncoding = rfbEncodingTight;
	client->zlibCompressLevel = 1;
	client->enableLastRectEncoding = caps->has_last_rect;
	client->preferredEncoding = caps->lossless;
	encoder->lossless = caps->lossless;
}

void rfb_encoder_set_frame(struct rfb_encoder *encoder, const struct frame *frame)
{
	rfbScreenInfoPtr screen = encoder->screen;
	screen->frameBuffer = (char *)(uintptr_t)frame->pixels;
	screen->width = frame->width;
	screen->height = frame->height;
	screen->paddedWidthInBytes = frame->stride;
}

static bool encode(struct rfb_encoder *encoder, const struct rect *rect, unsigned *rects, bool *is_open)
{
	rfbClientPtr client = encoder->client;
	int x = rect->x, y = rect->y, width = rect->width, height = rect->height;
	int count = 1;
	rfbBool is_done;
	client->ublen = 0;
	switch (encoder->lossless) {
	case RFB_ENCODING_TIGHT:
		count = rfbNumCodedRectsTight(client, x, y, width, height);
		is_done = rfbSendRectEncodingTight(client, x, y, width, height);
		break;
	case RFB_ENCODING_ZRLE:
		is_done = rfbSendRectEncodingZRLE(client, x, y, width, height);
		break;
	case RFB_ENCODING_HEXTILE:
		is_done = rfbSendRectEncodingHextile(client, x, y, width, height);
		break;
	default:
		is_done = rfbSendRectEncodingRaw(client, x, y, width, height);
		break;
	}
	if (count == 0)
		*is_open = true;
	*rects += (unsigned)count;
	return is_done && rfbSendUpdateBuf(client);
}

bool rfb_encoder_put(struct rfb_encoder *encoder, const struct rect *rect, struct buffer *out,
	unsigned *rects, bool *is_open)
{
	unsigned count = 0;
	bool is_new_open = false;
	size_t before = out->len;
	if (encode(encoder, rect, &count, &is_new_open) && take_output(encoder, out)) {
		*rects += count;
		*is_open |= is_new_open;
		return true;
	}
	out->len = before;
	lseek(encoder->client->sock, 0, SEEK_SET);
	return false;
}
