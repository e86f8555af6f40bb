/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Screenshot options out of JSON, and pictures into JSON. Main thread only. */
#ifndef SERVICE_SHOT_JSON_H
#define SERVICE_SHOT_JSON_H

#include <jansson.h>

struct buffer;
struct json_reader;
struct shot_geometry;
struct shot_options;

/* Reads all members named in shot_option_rules; faults go to the reader. */
void shot_options_read(struct json_reader *reader, struct shot_options *options);

/* {"format","width","height","origin":[x,y],"scale":[sx,sy],"base64"}; the last not without a picture. */
json_t *shot_picture_json(const struct shot_options *options, const struct shot_geometry *geometry,
	const struct buffer *picture);

#endif
