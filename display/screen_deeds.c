/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent does, on its way from the display thread to the main thread. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "display/cursor.h"
#include "display/screen_private.h"

struct deed {
	struct screen *screen;
	int x, y;
	char *keys; /* NULL: a click */
};

static void on_told(void *arg)
{
	struct deed *deed = arg;
	const struct screen_deeds *events = &deed->screen->deed_events;
	if (!deed->screen->is_ending && events->on_click != NULL) {
		if (deed->keys != NULL)
			events->on_keys(events->arg, deed->keys);
		else
			events->on_click(events->arg, deed->x, deed->y);
	}
	free(deed->keys);
	free(deed);
}

/* [display] */
static void on_click(void *arg)
{
	struct screen *screen = arg;
	struct deed deed = {.screen = screen};
	if (screen->are_deeds_wanted && cursor_position(screen->cursor, &deed.x, &deed.y))
		loop_post(screen->main_loop, on_told, xmemdup(&deed, sizeof(deed)));
}

/* [display] */
static void on_keys(void *arg, const char *text)
{
	struct screen *screen = arg;
	if (!screen->are_deeds_wanted)
		return;
	struct deed deed = {.screen = screen, .keys = xstrdup(text)};
	loop_post(screen->main_loop, on_told, xmemdup(&deed, sizeof(deed)));
}

void screen_deeds_init(struct screen *screen)
{
	screen->deeds = (struct deeds){on_click, on_keys, screen};
}

void screen_set_deeds(struct screen *screen, const struct screen_deeds *deeds)
{
	screen->deed_events = *deeds;
}

void screen_want_deeds(struct screen *screen, bool is_wanted)
{
	screen->are_deeds_wanted = is_wanted;
}
