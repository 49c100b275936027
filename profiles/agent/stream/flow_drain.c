/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The orderly end of a flow: the sender stops between two calls and tells the far end (the end of
 * a TCP stream, a marker with their number behind datagrams), and the receiver takes what is still
 * under way. Every wait has a limit. Called by endpoint.c at the end of a sample.
 */
#include "flow_private.h"
#include "udp_marker.h"
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define LOOK_S	0.0002 /* between two looks at what the kernel does not wake for */
#define GRACE_S 0.003  /* after the marker, for datagrams that it has overtaken */

void flow_tell_end(struct flow_lane *lane)
{
	struct flow *f = lane->flow;
	int one = 1;
	if (!lane->sends && f->o->type != STREAM_UDP) {
		/* All is read: the far end is to know it now, not after the time of a delayed
		 * acknowledgement. */
		setsockopt(f->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
	}
	if (!lane->sends || atomic_load(&f->state) != FLOW_FINISHING) {
		return;
	}
	if (f->o->type == STREAM_UDP) {
		udp_marker_send(f->fd, atomic_load(&lane->packets_out));
	} else {
		shutdown(f->fd, SHUT_WR);
	}
}

void flow_finish(struct flow *f)
{
	int runs = FLOW_RUNS;
	atomic_compare_exchange_strong(&f->state, &runs, FLOW_FINISHING);
}

static bool lane_join(struct flow_lane *lane, double deadline)
{
	struct timespec until = {(time_t)deadline,
				 (long)((deadline - (double)(time_t)deadline) * 1e9)};
	if (lane->running &&
	    pthread_clockjoin_np(lane->thread, NULL, CLOCK_MONOTONIC, &until) != 0) {
		return false;
	}
	lane->running = false;
	return true;
}

static void look_again(void)
{
	struct timespec ts = {0, (long)(LOOK_S * 1e9)};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* All that was told of is there, or what is missing has had its time after the marker. */
static bool datagrams_drain(const struct flow_lane *lane, double deadline)
{
	for (;;) {
		uint64_t told = atomic_load(&lane->told), at = atomic_load(&lane->told_at);
		double now = stream_now();
		if (at &&
		    (atomic_load(&lane->packets_in) >= told || now > (double)at * 1e-6 + GRACE_S)) {
			return true;
		}
		if (now >= deadline) {
			return false;
		}
		look_again();
	}
}

/* The far end's kernel has it all; whether its program has, that end says. */
static bool is_acknowledged(int fd, double deadline)
{
	int left = 0;
	while (ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0) {
		if (stream_now() >= deadline) {
			return false;
		}
		look_again();
	}
	return true;
}

bool flow_drain(struct flow *f, double deadline)
{
	bool all = true, sends = false;
	for (int i = 0; i < f->n_lanes; i++) {
		struct flow_lane *lane = &f->lane[i];
		bool datagrams = f->o->type == STREAM_UDP && !lane->sends;
		all &= datagrams ? datagrams_drain(lane, deadline) : lane_join(lane, deadline);
		sends |= lane->sends;
	}
	return all && (!sends || f->o->type == STREAM_UDP || is_acknowledged(f->fd, deadline));
}
