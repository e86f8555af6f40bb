/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/steps.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"

struct steps {
	json_t *list;
	int last_id;
};

struct steps *steps_create(void)
{
	struct steps *steps = xcalloc(1, sizeof(*steps));
	steps->list = json_array();
	return steps;
}

void steps_destroy(struct steps *steps)
{
	if (steps == NULL)
		return;
	json_decref(steps->list);
	free(steps);
}

json_t *steps_add(struct steps *steps, const struct step *step)
{
	json_t *message = json_pack("{s:s, s:i, s:o, s:s}", "t", "step", "id", ++steps->last_id,
		"time", json_time(clock_wall_us()), "action", step->action);
	if (step->has_point) {
		json_object_set_new(message, "x", json_integer(step->x));
		json_object_set_new(message, "y", json_integer(step->y));
	}
	if (json_array_size(steps->list) >= STEPS_MAX)
		json_array_remove(steps->list, 0);
	json_array_append(steps->list, message);
	return message;
}

const json_t *steps_list(const struct steps *steps)
{
	return steps->list;
}
