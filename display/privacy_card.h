/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The card that stands for the screen while a person holds it (display/privacy.h). Any thread. */
#ifndef DISPLAY_PRIVACY_CARD_H
#define DISPLAY_PRIVACY_CARD_H

struct frame;
struct privacy_card;

/* One for all who show it: the picture is made once for each size of the screen. */
struct privacy_card *privacy_card_create(void);
void privacy_card_destroy(struct privacy_card *card); /* accepts NULL */

/*
 * A frame of that size: a plain ground with PRIVACY_CARD_TEXT in its middle, as large as fits. A
 * reference for the caller. NULL when there is no memory for it.
 */
struct frame *privacy_card_frame(struct privacy_card *card, int width, int height);

#endif
