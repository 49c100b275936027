/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel knows of a connection: TCP_INFO summed over the streams of a test, and the
 * socket's values as they are in force. Called by endpoint.c at each read.
 */
#include "stream_private.h"
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

void tcp_counts_add(struct tcp_counts *sum, int fd)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);
	int unread = 0;
	/* An older kernel fills in less: what it does not know stays 0. */
	memset(&i, 0, sizeof(i));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) < 0) {
		return;
	}
	sum->rtt = (sum->rtt * sum->n + i.tcpi_rtt) / (sum->n + 1);
	sum->min_rtt = (sum->min_rtt * sum->n + i.tcpi_min_rtt) / (sum->n + 1);
	sum->n++;
	sum->cwnd += (double)i.tcpi_snd_cwnd * i.tcpi_snd_mss;
	sum->retransmits += i.tcpi_total_retrans;
	sum->busy += (double)i.tcpi_busy_time;
	sum->rwnd_limited += (double)i.tcpi_rwnd_limited;
	sum->sndbuf_limited += (double)i.tcpi_sndbuf_limited;
	sum->delivery_rate += (double)i.tcpi_delivery_rate;
	sum->acked += i.tcpi_bytes_acked;
	sum->moved += i.tcpi_bytes_acked + i.tcpi_bytes_received;
	sum->lost += i.tcpi_lost;
	sum->reordered += i.tcpi_reord_seen;
	sum->unsent += i.tcpi_notsent_bytes;
	if (ioctl(fd, SIOCINQ, &unread) == 0 && unread > 0) {
		sum->unread += (uint64_t)unread;
	}
}

static int number_of(int fd, int name)
{
	int v = 0;
	socklen_t len = sizeof(v);
	return getsockopt(fd, SOL_SOCKET, name, &v, &len) == 0 ? v : -1;
}

static double pacing_of(int fd)
{
	uint64_t bytes_per_s = UINT64_MAX;
	socklen_t len = sizeof(bytes_per_s);
	/* an older kernel gives 32 bits */
	if (getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, &len) < 0 || len != 8 ||
	    bytes_per_s >= UINT32_MAX * UINT64_C(1000)) {
		return NAN;
	}
	return 8.0 * (double)bytes_per_s;
}

void tcp_effective_read(int fd, struct tcp_effective *out)
{
	socklen_t len = sizeof(out->congestion_control) - 1;
	memset(out, 0, sizeof(*out));
	out->send_buffer = number_of(fd, SO_SNDBUF);
	out->receive_buffer = number_of(fd, SO_RCVBUF);
	out->receive_lowat = number_of(fd, SO_RCVLOWAT);
	out->pacing_rate = pacing_of(fd);
	out->known = getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, out->congestion_control, &len) ==
		     0;
}
