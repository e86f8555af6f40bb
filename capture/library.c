/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/file_folder.h"
#include "base/json.h"
#include "base/utf8.h"
#include "capture/encoder.h"
#define LOG_MODULE "library"
#include "base/log.h"

#define ENTRY_FILE_MAX (8u << 20)
/* Of a name, in a file's name: with id and ending it stays below NAME_MAX. */
#define NAME_BYTES_MAX 160

struct library {
	char *folder;
	struct list entries; /* oldest first */
};

static const char *const state_names[] = {
	[ENTRY_RECORDING] = "recording",
	[ENTRY_PAUSED] = "paused",
	[ENTRY_FINISHING] = "finishing",
	[ENTRY_DONE] = "done",
	[ENTRY_RECOVERED] = "recovered",
	[ENTRY_ERROR] = "error",
};

const char *entry_state_name(enum entry_state state)
{
	return state_names[state];
}

bool entry_is_active(const struct entry *entry)
{
	return entry->state <= ENTRY_FINISHING;
}

static void entry_free(struct entry *entry)
{
	list_remove(&entry->link);
	mp4_notes_finish(&entry->chapters);
	mp4_notes_finish(&entry->subtitles);
	free(entry->name);
	free(entry->path);
	free(entry);
}

static void note_file(struct entry *entry, const struct stat *st)
{
	entry->device = st->st_dev;
	entry->inode = st->st_ino;
}

static bool is_its_file(const struct entry *entry, const struct stat *st)
{
	return st->st_dev == entry->device && st->st_ino == entry->inode;
}

/* JSON */

static json_t *notes_json(const struct mp4_notes *notes)
{
	json_t *list = json_array();
	for (size_t i = 0; i < notes->count; i++)
		json_array_append_new(list,
			json_pack("{s:I, s:s}", "at_ms", (json_int_t)notes->items[i].at_ms, "text",
				notes->items[i].text));
	return list;
}

json_t *entry_json(const struct entry *entry)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:i, s:i, s:s, s:b}", "id",
		entry->id, "name", entry->name, "path", entry->path, "state",
		entry_state_name(entry->state), "duration_ms", (json_int_t)entry->duration_ms,
		"bytes", (json_int_t)entry->bytes, "width", entry->width, "height", entry->height,
		"fps", entry->fps, "quality", entry->quality, "seekable", entry->is_seekable);
	json_object_set_new(json, "created_at", json_time(entry->created_wall_us));
	json_object_set_new(json, "ended_at", json_time(entry->ended_wall_us));
	if (entry->error[0] != '\0')
		json_object_set_new(json, "error", json_string(entry->error));
	json_object_set_new(json, "chapters", notes_json(&entry->chapters));
	json_object_set_new(json, "subtitles", notes_json(&entry->subtitles));
	return json;
}

static char *entry_file(const struct library *library, const struct entry *entry)
{
	return xasprintf("%s/%s.json", library->folder, entry->id);
}

void library_save(struct library *library, const struct entry *entry)
{
	json_t *json = entry_json(entry);
	json_object_set_new(json, "created_us", json_integer(entry->created_wall_us));
	json_object_set_new(json, "ended_us", json_integer(entry->ended_wall_us));
	char *text = json_dumps(json, JSON_COMPACT);
	char *file = entry_file(library, entry);
	int ret = text != NULL ? atomic_file_write(file, text, strlen(text), 0600, ATOMIC_FILE_SYNC)
			       : -ENOMEM;
	if (ret < 0)
		log_warn("cannot save %s: %s; after a crash this recording will not be listed", file,
			strerror(-ret));
	free(file);
	free(text);
	json_decref(json);
}

static void read_notes(const json_t *list, struct mp4_notes *notes)
{
	size_t i;
	json_t *item;
	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(json_object_get(item, "text"));
		if (text != NULL)
			mp4_notes_add(notes, json_integer_value(json_object_get(item, "at_ms")), text);
	}
}

static bool is_inside(const struct library *library, const char *path)
{
	size_t len = strlen(library->folder);
	return strncmp(path, library->folder, len) == 0 && path[len] == '/' &&
	       strchr(path + len + 1, '/') == NULL;
}

/* One entry from its file's JSON; NULL when it is none. */
static struct entry *read_entry(const struct library *library, const json_t *json)
{
	const char *id = json_string_value(json_object_get(json, "id"));
	const char *path = json_string_value(json_object_get(json, "path"));
	const char *name = json_string_value(json_object_get(json, "name"));
	const char *state = json_string_value(json_object_get(json, "state"));
	const char *error = json_string_value(json_object_get(json, "error"));
	const char *quality = json_string_value(json_object_get(json, "quality"));
	enum encoder_quality parsed = ENCODER_BALANCED;
	if (id == NULL || path == NULL || name == NULL || state == NULL || strlen(id) >= sizeof((struct entry *)0)->id)
		return NULL;
	struct entry *entry = xcalloc(1, sizeof(*entry));
	list_init(&entry->link);
	snprintf(entry->id, sizeof(entry->id), "%s", id);
	entry->name = xstrdup(name);
	entry->path = xstrdup(path);
	entry->state = ENTRY_ERROR;
	for (size_t i = 0; i < ARRAY_LEN(state_names); i++) {
		if (strcmp(state, state_names[i]) == 0)
			entry->state = (enum entry_state)i;
	}
	snprintf(entry->error, sizeof(entry->error), "%s", error != NULL ? error : "");
	if (quality != NULL)
		encoder_quality_parse(quality, &parsed);
	entry->quality = encoder_quality_name(parsed);
	entry->created_wall_us = json_integer_value(json_object_get(json, "created_us"));
	entry->ended_wall_us = json_integer_value(json_object_get(json, "ended_us"));
	entry->duration_ms = json_integer_value(json_object_get(json, "duration_ms"));
	entry->bytes = json_integer_value(json_object_get(json, "bytes"));
	entry->width = (int)json_integer_value(json_object_get(json, "width"));
	entry->height = (int)json_integer_value(json_object_get(json, "height"));
	entry->fps = (int)json_integer_value(json_object_get(json, "fps"));
	entry->is_seekable = json_is_true(json_object_get(json, "seekable"));
	entry->is_owned = is_inside(library, path);
	read_notes(json_object_get(json, "chapters"), &entry->chapters);
	read_notes(json_object_get(json, "subtitles"), &entry->subtitles);
	return entry;
}

static void insert_by_age(struct library *library, struct entry *entry)
{
	struct list *after = library->entries.prev;
	while (after != &library->entries &&
		container_of(after, struct entry, link)->created_wall_us > entry->created_wall_us)
		after = after->prev;
	list_prepend(after, &entry->link);
}

static void load_file(struct library *library, const char *name)
{
	char *path = xasprintf("%s/%s", library->folder, name), *text = NULL;
	size_t len;
	struct stat st;
	int ret = file_read_all(path, ENTRY_FILE_MAX, &text, &len);
	json_t *json = ret == 0 ? json_loadb(text, len, 0, NULL) : NULL;
	struct entry *entry = json != NULL ? read_entry(library, json) : NULL;
	if (entry == NULL) {
		log_warn("%s is no recording of ours; it is left alone", path);
	} else if (lstat(entry->path, &st) < 0 || !S_ISREG(st.st_mode)) {
		log_info("the video of %s (%s) has gone", entry->id, entry->path);
		unlink(path);
		entry_free(entry);
	} else {
		entry->bytes = st.st_size;
		note_file(entry, &st);
		insert_by_age(library, entry);
	}
	json_decref(json);
	free(text);
	free(path);
}

static void load(struct library *library)
{
	DIR *dir = opendir(library->folder);
	struct dirent *item;
	while (dir != NULL && (item = readdir(dir)) != NULL) {
		size_t len = strlen(item->d_name);
		if (len > 5 && strcmp(item->d_name + len - 5, ".json") == 0)
			load_file(library, item->d_name);
	}
	if (dir != NULL)
		closedir(dir);
}

struct library *library_create(const char *folder)
{
	if (mkdir(folder, 0700) < 0 && errno != EEXIST) {
		log_error("cannot make the folder for recordings %s: %s; choose another with "
			  "--recordings-dir",
			folder, strerror(errno));
		return NULL;
	}
	struct library *library = xcalloc(1, sizeof(*library));
	library->folder = xstrdup(folder);
	list_init(&library->entries);
	load(library);
	return library;
}

void library_destroy(struct library *library)
{
	if (library == NULL)
		return;
	struct entry *entry, *tmp;
	list_for_each_safe(entry, tmp, &library->entries, link)
		entry_free(entry);
	free(library->folder);
	free(library);
}

const char *library_folder(const struct library *library)
{
	return library->folder;
}

/* A name as part of a file's: no slashes, no control characters, no dot in front, not too long. */
static char *file_name(const char *name)
{
	char *out = xstrdup(name);
	size_t len = strlen(out);
	if (len > NAME_BYTES_MAX) {
		len = NAME_BYTES_MAX;
		while (len > 0 && ((unsigned char)out[len] & 0xc0) == 0x80)
			len--;
		out[len] = '\0';
	}
	for (char *p = out; *p != '\0'; p++) {
		if (*p == '/' || (unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '_';
	}
	if (out[0] == '.')
		out[0] = '_';
	return out;
}

static void make_id(char *out, size_t size)
{
	uint8_t random[6];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		abort(); /* never short for so few once the machine is up */
	snprintf(out, size, "r-%02x%02x%02x%02x%02x%02x", random[0], random[1], random[2], random[3],
		random[4], random[5]);
}

/* The new file, wherever it is wanted; a negative errno. */
static int create_file(const char *path)
{
	const char *name;
	int folder = file_folder_open(path, &name);
	if (folder < 0)
		return folder;
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int ret = fd < 0 ? -errno : fd;
	close(folder);
	return ret;
}

struct entry *library_add(
	struct library *library, const char *name, const char *path, int *fd, int *error)
{
	struct entry *entry = xcalloc(1, sizeof(*entry));
	list_init(&entry->link);
	make_id(entry->id, sizeof(entry->id));
	entry->name = xstrdup(name);
	if (path != NULL) {
		entry->path = xstrdup(path);
	} else {
		char *part = file_name(name);
		entry->path = xasprintf("%s/%s%s%s.mp4", library->folder, part,
			part[0] != '\0' ? "-" : "", entry->id);
		free(part);
	}
	entry->is_owned = is_inside(library, entry->path);
	entry->created_wall_us = clock_wall_us();
	entry->quality = encoder_quality_name(ENCODER_BALANCED);
	*fd = create_file(entry->path);
	if (*fd < 0) {
		*error = *fd;
		entry_free(entry);
		return NULL;
	}
	struct stat st;
	if (fstat(*fd, &st) == 0)
		note_file(entry, &st);
	list_append(&library->entries, &entry->link);
	return entry;
}

int library_open(const struct entry *entry)
{
	struct stat st;
	int fd = open(entry->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP ? -ESTALE : -errno;
	bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	/* While it is being finished the new file may be in its place already, and not told of yet. */
	if (is_file && (is_its_file(entry, &st) || entry->state == ENTRY_FINISHING))
		return fd;
	close(fd);
	return -ESTALE;
}

void library_drop(struct library *library, struct entry *entry)
{
	(void)library;
	unlink(entry->path);
	entry_free(entry);
}

int library_remove(struct library *library, struct entry *entry)
{
	struct stat st;
	/* What has taken its place is not ours to remove. */
	bool is_ours = lstat(entry->path, &st) == 0 && is_its_file(entry, &st);
	if (is_ours && unlink(entry->path) < 0 && errno != ENOENT)
		return -errno;
	char *file = entry_file(library, entry);
	unlink(file);
	free(file);
	entry_free(entry);
	return 0;
}

struct entry *library_find(struct library *library, const char *id)
{
	struct entry *entry;
	list_for_each(entry, &library->entries, link) {
		if (strcmp(entry->id, id) == 0)
			return entry;
	}
	return NULL;
}

struct entry *library_find_active(struct library *library, const char *path)
{
	struct entry *entry;
	list_for_each(entry, &library->entries, link) {
		if (entry_is_active(entry) && strcmp(entry->path, path) == 0)
			return entry;
	}
	return NULL;
}

struct list *library_entries(struct library *library)
{
	return &library->entries;
}

void library_trim(struct library *library, int64_t max_bytes,
	void (*removed)(void *arg, const struct entry *entry), void *arg)
{
	int64_t total = 0;
	struct entry *entry, *tmp;
	list_for_each(entry, &library->entries, link)
		total += entry->bytes;
	list_for_each_safe(entry, tmp, &library->entries, link) {
		if (total <= max_bytes)
			return;
		if (entry_is_active(entry))
			continue;
		int64_t bytes = entry->bytes;
		log_info("removing %s: recordings have more than %lld bytes", entry->path,
			(long long)max_bytes);
		removed(arg, entry);
		if (library_remove(library, entry) == 0)
			total -= bytes;
	}
}
