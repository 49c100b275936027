/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several datagrams in one call of the kernel: UDP_SEGMENT cuts what is sent into datagrams (GSO),
 * UDP_GRO hands those that came in a row over together. Fallen back from where the kernel or the
 * way to the far end cannot. Called by flow_udp.c.
 */
#include "udp_segments.h"
#include "stream_private.h"
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

#define SEGMENTS_MAX 64 /* UDP_MAX_SEGMENTS of all kernels that have it */

bool udp_segments_send_on(int fd, size_t size)
{
	int v = (int)size;
	return setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &v, sizeof(v)) == 0;
}

void udp_segments_send_off(int fd)
{
	int zero = 0;
	setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &zero, sizeof(zero));
}

int udp_segments_most(size_t size)
{
	int n = (int)(UDP_SIZE_MAX / size);
	return n < SEGMENTS_MAX ? n : SEGMENTS_MAX;
}

bool udp_segments_is_refusal(int error)
{
	return error == EINVAL || error == EIO || error == EMSGSIZE || error == EOPNOTSUPP;
}

bool udp_segments_receive_on(int fd)
{
	int one = 1;
	return setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) == 0;
}

ssize_t udp_segments_receive(int fd, void *memory, size_t size, size_t *segment)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec v = {memory, size};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &m, 0);
	*segment = n > 0 ? (size_t)n : 0;
	for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			int one;
			memcpy(&one, CMSG_DATA(c), sizeof(one));
			*segment = one > 0 ? (size_t)one : *segment;
		}
	}
	return n;
}
