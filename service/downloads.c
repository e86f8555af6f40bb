/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/downloads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/buffer.h"
#include "base/http_server.h"
#include "base/list.h"
#include "service/reply.h"
#define LOG_MODULE "downloads"
#include "base/log.h"

#define KEY_BYTES  32
#define ID_BYTES   12
#define STATE_MAX  (4u << 20)

struct download {
	struct list link;
	char id[ID_BYTES * 2 + 1];
	char *path, *content_type;
	struct deadline deadline;
	/* Which file it was when the link was made: another one under the name is not served. */
	int64_t device, inode, size, mtime_ns, ctime_ns;
	bool is_own; /* the file is the daemon's, and goes with its link */
};

struct downloads {
	char *state_path, *own_folder;
	char kernel_boot[64]; /* tells whether a stored boot-time clock value still means something */
	const char *box_id, *public_url;
	uint8_t key[KEY_BYTES];
	struct list links; /* oldest first */
	size_t count;
};

static void to_hex(const uint8_t *bytes, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static bool from_hex(const char *text, uint8_t *out, size_t len)
{
	if (text == NULL || strlen(text) != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned value;
		if (sscanf(text + 2 * i, "%2x", &value) != 1)
			return false;
		out[i] = (uint8_t)value;
	}
	return true;
}

/* 32 bytes in base64url without padding. */
#define SIGNATURE_CHARS 43

/* `rest` and `expires` are signed as they stand in the link: "ID/NAME" and a number. */
static void sign(const struct downloads *downloads, const char *rest, const char *expires,
	char out[SIGNATURE_CHARS + 3])
{
	char *text = xasprintf("%s|%s|%s", downloads->box_id, rest, expires);
	uint8_t mac[EVP_MAX_MD_SIZE];
	unsigned mac_len = 0;
	HMAC(EVP_sha256(), downloads->key, KEY_BYTES, (const unsigned char *)text, strlen(text), mac,
		&mac_len);
	free(text);
	unsigned char encoded[64];
	EVP_EncodeBlock(encoded, mac, (int)mac_len);
	for (int i = 0; i < SIGNATURE_CHARS; i++) {
		unsigned char c = encoded[i];
		out[i] = c == '+' ? '-' : c == '/' ? '_' : (char)c;
	}
	out[SIGNATURE_CHARS] = '\0';
}

static void download_free(struct downloads *downloads, struct download *download)
{
	list_remove(&download->link);
	downloads->count--;
	free(download->path);
	free(download->content_type);
	free(download);
}

static int64_t own_bytes(const struct downloads *downloads)
{
	int64_t bytes = 0;
	struct download *download;
	list_for_each(download, &downloads->links, link)
		bytes += download->is_own ? download->size : 0;
	return bytes;
}

static void drop_over(struct downloads *downloads)
{
	struct download *download, *tmp;
	int64_t bytes = own_bytes(downloads);
	list_for_each_safe(download, tmp, &downloads->links, link) {
		bool is_too_much = download->is_own && bytes > DOWNLOADS_OWN_BYTES_MAX;
		if (!deadline_has_passed(&download->deadline) && downloads->count <= DOWNLOADS_MAX &&
			!is_too_much)
			continue;
		if (download->is_own) {
			bytes -= download->size;
			unlink(download->path);
		}
		download_free(downloads, download);
	}
}

static void save(struct downloads *downloads)
{
	char key[KEY_BYTES * 2 + 1];
	to_hex(downloads->key, KEY_BYTES, key);
	json_t *links = json_array();
	struct download *download;
	list_for_each(download, &downloads->links, link)
		json_array_append_new(links,
			json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "id", download->id,
				"path", download->path, "content_type", download->content_type,
				"wall_us", (json_int_t)download->deadline.wall_us, "boottime_us",
				(json_int_t)download->deadline.boottime_us, "device",
				(json_int_t)download->device, "inode", (json_int_t)download->inode,
				"size", (json_int_t)download->size, "mtime_ns",
				(json_int_t)download->mtime_ns, "ctime_ns",
				(json_int_t)download->ctime_ns, "own", download->is_own));
	json_t *state = json_pack("{s:s, s:s, s:o}", "key", key, "kernel_boot",
		downloads->kernel_boot, "links", links);
	char *text = json_dumps(state, JSON_COMPACT);
	json_decref(state);
	int ret = text != NULL ? atomic_file_write(downloads->state_path, text, strlen(text), 0600, 0)
			       : -ENOMEM;
	free(text);
	if (ret < 0)
		log_warn("cannot save %s: %s; links will not survive a restart",
			downloads->state_path, strerror(-ret));
}

static struct download *append(struct downloads *downloads, const char *id, const char *path,
	const char *content_type, struct deadline deadline)
{
	struct download *download = xcalloc(1, sizeof(*download));
	snprintf(download->id, sizeof(download->id), "%s", id);
	download->path = xstrdup(path);
	download->content_type = xstrdup(content_type);
	download->deadline = deadline;
	list_append(&downloads->links, &download->link);
	downloads->count++;
	return download;
}

static void load_links(struct downloads *downloads, const json_t *links, bool is_same_boot)
{
	size_t i;
	json_t *item;
	json_array_foreach(links, i, item)
	{
		const char *id = NULL, *path = NULL, *content_type = NULL;
		json_int_t wall_us, boottime_us, device, inode, size, mtime_ns, ctime_ns;
		if (json_unpack(item, "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "id", &id,
			    "path", &path, "content_type", &content_type, "wall_us", &wall_us,
			    "boottime_us", &boottime_us, "device", &device, "inode", &inode, "size",
			    &size, "mtime_ns", &mtime_ns, "ctime_ns", &ctime_ns) != 0)
			continue;
		struct deadline deadline = {
			.wall_us = wall_us, .boottime_us = is_same_boot ? boottime_us : INT64_MAX};
		struct download *download = append(downloads, id, path, content_type, deadline);
		download->device = device;
		download->inode = inode;
		download->size = size;
		download->mtime_ns = mtime_ns;
		download->ctime_ns = ctime_ns;
		download->is_own = json_is_true(json_object_get(item, "own"));
	}
	drop_over(downloads);
}

static bool load(struct downloads *downloads)
{
	char *text;
	size_t len;
	if (file_read_all(downloads->state_path, STATE_MAX, &text, &len) != 0)
		return false;
	json_t *state = json_loadb(text, len, 0, NULL);
	free(text);
	const char *boot = json_string_value(json_object_get(state, "kernel_boot"));
	bool is_good = from_hex(
		json_string_value(json_object_get(state, "key")), downloads->key, KEY_BYTES);
	if (is_good)
		load_links(downloads, json_object_get(state, "links"),
			boot != NULL && strcmp(boot, downloads->kernel_boot) == 0);
	json_decref(state);
	return is_good;
}

static void read_kernel_boot(struct downloads *downloads)
{
	char *text;
	size_t len;
	if (file_read_all("/proc/sys/kernel/random/boot_id", 4096, &text, &len) != 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(downloads->kernel_boot, sizeof(downloads->kernel_boot), "%s", text);
	free(text);
}

static bool has_link_to(const struct downloads *downloads, const char *path)
{
	struct download *download;
	list_for_each(download, &downloads->links, link) {
		if (download->is_own && strcmp(download->path, path) == 0)
			return true;
	}
	return false;
}

/* Files that a daemon which was killed left without a link. */
static void remove_unlinked(const struct downloads *downloads)
{
	DIR *folder = opendir(downloads->own_folder);
	struct dirent *item;
	while (folder != NULL && (item = readdir(folder)) != NULL) {
		char *path = xasprintf("%s/%s", downloads->own_folder, item->d_name);
		if (item->d_name[0] != '.' && !has_link_to(downloads, path))
			unlink(path);
		free(path);
	}
	if (folder != NULL)
		closedir(folder);
}

struct downloads *downloads_create(const char *state_dir, const char *box_id, const char *public_url)
{
	struct downloads *downloads = xcalloc(1, sizeof(*downloads));
	downloads->state_path = xasprintf("%s/downloads.json", state_dir);
	downloads->own_folder = xasprintf("%s/shots", state_dir);
	downloads->box_id = box_id;
	downloads->public_url = public_url;
	list_init(&downloads->links);
	read_kernel_boot(downloads);
	if (!load(downloads)) {
		if (RAND_bytes(downloads->key, KEY_BYTES) != 1) {
			log_error("no random numbers for the download key");
			downloads_destroy(downloads);
			return NULL;
		}
		save(downloads);
	}
	remove_unlinked(downloads);
	return downloads;
}

void downloads_destroy(struct downloads *downloads)
{
	if (downloads == NULL)
		return;
	struct download *download, *tmp;
	list_for_each_safe(download, tmp, &downloads->links, link)
		download_free(downloads, download);
	OPENSSL_cleanse(downloads->key, KEY_BYTES);
	free(downloads->state_path);
	free(downloads->own_folder);
	free(downloads);
}

static int64_t to_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static void note_file(struct download *download, const struct stat *st)
{
	download->device = (int64_t)st->st_dev;
	download->inode = (int64_t)st->st_ino;
	download->size = st->st_size;
	download->mtime_ns = to_ns(&st->st_mtim);
	download->ctime_ns = to_ns(&st->st_ctim);
}

/* The time of its last change can be put back by whoever may write to it, the kernel's own cannot. */
static bool is_same_file(const struct download *download, const struct stat *st)
{
	return S_ISREG(st->st_mode) && download->device == (int64_t)st->st_dev &&
	       download->inode == (int64_t)st->st_ino && download->size == st->st_size &&
	       download->mtime_ns == to_ns(&st->st_mtim) &&
	       download->ctime_ns == to_ns(&st->st_ctim);
}

/* A file name that needs no escaping in a URL; the real one is in the table. */
static char *url_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = xstrdup(slash != NULL ? slash + 1 : path);
	for (char *p = name; *p != '\0'; p++) {
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p) ==
			NULL)
			*p = '_';
	}
	return name;
}

/* See downloads_add. */
static char *add(struct downloads *downloads, const char *path, const struct stat *file,
	const char *content_type, bool is_own, int64_t *expires_wall_us)
{
	uint8_t random[ID_BYTES];
	char id[ID_BYTES * 2 + 1], expires[24], signature[SIGNATURE_CHARS + 3];
	if (RAND_bytes(random, ID_BYTES) != 1)
		abort(); /* the generator was seeded at start; it does not fail later */
	to_hex(random, ID_BYTES, id);
	struct download *download = append(downloads, id, path, content_type,
		deadline_after((int64_t)DOWNLOADS_LIFETIME_S * 1000000));
	download->is_own = is_own;
	note_file(download, file);
	drop_over(downloads);
	save(downloads);
	*expires_wall_us = download->deadline.wall_us;
	snprintf(expires, sizeof(expires), "%" PRId64, download->deadline.wall_us / 1000000);
	char *name = url_name(path), *rest = xasprintf("%s/%s", id, name);
	sign(downloads, rest, expires, signature);
	char *url = xasprintf("%s/box/%s/files/%s?e=%s&s=%s", downloads->public_url,
		downloads->box_id, rest, expires, signature);
	free(name);
	free(rest);
	return url;
}

char *downloads_add(struct downloads *downloads, const char *path, const struct stat *file,
	const char *content_type, int64_t *expires_wall_us)
{
	return add(downloads, path, file, content_type, false, expires_wall_us);
}

int downloads_add_own(struct downloads *downloads, const struct buffer *data, const char *ending,
	const char *content_type, char **url, char **path, int64_t *expires_wall_us)
{
	uint8_t random[8];
	char name[2 * sizeof(random) + 1];
	if (data->len > DOWNLOADS_OWN_BYTES_MAX)
		return -EFBIG;
	if (mkdir(downloads->own_folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (RAND_bytes(random, sizeof(random)) != 1)
		abort(); /* as above */
	to_hex(random, sizeof(random), name);
	*path = xasprintf("%s/shot-%s.%s", downloads->own_folder, name, ending);
	struct stat file;
	int ret = atomic_file_write_at(AT_FDCWD, *path, data->data, data->len, 0600, 0, &file);
	if (ret < 0) {
		free(*path);
		*path = NULL;
		return ret;
	}
	*url = add(downloads, *path, &file, content_type, true, expires_wall_us);
	return 0;
}

/* The link that the request names and rightly signs, still good; NULL otherwise. */
static struct download *find(
	struct downloads *downloads, struct http_request *request, const char *rest)
{
	size_t id_len = strcspn(rest, "/");
	const char *expires = http_request_query(request, "e");
	const char *signature = http_request_query(request, "s");
	char wanted[SIGNATURE_CHARS + 3];
	if (expires == NULL || signature == NULL || strlen(signature) != SIGNATURE_CHARS)
		return NULL;
	sign(downloads, rest, expires, wanted);
	if (CRYPTO_memcmp(wanted, signature, SIGNATURE_CHARS) != 0)
		return NULL;
	struct download *download;
	list_for_each(download, &downloads->links, link) {
		if (strlen(download->id) == id_len && strncmp(download->id, rest, id_len) == 0)
			return deadline_has_passed(&download->deadline) ? NULL : download;
	}
	return NULL;
}

static void serve_file(struct http_request *request, const struct download *download)
{
	struct stat st;
	int fd = open(download->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || !is_same_file(download, &st)) {
		if (fd >= 0)
			close(fd);
		reply_error(request, REPLY_GONE,
			"the file that the link was made for is not there any more");
		return;
	}
	http_reply_file(request, download->content_type, fd);
}

void downloads_serve(struct downloads *downloads, struct http_request *request)
{
	const char *path = http_request_path(request);
	size_t box_len = strlen(downloads->box_id);
	const char *rest = path + strlen("/box/");
	if (strncmp(rest, downloads->box_id, box_len) != 0 ||
		strncmp(rest + box_len, "/files/", 7) != 0) {
		reply_error(request, REPLY_NOT_FOUND, "there is nothing at this address");
		return;
	}
	const char *method = http_request_method(request);
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		http_request_add_header(request, "Allow", "GET, HEAD");
		reply_error(request, REPLY_METHOD_NOT_ALLOWED, "files can only be read (GET)");
		return;
	}
	/* What has been over once stays so, wherever the wall clock is put. */
	size_t count = downloads->count;
	drop_over(downloads);
	if (downloads->count != count)
		save(downloads);
	const struct download *download = find(downloads, request, rest + box_len + 7);
	if (download == NULL)
		reply_error(request, REPLY_NOT_FOUND,
			"this link is not valid or its time is over; ask for a new one");
	else
		serve_file(request, download);
}
