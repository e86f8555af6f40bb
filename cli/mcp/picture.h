/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures for a model, and its coordinates: those of the whole screen's picture, which is the screen
 * shrunk so that no side is longer than --max-side. They depend on nothing but the screen's size, so
 * that every call can be understood by itself. A call's own thread.
 */
#ifndef CLI_MCP_PICTURE_H
#define CLI_MCP_PICTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct tool_call;

/* Some clients refuse a result of more than a megabyte; a picture in base64 leaves room for the rest. */
#define PICTURE_BASE64_MAX 900000

struct space {
	int screen_width, screen_height;
	int width, height; /* of the whole screen's picture */
};

/* By a reply of GET /v1/status; false when the screen is not there. */
bool space_of_status(const struct tool_call *call, const json_t *status, struct space *out);
/*
 * Asks the daemon; one that was started just now gets a moment to find its screen. False with the
 * result made an error.
 */
bool space_ask(struct tool_call *call, struct space *out);
/*
 * Asks once more, when the screen may have taken another size: what is told is for the next call. Where
 * there is no answer, that is said, and *space stays; no error.
 */
void space_follow(struct tool_call *call, struct space *space);

/* A rectangle of the screen in the model's coordinates: [x, y, width, height]. The caller's. */
json_t *space_rect(const struct space *space, double x, double y, double width, double height);

/* The size that a PNG's own head tells; false for what is too short to have one. */
bool picture_png_size(const void *data, size_t len, int *width, int *height);

/*
 * Adds a picture as the daemon gives it ({"format","width","height","origin","scale","base64"}), with a
 * line that says what it shows. One that is too large for most clients is taken once more as JPEG.
 * Returns what programs may want to know of it; the caller owns it.
 */
json_t *picture_add(struct tool_call *call, const struct space *space, const json_t *picture);

/*
 * Takes a screenshot with further query parameters ("&cursor=1"; NULL: none) and adds it; else as
 * picture_add. *space becomes that of the screen's size then. NULL with the result made an error.
 */
json_t *picture_take(struct tool_call *call, struct space *space, const char *query);

#endif
