/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that the page sends as such, to be typed by the daemon's typist, and the box's clipboard
 * for the page: the JSON messages `text` and `clipboard` of docs/page-api.md. Only the holder's
 * count. A text has an id and is typed once, however often it is sent: what became of the last ones
 * is remembered over a lost line. Texts are never logged, and forgotten as soon as they are typed.
 * Main thread only.
 */
#ifndef TAKEOVER_VIEWER_TEXT_H
#define TAKEOVER_VIEWER_TEXT_H

#include <jansson.h>
#include <stdint.h>

struct viewer;
struct viewer_host;
struct viewer_texts;

struct viewer_texts *viewer_texts_create(void);
void viewer_texts_destroy(struct viewer_texts *texts); /* accepts NULL */

/* The session ends: its texts that are still being typed are answered, as failed. */
void viewer_texts_end_session(const struct viewer_host *host, uint32_t session);

void viewer_on_text(struct viewer *viewer, const json_t *message);
void viewer_on_clipboard(struct viewer *viewer, const json_t *message);

#endif
