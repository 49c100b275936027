/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What irqbalance's socket understands: "setup" tells what it was told to spare, "settings ban
 * irqs" replaces that list. One connection a request; it wants root's credentials along. Called by
 * irqbalance.c alone, which knows what the lists are for.
 */
#include "cleanup.h"
#include "irqbalance.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

enum {
	LIST_MAX = 250,		/* its newest version reads no longer list, and cuts it silently */
	ANSWER_MAX = 256 << 10, /* 60 bytes an interrupt */
	PATIENCE_S = 2
};

/* Only whoever may write its folder can have made the socket; a foreign one is not spoken to. */
static int check_peer(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		return -errno;
	}
	return peer.uid == 0 || peer.uid == geteuid() ? 0 : -EPERM;
}

static int dial(const struct sysroot *root, pid_t daemon)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	int n = snprintf(to.sun_path, sizeof(to.sun_path), "%s/run/irqbalance/irqbalance%d.sock",
			 root->prefix, (int)daemon);
	if (n >= (int)sizeof(to.sun_path)) {
		return -ENAMETOOLONG;
	}
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		return -errno;
	}
	int r = check_peer(fd);
	return r ? r : take_fd(fd);
}

static int say(int fd, const char *text)
{
	const struct ucred self = {.pid = getpid(), .uid = geteuid(), .gid = getegid()};
	union {
		char space[CMSG_SPACE(sizeof(self))];
		struct cmsghdr align;
	} control = {0};
	struct iovec part = {.iov_base = (char *)text, .iov_len = strlen(text)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.space,
				 .msg_controllen = sizeof(control.space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_CREDENTIALS;
	c->cmsg_len = CMSG_LEN(sizeof(self));
	memcpy(CMSG_DATA(c), &self, sizeof(self));
	ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
	return n < 0 ? -errno : n == (ssize_t)strlen(text) ? 0 : -EIO;
}

/* Until it closes; the text ends in a zero byte. */
static int hear(int fd, char *text, size_t size)
{
	size_t used = 0;
	while (used < size - 1) {
		ssize_t n = recv(fd, text + used, size - 1 - used, 0);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return -errno;
		}
		if (n == 0) {
			break;
		}
		used += (size_t)n;
	}
	text[used] = 0;
	return used ? 0 : -EPROTO;
}

static int talk(const struct sysroot *root, pid_t daemon, const char *text, char *answer,
		size_t size, struct err *e)
{
	auto_close int fd = dial(root, daemon);
	int r = fd < 0 ? fd : say(fd, text);
	r = r < 0 || !answer ? r : hear(fd, answer, size);
	return r < 0 ? err_set(e, r, "irqbalance (process %d) cannot be spoken to: %s", (int)daemon,
			       strerror(-r))
		     : 0;
}

/* "SLEEP 10 IRQ 24 LOAD 0 DIFF 0 CLASS 5 IRQ 25 ... BANNED 00" */
int irqbalance_ask(const struct sysroot *root, pid_t daemon, int *irqs, struct err *e)
{
	auto_free char *text = malloc(ANSWER_MAX);
	int n = 0, irq;
	int r = text ? talk(root, daemon, "setup", text, ANSWER_MAX, e)
		     : err_set(e, -ENOMEM, "out of memory");
	if (r) {
		return r;
	}
	if (strncmp(text, "SLEEP ", 6) != 0 || !strstr(text, "BANNED")) {
		return err_set(e, -EPROTO, "irqbalance (process %d) answers strangely",
			       (int)daemon);
	}
	for (const char *p = text; (p = strstr(p, "IRQ ")); p += 4) {
		if (n == IRQBALANCE_SPARED_MAX) {
			return err_set(e, -E2BIG, "irqbalance spares more than %d interrupts",
				       IRQBALANCE_SPARED_MAX);
		}
		if (sscanf(p, "IRQ %d", &irq) == 1 && irq >= 0) {
			irqs[n++] = irq;
		}
	}
	return n;
}

int irqbalance_tell(const struct sysroot *root, pid_t daemon, const int *irqs, size_t n,
		    struct err *e)
{
	char text[LIST_MAX + 64];
	int used = snprintf(text, sizeof(text), "settings ban irqs%s", n ? "" : " NONE");
	int head = used;
	for (size_t i = 0; i < n; i++) {
		used += snprintf(text + used, sizeof(text) - (size_t)used, " %d", irqs[i]);
		if (used - head > LIST_MAX) {
			return err_set(e, -E2BIG, "irqbalance takes no list of %zu interrupts", n);
		}
	}
	return talk(root, daemon, text, NULL, 0, e);
}
