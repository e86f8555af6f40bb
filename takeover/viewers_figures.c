/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/list.h"
#include "takeover/rfb.h"
#include "takeover/viewer.h"
#include "takeover/viewer_thread.h"
#include "takeover/viewers.h"
#include "takeover/viewers_private.h"

static uint64_t count_refused(const struct viewers *viewers)
{
	uint64_t refused = viewers->refused;
	const struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link)
		refused += viewer->refused;
	return refused;
}

static struct viewer_figures read_figures(const struct viewers *viewers, const struct viewer *viewer)
{
	if (viewers->is_frozen)
		return viewer->frozen; /* nothing at all of those that came since */
	struct viewer_figures figures = {.refused = viewer->refused};
	viewer_thread_stats(viewer->thread, &figures.stats);
	return figures;
}

void viewers_freeze_figures(struct viewers *viewers, bool is_frozen)
{
	struct viewer *viewer;
	if (viewers->is_frozen == is_frozen)
		return; /* from one person to the next nothing is told either */
	viewers->frozen_refused = count_refused(viewers);
	list_for_each(viewer, &viewers->list, link) {
		viewer->frozen = (struct viewer_figures){0};
		if (is_frozen && viewer_is_open(viewer))
			viewer->frozen = read_figures(viewers, viewer);
	}
	viewers->is_frozen = is_frozen;
}

static json_t *viewer_json(const struct viewers *viewers, const struct viewer *viewer)
{
	const struct viewer_figures figures = read_figures(viewers, viewer);
	const struct viewer_stats stats = figures.stats;
	json_t *json = viewer_identity(viewer);
	json_object_set_new(json, "since", json_time(viewer->since_wall_us));
	json_object_set_new(json, "encoding", json_string(rfb_caps_name(&viewer->caps)));
	json_object_set_new(json, "fps", json_real((double)(int)(stats.fps * 10) / 10));
	json_object_set_new(json, "kbps", json_integer((json_int_t)stats.kbps));
	json_object_set_new(json, "rtt_ms",
		stats.rtt_us > 0 ? json_real((double)(stats.rtt_us / 100) / 10) : json_null());
	json_object_set_new(json, "dropped", json_integer((json_int_t)stats.dropped));
	json_object_set_new(json, "bytes", json_integer((json_int_t)stats.bytes));
	json_object_set_new(json, "tier", json_integer(stats.tier));
	json_object_set_new(json, "refused", json_integer((json_int_t)figures.refused));
	return json;
}

json_t *viewers_json(const struct viewers *viewers)
{
	json_t *list = json_array();
	const struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link) {
		if (viewer_is_open(viewer))
			json_array_append_new(list, viewer_json(viewers, viewer));
	}
	return list;
}

/* One metric of all viewers, one line each. */
static void write_gauge(const struct viewers *viewers, struct buffer *out, const char *name,
	const char *type, const char *help, double (*value)(const struct viewer_stats *stats))
{
	buffer_printf(out, "# HELP boxscreen_viewer_%s %s\n# TYPE boxscreen_viewer_%s %s\n", name,
		help, name, type);
	const struct viewer *viewer;
	list_for_each(viewer, &viewers->list, link) {
		if (!viewer_is_open(viewer))
			continue;
		const struct viewer_figures figures = read_figures(viewers, viewer);
		buffer_printf(out, "boxscreen_viewer_%s{id=\"%u\",role=\"%s\",encoding=\"%s\"} %g\n",
			name, viewer->id, viewer_role_name(viewer->role),
			rfb_caps_name(&viewer->caps), value(&figures.stats));
	}
}

static double get_fps(const struct viewer_stats *stats) { return stats->fps; }
static double get_kbps(const struct viewer_stats *stats) { return stats->kbps; }
static double get_rtt(const struct viewer_stats *stats) { return (double)stats->rtt_us / 1e6; }
static double get_dropped(const struct viewer_stats *stats) { return (double)stats->dropped; }
static double get_bytes(const struct viewer_stats *stats) { return (double)stats->bytes; }

void viewers_write_metrics(const struct viewers *viewers, struct buffer *out)
{
	uint64_t refused = viewers->is_frozen ? viewers->frozen_refused : count_refused(viewers);
	buffer_printf(out,
		"# HELP boxscreen_viewers Viewers now.\n# TYPE boxscreen_viewers gauge\n"
		"boxscreen_viewers %d\n"
		"# HELP boxscreen_viewers_total Viewers that have come.\n"
		"# TYPE boxscreen_viewers_total counter\nboxscreen_viewers_total %llu\n"
		"# HELP boxscreen_viewer_refused_total Keys, clicks, texts and sizes of watchers.\n"
		"# TYPE boxscreen_viewer_refused_total counter\nboxscreen_viewer_refused_total %llu\n",
		viewers->count, (unsigned long long)viewers->total, (unsigned long long)refused);
	write_gauge(viewers, out, "fps", "gauge", "Updates a second.", get_fps);
	write_gauge(viewers, out, "kbps", "gauge", "Kilobits a second.", get_kbps);
	write_gauge(viewers, out, "rtt_seconds", "gauge", "Round trip, decoding included.", get_rtt);
	write_gauge(viewers, out, "dropped_total", "counter", "Frames never sent.", get_dropped);
	write_gauge(viewers, out, "bytes_total", "counter", "Bytes of RFB.", get_bytes);
}
