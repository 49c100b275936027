/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Datagrams in bundles: one call sends or receives several of one size. Only profiles/agent/stream/
 * uses it.
 */
#ifndef TUNESWEEP_UDP_SEGMENTS_H
#define TUNESWEEP_UDP_SEGMENTS_H

#include <stdbool.h>
#include <sys/types.h>

/* What is sent on fd from now on is cut into datagrams of size bytes; false: not in this kernel. */
bool udp_segments_send_on(int fd, size_t size);
void udp_segments_send_off(int fd);
int udp_segments_most(size_t size); /* of that size in one call */
/* The error of a send that says that bundles do not go this way (too long for the link, no
 * checksums by the device), while single datagrams may. */
bool udp_segments_is_refusal(int error);

bool udp_segments_receive_on(int fd);
/* As recvmsg. *segment: the size of each datagram but the last, which may be shorter. */
ssize_t udp_segments_receive(int fd, void *memory, size_t size, size_t *segment);

#endif
