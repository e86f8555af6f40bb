/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeover/rfb_listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/loop.h"
#include "takeover/stream_link.h"
#define LOG_MODULE "rfb-listener"
#include "base/log.h"

struct rfb_listener {
	struct loop *loop;
	int fd;
	struct loop_io *io;
	enum viewer_role role;
	char *password;
	char *path; /* of a Unix socket; NULL for TCP */
	struct viewers *viewers;
};

/* 127.x.x.x:PORT, localhost:PORT or [::1]:PORT. */
static bool parse_loopback(const char *text, struct sockaddr_storage *out, socklen_t *len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)out;
	const char *colon = strrchr(text, ':');
	char *end;
	long port = colon != NULL ? strtol(colon + 1, &end, 10) : -1;
	if (colon == NULL || end == colon + 1 || *end != '\0' || port < 0 || port > 65535)
		return false;
	char *host = xstrndup(text, (size_t)(colon - text));
	bool is_good = true;
	*out = (struct sockaddr_storage){0};
	if (strcmp(host, "[::1]") == 0) {
		v6->sin6_family = AF_INET6;
		v6->sin6_addr = in6addr_loopback;
		v6->sin6_port = htons((uint16_t)port);
		*len = sizeof(*v6);
	} else {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		*len = sizeof(*v4);
		is_good = inet_pton(AF_INET,
				  strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
				  &v4->sin_addr) == 1 &&
			  ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	}
	free(host);
	return is_good;
}

bool rfb_listener_check(const char *text, const char **advice)
{
	struct sockaddr_storage address;
	socklen_t len;
	*advice = NULL;
	if (strchr(text, '/') != NULL)
		return true;
	if (parse_loopback(text, &address, &len))
		return true;
	*advice = "must be a socket's path or a loopback address such as 127.0.0.1:5900: VNC has "
		  "no encryption and passwords of 8 characters, so for other machines use the page, "
		  "or a tunnel (ssh -L)";
	return false;
}

static void on_connection(void *arg, int events)
{
	struct rfb_listener *listener = arg;
	(void)events;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			log_warn("no descriptors for one more viewer");
		return;
	}
	const struct viewer_pass pass = {.role = listener->role};
	viewers_add(listener->viewers, stream_link_create(listener->loop, fd), &pass,
		listener->password, listener->path != NULL ? "unix" : "tcp");
}

/* Whether somebody accepts there. */
static bool is_live(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_accepted = fd >= 0 && connect(fd, (const struct sockaddr *)(const void *)address,
					      sizeof(*address)) == 0;
	if (fd >= 0)
		close(fd);
	return is_accepted;
}

static int listen_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat info;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	if (lstat(path, &info) == 0) {
		if (!S_ISSOCK(info.st_mode))
			return -EEXIST;
		if (is_live(&address))
			return -EADDRINUSE;
		unlink(path);
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* The mode of the descriptor is the file's from its first moment on. */
	if (fchmod(fd, 0600) < 0 ||
		bind(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) < 0 ||
		chmod(path, 0600) < 0 || listen(fd, 64) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

static int listen_tcp(const char *where)
{
	struct sockaddr_storage address;
	socklen_t len;
	int on = 1;
	if (!parse_loopback(where, &address, &len))
		return -EINVAL;
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)(const void *)&address, len) < 0 || listen(fd, 64) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

struct rfb_listener *rfb_listener_create(struct loop *loop, const char *where,
	enum viewer_role role, const char *password, struct viewers *viewers)
{
	bool is_unix = strchr(where, '/') != NULL;
	int fd = is_unix ? listen_unix(where) : listen_tcp(where);
	if (fd < 0) {
		log_error("cannot listen for VNC viewers on %s: %s; choose another --rfb", where,
			strerror(-fd));
		return NULL;
	}
	struct rfb_listener *listener = xcalloc(1, sizeof(*listener));
	listener->loop = loop;
	listener->fd = fd;
	listener->role = role;
	listener->password = is_unix || password == NULL ? NULL : xstrdup(password);
	listener->path = is_unix ? xstrdup(where) : NULL;
	listener->viewers = viewers;
	listener->io = loop_io_create(loop, fd, LOOP_READABLE, on_connection, listener);
	log_info("VNC viewers (%s) can connect to %s", viewer_role_name(role), where);
	return listener;
}

void rfb_listener_destroy(struct rfb_listener *listener)
{
	if (listener == NULL)
		return;
	loop_io_destroy(listener->io);
	close(listener->fd);
	if (listener->path != NULL)
		unlink(listener->path);
	free(listener->password);
	free(listener->path);
	free(listener);
}
