/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/socket_look.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"

#define SOCKETS_MAX 8

struct socket_look {
	int netlink;
	pid_t pid;
	uint32_t inodes[SOCKETS_MAX];
	int count;
	uint32_t sequence;
	pid_t server; /* 0: cannot be seen */
	/* How often the main threads had gone to sleep at the last look. */
	unsigned long long sleeps, server_sleeps;
};

struct answer {
	bool has_queue;
	uint32_t unread, unsent; /* to the client; by the client, not yet read by the server */
	uint32_t peer;
	char name[128]; /* "" when unnamed; an abstract name's leading NUL is left out */
};

struct socket_look *socket_look_create(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return NULL;
	/* The kernel answers within the request; this only keeps a surprise from blocking us. */
	struct timeval limit = {.tv_usec = 20000};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	struct socket_look *look = xcalloc(1, sizeof(*look));
	look->netlink = fd;
	return look;
}

void socket_look_destroy(struct socket_look *look)
{
	if (look == NULL)
		return;
	close(look->netlink);
	free(look);
}

static bool send_query(struct socket_look *look, uint32_t inode, uint32_t show)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} query = {
		.head = {.nlmsg_len = sizeof(query),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_seq = ++look->sequence},
		.body = {.sdiag_family = AF_UNIX,
			.udiag_states = UINT32_MAX,
			.udiag_ino = inode,
			.udiag_show = show,
			.udiag_cookie = {UINT32_MAX, UINT32_MAX}},
	};
	return send(look->netlink, &query, sizeof(query), 0) == (ssize_t)sizeof(query);
}

static void read_attribute(const struct rtattr *attribute, struct answer *out)
{
	size_t len = RTA_PAYLOAD(attribute);
	const void *data = RTA_DATA(attribute);
	if (attribute->rta_type == UNIX_DIAG_RQLEN && len >= sizeof(struct unix_diag_rqlen)) {
		struct unix_diag_rqlen queue;
		memcpy(&queue, data, sizeof(queue));
		out->unread = queue.udiag_rqueue;
		out->unsent = queue.udiag_wqueue;
		out->has_queue = true;
	} else if (attribute->rta_type == UNIX_DIAG_PEER && len >= sizeof(uint32_t)) {
		memcpy(&out->peer, data, sizeof(uint32_t));
	} else if (attribute->rta_type == UNIX_DIAG_NAME && len > 0) {
		const char *name = data;
		size_t skip = name[0] == '\0' ? 1 : 0;
		size_t size =
			len - skip < sizeof(out->name) - 1 ? len - skip : sizeof(out->name) - 1;
		memcpy(out->name, name + skip, size);
		out->name[size] = '\0';
	}
}

static bool ask(struct socket_look *look, uint32_t inode, uint32_t show, struct answer *out)
{
	memset(out, 0, sizeof(*out));
	if (!send_query(look, inode, show))
		return false;
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} reply;
	do {
		ssize_t len = recv(look->netlink, &reply, sizeof(reply), 0);
		if (len < (ssize_t)sizeof(reply.head) || !NLMSG_OK(&reply.head, (size_t)len))
			return false;
	} while (reply.head.nlmsg_seq != look->sequence); /* a late answer to an earlier one */
	if (reply.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		reply.head.nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
		return false;
	const struct unix_diag_msg *message = NLMSG_DATA(&reply.head);
	const struct rtattr *attribute = (const void *)(message + 1);
	long rest = (long)(reply.head.nlmsg_len - NLMSG_LENGTH(sizeof(*message)));
	for (; RTA_OK(attribute, rest); attribute = RTA_NEXT(attribute, rest))
		read_attribute(attribute, out);
	return true;
}

/* The socket's own name is empty; its peer, the server's end, carries the listener's. */
static bool is_x_socket(struct socket_look *look, uint32_t inode)
{
	struct answer own, peer;
	return ask(look, inode, UDIAG_SHOW_PEER, &own) && own.peer != 0 &&
	       ask(look, own.peer, UDIAG_SHOW_NAME, &peer) &&
	       strstr(peer.name, ".X11-unix/X") != NULL;
}

bool socket_look_aim(struct socket_look *look, pid_t pid)
{
	look->pid = pid;
	look->count = 0;
	look->sleeps = ULLONG_MAX;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	if (dir == NULL)
		return false;
	struct dirent *entry;
	while ((entry = readdir(dir)) != NULL && look->count < SOCKETS_MAX) {
		char target[64];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		unsigned inode;
		if (len <= 0)
			continue;
		target[len] = '\0';
		if (sscanf(target, "socket:[%u]", &inode) == 1 && is_x_socket(look, inode))
			look->inodes[look->count++] = inode;
	}
	closedir(dir);
	return look->count > 0;
}

/* What /proc tells of a main thread. */
struct thread_look {
	char state;                /* the kernel's letter: R, S, D, T, t, Z … */
	unsigned long long sleeps; /* how often it has gone to sleep of itself */
};

static bool look_at_thread(pid_t pid, struct thread_look *out)
{
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	/* The name, which may hold anything, has its line breaks escaped there. */
	const char *state = strstr(text, "\nState:\t");
	const char *sleeps = strstr(text, "\nvoluntary_ctxt_switches:\t");
	return state != NULL && sleeps != NULL && sscanf(state, " State: %c", &out->state) == 1 &&
	       sscanf(sleeps, " voluntary_ctxt_switches: %llu", &out->sleeps) == 1;
}

void socket_look_set_server(struct socket_look *look, pid_t pid)
{
	look->server = pid;
	look->server_sleeps = ULLONG_MAX;
}

unsigned long long socket_look_server_sleeps(const struct socket_look *look)
{
	struct thread_look server;
	return look->server > 0 && look_at_thread(look->server, &server) ? server.sleeps : 0;
}

/* Asleep now, and not once awake since *sleeps was set; sets it anew. */
static bool has_slept_on(const struct thread_look *thread, unsigned long long *sleeps)
{
	bool is_same = thread->sleeps == *sleeps;
	*sleeps = thread->sleeps;
	return thread->state == 'S' && is_same;
}

enum socket_look_result socket_look_now(struct socket_look *look)
{
	if (look->count == 0)
		return SOCKET_LOOK_UNKNOWN;
	for (int i = 0; i < look->count; i++) {
		struct answer answer;
		if (!ask(look, look->inodes[i], UDIAG_SHOW_RQLEN, &answer) || !answer.has_queue)
			return SOCKET_LOOK_UNKNOWN;
		/* It may sleep in a request that the server has not come to yet. */
		if (answer.unread > 0 || answer.unsent > 0)
			return SOCKET_LOOK_BEHIND;
	}
	struct thread_look program, server;
	if (!look_at_thread(look->pid, &program))
		return SOCKET_LOOK_UNKNOWN;
	if (program.state == 'T' || program.state == 't')
		return SOCKET_LOOK_BEHIND; /* stopped: whatever comes will wait */
	bool has_program_slept = has_slept_on(&program, &look->sleeps);
	bool has_server_slept = look->server > 0 && look_at_thread(look->server, &server) &&
				has_slept_on(&server, &look->server_sleeps);
	if (!has_program_slept)
		return SOCKET_LOOK_RUNNING;
	return has_server_slept ? SOCKET_LOOK_IDLE : SOCKET_LOOK_ASLEEP;
}
