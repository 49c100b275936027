/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The endpoints of the built-in stream test: an unprivileged child of the agent that opens
 * sockets, moves bytes and counts. It answers JSON lines on one descriptor; the agent relays them.
 *
 *   {"op":"listen", "type":"tcp_stream", "address":A, "port":0, "streams":1, "token":T,
 *    "drive":"classic", "socket":{...}, "autotune":bool, "send":"plain", "receive":"copy",
 *    "rate":bit/s, "cpus":[n,...], "numa":{"policy":W, "cpu":W}}  -> {"port":n}
 *   {"op":"connect", ...the same..., "port":n, "local_ports":[n,...]}
 *                                                   -> {"port":n, "local_ports":[n,...]}
 *   {"op":"start"}     -> {}  (a listening side waits for all connections; the sender begins)
 *   {"op":"read", "cpu":bool, "counters":bool, "at":s}
 *                   -> {"t":s, "bytes":n, "sent":n, "received":n,
 *                       "cpu":{"t":s, "busy":s, "source":"timer_list", "resolution":s, "cpus":n,
 *                       "per_cpu_us":[n,...]}|null, "self":s,
 *                       "suspended":s, "energy":J|null,
 *                       "tcp":{"rtt":us, "min_rtt":us, "cwnd":bytes, "retransmits":n,
 *                       "rwnd_limited":us, "sndbuf_limited":us, "busy":us,
 *                       "delivery_rate":bytes/s, "acked":bytes, "lost":n, "unsent":bytes,
 *                       "unread":bytes, "reordered":n}|null,
 *                       "udp":{"offered":n, "sent":n, "received":n, "expected":n, "drops":n,
 *                       "bursts":n, "late":n, "told":n}|null, "transactions":n|null,
 *                       "error":null|text, "effective":{"send_buffer":n, "receive_buffer":n,
 *                       "receive_lowat":n, "congestion_control":w}|null}
 *                      and unless "cpu" is false: "threads":{"cpu":s, "waited":s,
 *                      "busiest_cpu":s, "busiest_waited":s, "cpus":[n,...]}, "host":{counters},
 *                      "stolen":share of a timed spin|null,
 *                      "incoming_cpus":[n,...], "latency":[[bucket,n],...]|null,
 *                      "placement":{"cpus":list|null, "pages":{"NODE":n}, "remote":share|null}
 *                      |null, "note":text|null,
 *                      "zerocopy":{"sends":n, "copied":n}, "no_energy":text|null,
 *                      "no_perf":text|null; with "counters" a shorter "host" at other times, too
 *   {"op":"stop", "drain":s}
 *                   -> as read, and "drained":bool; the sockets are closed then. With "drain" the
 *                      sending ends in order before, and for so long at the most what is under way
 *                      comes in: "bytes" and "udp" are then those of all, not of a window.
 *   {"op":"batch", "requests":[...]}
 *                   -> {"replies":[...]}  (one after the other, up to the first that fails, whose
 *                      error is the answer)
 * type is tcp_stream (the connecting side sends), tcp_maerts (it receives), tcp_bidir (both),
 * udp_stream or tcp_rr (the connecting side asks). "bytes" are those that were received, of a side
 * that only sends (or asks) those that it sent. Of datagrams, "expected" is how many the highest
 * number says there were, "drops" those that found the receiving socket full, "late" those that
 * came after an end of the window (a read without "cpu":false) although they were sent before it,
 * "told" how many the sender's end marker says there were (0: it has not come). A latency bucket is
 * explained in latency.c. "t" is CLOCK_MONOTONIC of that host in seconds, read together with the
 * counters; a window is the difference of two reads of one host. "suspended" is CLOCK_BOOTTIME -
 * CLOCK_MONOTONIC, which grows while the machine is suspended, and only then. "energy" is what
 * processors and memory have used; "no_energy" and "no_perf" say why there is none, and why the
 * CPUs are not read from the performance monitor. "cpu": false leaves the CPUs out, which is
 * cheaper. "at" puts the answer off until "t" is that (at most for two seconds). What there is of
 * each CPU is left out where the line would be too long. "socket" holds run-scope tunables by their
 * name without "socket." in their units; what is absent is not set at all, nor is a buffer or limit
 * of 0. "autotune": true keeps `light` from setting buffers of its own. "rate" is what a UDP sender
 * offers, 0 as fast as it goes. Stream i runs on cpus[i % n] and, connecting, comes from
 * local_ports[i] if that is free. Sockets are new for every listen and connect. A process may hold
 * both sides of a test; start, read and stop then say which: "side": "listen" or "connect".
 */
#ifndef TUNESWEEP_STREAM_H
#define TUNESWEEP_STREAM_H

#include "err.h"

struct host_meters;

/* Serves until end of input; returns the process's exit status. Called in the child after it has
 * dropped its privileges; what the meters hold was opened before. They may be NULL. */
int stream_serve(int fd, const struct host_meters *meters);

#endif
