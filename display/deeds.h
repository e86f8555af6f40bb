/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent does with pointer and keys, told to whoever shows it (recordings). Never what a person
 * does. Display thread only.
 */
#ifndef DISPLAY_DEEDS_H
#define DISPLAY_DEEDS_H

#include <stddef.h>

struct key_chord;

struct deeds {
	void (*on_click)(void *arg); /* a button went down, where the pointer is */
	/* Text that is typed, or the name of a key or chord ("ctrl+s"): short, printable UTF-8. */
	void (*on_keys)(void *arg, const char *text);
	void *arg;
};

/* Each tells the deeds, which may be NULL. */
void deeds_tell_click(const struct deeds *deeds);
void deeds_tell_text(const struct deeds *deeds, const char *text, size_t len);
void deeds_tell_chord(const struct deeds *deeds, const struct key_chord *chord);

#endif
