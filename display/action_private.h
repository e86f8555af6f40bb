/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An action's members, as they are read from JSON. Shared by action.c and action_members.c alone. */
#ifndef DISPLAY_ACTION_PRIVATE_H
#define DISPLAY_ACTION_PRIVATE_H

#include "base/json.h"
#include "display/action.h"

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
