/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way by the clipboard for text that keys cannot bring: owns both selections, sends the paste
 * chord, waits until the program has fetched the text, puts the old contents back. Part of the
 * typist; display thread only.
 */
#ifndef DISPLAY_TYPIST_PASTE_H
#define DISPLAY_TYPIST_PASTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paster;
struct typist;

/* Whether some toolkits mangle this character when it comes as a keysym. Pure. */
bool paste_is_needed(uint32_t code_point);

struct paster *paster_create(struct typist *typist);
void paster_destroy(struct paster *paster); /* accepts NULL */

/*
 * Pastes the characters (borrowed until the call returns) into the program under the focus, for the
 * running request, whose modifiers are lifted and whose keys have been taken. Then calls
 * done(typist, count), or ends the request with TYPIST_PASTE_FAILED.
 */
void paster_paste(struct paster *paster, const uint32_t *chars, size_t count,
	void (*done)(struct typist *typist, size_t count));

/* Stops, if under way, and puts the selections back. */
void paster_abandon(struct paster *paster);

#endif
