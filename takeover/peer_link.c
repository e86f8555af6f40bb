/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/peer_link.h"

static void on_data(void *arg, const uint8_t *data, size_t len)
{
	(void)arg, (void)data, (void)len;
}

static void on_text(void *arg, const char *text, size_t len)
{
	(void)arg, (void)text, (void)len;
}

static void on_nothing(void *arg)
{
	(void)arg;
}

void peer_link_refuse(struct peer_link *link, enum peer_close code, const char *reason)
{
	static const struct peer_link_events deaf = {
		on_data, on_text, on_nothing, on_nothing, NULL};
	peer_link_start(link, &deaf);
	peer_link_close(link, code, reason);
}
