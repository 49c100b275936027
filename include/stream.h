/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The endpoints of the built-in stream test: an unprivileged child of the agent that opens
 * sockets, moves bytes and counts. It answers JSON lines on one descriptor; the agent relays them.
 *
 *   {"op":"listen", "type":"tcp_stream", "address":A, "port":0, "streams":1, "token":T,
 *    "drive":"classic", "socket":{...}, "autotune":bool} -> {"port":n}
 *   {"op":"connect", ...the same..., "port":n}       -> {"port":n}        (sends the token first)
 *   {"op":"start"}     -> {}  (a listening side waits for all connections; the sender begins)
 *   {"op":"read", "cpu":bool}
 *                   -> {"t":s, "bytes":n, "cpu":{"t":s, "busy":s, "source":"timer_list",
 *                       "resolution":s, "cpus":n, "per_cpu":[s,...]}|null, "self":s,
 *                       "tcp":{"rtt":us, "cwnd":bytes, "retransmits":n, "rwnd_limited":us,
 *                       "sndbuf_limited":us, "busy":us, "delivery_rate":bytes/s,
 *                       "acked":bytes}|null,
 *                       "error":null|text, "effective":{"send_buffer":n, "receive_buffer":n,
 *                       "receive_lowat":n, "congestion_control":w}|null}
 *   {"op":"stop"}                                     -> as read; the sockets are closed then
 * type is tcp_stream (the connecting side sends) or tcp_maerts (it receives). "t" is
 * CLOCK_MONOTONIC of that host in seconds, read together with the counters; a window is the
 * difference of two reads of one host. "cpu": false leaves the CPUs out, which is cheaper.
 * "socket" holds run-scope tunables by their name without "socket." in their units; what is absent
 * is not set at all, nor is a buffer or limit of 0. "autotune": true keeps `light` from setting
 * buffers of its own. Sockets are new for every listen and connect. A process may hold both sides
 * of a test; start, read and stop then say which: "side": "listen" or "connect".
 */
#ifndef TUNESWEEP_STREAM_H
#define TUNESWEEP_STREAM_H

#include "err.h"

/* Serves until end of input; returns the process's exit status. Called in the child after it has
 * dropped its privileges; timer_list_fd was opened before (or -1). */
int stream_serve(int fd, int timer_list_fd);

#endif
