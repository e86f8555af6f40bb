/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last seconds of a film, kept as encoded packets in memory, bounded in bytes. Saving them
 * disturbs nobody. Main thread only, but for the sink's callback and replay_write.
 */
#ifndef CAPTURE_REPLAY_H
#define CAPTURE_REPLAY_H

#include <stddef.h>
#include <stdint.h>

struct film;
struct replay;
struct replay_clip;

#define REPLAY_SECONDS_MAX 3600
#define REPLAY_BYTES_MAX   (96u << 20)

struct replay *replay_create(struct film *film, int seconds);
void replay_destroy(struct replay *replay); /* accepts NULL */

struct replay_status {
	int seconds;       /* wanted */
	int64_t held_ms;   /* of these there are */
	size_t bytes;
};
void replay_status(struct replay *replay, struct replay_status *out);

/* What is held now, to be written on another thread. NULL: nothing yet. */
struct replay_clip *replay_take(struct replay *replay);
/* Writes it to fd (taken: an empty file), as fragments. Returns 0 or a negative errno. Any thread. */
int replay_write(struct replay_clip *clip, int fd);
void replay_clip_size(const struct replay_clip *clip, int *width, int *height);
void replay_clip_free(struct replay_clip *clip); /* accepts NULL */

#endif
