/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A TCP stream's two ends: sending in the way that is asked (plain, sendfile, splice, zerocopy),
 * falling back to plain with a note where the kernel cannot, and receiving with or without the
 * copy. All in blocking calls, as large as asked, with no clock read.
 */
#include "cleanup.h"
#include "flow_private.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define ZEROCOPY_REAP 16 /* sends between two looks at the error queue */

#define PIECE  ((size_t)64 * 1024)
#define PIECES 1024 /* as many as the kernel takes (UIO_MAXIOV) */

struct buffers {
	char *memory;
	size_t call;
	int ring;
};

/* One call of so many bytes over the same piece of memory. */
struct pieces {
	struct iovec v[PIECES];
	struct msghdr m;
};

static void pieces_init(struct pieces *p, char *piece, size_t call)
{
	memset(&p->m, 0, sizeof(p->m));
	p->m.msg_iov = p->v;
	for (size_t left = call; left > 0 && p->m.msg_iovlen < PIECES;) {
		size_t n = left < PIECE ? left : PIECE;
		p->v[p->m.msg_iovlen++] = (struct iovec){piece, n};
		left -= n;
	}
}

static bool in_pieces(const struct stream_options *o, size_t call, int ring)
{
	return o->light && ring == 1 && call > PIECE && call <= PIECES * PIECE;
}

/* The next of the ring's buffers. */
static char *buffer_next(const struct buffers *b, int *slot)
{
	char *p = b->memory + (size_t)*slot * b->call;
	*slot = *slot + 1 < b->ring ? *slot + 1 : 0;
	return p;
}

static int send_plain(struct flow_lane *lane, const struct buffers *b)
{
	int slot = 0;
	while (!flow_is_stopping(lane)) {
		ssize_t n = send(lane->flow->fd, buffer_next(b, &slot), b->call, MSG_NOSIGNAL);
		if (n > 0) {
			flow_add(&lane->sent, (uint64_t)n);
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static int send_pieces(struct flow_lane *lane, const struct buffers *b)
{
	struct pieces p;
	pieces_init(&p, b->memory, b->call);
	while (!flow_is_stopping(lane)) {
		ssize_t n = sendmsg(lane->flow->fd, &p.m, MSG_NOSIGNAL);
		if (n > 0) {
			flow_add(&lane->sent, (uint64_t)n);
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static int fall_back(struct flow_lane *lane, const struct buffers *b, const char *note)
{
	atomic_store(&lane->note, note);
	return send_plain(lane, b);
}

static bool write_all(int fd, const char *p, size_t left)
{
	while (left > 0) {
		ssize_t n = write(fd, p, left);
		if (n <= 0) {
			return false;
		}
		p += n;
		left -= (size_t)n;
	}
	return true;
}

static int send_file(struct flow_lane *lane, const struct buffers *b)
{
	size_t total = b->call * (size_t)b->ring;
	auto_close int file = memfd_create("stream", MFD_CLOEXEC);
	int slot = 0;
	if (file < 0 || !write_all(file, b->memory, total)) {
		return fall_back(lane, b, "sendfile: no file in memory; plain");
	}
	while (!flow_is_stopping(lane)) {
		off_t at = (off_t)(buffer_next(b, &slot) - b->memory);
		ssize_t n = sendfile(lane->flow->fd, file, &at, b->call);
		if (n > 0) {
			flow_add(&lane->sent, (uint64_t)n);
		} else if (n < 0 && (errno == EINVAL || errno == ENOSYS)) {
			return fall_back(lane, b, "sendfile: refused here; plain");
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

/* Moves what lies in the pipe on to the socket. */
static int pipe_drain(struct flow_lane *lane, int from, size_t left)
{
	while (left > 0 && !flow_is_stopping(lane)) {
		ssize_t n = splice(from, NULL, lane->flow->fd, NULL, left,
				   SPLICE_F_MOVE | SPLICE_F_MORE);
		if (n > 0) {
			flow_add(&lane->sent, (uint64_t)n);
			left -= (size_t)n;
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static int send_splice(struct flow_lane *lane, const struct buffers *b)
{
	int p[2], slot = 0, error = 0;
	if (pipe2(p, O_CLOEXEC) < 0) {
		return fall_back(lane, b, "splice: no pipe; plain");
	}
	auto_close int in = p[1];
	auto_close int out = p[0];
	fcntl(in, F_SETPIPE_SZ, 1 << 20); /* what there is will do if it is refused */
	while (!error && !flow_is_stopping(lane)) {
		char *at = buffer_next(b, &slot);
		for (size_t done = 0; !error && done < b->call && !flow_is_stopping(lane);) {
			struct iovec v = {at + done, b->call - done};
			ssize_t n = vmsplice(in, &v, 1, SPLICE_F_NONBLOCK);
			if (n < 0 && errno == EINTR) {
				continue;
			}
			if (n < 0) {
				return fall_back(lane, b, "splice: refused here; plain");
			}
			error = pipe_drain(lane, out, (size_t)n);
			done += (size_t)n;
		}
	}
	return error;
}

/* Takes the notices of completed sends; each stands for a range of them. */
static void zerocopy_reap(struct flow_lane *lane)
{
	for (;;) {
		char control[128];
		struct msghdr m = {.msg_control = control, .msg_controllen = sizeof(control)};
		if (recvmsg(lane->flow->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
			return;
		}
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
			struct sock_extended_err s;
			memcpy(&s, CMSG_DATA(c), sizeof(s));
			if (s.ee_origin != SO_EE_ORIGIN_ZEROCOPY) {
				continue;
			}
			uint64_t n = (uint64_t)(s.ee_data - s.ee_info) + 1;
			flow_add(&lane->zerocopy, n);
			if (s.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) {
				flow_add(&lane->zerocopy_copied, n);
			}
		}
	}
}

static int send_zerocopy(struct flow_lane *lane, const struct buffers *b)
{
	int one = 1, slot = 0, refused = 0;
	struct pollfd p = {.fd = lane->flow->fd};
	if (setsockopt(p.fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) < 0) {
		return fall_back(lane, b, "zerocopy: not in this kernel; plain");
	}
	for (unsigned k = 1; !flow_is_stopping(lane); k++) {
		ssize_t n = send(p.fd, buffer_next(b, &slot), b->call, MSG_NOSIGNAL | MSG_ZEROCOPY);
		if (n > 0) {
			flow_add(&lane->sent, (uint64_t)n);
			refused = 0;
		} else if (n < 0 && errno == ENOBUFS) {
			/* The limit of locked memory or of notices (net.core.optmem_max). */
			if (++refused > 50) {
				return fall_back(lane, b, "zerocopy: out of locked memory; plain");
			}
			poll(&p, 1, 10);
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
		if (refused || k % ZEROCOPY_REAP == 0) {
			zerocopy_reap(lane);
		}
	}
	return 0;
}

int flow_tcp_send(struct flow_lane *lane)
{
	static int (*const ways[])(struct flow_lane *, const struct buffers *) = {
		[SEND_PLAIN] = send_plain,
		[SEND_SENDFILE] = send_file,
		[SEND_SPLICE] = send_splice,
		[SEND_ZEROCOPY] = send_zerocopy,
	};
	const struct stream_options *o = lane->flow->o;
	struct buffers b = {.call = o->send_size, .ring = o->ring};
	bool pieces = o->send == SEND_PLAIN && in_pieces(o, b.call, b.ring);
	size_t size = pieces ? PIECE : b.call * (size_t)b.ring;
	b.memory = flow_map(lane, size);
	if (!b.memory) {
		return ENOMEM;
	}
	int error = pieces ? send_pieces(lane, &b) : ways[o->send](lane, &b);
	flow_unmap(lane, b.memory, size);
	return error;
}

static int receive(struct flow_lane *lane, struct msghdr *m, int flags)
{
	while (!flow_is_stopping(lane)) {
		ssize_t n = recvmsg(lane->flow->fd, m, flags);
		if (n > 0) {
			flow_add(&lane->received, (uint64_t)n);
		} else if (n == 0) {
			return FLOW_PEER_CLOSED;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

int flow_tcp_receive(struct flow_lane *lane)
{
	const struct stream_options *o = lane->flow->o;
	bool small = in_pieces(o, o->receive_size, 1) && !o->discard;
	size_t size = small ? PIECE : o->receive_size;
	struct pieces p;
	char *buf = flow_map(lane, size);
	if (!buf) {
		return ENOMEM;
	}
	pieces_init(&p, buf, o->receive_size);
	if (!small) {
		p.v[0].iov_len = size;
		p.m.msg_iovlen = 1;
	}
	int error = receive(lane, &p.m, o->discard ? MSG_TRUNC : 0);
	flow_unmap(lane, buf, size);
	return error;
}
