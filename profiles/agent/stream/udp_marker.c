/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a test's datagrams are numbered, and the marker behind the last one. The sockets are in
 * udp.c, the sending and counting in flow_udp.c.
 */
#include "udp_marker.h"
#include "stream_private.h"
#include <endian.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define MARKER (UINT64_C(1) << 63)

void udp_number_write(void *datagram, uint64_t n)
{
	uint64_t be = htobe64(n);
	memcpy(datagram, &be, sizeof(be));
}

uint64_t udp_number_read(const void *datagram, size_t size, bool *is_marker)
{
	uint64_t be;
	*is_marker = false;
	if (size < sizeof(be)) {
		return 0;
	}
	memcpy(&be, datagram, sizeof(be));
	*is_marker = be64toh(be) & MARKER;
	return be64toh(be) & ~MARKER;
}

/* The queue that the last datagrams filled may have no room for it yet. */
void udp_marker_send(int fd, uint64_t n)
{
	static const long wait_ns[] = {0, 500000, 1500000};
	char datagram[UDP_HEADER];
	udp_number_write(datagram, n | MARKER);
	for (size_t i = 0; i < sizeof(wait_ns) / sizeof(wait_ns[0]); i++) {
		struct timespec ts = {0, wait_ns[i]};
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
		(void)!send(fd, datagram, sizeof(datagram), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}
