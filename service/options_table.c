/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's options: what each takes, what it sets and what --help says of it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "display/display_probe.h"
#include "service/options_private.h"
#include "takeover/notify.h"
#include "takeover/rfb_listener.h"
#include "takeover/viewers.h"

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = xstrdup(value);
}

static const char *set_display(struct options *options, const char *value)
{
	const char *colon = strrchr(value, ':');
	if (display_number(colon != NULL ? colon : "") < 0)
		return "must be a display name such as :99";
	set_text(&options->display, value);
	options->has_display = true;
	return NULL;
}

static bool is_xvfb_depth(int depth)
{
	return depth == 8 || depth == 15 || depth == 16 || depth == 24 || depth == 30;
}

/* [auto][,][WxH[xD]] */
static bool parse_xvfb(const char *value, struct options *out)
{
	struct options parsed = *out;
	if (strncmp(value, "auto", 4) == 0) {
		parsed.is_xvfb_auto = true;
		value += 4;
		if (*value == ',')
			value++;
		else if (*value != '\0')
			return false;
	}
	if (*value != '\0') {
		int used = 0, depth_used = 0;
		if (sscanf(value, "%5dx%5d%n", &parsed.xvfb_width, &parsed.xvfb_height, &used) != 2)
			return false;
		if (value[used] == 'x' &&
			sscanf(value + used, "x%2d%n", &parsed.xvfb_depth, &depth_used) != 1)
			return false;
		if (value[used + depth_used] != '\0')
			return false;
	}
	if (parsed.xvfb_width < 16 || parsed.xvfb_width > 16384 || parsed.xvfb_height < 16 ||
		parsed.xvfb_height > 16384 || !is_xvfb_depth(parsed.xvfb_depth))
		return false;
	*out = parsed;
	return true;
}

static bool looks_like_xvfb(const char *value)
{
	return strncmp(value, "auto", 4) == 0 || isdigit((unsigned char)value[0]);
}

static const char *set_xvfb(struct options *options, const char *value)
{
	options->starts_xvfb = true;
	if (value == NULL)
		return NULL;
	return parse_xvfb(value, options)
		       ? NULL
		       : "must be auto, WIDTHxHEIGHT[xDEPTH] (16 to 16384 pixels, depth 8, 15, 16, 24 or 30) or "
			 "both with a comma: auto,1280x800";
}

static const char *set_socket(struct options *options, const char *value)
{
	if (value[0] == '\0')
		return "must be a path";
	set_text(&options->socket_path, value);
	return NULL;
}

static const char *set_listen(struct options *options, const char *value)
{
	const char *colon = strrchr(value, ':');
	char *end;
	long port = colon != NULL ? strtol(colon + 1, &end, 10) : -1;
	if (colon == NULL || end == colon + 1 || *end != '\0' || port < 0 || port > 65535)
		return "must be ADDRESS:PORT, such as 127.0.0.1:6080 or [::1]:0";
	size_t len = (size_t)(colon - value);
	if (len >= 2 && value[0] == '[' && value[len - 1] == ']') {
		value++;
		len -= 2;
	}
	free(options->listen_address);
	options->listen_address = xstrndup(value, len);
	options->listen_port = (int)port;
	options->has_listen = true;
	return NULL;
}

/*
 * What stands behind http:// or https://, when all of the value is printable ASCII without what could
 * end a header, a policy or a link; NULL otherwise.
 */
static const char *behind_scheme(const char *value)
{
	for (const char *p = value; *p != '\0'; p++) {
		if (*p <= ' ' || *p > '~' || strchr("\"'<>\\^`{|}@?#;,*", *p) != NULL)
			return NULL;
	}
	return strncmp(value, "https://", 8) == 0  ? value + 8
	       : strncmp(value, "http://", 7) == 0 ? value + 7
						   : NULL;
}

/* NAME, NAME:PORT or [ADDRESS]:PORT, up to the end or a slash. */
static bool begins_with_host(const char *text)
{
	size_t len = strcspn(text, "/");
	size_t name_len = text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":/");
	if (name_len < (text[0] == '[' ? 4 : 1) || name_len > len)
		return false;
	const char *port = text + name_len;
	size_t digits = port[0] == ':' ? strspn(port + 1, "0123456789") : 0;
	return name_len == len || (port[0] == ':' && digits >= 1 && digits <= 5 &&
					  name_len + 1 + digits == len);
}

static const char *set_public_url(struct options *options, const char *value)
{
	const char *host = behind_scheme(value);
	if (host == NULL || !begins_with_host(host))
		return "must be http(s)://HOST[:PORT][/PATH], without blanks, control characters, "
		       "quotes, \"?\" and \"#\"; write names with other letters in punycode (xn--…)";
	set_text(&options->public_url, value);
	size_t len = strlen(options->public_url);
	while (len > 0 && options->public_url[len - 1] == '/')
		options->public_url[--len] = '\0';
	return NULL;
}

const char *options_set_box_id(struct options *options, const char *value)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = strlen(value);
	if (len == 0 || len > 64 || strspn(value, allowed) != len || value[0] == '.')
		return "must be 1 to 64 letters, digits, '.', '_' or '-'";
	set_text(&options->box_id, value);
	return NULL;
}

static const char *set_folder(char **folder, const char *value)
{
	if (value[0] != '/')
		return "must be an absolute path";
	set_text(folder, value);
	return NULL;
}

static const char *set_state_dir(struct options *options, const char *value)
{
	return set_folder(&options->state_dir, value);
}

static const char *set_recordings_dir(struct options *options, const char *value)
{
	return set_folder(&options->recordings_dir, value);
}

/* A number of bytes, or of KiB, MiB or GiB with a K, M or G behind it. */
static const char *set_recordings_max_bytes(struct options *options, const char *value)
{
	char *end;
	errno = 0;
	long long number = strtoll(value, &end, 10);
	int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	bool is_good = end != value && end[shift != 0] == '\0' && errno == 0 && number >= 0 &&
		       number <= (INT64_MAX >> shift);
	if (!is_good)
		return "must be a number of bytes, such as 500000000, 800M or 2G";
	options->recordings_max_bytes = number << shift;
	return NULL;
}

static const char *set_ready_fd(struct options *options, const char *value)
{
	char *end;
	long fd = strtol(value, &end, 10);
	if (end == value || *end != '\0' || fd < 1 || fd > 1023)
		return "must be the number of an open file descriptor";
	options->ready_fd = (int)fd;
	return NULL;
}

static const char *set_rfb(struct options *options, const char *value)
{
	const char *advice;
	if (!rfb_listener_check(value, &advice))
		return advice;
	set_text(&options->rfb, value);
	return NULL;
}

static const char *set_rfb_role(struct options *options, const char *value)
{
	enum viewer_role role;
	if (!viewer_role_parse(value, &role))
		return "must be view or control";
	options->has_rfb_control = role == VIEWER_CONTROL;
	return NULL;
}

static bool read_line(const char *path, char line[256])
{
	FILE *file = fopen(path, "re");
	line[0] = '\0';
	bool is_read = file != NULL && fgets(line, 256, file) != NULL;
	if (file != NULL)
		fclose(file);
	line[strcspn(line, "\r\n")] = '\0';
	return is_read && line[0] != '\0';
}

static const char *set_rfb_password_file(struct options *options, const char *value)
{
	char line[256];
	if (!read_line(value, line))
		return "must name a readable file whose first line is the password";
	set_text(&options->rfb_password, line);
	return NULL;
}

static const char *set_takeover_grace(struct options *options, const char *value)
{
	char *end;
	long seconds = strtol(value, &end, 10);
	if (end == value || *end != '\0' || seconds < 1 || seconds > 86400)
		return "must be a number of seconds from 1 to 86400";
	options->takeover_grace_s = (int)seconds;
	return NULL;
}

static const char *set_takeover_privacy(struct options *options, const char *value)
{
	options->has_privacy = strcmp(value, "on") == 0;
	return options->has_privacy || strcmp(value, "off") == 0 ? NULL : "must be on or off";
}

static const char *set_link_token(struct options *options, const char *value)
{
	options->has_fragment_links = strcmp(value, "fragment") == 0;
	return options->has_fragment_links || strcmp(value, "query") == 0
		       ? NULL
		       : "must be query (?t=) or fragment (#t=)";
}

static void add_text(char ***list, const char *value)
{
	size_t count = 0;
	while (*list != NULL && (*list)[count] != NULL)
		count++;
	*list = xrealloc(*list, (count + 2) * sizeof(**list));
	(*list)[count] = xstrdup(value);
	(*list)[count + 1] = NULL;
}

/* scheme://host[:port], nothing behind it, nothing that could end a header or a policy. */
static bool is_origin(const char *value)
{
	const char *host = behind_scheme(value);
	return host != NULL && begins_with_host(host) && strchr(host, '/') == NULL;
}

static const char *add_origin(char ***origins, const char *value)
{
	if (!is_origin(value))
		return "must be an origin such as https://app.example.org, without a path";
	add_text(origins, value);
	return NULL;
}

static const char *set_allow_origin(struct options *options, const char *value)
{
	return add_origin(&options->allowed_origins, value);
}

static const char *set_frame_ancestors(struct options *options, const char *value)
{
	return add_origin(&options->frame_ancestors, value);
}

static const char *set_notify(struct options *options, const char *value)
{
	if (!notify_target_check(value))
		return "must be https://… or unix:/path.sock:/route: what is posted holds links, so "
		       "it does not go over an open line";
	add_text(&options->notify, value);
	return NULL;
}

static const char *set_notify_secret_file(struct options *options, const char *value)
{
	char line[256];
	if (!read_line(value, line))
		return "must name a readable file whose first line is the secret";
	set_text(&options->notify_secret, line);
	return NULL;
}

static const char *set_tls_cert(struct options *options, const char *value)
{
	set_text(&options->tls_cert, value);
	return NULL;
}

static const char *set_tls_key(struct options *options, const char *value)
{
	set_text(&options->tls_key, value);
	return NULL;
}

static const char *set_log_level(struct options *options, const char *value)
{
	return log_level_parse(value, &options->log_level)
		       ? NULL
		       : "must be error, warn, info or debug";
}

const struct option options_table[] = {
	{"display", "DISPLAY",
		"the X display to serve (default :99); waited for when it is not up", set_display},
	{"xvfb", "[SPEC]",
		"start an Xvfb and watch it: WxH[xDEPTH] (default 1280x800x24), auto for a free "
		"display number, or auto,WxH",
		set_xvfb, looks_like_xvfb},
	{"socket", "PATH",
		"the control socket (default $BOXSCREEN_SOCKET, /run/boxscreen/control.sock for "
		"root, $XDG_RUNTIME_DIR/boxscreen/control.sock)",
		set_socket},
	{"listen", "ADDRESS:PORT",
		"where pages and download links are served (default 127.0.0.1:6080; port 0: a free "
		"one)",
		set_listen},
	{"public-url", "URL",
		"how people reach the listener, for links (default http://ADDRESS:PORT)",
		set_public_url},
	{"box-id", "ID", "the box's name in links (default: the host's name)",
		options_set_box_id},
	{"state-dir", "PATH",
		"where links are kept over a restart (default /var/lib/boxscreen for root, "
		"$XDG_STATE_HOME/boxscreen, ~/.local/state/boxscreen)",
		set_state_dir},
	{"recordings-dir", "PATH",
		"where recordings go that name no file (default: recordings in the state folder)",
		set_recordings_dir},
	{"recordings-max-bytes", "BYTES",
		"the oldest finished recordings are removed when all together are larger (default 2G)",
		set_recordings_max_bytes},
	{"ready-fd", "N",
		"write \"ready DISPLAY SOCKET URL\" and a newline to this file descriptor once the "
		"screen can be used, and close it",
		set_ready_fd},
	{"rfb", "WHERE",
		"let native VNC viewers connect: a socket's path (mode 0600, no password) or "
		"127.0.0.1:PORT (needs --rfb-password-file); off by default",
		set_rfb},
	{"rfb-role", "ROLE", "what they may do: view (default) or control", set_rfb_role},
	{"rfb-password-file", "FILE",
		"the first line of FILE is the password for --rfb 127.0.0.1:PORT; VNC uses its "
		"first 8 characters",
		set_rfb_password_file},
	{"takeover-grace", "SECONDS",
		"how long the agent stays locked out after a person's connection was lost without a "
		"hand back (default 180)",
		set_takeover_grace},
	{"takeover-privacy", "on|off",
		"while a person holds the screen nobody else sees it: shots are refused, watchers and "
		"recordings show a card (default on)",
		set_takeover_privacy},
	{"link-token", "query|fragment",
		"where links carry their token: ?t= (default) or #t=, which gateways do not log",
		set_link_token},
	{"allow-origin", "ORIGIN",
		"a page of that origin may open the live screen; can be given several times",
		set_allow_origin},
	{"frame-ancestors", "ORIGIN",
		"pages of that origin may show the page in a frame; can be given several times",
		set_frame_ancestors},
	{"notify", "URL",
		"post every takeover event there: https://… or unix:/path.sock:/route; can be given "
		"several times",
		set_notify},
	{"notify-secret-file", "FILE",
		"the first line of FILE signs what is posted (default: a random one, kept as "
		"notify.key in the state folder)",
		set_notify_secret_file},
	{"tls-cert", "FILE",
		"serve the page by https with this certificate chain (PEM); needs --tls-key",
		set_tls_cert},
	{"tls-key", "FILE", "the certificate's private key (PEM)", set_tls_key},
	{"log-level", "LEVEL", "error, warn, info (default) or debug", set_log_level},
	{"openapi", NULL, "print the control socket's calls as OpenAPI 3.1", NULL},
	{"help", NULL, "print this", NULL},
	{"version", NULL, "print the version", NULL},
};

const size_t options_table_len = ARRAY_LEN(options_table);
