/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boxscreen doctor: what is wrong with this box, and how to mend it. The machine is looked at from
 * here; what only the daemon can see comes from GET /v1/doctor, which answers
 *   {"checks":[{"name","state":"ok|warn|fail","detail","advice"}]}
 * in the shape that this file makes for its own checks too.
 */
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/replies.h"

/* Chromium alone fills the 64 MB that container engines give /dev/shm by default. */
#define SHM_WANTED_MB 256
#define SHM_FREE_MB   32

static void add_check(json_t *checks, const char *name, const char *state, const char *advice,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

static void add_check(json_t *checks, const char *name, const char *state, const char *advice,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *detail = xvasprintf(format, args);
	va_end(args);
	json_array_append_new(checks, json_pack("{s:s,s:s,s:s,s:s}", "name", name, "state", state,
					      "detail", detail, "advice", advice));
	free(detail);
}

static void check_socket_file(const struct invocation *call, json_t *checks)
{
	const char *path = call->socket_path;
	struct stat st;
	if (stat(path, &st) < 0)
		add_check(checks, "socket", "fail",
			errno == EACCES ? "call as root or as the user that runs boxscreend"
					: "start boxscreend, or name its socket with --socket or "
					  "$BOXSCREEN_SOCKET",
			"%s: %s", path, strerror(errno));
	else if (!S_ISSOCK(st.st_mode))
		add_check(checks, "socket", "fail",
			"remove the file and start boxscreend, or choose another --socket",
			"%s is not a socket", path);
	else if (access(path, R_OK | W_OK) < 0)
		add_check(checks, "socket", "fail",
			"call as the socket's owner, or join its group (usermod -aG GROUP USER)",
			"%s: mode %04o does not let this user in", path, st.st_mode & 07777u);
	else if (st.st_mode & 0007)
		add_check(checks, "socket", "warn",
			"chmod 0660 it: whoever can write to it holds the screen",
			"%s: mode %04o lets everybody in", path, st.st_mode & 07777u);
	else
		add_check(checks, "socket", "ok", "", "%s, mode %04o", path, st.st_mode & 07777u);
}

static void check_shm(json_t *checks)
{
	struct statvfs shm;
	if (statvfs("/dev/shm", &shm) < 0) {
		add_check(checks, "/dev/shm", "fail", "mount -t tmpfs tmpfs /dev/shm",
			"/dev/shm: %s", strerror(errno));
		return;
	}
	unsigned long long unit = shm.f_frsize, mb = 1024ULL * 1024;
	unsigned long long size_mb = shm.f_blocks * unit / mb, free_mb = shm.f_bavail * unit / mb;
	const char *state = "ok", *advice = "";
	if (size_mb < SHM_WANTED_MB || free_mb < SHM_FREE_MB) {
		state = free_mb < SHM_FREE_MB ? "fail" : "warn";
		advice = "give the container more (docker run --shm-size=1g), or mount -o "
			 "remount,size=1g /dev/shm";
	}
	add_check(
		checks, "/dev/shm", state, advice, "%llu MB, %llu MB of it free", size_mb, free_mb);
}

/* nftw has no argument for its callback; the walk is over before the next begins. */
static struct {
	int scalable, emoji, cjk;
} fonts;

static int see_font(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	const char *name = path + ftw->base, *dot = strrchr(name, '.');
	if (type != FTW_F || dot == NULL)
		return 0;
	static const char *const endings[] = {".ttf", ".otf", ".ttc", ".pfb", ".t1"};
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		fonts.scalable += strcasecmp(dot, endings[i]) == 0;
	fonts.emoji += strcasestr(name, "emoji") != NULL;
	static const char *const cjk[] = {"cjk", "wqy", "fallback", "ipag", "ipaex", "nanum",
		"takao", "uming", "ukai", "vlgothic"};
	for (size_t i = 0; i < ARRAY_LEN(cjk); i++)
		fonts.cjk += strcasestr(name, cjk[i]) != NULL;
	return 0;
}

static void check_fonts(json_t *checks)
{
	static const char *const folders[] = {"/usr/share/fonts", "/usr/local/share/fonts"};
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		nftw(folders[i], see_font, 16, FTW_PHYS);
	static const char install_more[] = "apt-get install fonts-noto-color-emoji fonts-noto-cjk";
	if (fonts.scalable == 0)
		add_check(checks, "fonts", "fail", "apt-get install fonts-dejavu-core",
			"no scalable fonts: programs show boxes or nothing where text should be");
	else if (fonts.emoji == 0)
		add_check(checks, "fonts", "warn", install_more,
			"%d font files, but no emoji: pages show boxes instead", fonts.scalable);
	else if (fonts.cjk == 0)
		add_check(checks, "fonts", "warn", install_more,
			"%d font files, but none for Chinese, Japanese and Korean: such pages show "
			"boxes",
			fonts.scalable);
	else
		add_check(checks, "fonts", "ok", "", "%d font files", fonts.scalable);
}

static bool has_library(const char *file_pattern)
{
	static const char *const folders[] = {
		"/usr/lib/*/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/usr/local/lib/*/"};
	bool is_there = false;
	for (size_t i = 0; i < ARRAY_LEN(folders) && !is_there; i++) {
		char *pattern = xasprintf("%s%s", folders[i], file_pattern);
		glob_t found;
		is_there = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
		globfree(&found);
		free(pattern);
	}
	return is_there;
}

static const struct {
	const char *name, *file_pattern, *package, *need;
} libraries[] = {
	{"codec libavcodec", "libavcodec.so.*", "libavcodec59 libavformat59", "recordings need it"},
	{"codec x264", "libx264.so.*", "libx264-164", "recordings and H.264 viewers need it"},
};

static void check_libraries(json_t *checks)
{
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
		if (has_library(libraries[i].file_pattern)) {
			add_check(checks, libraries[i].name, "ok", "", "installed");
			continue;
		}
		char *advice = xasprintf("apt-get install %s", libraries[i].package);
		add_check(checks, libraries[i].name, "fail", advice, "%s is missing: %s",
			libraries[i].file_pattern, libraries[i].need);
		free(advice);
	}
}

static const char *advice_for_errno(int error)
{
	switch (-error) {
	case ETIMEDOUT:
		return "it hangs: look at its log, and restart it";
	case EACCES:
		return "call as root or as the user that runs boxscreend";
	case EPROTO:
		return "something else listens there: choose another --socket";
	default:
		return "start it: boxscreend --xvfb auto, or boxscreend --display :N";
	}
}

/* The daemon's reply when it is a JSON object, else NULL. */
static json_t *parse_reply(const struct http_answer *answer)
{
	json_t *reply = json_loadb((const char *)answer->body.data, answer->body.len, 0, NULL);
	if (json_is_object(reply))
		return reply;
	json_decref(reply);
	return NULL;
}

/* Adds the daemon's own checks behind one that says whether it answers. */
static bool check_daemon(const struct invocation *call, json_t *checks)
{
	const struct http_call http = {
		.method = "GET", .target = "/v1/doctor", .silence_max_ms = 10000};
	struct http_answer answer = {0};
	int ret = http_unix_call(call->socket_path, &http, &answer);
	json_t *reply = NULL;
	if (ret < 0) {
		add_check(checks, "daemon", "fail", advice_for_errno(ret),
			"boxscreend does not answer: %s", strerror(-ret));
	} else if (answer.status != 200 || (reply = parse_reply(&answer)) == NULL) {
		add_check(checks, "daemon", "fail",
			"run daemon and tool of one version: see boxscreend --version",
			"boxscreend gave no list of checks (HTTP status %d)", answer.status);
	} else {
		add_check(checks, "daemon", "ok", "", "boxscreend answers");
		json_array_extend(checks, json_object_get(reply, "checks"));
	}
	json_decref(reply);
	http_answer_finish(&answer);
	return ret == 0;
}

static bool has_failed(const json_t *check)
{
	return strcmp(reply_text(check, "state"), "fail") == 0;
}

static void print_check(const json_t *check)
{
	output_line("%-5s %-18s %s", reply_text(check, "state"), reply_text(check, "name"),
		reply_text(check, "detail"));
	const char *advice = reply_text(check, "advice");
	if (advice[0] != '\0')
		output_line("%-5s %-18s -> %s", "", "", advice);
}

static int print_json(const json_t *checks)
{
	json_t *reply = json_pack("{s:O}", "checks", checks);
	int status = output_object(reply);
	json_decref(reply);
	return status;
}

int command_doctor(const struct invocation *call)
{
	json_t *checks = json_array();
	check_socket_file(call, checks);
	bool is_reachable = check_daemon(call, checks);
	check_shm(checks);
	check_fonts(checks);
	check_libraries(checks);

	int status = call->wants_json ? print_json(checks) : EXIT_DONE;
	size_t index;
	json_t *check;
	json_array_foreach (checks, index, check) {
		if (!call->wants_json)
			print_check(check);
		if (has_failed(check) && status == EXIT_DONE)
			status = EXIT_ERROR;
	}
	json_decref(checks);
	return is_reachable ? status : EXIT_UNAVAILABLE;
}
