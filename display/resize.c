/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/resize.h"

#include <X11/Xlib.h>
#include <X11/extensions/Xrandr.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "display/xconn.h"

/* What is needed of the RandR state; released by release_state. */
struct state {
	XRRScreenResources *resources;
	RROutput output;
	XRROutputInfo *output_info;
	XRRCrtcInfo *crtc_info;
};

static void release_state(struct state *state)
{
	if (state->crtc_info != NULL)
		XRRFreeCrtcInfo(state->crtc_info);
	if (state->output_info != NULL)
		XRRFreeOutputInfo(state->output_info);
	if (state->resources != NULL)
		XRRFreeScreenResources(state->resources);
}

/* The first connected output that a CRTC drives. */
static bool read_state(struct xconn *conn, struct state *state)
{
	*state = (struct state){0};
	state->resources = XRRGetScreenResourcesCurrent(conn->dpy, conn->root);
	for (int i = 0; state->resources != NULL && i < state->resources->noutput; i++) {
		RROutput output = state->resources->outputs[i];
		XRROutputInfo *info = XRRGetOutputInfo(conn->dpy, state->resources, output);
		if (info == NULL)
			continue;
		if (info->connection != RR_Disconnected && info->crtc != None) {
			state->output = output;
			state->output_info = info;
			state->crtc_info = XRRGetCrtcInfo(conn->dpy, state->resources, info->crtc);
			return state->crtc_info != NULL;
		}
		XRRFreeOutputInfo(info);
	}
	return false;
}

static RRMode find_mode(const struct state *state, int width, int height)
{
	for (int i = 0; i < state->output_info->nmode; i++) {
		for (int j = 0; j < state->resources->nmode; j++) {
			const XRRModeInfo *mode = &state->resources->modes[j];
			if (mode->id == state->output_info->modes[i] &&
				(int)mode->width == width && (int)mode->height == height)
				return mode->id;
		}
	}
	return None;
}

static RRMode make_mode(struct xconn *conn, const struct state *state, int width, int height)
{
	char name[64];
	snprintf(name, sizeof(name), "boxscreen-%dx%d", width, height);
	for (int j = 0; j < state->resources->nmode; j++) {
		if (strcmp(state->resources->modes[j].name, name) == 0)
			return state->resources->modes[j].id;
	}
	XRRModeInfo *mode = XRRAllocModeInfo(name, (int)strlen(name));
	mode->width = (unsigned)width;
	mode->height = (unsigned)height;
	mode->hTotal = (unsigned)width;
	mode->vTotal = (unsigned)height;
	xconn_trap(conn);
	RRMode id = XRRCreateMode(conn->dpy, conn->root, mode);
	XRRFreeModeInfo(mode);
	return xconn_untrap(conn) == 0 ? id : None;
}

static bool set_crtc(struct xconn *conn, const struct state *state, RRMode mode)
{
	RROutput output = state->output;
	xconn_trap(conn);
	Status status = XRRSetCrtcConfig(conn->dpy, state->resources, state->output_info->crtc,
		CurrentTime, 0, 0, mode, RR_Rotate_0, mode != None ? &output : NULL,
		mode != None ? 1 : 0);
	return xconn_untrap(conn) == 0 && status == RRSetConfigSuccess;
}

/* The screen must hold the CRTC at every moment: off, new size, on again. */
static bool apply(
	struct xconn *conn, const struct state *state, RRMode mode, int width, int height)
{
	int width_mm = (width * 254 + 480) / 960, height_mm = (height * 254 + 480) / 960; /* 96 dpi */
	XRRAddOutputMode(conn->dpy, state->output, mode);
	XGrabServer(conn->dpy); /* nobody sees the screen without its CRTC */
	bool is_done = set_crtc(conn, state, None);
	if (is_done) {
		xconn_trap(conn);
		XRRSetScreenSize(conn->dpy, conn->root, width, height, width_mm, height_mm);
		bool is_sized = xconn_untrap(conn) == 0;
		is_done = set_crtc(conn, state, is_sized ? mode : state->crtc_info->mode) && is_sized;
	}
	XUngrabServer(conn->dpy);
	XFlush(conn->dpy);
	return is_done;
}

int screen_resize_to(struct xconn *conn, int width, int height, int *max_width, int *max_height)
{
	*max_width = *max_height = 0;
	if (conn->is_broken)
		return -ENOTCONN;
	struct state state = {0};
	if (!conn->has_randr || !read_state(conn, &state)) {
		release_state(&state);
		return conn->is_broken ? -ENOTCONN : -ENOTSUP;
	}
	int min_width, min_height, ret = 0;
	XRRGetScreenSizeRange(
		conn->dpy, conn->root, &min_width, &min_height, max_width, max_height);
	if (width < min_width || height < min_height || width > *max_width ||
		height > *max_height) {
		ret = -ERANGE;
	} else {
		RRMode mode = find_mode(&state, width, height);
		if (mode == None)
			mode = make_mode(conn, &state, width, height);
		if (mode == None || !apply(conn, &state, mode, width, height))
			ret = -ERANGE;
	}
	release_state(&state);
	return conn->is_broken ? -ENOTCONN : ret;
}
