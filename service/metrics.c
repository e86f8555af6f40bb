/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"

struct metrics {
	uint64_t values[METRIC_COUNT];
	bool is_frozen;
	struct buffer frozen; /* the process's figures as they were then */
};

static const struct {
	const char *name, *type, *help;
} table[METRIC_COUNT] = {
	[METRIC_SHOTS] = {"boxscreen_shots_total", "counter",
		"Screenshots answered, cached ones included."},
	[METRIC_SHOTS_CACHED] = {"boxscreen_shots_cached_total", "counter",
		"Screenshots answered from the cache, the screen being unchanged."},
	[METRIC_SHOTS_UNCHANGED] = {"boxscreen_shots_unchanged_total", "counter",
		"Screenshot requests answered 304."},
	[METRIC_SHOT_ERRORS] = {"boxscreen_shot_errors_total", "counter",
		"Screenshot requests that failed."},
	[METRIC_SHOT_BYTES] = {"boxscreen_shot_bytes_total", "counter",
		"Bytes of encoded screenshots."},
	[METRIC_SHOT_ENCODE_US] = {"boxscreen_shot_encode_microseconds_total", "counter",
		"Time spent encoding screenshots, waiting for a pool thread included."},
	[METRIC_REQUESTS] = {"boxscreen_requests_total", "counter",
		"Requests on the control socket."},
	[METRIC_SCREEN_ATTACHES] = {"boxscreen_screen_attaches_total", "counter",
		"Times the display was attached to."},
	[METRIC_SCREEN_READY] = {"boxscreen_screen_ready", "gauge", "1 while pictures can be had."},
	[METRIC_EVENT_READERS] = {"boxscreen_event_readers", "gauge", "Open event streams."},
	[METRIC_CONNECTIONS] = {"boxscreen_connections", "gauge",
		"Open connections on the control socket."},
};

struct metrics *metrics_create(void)
{
	return xcalloc(1, sizeof(struct metrics));
}

void metrics_destroy(struct metrics *metrics)
{
	if (metrics == NULL)
		return;
	buffer_finish(&metrics->frozen);
	free(metrics);
}

void metrics_add(struct metrics *metrics, enum metric metric, uint64_t amount)
{
	metrics->values[metric] += amount;
}

void metrics_set(struct metrics *metrics, enum metric metric, uint64_t value)
{
	metrics->values[metric] = value;
}

static void write_one(struct buffer *out, const char *name, const char *type, const char *help,
	const char *value)
{
	buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name, type, name, value);
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;
	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count > 2 ? count - 2 : 0; /* "." and ".." */
}

static uint64_t resident_bytes(void)
{
	unsigned long long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static void write_process(struct buffer *out)
{
	char text[64];
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	snprintf(text, sizeof(text), "%.3f",
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	write_one(out, "process_cpu_seconds_total", "counter", "CPU time used by the daemon.", text);
	snprintf(text, sizeof(text), "%" PRIu64, resident_bytes());
	write_one(out, "process_resident_memory_bytes", "gauge", "Resident memory.", text);
	snprintf(text, sizeof(text), "%d", count_entries("/proc/self/fd"));
	write_one(out, "process_open_fds", "gauge", "Open file descriptors.", text);
	snprintf(text, sizeof(text), "%d", count_entries("/proc/self/task"));
	write_one(out, "process_threads", "gauge", "Threads.", text);
}

void metrics_freeze(struct metrics *metrics, bool is_frozen)
{
	if (metrics->is_frozen == is_frozen)
		return;
	buffer_finish(&metrics->frozen);
	if (is_frozen)
		write_process(&metrics->frozen);
	metrics->is_frozen = is_frozen;
}

void metrics_write(const struct metrics *metrics, struct buffer *out)
{
	for (int i = 0; i < METRIC_COUNT; i++) {
		char value[32];
		snprintf(value, sizeof(value), "%" PRIu64, metrics->values[i]);
		write_one(out, table[i].name, table[i].type, table[i].help, value);
	}
	if (metrics->is_frozen)
		buffer_append(out, metrics->frozen.data, metrics->frozen.len);
	else
		write_process(out);
}
