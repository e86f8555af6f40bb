/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/privacy.h"

void privacy_init(struct privacy *privacy)
{
	atomic_init(&privacy->is_on, false);
	list_init(&privacy->watches);
}

bool privacy_is_on(const struct privacy *privacy)
{
	return atomic_load(&privacy->is_on);
}

void privacy_set(struct privacy *privacy, bool is_on)
{
	if (atomic_exchange(&privacy->is_on, is_on) == is_on)
		return;
	struct privacy_watch *watch;
	list_for_each (watch, &privacy->watches, link)
		watch->on_change(watch->arg, is_on);
}

void privacy_add_watch(struct privacy *privacy, struct privacy_watch *watch)
{
	list_append(&privacy->watches, &watch->link);
}

void privacy_remove_watch(struct privacy_watch *watch)
{
	list_remove(&watch->link);
}
