/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/rfb_update.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "display/cursor.h"
#include "display/frame.h"
#include "takeover/jpeg_share.h"
#include "takeover/live_encoder.h"
#include "takeover/rfb.h"
#include "takeover/rfb_extensions.h"

/* noVNC and TigerVNC refuse wider Tight rectangles. */
#define PIECE_WIDTH_MAX 2048
/* Changes up to this size (an eighth of 1280x800) go out before what is left over. */
#define FRESH_AREA_MAX (128 * 1024)
/* The part of an update that what has waited gets, however large what moves is. */
#define BACKLOG_SHARE 4
/* Pieces are cut so that each is at most about as large as the budget. */
#define PIECE_AREA_MIN (16 * 1024)

/* One FramebufferUpdate being made. */
struct build {
	struct buffer *out;
	size_t begin;
	unsigned rects;
	bool is_open;         /* the number of rectangles is not known: ends with LastRect */
	size_t limit;         /* of out->len: no further piece is begun beyond it */
	size_t backlog_share; /* bytes that the backlog has in any case */
	bool has_failed;
};

void rfb_update_init(struct rfb_update *update, struct rfb_encoder *encoder,
	struct jpeg_share *jpegs, const char *name, int width, int height)
{
	*update = (struct rfb_update){.encoder = encoder,
		.jpegs = jpegs,
		.name = name,
		.format = rfb_native_format,
		.width = width,
		.height = height,
		.jpeg_quality = 80,
		.sent_x = -1,
		.sent_lights = -1,
		.answer_status = -1};
	update->caps = (struct rfb_caps){.compress_level = -1, .quality_level = -1};
	pixman_region32_init(&update->fresh);
	pixman_region32_init(&update->backlog);
	pixman_region32_init(&update->lossy);
	pixman_region32_init(&update->motion);
	struct buffer none = {0};
	rfb_encoder_set_format(encoder, &rfb_native_format, &none);
	rfb_encoder_set_caps(encoder, &update->caps);
	buffer_finish(&none);
}

void rfb_update_finish(struct rfb_update *update)
{
	rfb_encoder_destroy(update->encoder);
	frame_unref(update->frame);
	cursor_image_unref(update->cursor);
	pixman_region32_fini(&update->fresh);
	pixman_region32_fini(&update->backlog);
	pixman_region32_fini(&update->lossy);
	pixman_region32_fini(&update->motion);
}

void rfb_update_set_caps(struct rfb_update *update, const struct rfb_caps *caps)
{
	const struct rfb_caps *old = &update->caps;
	update->is_name_due |= caps->has_desktop_name && !old->has_desktop_name;
	update->is_size_due |= caps->has_extended_desktop_size && !old->has_extended_desktop_size;
	update->is_qemu_due |= caps->has_qemu_key && !old->has_qemu_key;
	update->is_mouse_due |= caps->has_extended_mouse && !old->has_extended_mouse;
	update->cursor_serial = 0;
	update->is_cursor_hidden = false;
	update->sent_lights = -1;
	update->caps = *caps;
	rfb_encoder_set_caps(update->encoder, caps);
}

void rfb_update_set_format(
	struct rfb_update *update, const struct rfb_pixel_format *format, struct buffer *out)
{
	update->format = *format;
	update->cursor_serial = 0;
	rfb_encoder_set_format(update->encoder, format, out);
}

void rfb_update_damage(struct rfb_update *update, pixman_region32_t *region)
{
	pixman_region32_union(&update->fresh, &update->fresh, region);
}

bool rfb_update_needs_resize(const struct rfb_update *update)
{
	return update->frame != NULL && (update->frame->width != update->width ||
						update->frame->height != update->height);
}

bool rfb_update_can_resize(const struct rfb_update *update)
{
	return update->caps.has_desktop_size || update->caps.has_extended_desktop_size;
}

static bool has_motion_codec(const struct rfb_update *update)
{
	return update->caps.has_h264 || update->caps.quality_level >= 0;
}

static bool is_hot(const struct rfb_update *update)
{
	return !rect_is_empty(&update->hot) && has_motion_codec(update);
}

static bool cursor_is_due(const struct rfb_update *update)
{
	const struct rfb_caps *caps = &update->caps;
	if (!caps->has_cursor && !caps->has_cursor_alpha && !caps->has_vmware_cursor)
		return false;
	if (update->cursor == NULL)
		return !update->is_cursor_hidden;
	return update->cursor->serial != update->cursor_serial || update->cursor_serial == 0;
}

static bool pseudo_is_due(const struct rfb_update *update)
{
	const struct rfb_caps *caps = &update->caps;
	if (update->is_name_due || update->is_size_due || update->is_qemu_due ||
		update->is_mouse_due || update->answer_status >= 0 || cursor_is_due(update))
		return true;
	if (caps->has_pointer_pos &&
		(update->pointer_x != update->sent_x || update->pointer_y != update->sent_y))
		return true;
	return (caps->has_qemu_led || caps->has_vmware_led) &&
	       update->lights != update->sent_lights;
}

/*
 * Sorts what is wanted: what lies in the hot rectangle is the motion codec's (and approximate from
 * now on), what was approximate and does not move any more is wanted exactly.
 */
static void sort_damage(struct rfb_update *update)
{
	pixman_region32_t hot, still;
	pixman_region32_init_rect(&hot, update->hot.x, update->hot.y,
		is_hot(update) ? (unsigned)update->hot.width : 0,
		is_hot(update) ? (unsigned)update->hot.height : 0);
	pixman_region32_init(&still);
	pixman_region32_subtract(&still, &update->lossy, &hot);
	if (pixman_region32_not_empty(&still)) {
		pixman_region32_union(&update->fresh, &update->fresh, &still);
		pixman_region32_subtract(&update->lossy, &update->lossy, &still);
	}
	if (is_hot(update)) {
		pixman_region32_union(&still, &update->fresh, &update->backlog);
		pixman_region32_intersect(&still, &still, &hot);
		pixman_region32_union(&update->motion, &update->motion, &still);
		pixman_region32_subtract(&update->fresh, &update->fresh, &hot);
		pixman_region32_subtract(&update->backlog, &update->backlog, &hot);
		pixman_region32_union(&update->lossy, &update->lossy, &still);
	}
	pixman_region32_intersect(&update->motion, &update->motion, &hot);
	pixman_region32_fini(&hot);
	pixman_region32_fini(&still);
}

static bool overlaps(pixman_region32_t *region, pixman_region32_t *area)
{
	if (area == NULL || !pixman_region32_not_empty(region))
		return pixman_region32_not_empty(region);
	pixman_region32_t common;
	pixman_region32_init(&common);
	pixman_region32_intersect(&common, region, area);
	bool is_any = pixman_region32_not_empty(&common);
	pixman_region32_fini(&common);
	return is_any;
}

bool rfb_update_has_work(struct rfb_update *update, pixman_region32_t *area)
{
	if (update->frame == NULL)
		return false;
	if (rfb_update_needs_resize(update) || pseudo_is_due(update))
		return true;
	pixman_region32_t wanted;
	pixman_region32_init(&wanted);
	pixman_region32_copy(&wanted, &update->lossy);
	if (is_hot(update)) {
		pixman_region32_t hot;
		pixman_region32_init_rect(&hot, update->hot.x, update->hot.y,
			(unsigned)update->hot.width, (unsigned)update->hot.height);
		pixman_region32_subtract(&wanted, &wanted, &hot);
		pixman_region32_fini(&hot);
	}
	pixman_region32_union(&wanted, &wanted, &update->fresh);
	pixman_region32_union(&wanted, &wanted, &update->backlog);
	if (!update->caps.has_h264)
		pixman_region32_union(&wanted, &wanted, &update->motion);
	bool has_work = overlaps(&wanted, area);
	pixman_region32_fini(&wanted);
	return has_work;
}

/* Building */

static void put_resize(struct rfb_update *update, struct build *build)
{
	int width = update->frame->width, height = update->frame->height;
	bool is_answer = update->answer_status >= 0;
	if (update->caps.has_extended_desktop_size)
		rfb_put_extended_size(build->out, width, height, is_answer ? 1 : 0, 0);
	else
		rfb_put_rect(build->out, 0, 0, width, height, RFB_ENCODING_DESKTOP_SIZE);
	build->rects++;
	update->width = width;
	update->height = height;
	update->answer_status = -1;
	update->is_size_due = false;
	update->backlog_y = 0;
	pixman_region32_clear(&update->backlog);
	pixman_region32_clear(&update->lossy);
	pixman_region32_clear(&update->motion);
	pixman_region32_fini(&update->fresh);
	pixman_region32_init_rect(&update->fresh, 0, 0, (unsigned)width, (unsigned)height);
}

static void put_cursor(struct rfb_update *update, struct build *build)
{
	if (!cursor_is_due(update))
		return;
	if (rfb_put_cursor(build->out, &update->caps, &update->format, update->cursor))
		build->rects++;
	update->is_cursor_hidden = update->cursor == NULL;
	update->cursor_serial = update->cursor != NULL ? update->cursor->serial : 0;
}

static void put_pseudo(struct rfb_update *update, struct build *build)
{
	struct buffer *out = build->out;
	if (update->is_qemu_due) {
		rfb_put_rect(out, 0, 0, 0, 0, RFB_ENCODING_QEMU_KEY);
		build->rects++;
	}
	if (update->is_mouse_due) {
		rfb_put_rect(out, 0, 0, 0, 0, RFB_ENCODING_EXTENDED_MOUSE);
		build->rects++;
	}
	if (update->is_name_due) {
		rfb_put_desktop_name(out, update->name);
		build->rects++;
	}
	if (update->is_size_due || update->answer_status >= 0) {
		bool is_answer = update->answer_status >= 0;
		rfb_put_extended_size(out, update->width, update->height, is_answer ? 1 : 0,
			is_answer ? update->answer_status : 0);
		build->rects++;
	}
	update->is_qemu_due = update->is_mouse_due = false;
	update->is_name_due = update->is_size_due = false;
	update->answer_status = -1;
	put_cursor(update, build);
	if (update->caps.has_pointer_pos &&
		(update->pointer_x != update->sent_x || update->pointer_y != update->sent_y)) {
		rfb_put_pointer_pos(out, update->pointer_x, update->pointer_y);
		build->rects++;
	}
	update->sent_x = update->pointer_x;
	update->sent_y = update->pointer_y;
	if (update->lights != update->sent_lights)
		build->rects += rfb_put_lights(out, &update->caps, update->lights);
	update->sent_lights = update->lights;
}

/* A box in pieces, each taken off `region` when it is done. False: the budget is used up. */
static bool put_box(struct rfb_update *update, struct build *build, const pixman_box32_t *box,
	pixman_region32_t *region)
{
	size_t room = build->limit > build->out->len ? build->limit - build->out->len : 0;
	int area = room > RFB_RECT_AREA_MAX ? RFB_RECT_AREA_MAX
		   : room < PIECE_AREA_MIN  ? PIECE_AREA_MIN
					    : (int)room;
	int width = box->x2 - box->x1 < PIECE_WIDTH_MAX ? box->x2 - box->x1 : PIECE_WIDTH_MAX;
	int height = area / width > 0 ? area / width : 1;
	for (int y = box->y1; y < box->y2; y += height) {
		for (int x = box->x1; x < box->x2; x += width) {
			if (build->out->len >= build->limit)
				return false;
			struct rect piece = {x, y, box->x2 - x < width ? box->x2 - x : width,
				box->y2 - y < height ? box->y2 - y : height};
			if (!rfb_encoder_put(update->encoder, &piece, build->out, &build->rects,
				    &build->is_open)) {
				build->has_failed = true;
				return false;
			}
			pixman_region32_t done;
			pixman_region32_init_rect(&done, piece.x, piece.y, (unsigned)piece.width,
				(unsigned)piece.height);
			pixman_region32_subtract(region, region, &done);
			pixman_region32_fini(&done);
		}
	}
	return true;
}

/* The part of `region` inside area, from row `first_y` on and then from the top. */
static void put_region(struct rfb_update *update, struct build *build, pixman_region32_t *region,
	pixman_region32_t *area, int *first_y)
{
	pixman_region32_t todo;
	int count;
	pixman_region32_init(&todo);
	pixman_region32_intersect_rect(
		&todo, region, 0, 0, (unsigned)update->width, (unsigned)update->height);
	if (area != NULL)
		pixman_region32_intersect(&todo, &todo, area);
	const pixman_box32_t *boxes = pixman_region32_rectangles(&todo, &count);
	int start = 0;
	while (start < count && boxes[start].y2 <= *first_y)
		start++;
	for (int i = 0; i < count; i++) {
		const pixman_box32_t *box = &boxes[(start + i) % count];
		if (!put_box(update, build, box, region)) {
			*first_y = box->y1;
			break;
		}
	}
	pixman_region32_fini(&todo);
}

static unsigned long region_area(pixman_region32_t *region)
{
	int count;
	unsigned long area = 0;
	const pixman_box32_t *boxes = pixman_region32_rectangles(region, &count);
	for (int i = 0; i < count; i++)
		area += (unsigned long)(boxes[i].x2 - boxes[i].x1) *
			(unsigned long)(boxes[i].y2 - boxes[i].y1);
	return area;
}

static void put_jpeg(struct rfb_update *update, struct build *build, const struct rect *rect)
{
	struct jpeg *jpeg =
		jpeg_share_get(update->jpegs, update->frame, rect, update->jpeg_quality);
	if (jpeg != NULL && jpeg->len < 4u << 20) {
		rfb_put_jpeg(build->out, rect, jpeg->data, jpeg->len);
		build->rects++;
	}
	jpeg_unref(jpeg);
}

/*
 * What moved, in pictures of the hot rectangle cut at fixed rows, so that viewers share them. Some of
 * it is always sent, the rest as the budget allows; it goes on from the top when all were sent.
 */
static bool put_jpegs(struct rfb_update *update, struct build *build)
{
	const struct rect *hot = &update->hot;
	int rows = update->jpeg_rows > 0 ? update->jpeg_rows : hot->height;
	bool is_any = false;
	for (int y = 0; y < hot->height; y += rows) {
		for (int x = 0; x < hot->width; x += PIECE_WIDTH_MAX) {
			struct rect rect = {hot->x + x, hot->y + y,
				hot->width - x < PIECE_WIDTH_MAX ? hot->width - x : PIECE_WIDTH_MAX,
				hot->height - y < rows ? hot->height - y : rows};
			pixman_region32_t area, moved;
			pixman_region32_init_rect(&area, rect.x, rect.y, (unsigned)rect.width,
				(unsigned)rect.height);
			pixman_region32_init(&moved);
			pixman_region32_intersect(&moved, &update->motion, &area);
			bool is_due = pixman_region32_not_empty(&moved) &&
				      (!is_any || build->out->len < build->limit);
			if (is_due) {
				put_jpeg(update, build, &rect);
				pixman_region32_subtract(&update->motion, &update->motion, &area);
				is_any = true;
			}
			pixman_region32_fini(&moved);
			pixman_region32_fini(&area);
		}
	}
	return is_any;
}

static void put_packets(struct rfb_update *update, struct build *build,
	struct live_packet *const *packets, int packet_count)
{
	for (int i = 0; i < packet_count; i++) {
		const struct rect *rect = &packets[i]->rect;
		rfb_put_h264(build->out, rect, packets[i]->is_idr, packets[i]->data, packets[i]->len);
		build->rects++;
		pixman_region32_union_rect(&update->lossy, &update->lossy, rect->x, rect->y,
			(unsigned)rect->width, (unsigned)rect->height);
	}
}

static void put_pixels(struct rfb_update *update, struct build *build, pixman_region32_t *area,
	struct live_packet *const *packets, int packet_count, bool *motion)
{
	int top = 0;
	sort_damage(update);
	if (region_area(&update->fresh) > FRESH_AREA_MAX) {
		pixman_region32_union(&update->backlog, &update->backlog, &update->fresh);
		pixman_region32_clear(&update->fresh);
	}
	put_region(update, build, &update->fresh, area, &top);
	*motion = packet_count > 0;
	if (update->caps.has_h264)
		put_packets(update, build, packets, packet_count);
	else if (is_hot(update))
		*motion = put_jpegs(update, build);
	pixman_region32_union(&update->backlog, &update->backlog, &update->fresh);
	pixman_region32_clear(&update->fresh);
	if (build->limit < build->out->len + build->backlog_share)
		build->limit = build->out->len + build->backlog_share;
	if (!build->has_failed)
		put_region(update, build, &update->backlog, area, &update->backlog_y);
	if (!pixman_region32_not_empty(&update->backlog))
		update->backlog_y = 0;
}

bool rfb_update_build(struct rfb_update *update, pixman_region32_t *area, size_t budget,
	struct live_packet *const *packets, int packet_count, struct buffer *out, bool *motion)
{
	struct build build = {.out = out, .begin = rfb_begin_update(out)};
	build.limit = out->len + budget;
	build.backlog_share = budget / BACKLOG_SHARE;
	*motion = false;
	if (rfb_update_needs_resize(update)) {
		put_resize(update, &build);
	} else {
		rfb_encoder_set_frame(update->encoder, update->frame);
		put_pseudo(update, &build);
		put_pixels(update, &build, area, packets, packet_count, motion);
	}
	if (build.rects == 0 && !build.is_open) {
		out->len = build.begin;
		return !build.has_failed;
	}
	if (build.is_open) {
		rfb_put_rect(out, 0, 0, 0, 0, RFB_ENCODING_LAST_RECT);
		build.rects = 0xffff;
	}
	rfb_end_update(out, build.begin, build.rects);
	return !build.has_failed;
}
