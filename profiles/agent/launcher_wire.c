/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets of JSON with descriptors between the main process and its launcher. It knows no request.
 */
#include "cleanup.h"
#include "launcher_private.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

union rights { /* aligned as the kernel wants it */
	struct cmsghdr align;
	char space[CMSG_SPACE(2 * sizeof(int))];
};

int wire_send(int sock, const json_t *msg, const int *fds, size_t n, struct err *e)
{
	auto_free char *text = json_dumps(msg, JSON_COMPACT);
	if (!text || strlen(text) > LAUNCHER_MESSAGE_MAX) {
		return err_set(e, -EMSGSIZE, "a message to or from the launcher is too long");
	}
	union rights control = {0};
	struct iovec v = {.iov_base = text, .iov_len = strlen(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	if (n) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(n * sizeof(int))};
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	while (sendmsg(sock, &m, MSG_NOSIGNAL) < 0) {
		if (errno != EINTR) {
			return err_set(e, errno == ECONNRESET ? -EPIPE : -errno,
				       "the launcher cannot be reached: %s", strerror(errno));
		}
	}
	return 0;
}

static void take_fds(struct msghdr *m, int fds[2])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		size_t n = c->cmsg_len - CMSG_LEN(0);
		memcpy(fds, CMSG_DATA(c), n < 2 * sizeof(int) ? n : 2 * sizeof(int));
	}
}

static int receive(int sock, char *buf, int fds[2], struct err *e)
{
	union rights control = {0};
	struct iovec v = {.iov_base = buf, .iov_len = LAUNCHER_MESSAGE_MAX};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n;
	while ((n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
	}
	if (n <= 0) {
		return err_set(e, -EPIPE, "the launcher is gone");
	}
	take_fds(&m, fds);
	return (int)n;
}

int wire_recv(int sock, int timeout_ms, json_t **msg, int fds[2], struct err *e)
{
	fds[0] = fds[1] = -1;
	*msg = NULL;
	struct pollfd p = {.fd = sock, .events = POLLIN};
	int ready;
	while ((ready = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR) {
	}
	if (ready == 0) {
		return err_set(e, -ETIMEDOUT, "the launcher does not answer");
	}
	auto_free char *buf = malloc(LAUNCHER_MESSAGE_MAX);
	int n = buf ? receive(sock, buf, fds, e) : err_set(e, -ENOMEM, "no memory");
	if (n < 0) {
		return n;
	}
	*msg = json_loadb(buf, (size_t)n, 0, NULL);
	return json_is_object(*msg) ? 0 : err_set(e, -EBADMSG, "the launcher talks nonsense");
}
