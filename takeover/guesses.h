/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slows down who guesses secrets: from the eleventh wrong try in a minute on, wrong tries of an
 * address are answered late. Right ones are not, since everybody may come from one proxy, but where the
 * secret is short enough to be guessed (guesses_delay_ms). Pure; the caller tells the time (monotonic).
 * Addresses are remembered in a bounded table. Main thread only.
 */
#ifndef TAKEOVER_GUESSES_H
#define TAKEOVER_GUESSES_H

#include <stdint.h>

#define GUESSES_FREE         10 /* a minute */
#define GUESSES_SPAN_US      INT64_C(60000000)
#define GUESSES_DELAY_MS     500 /* more for each further one */
#define GUESSES_DELAY_MAX_MS 5000
#define GUESSES_ADDRESSES    512

struct guesses;

struct guesses *guesses_create(void);
void guesses_destroy(struct guesses *guesses); /* accepts NULL */

/* A wrong try from `address`: how many ms its answer is to wait. */
int guesses_note(struct guesses *guesses, int64_t now_us, const char *address);
/* How late the next try is to be answered, be it right or wrong, going by the wrong ones so far. */
int guesses_delay_ms(const struct guesses *guesses, int64_t now_us, const char *address);

#endif
