/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The number that each datagram of a test begins with, and the end marker, which says how many
 * there were. Only profiles/agent/stream/ uses it.
 */
#ifndef TUNESWEEP_UDP_MARKER_H
#define TUNESWEEP_UDP_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number n of a datagram, from 1 on, into its first UDP_HEADER bytes. */
void udp_number_write(void *datagram, uint64_t n);
/* 0 for what is too short for a number. is_marker: it is the end marker's. */
uint64_t udp_number_read(const void *datagram, size_t size, bool *is_marker);

/* Says that n datagrams were sent, several times over a few ms, as it may be lost too. */
void udp_marker_send(int fd, uint64_t n);

#endif
