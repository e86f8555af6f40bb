/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/film_canvas.h"

#include <libyuv.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "capture/encoder.h"
#include "capture/film.h"
#include "capture/overlay.h"
#include "capture/picture.h"
#include "display/frame.h"
#include "display/frame_look.h"
#include "display/privacy.h"
#include "display/rect.h"
#define LOG_MODULE "film"
#include "base/log.h"

#define CARD_TEXT PRIVACY_CARD_TEXT
/* Parts smaller than this of the canvas are not worth a look at what they are. */
#define LOOK_SHARE 16
/* What changes at least this of it is a new scene. */
#define SCENE_SHARE 4

struct film_canvas {
	int width, height;           /* even */
	struct rect region;          /* of the screen; whole: 0, 0 and the first size */
	bool is_whole;
	struct encoder *encoder;
	struct overlay *overlay;
	struct frame *frame;         /* shown; NULL: none yet, or a card */
	struct picture *scaled;      /* the frame shrunk to fit; NULL: it fits */
	uint64_t scaled_count;
	struct rect drawn[OVERLAY_RECTS_MAX]; /* by the overlay, last time */
	int drawn_count;
	bool is_private;
	bool has_text;               /* as was last seen */
};

static int even(int value)
{
	return (value + 1) & ~1;
}

struct film_canvas *film_canvas_create(const struct film_settings *settings, const struct frame *frame)
{
	struct film_canvas *canvas = xcalloc(1, sizeof(*canvas));
	canvas->is_whole = rect_is_empty(&settings->region);
	canvas->region = canvas->is_whole ? (struct rect){0, 0, frame->width, frame->height}
					  : settings->region;
	canvas->width = even(canvas->region.width);
	canvas->height = even(canvas->region.height);
	const struct encoder_settings wanted = {.width = canvas->width,
		.height = canvas->height,
		.quality = settings->quality,
		.fps = settings->fps};
	canvas->encoder = encoder_create(&wanted);
	canvas->overlay = overlay_create(canvas->width, canvas->height);
	if (canvas->encoder == NULL) {
		film_canvas_destroy(canvas);
		return NULL;
	}
	return canvas;
}

void film_canvas_destroy(struct film_canvas *canvas)
{
	if (canvas == NULL)
		return;
	encoder_destroy(canvas->encoder);
	overlay_destroy(canvas->overlay);
	frame_unref(canvas->frame);
	picture_destroy(canvas->scaled);
	free(canvas);
}

void film_canvas_format(const struct film_canvas *canvas, struct video_format *out)
{
	*out = (struct video_format){.width = canvas->width, .height = canvas->height};
	out->extradata = encoder_extradata(canvas->encoder, &out->extradata_len);
}

/* The screen's pixels in canvas coordinates: the part of the source that is seen. */
static struct pixels source(const struct film_canvas *canvas)
{
	if (canvas->scaled != NULL)
		return picture_pixels(canvas->scaled);
	const struct frame *frame = canvas->frame;
	struct rect whole = {0, 0, frame->width, frame->height};
	struct rect seen = rect_intersect(&canvas->region, &whole);
	if (rect_is_empty(&seen))
		return (struct pixels){0};
	return (struct pixels){.data = frame->pixels + (ptrdiff_t)seen.y * frame->stride +
				       (ptrdiff_t)seen.x * 4,
		.width = seen.width,
		.height = seen.height,
		.stride = frame->stride};
}

/* The corners on even pixels, as the encoder wants them, inside the canvas. */
static struct rect align(const struct film_canvas *canvas, const struct rect *rect)
{
	int right = even(rect->x + rect->width), bottom = even(rect->y + rect->height);
	struct rect aligned = {rect->x & ~1, rect->y & ~1, 0, 0};
	aligned.width = (right < canvas->width ? right : canvas->width) - aligned.x;
	aligned.height = (bottom < canvas->height ? bottom : canvas->height) - aligned.y;
	return aligned;
}

/*
 * Where the overlay draws, on even pixels: what is painted beside it, rounded to even pixels too, then
 * never reaches into it.
 */
static int overlay_area(
	const struct film_canvas *canvas, int64_t now_us, struct rect out[OVERLAY_RECTS_MAX])
{
	int count = overlay_rects(canvas->overlay, now_us, out);
	for (int i = 0; i < count; i++)
		out[i] = align(canvas, &out[i]);
	return count;
}

/* Straight from the frame: what the overlay does not touch. */
static void paint_plain(struct film_canvas *canvas, const struct rect *rect)
{
	struct pixels pixels = source(canvas);
	struct rect all = {0, 0, pixels.width, pixels.height};
	struct rect seen = rect_intersect(rect, &all);
	if (rect_is_empty(&seen))
		return;
	pixels.data += (ptrdiff_t)seen.y * pixels.stride + (ptrdiff_t)seen.x * 4;
	pixels.width = seen.width;
	pixels.height = seen.height;
	encoder_paint(canvas->encoder, &pixels, seen.x, seen.y);
}

/* By way of a copy: black where the screen does not reach, and the overlay on top. */
static void paint_copy(struct film_canvas *canvas, const struct rect *rect, int64_t now_us)
{
	struct picture *part = picture_create(rect->width, rect->height);
	if (part == NULL)
		return;
	memset(part->data, 0, (size_t)part->stride * (size_t)part->height);
	struct pixels pixels = canvas->frame != NULL ? source(canvas) : (struct pixels){0};
	struct rect all = {0, 0, pixels.width, pixels.height};
	struct rect seen = rect_intersect(rect, &all);
	for (int row = 0; row < seen.height; row++)
		memcpy(part->data + (ptrdiff_t)(seen.y - rect->y + row) * part->stride +
				(ptrdiff_t)(seen.x - rect->x) * 4,
			pixels.data + (ptrdiff_t)(seen.y + row) * pixels.stride +
				(ptrdiff_t)seen.x * 4,
			(size_t)seen.width * 4);
	overlay_draw(canvas->overlay, now_us, part, rect->x, rect->y);
	struct pixels drawn = picture_pixels(part);
	encoder_paint(canvas->encoder, &drawn, rect->x, rect->y);
	picture_destroy(part);
}

static void paint_region(struct film_canvas *canvas, pixman_region32_t *region, int64_t now_us,
	void (*paint)(struct film_canvas *canvas, const struct rect *rect, int64_t now_us))
{
	int count;
	const pixman_box32_t *boxes = pixman_region32_rectangles(region, &count);
	for (int i = 0; i < count; i++) {
		struct rect rect = {boxes[i].x1, boxes[i].y1, boxes[i].x2 - boxes[i].x1,
			boxes[i].y2 - boxes[i].y1};
		rect = align(canvas, &rect);
		if (!rect_is_empty(&rect))
			paint(canvas, &rect, now_us);
	}
}

static void paint_plain_at(struct film_canvas *canvas, const struct rect *rect, int64_t now_us)
{
	(void)now_us;
	paint_plain(canvas, rect);
}

static void add_rects(pixman_region32_t *region, const struct rect *rects, int count)
{
	for (int i = 0; i < count; i++)
		pixman_region32_union_rect(region, region, rects[i].x, rects[i].y,
			(unsigned)rects[i].width, (unsigned)rects[i].height);
}

/*
 * What the overlay covers or has covered is painted by way of a copy, the rest of the damage
 * straight from the frame.
 */
static void paint(struct film_canvas *canvas, pixman_region32_t *damage, bool is_overlay_new, int64_t now_us)
{
	struct rect rects[OVERLAY_RECTS_MAX];
	pixman_region32_t covered, plain;
	int count = overlay_area(canvas, now_us, rects);
	pixman_region32_init(&covered);
	pixman_region32_init(&plain);
	add_rects(&covered, rects, count);
	if (is_overlay_new)
		add_rects(&covered, canvas->drawn, canvas->drawn_count);
	pixman_region32_subtract(&plain, damage, &covered);
	if (!is_overlay_new)
		pixman_region32_intersect(&covered, &covered, damage);
	if (canvas->frame != NULL)
		paint_region(canvas, &plain, now_us, paint_plain_at);
	paint_region(canvas, &covered, now_us, paint_copy);
	memcpy(canvas->drawn, rects, sizeof(rects));
	canvas->drawn_count = count;
	pixman_region32_fini(&covered);
	pixman_region32_fini(&plain);
}

static void paint_black(struct film_canvas *canvas)
{
	struct picture *black = picture_create(canvas->width, canvas->height);
	if (black == NULL)
		return;
	memset(black->data, 0, (size_t)black->stride * (size_t)black->height);
	struct pixels pixels = picture_pixels(black);
	encoder_paint(canvas->encoder, &pixels, 0, 0);
	picture_destroy(black);
}

static void paint_card(struct film_canvas *canvas)
{
	struct picture *card = picture_create(canvas->width, canvas->height);
	if (card == NULL) {
		paint_black(canvas);
		return;
	}
	overlay_draw_card(card, CARD_TEXT);
	struct pixels pixels = picture_pixels(card);
	encoder_paint(canvas->encoder, &pixels, 0, 0);
	picture_destroy(card);
}

/* Shrinks a frame that is larger than the canvas, or notes that it fits. */
static void fit(struct film_canvas *canvas)
{
	const struct frame *frame = canvas->frame;
	bool is_too_large = canvas->is_whole && (frame->width > canvas->region.width ||
							frame->height > canvas->region.height);
	picture_destroy(canvas->scaled);
	canvas->scaled = NULL;
	if (!is_too_large)
		return;
	double across = (double)canvas->width / frame->width;
	double down = (double)canvas->height / frame->height;
	double scale = across < down ? across : down;
	int width = (int)(frame->width * scale), height = (int)(frame->height * scale);
	canvas->scaled = picture_create(width > 0 ? width : 1, height > 0 ? height : 1);
	if (canvas->scaled == NULL)
		return;
	ARGBScale(frame->pixels, frame->stride, frame->width, frame->height, canvas->scaled->data,
		canvas->scaled->stride, canvas->scaled->width, canvas->scaled->height, kFilterBox);
}

/* Takes the frame; its damage in canvas coordinates goes to *out. */
static void take_frame(struct film_canvas *canvas, const struct film_view *view, pixman_region32_t *out)
{
	struct frame *before = canvas->frame;
	bool is_other_size = before == NULL || before->width != view->frame->width ||
			     before->height != view->frame->height;
	bool was_scaled = canvas->scaled != NULL;
	canvas->frame = frame_ref(view->frame);
	fit(canvas);
	if (canvas->scaled != NULL && (is_other_size || !was_scaled))
		canvas->scaled_count++;
	if (is_other_size)
		paint_black(canvas);
	if (is_other_size || canvas->scaled != NULL) {
		pixman_region32_union_rect(
			out, out, 0, 0, (unsigned)canvas->width, (unsigned)canvas->height);
	} else {
		pixman_region32_copy(out, view->damage);
		pixman_region32_translate(out, -canvas->region.x, -canvas->region.y);
		pixman_region32_intersect_rect(
			out, out, 0, 0, (unsigned)canvas->width, (unsigned)canvas->height);
	}
	frame_unref(before);
}

/* What the damaged part looks like, if it is large enough to tell, and whether it is a new scene. */
static bool look(struct film_canvas *canvas, pixman_region32_t *damage)
{
	const pixman_box32_t *box = pixman_region32_extents(damage);
	struct rect rect = {box->x1 + canvas->region.x, box->y1 + canvas->region.y,
		box->x2 - box->x1, box->y2 - box->y1};
	struct rect whole = {0, 0, canvas->frame->width, canvas->frame->height};
	rect = rect_intersect(&rect, &whole);
	long area = (long)rect.width * rect.height, all = (long)canvas->width * canvas->height;
	if (area * LOOK_SHARE > all)
		canvas->has_text = frame_looks_like_text(canvas->frame, &rect);
	return area * SCENE_SHARE > all;
}

/* Whether the overlay would draw elsewhere, more or less than it has drawn. */
static bool is_overlay_moved(const struct film_canvas *canvas, int64_t now_us)
{
	struct rect rects[OVERLAY_RECTS_MAX];
	int count = overlay_area(canvas, now_us, rects);
	return count != canvas->drawn_count ||
	       memcmp(rects, canvas->drawn, (size_t)count * sizeof(rects[0])) != 0;
}

static bool take_overlay(struct film_canvas *canvas, const struct film_view *view, int64_t now_us)
{
	int left = canvas->region.x, top = canvas->region.y;
	if (view->has_pointer)
		overlay_set_pointer(canvas->overlay, view->cursor, view->pointer_x - left,
			view->pointer_y - top);
	for (size_t i = 0; i < view->event_count; i++) {
		const struct film_event *event = &view->events[i];
		if (event->key != NULL)
			overlay_add_key(canvas->overlay, event->key, now_us);
		else
			overlay_add_click(canvas->overlay, event->x - left, event->y - top, now_us);
	}
	return view->has_pointer || view->event_count > 0 || is_overlay_moved(canvas, now_us) ||
	       overlay_next_us(canvas->overlay, now_us) != INT64_MAX;
}

bool film_canvas_show(struct film_canvas *canvas, const struct film_view *view, int64_t now_us,
	struct encoder_wish *wish)
{
	pixman_region32_t damage;
	bool is_overlay_new = take_overlay(canvas, view, now_us);
	if (view->is_private && !canvas->is_private) {
		frame_unref(canvas->frame);
		canvas->frame = NULL; /* what comes after the card is painted anew */
		canvas->is_private = true;
		paint_card(canvas);
	}
	if (view->is_private) {
		wish->is_text = true;
		return encoder_is_dirty(canvas->encoder);
	}
	if (canvas->is_private && view->frame == NULL)
		return false; /* the card stays until there is a fresh frame */
	canvas->is_private = false;
	pixman_region32_init(&damage);
	if (view->frame != NULL) {
		take_frame(canvas, view, &damage);
		wish->is_scene = look(canvas, &damage);
	}
	if (canvas->frame != NULL)
		paint(canvas, &damage, is_overlay_new, now_us);
	pixman_region32_fini(&damage);
	wish->is_text = canvas->has_text;
	wish->is_fine = view->frame == NULL; /* only the overlay has moved, or gone */
	return encoder_is_dirty(canvas->encoder);
}

struct packet *film_canvas_encode(struct film_canvas *canvas, const struct encoder_wish *wish)
{
	return encoder_encode(canvas->encoder, wish);
}

int64_t film_canvas_next_us(const struct film_canvas *canvas, int64_t now_us)
{
	if (canvas->is_private || canvas->frame == NULL)
		return INT64_MAX;
	/* What was drawn and has had its time is to go, even if nobody looked just when it ended. */
	return is_overlay_moved(canvas, now_us) ? now_us : overlay_next_us(canvas->overlay, now_us);
}

uint64_t film_canvas_scaled(const struct film_canvas *canvas)
{
	return canvas->scaled_count;
}
