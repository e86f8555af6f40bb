/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/guesses.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct guesser {
	char address[48];
	int64_t begin_us; /* of its minute */
	int count;        /* in it; 0: a free place */
};

struct guesses {
	struct guesser guessers[GUESSES_ADDRESSES];
};

struct guesses *guesses_create(void)
{
	return xcalloc(1, sizeof(struct guesses));
}

void guesses_destroy(struct guesses *guesses)
{
	free(guesses);
}

/* The address's place, or the one to be had: free, or whose minute began first. */
static struct guesser *find(struct guesses *guesses, const char *address)
{
	struct guesser *best = &guesses->guessers[0];
	for (int i = 0; i < GUESSES_ADDRESSES; i++) {
		struct guesser *guesser = &guesses->guessers[i];
		if (guesser->count > 0 && strcmp(guesser->address, address) == 0)
			return guesser;
		bool is_better = best->count > 0 &&
				 (guesser->count == 0 || guesser->begin_us < best->begin_us);
		if (is_better)
			best = guesser;
	}
	*best = (struct guesser){0};
	strncpy(best->address, address, sizeof(best->address) - 1);
	return best;
}

/* Of the count-th wrong try in a minute. */
static int delay_ms(int count)
{
	int over = count - GUESSES_FREE;
	if (over <= 0)
		return 0;
	return over >= GUESSES_DELAY_MAX_MS / GUESSES_DELAY_MS ? GUESSES_DELAY_MAX_MS
							       : over * GUESSES_DELAY_MS;
}

int guesses_note(struct guesses *guesses, int64_t now_us, const char *address)
{
	struct guesser *guesser = find(guesses, address);
	if (guesser->count == 0 || now_us - guesser->begin_us >= GUESSES_SPAN_US) {
		guesser->begin_us = now_us;
		guesser->count = 0;
	}
	guesser->count++;
	return delay_ms(guesser->count);
}

int guesses_delay_ms(const struct guesses *guesses, int64_t now_us, const char *address)
{
	for (int i = 0; i < GUESSES_ADDRESSES; i++) {
		const struct guesser *guesser = &guesses->guessers[i];
		if (guesser->count > 0 && strcmp(guesser->address, address) == 0 &&
			now_us - guesser->begin_us < GUESSES_SPAN_US)
			return delay_ms(guesser->count + 1);
	}
	return 0;
}
