/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Request and answer over TCP: one asks and times each turn, the other answers. The clock is read
 * once a turn, since the end of one is the beginning of the next.
 */
#include "flow_private.h"
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

static int send_all(struct flow_lane *lane, const char *buf, size_t size)
{
	for (size_t done = 0; done < size && !flow_is_stopping(lane);) {
		ssize_t n = send(lane->flow->fd, buf + done, size - done, MSG_NOSIGNAL);
		if (n > 0) {
			done += (size_t)n;
			flow_add(&lane->sent, (uint64_t)n);
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
	}
	flow_add(&lane->packets_out, 1);
	return 0;
}

static int receive_all(struct flow_lane *lane, char *buf, size_t size)
{
	for (size_t done = 0; done < size && !flow_is_stopping(lane);) {
		ssize_t n = recv(lane->flow->fd, buf, size - done, 0);
		if (n > 0) {
			done += (size_t)n;
			flow_add(&lane->received, (uint64_t)n);
		} else if (n == 0) {
			return FLOW_PEER_CLOSED;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	flow_add(&lane->packets_in, 1);
	return 0;
}

static int run(struct flow_lane *lane, char *buf, bool asks)
{
	const struct stream_options *o = lane->flow->o;
	size_t out = asks ? o->send_size : o->receive_size;
	size_t in = asks ? o->receive_size : o->send_size;
	uint64_t began = now_ns();
	while (!flow_is_stopping(lane)) {
		int error = asks ? send_all(lane, buf, out) : receive_all(lane, buf, in);
		if (!error) {
			error = asks ? receive_all(lane, buf, in) : send_all(lane, buf, out);
		}
		if (error) {
			return error;
		}
		if (asks && !flow_is_stopping(lane)) {
			uint64_t now = now_ns();
			latency_add(lane->flow->latency, now - began);
			began = now;
		}
	}
	return 0;
}

static int run_mapped(struct flow_lane *lane, bool asks)
{
	const struct stream_options *o = lane->flow->o;
	size_t size = o->send_size > o->receive_size ? o->send_size : o->receive_size;
	char *buf = flow_map(lane, size);
	if (!buf) {
		return ENOMEM;
	}
	int error = run(lane, buf, asks);
	flow_unmap(lane, buf, size);
	return error;
}

int flow_rr_ask(struct flow_lane *lane)
{
	return run_mapped(lane, true);
}

int flow_rr_answer(struct flow_lane *lane)
{
	return run_mapped(lane, false);
}
