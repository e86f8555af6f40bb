/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An action's members, as they are read from JSON. Shared by action.c and action_members.c alone. */
#ifndef DISPLAY_ACTION_PRIVATE_H
#define DISPLAY_ACTION_PRIVATE_H

#include "base/json.h"
#include "display/action.h"

/* The forms of a point and of a chord, which action_members.c reads. */
#define ACTION_POINT_SCHEMA                                                                        \
	"{\"description\":\"In pixels of the picture that the caller saw.\",\"anyOf\":["                \
	"{\"type\":\"array\",\"items\":{\"type\":\"number\"},\"minItems\":2,\"maxItems\":2},"           \
	"{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\"},\"y\":{\"type\":\"number\"}}," \
	"\"required\":[\"x\",\"y\"],\"additionalProperties\":false}]}"
#define ACTION_KEYS_SCHEMA                                                                         \
	"{\"description\":\"As ctrl+s, or a list that is one chord.\",\"anyOf\":["                     \
	"{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}"

/* One action being read. */
struct action_parse {
	struct json_reader reader;
	const struct action_space *space;
	struct action *action;
};

/*
 * Reads what belongs to parse->action->type, which is set, as are the defaults of its verb. Whatever is
 * wrong is told to the reader.
 */
void action_read_members(struct action_parse *parse);

#endif
