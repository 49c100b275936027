/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The endpoints of the built-in stream test: an unprivileged child of the agent that opens
 * sockets, moves bytes and counts. It answers JSON lines on one descriptor; the agent relays them.
 *
 *   {"op":"listen", "type":"tcp_stream", "address":A, "port":0, "streams":1, "token":T,
 *    "drive":"classic", "socket":{...}}             -> {"port":n}
 *   {"op":"connect", ...the same..., "port":n}       -> {"port":n}        (sends the token first)
 *   {"op":"start"}                                    -> {}               (the sender begins)
 *   {"op":"read"}   -> {"t":s, "bytes":n, "cpu":{"busy":s, "source":"timer_list", "resolution":s,
 *                       "cpus":n, "per_cpu":[s,...]}, "self":s, "tcp":{"rtt":us, "cwnd":bytes,
 * "retransmits":n, "rwnd_limited":us, "sndbuf_limited":us, "busy":us}, "error":null|text,
 *                       "effective":{"send_buffer":n, "receive_buffer":n, "congestion_control":w}}
 *   {"op":"stop"}                                     -> as read, after the sockets are closed
 * "t" is CLOCK_MONOTONIC of that host in seconds, read together with the counters; a window is the
 * difference of two reads of one host. "socket" holds run-scope tunables by their name without
 * "socket." in their units; what is absent is not set at all. Sockets are new for every listen.
 */
#ifndef TUNESWEEP_STREAM_H
#define TUNESWEEP_STREAM_H

#include "err.h"

/* Serves until end of input; returns the process's exit status. Called in the child after it has
 * dropped its privileges; timer_list_fd was opened before (or -1). */
int stream_serve(int fd, int timer_list_fd);

#endif
