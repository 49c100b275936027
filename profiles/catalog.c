/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one table of all that can be set; a new tunable is a row here. The limits are those of the
 * kernel's field, or narrower where the rest can only do harm. A star in a name stands for one
 * component. Data only: tunable.c and the commands that list the catalogue read it.
 */
#include "tunable.h"
#include <limits.h>

#define BOOLEAN(name, class, help)                                                                 \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, class, VALUE_BOOL, UNIT_NONE, 0, 1, {NULL},      \
			NULL, {NULL}, help                                                         \
	}
#define NUMBER(name, class, unit, min, max, help)                                                  \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, class, VALUE_INT, unit, min, max, {NULL}, NULL,  \
			{NULL}, help                                                               \
	}
#define TRIPLE(name, unit, min, max, help)                                                         \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, CLASS_SAFE, VALUE_INT, unit, min, max,           \
			{"min", "default", "max"}, NULL, {NULL}, help                              \
	}
#define WORD(name, class, help)                                                                    \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, class, VALUE_TEXT, UNIT_NONE, 0, 0, {NULL},      \
			NULL, {NULL}, help                                                         \
	}
#define SAFE   CLASS_SAFE
#define UNSAFE CLASS_UNSAFE
#define SOCKET(name, type, unit, min, max, help)                                                   \
	{                                                                                          \
		"socket." name, BACKEND_SOCKET, SCOPE_RUN, CLASS_SAFE, type, unit, min, max,       \
			{NULL}, NULL, {NULL}, help                                                 \
	}

static const struct tunable rows[] = {
	/* Buffers */
	TRIPLE("net.ipv4.tcp_rmem", UNIT_BYTES, 1, INT_MAX,
	       "Receive buffer of a TCP socket: least, at start, and how far it may grow by "
	       "itself."),
	TRIPLE("net.ipv4.tcp_wmem", UNIT_BYTES, 1, INT_MAX,
	       "Send buffer of a TCP socket: least, at start, and how far it may grow by itself."),
	TRIPLE("net.ipv4.tcp_mem", UNIT_COUNT, 0, LONG_MAX,
	       "Pages that all TCP sockets together may hold: no pressure, pressure, limit."),
	TRIPLE("net.ipv4.udp_mem", UNIT_COUNT, 0, LONG_MAX,
	       "Pages that all UDP sockets together may hold: no pressure, pressure, limit."),
	NUMBER("net.ipv4.udp_rmem_min", SAFE, UNIT_BYTES, 1, INT_MAX,
	       "Receive memory each UDP socket keeps even when udp_mem is under pressure."),
	NUMBER("net.ipv4.udp_wmem_min", SAFE, UNIT_BYTES, 1, INT_MAX,
	       "Send memory each UDP socket keeps even when udp_mem is under pressure."),
	NUMBER("net.core.rmem_default", SAFE, UNIT_BYTES, 2304, INT_MAX,
	       "Receive buffer a socket starts with where its protocol has no own default (UDP)."),
	NUMBER("net.core.wmem_default", SAFE, UNIT_BYTES, 4608, INT_MAX,
	       "Send buffer a socket starts with where its protocol has no own default (UDP)."),
	NUMBER("net.core.rmem_max", SAFE, UNIT_BYTES, 2304, INT_MAX,
	       "The most that a program may ask for by SO_RCVBUF; autotuning is not bound by it."),
	NUMBER("net.core.wmem_max", SAFE, UNIT_BYTES, 4608, INT_MAX,
	       "The most that a program may ask for by SO_SNDBUF; autotuning is not bound by it."),
	NUMBER("net.core.optmem_max", SAFE, UNIT_BYTES, 0, INT_MAX,
	       "Memory for a socket's control messages; zero-copy sending draws on it."),
	/* The receive path */
	NUMBER("net.core.netdev_max_backlog", SAFE, UNIT_PACKETS, 1, INT_MAX,
	       "Packets that may wait for a CPU when an interface is faster than the stack."),
	NUMBER("net.core.netdev_budget", SAFE, UNIT_PACKETS, 1, INT_MAX,
	       "Packets that one round of the receive softirq may take over all interfaces."),
	NUMBER("net.core.netdev_budget_usecs", SAFE, UNIT_US, 1, INT_MAX,
	       "Time that one round of the receive softirq may take."),
	NUMBER("net.core.dev_weight", SAFE, UNIT_PACKETS, 1, INT_MAX,
	       "Packets that the backlog of one CPU handles in a row before others get a turn."),
	NUMBER("net.core.busy_poll", SAFE, UNIT_US, 0, INT_MAX,
	       "How long poll and select look at the device queue themselves; 0 leaves it to "
	       "IRQs."),
	NUMBER("net.core.busy_read", SAFE, UNIT_US, 0, INT_MAX,
	       "How long a blocking read looks at the device queue itself; 0 leaves it to IRQs."),
	NUMBER("net.core.rps_sock_flow_entries", SAFE, UNIT_COUNT, 0, 1 << 29,
	       "Size of the table that steers a flow to the CPU of its reader; 0 is off."),
	NUMBER("net.core.somaxconn", SAFE, UNIT_COUNT, 0, INT_MAX,
	       "Connections that may wait for accept on one listening socket."),
	WORD("net.core.default_qdisc", SAFE,
	     "Queueing discipline that new interfaces get; those that are there keep theirs."),
	/* TCP */
	WORD("net.ipv4.tcp_congestion_control", SAFE,
	     "Congestion control of new connections, among those that the kernel has."),
	BOOLEAN("net.ipv4.tcp_window_scaling", SAFE,
		"Windows above 64 KiB; off cripples every fast or long path."),
	BOOLEAN("net.ipv4.tcp_moderate_rcvbuf", SAFE,
		"Receive buffers grow by themselves up to tcp_rmem's max."),
	NUMBER("net.ipv4.tcp_adv_win_scale", SAFE, UNIT_COUNT, -31, 31,
	       "Share of the receive buffer kept for bookkeeping; since Linux 6.6 without effect."),
	NUMBER("net.ipv4.tcp_app_win", SAFE, UNIT_COUNT, 0, 31,
	       "Share of the window kept for the application's slack; 0 keeps none."),
	BOOLEAN("net.ipv4.tcp_slow_start_after_idle", SAFE,
		"A connection that was idle starts slowly again."),
	BOOLEAN("net.ipv4.tcp_no_metrics_save", SAFE,
		"Do not remember round-trip time and thresholds of a peer for its next "
		"connection."),
	NUMBER("net.ipv4.tcp_mtu_probing", SAFE, UNIT_COUNT, 0, 2,
	       "Find the path's MTU by probing: 0 never, 1 after a black hole, 2 always."),
	NUMBER("net.ipv4.tcp_base_mss", SAFE, UNIT_BYTES, 48, 65535,
	       "Segment size that MTU probing starts from."),
	NUMBER("net.ipv4.tcp_limit_output_bytes", SAFE, UNIT_BYTES, 0, INT_MAX,
	       "Bytes of one socket that may lie in the queues below TCP."),
	NUMBER("net.ipv4.tcp_notsent_lowat", SAFE, UNIT_BYTES, 0, UINT_MAX,
	       "Unsent bytes above which a socket does not ask for more; the maximum is off."),
	BOOLEAN("net.ipv4.tcp_autocorking", SAFE,
		"Hold small writes back while earlier packets wait in the device queue."),
	NUMBER("net.ipv4.tcp_early_retrans", SAFE, UNIT_COUNT, 0, 4,
	       "Tail loss probes: 0 off, 3 on (other values are of older kernels)."),
	NUMBER("net.ipv4.tcp_ecn", SAFE, UNIT_COUNT, 0, 5,
	       "Explicit congestion notification: 0 off, 1 ask and accept, 2 accept only."),
	NUMBER("net.ipv4.tcp_recovery", SAFE, UNIT_COUNT, 0, 7,
	       "Loss detection by time (RACK): bit 0 on, bit 1 fixed window, bit 2 no thresholds."),
	NUMBER("net.ipv4.tcp_reordering", SAFE, UNIT_PACKETS, 1, INT_MAX,
	       "Reordering that is assumed at first before packets count as lost."),
	NUMBER("net.ipv4.tcp_max_reordering", SAFE, UNIT_PACKETS, 1, INT_MAX,
	       "The most reordering that a connection may learn to expect."),
	NUMBER("net.ipv4.tcp_pacing_ss_ratio", SAFE, UNIT_COUNT, 0, 1000,
	       "Pacing rate in slow start, in percent of the current rate."),
	NUMBER("net.ipv4.tcp_pacing_ca_ratio", SAFE, UNIT_COUNT, 0, 1000,
	       "Pacing rate in congestion avoidance, in percent of the current rate."),
	NUMBER("net.ipv4.tcp_tso_win_divisor", SAFE, UNIT_COUNT, 0, 255,
	       "The part of the window that one large offloaded packet may take (1/n)."),
	NUMBER("net.ipv4.tcp_min_tso_segs", SAFE, UNIT_PACKETS, 1, 255,
	       "Segments that a large offloaded packet has at least."),
	NUMBER("net.ipv4.tcp_comp_sack_delay_ns", SAFE, UNIT_NS, 0, LONG_MAX,
	       "How long selective acknowledgements may be held to be sent together."),
	NUMBER("net.ipv4.tcp_comp_sack_slack_ns", SAFE, UNIT_NS, 0, LONG_MAX,
	       "Slack of the timer that holds selective acknowledgements."),
	NUMBER("net.ipv4.tcp_comp_sack_nr", SAFE, UNIT_COUNT, 0, 255,
	       "Selective acknowledgements that may be held together; 0 holds none."),
	BOOLEAN("net.ipv4.tcp_workaround_signed_windows", SAFE,
		"Keep windows below 32 KiB towards peers without window scaling."),
	/* What is between safety or compatibility and speed */
	BOOLEAN("net.ipv4.tcp_sack", UNSAFE, "Selective acknowledgements."),
	BOOLEAN("net.ipv4.tcp_dsack", UNSAFE, "Tell the sender of duplicates received."),
	NUMBER("net.ipv4.tcp_timestamps", UNSAFE, UNIT_COUNT, 0, 2,
	       "Timestamps: 0 off, 1 with a random offset for each connection, 2 without."),
	NUMBER("net.ipv4.tcp_syncookies", UNSAFE, UNIT_COUNT, 0, 2,
	       "Answer a SYN flood by cookies: 0 never, 1 when the queue is full, 2 always."),
	BOOLEAN("net.ipv4.tcp_rfc1337", UNSAFE, "Ignore resets in the TIME-WAIT state."),
	NUMBER("net.ipv4.tcp_fin_timeout", UNSAFE, UNIT_COUNT, 1, 65536,
	       "Seconds that an orphaned connection waits for the other side's end."),
	NUMBER("net.ipv4.tcp_tw_reuse", UNSAFE, UNIT_COUNT, 0, 2,
	       "Reuse ports in the TIME-WAIT state: 0 no, 1 yes, 2 over loopback only."),
	NUMBER("net.ipv4.tcp_fastopen", UNSAFE, UNIT_COUNT, 0, INT_MAX,
	       "Data in the SYN: bit 0 as a client, bit 1 as a server."),
	NUMBER("net.ipv4.tcp_max_syn_backlog", UNSAFE, UNIT_COUNT, 1, INT_MAX,
	       "Connections that are half open and may be remembered."),
	NUMBER("net.ipv4.tcp_retries2", UNSAFE, UNIT_COUNT, 0, 255,
	       "Retransmissions before a connection is given up."),
	BOOLEAN("net.ipv4.tcp_shrink_window", UNSAFE,
		"The receive window may shrink when memory is short."),
	NUMBER("net.ipv4.tcp_frto", UNSAFE, UNIT_COUNT, 0, 2,
	       "Detect timeouts that were too early."),
	{"net.ipv4.ip_forward",
	 BACKEND_SYSCTL,
	 SCOPE_HOST,
	 CLASS_UNSAFE,
	 VALUE_BOOL,
	 UNIT_NONE,
	 0,
	 1,
	 {NULL},
	 NULL,
	 {"net.ipv4.conf.*.accept_redirects", "net.ipv4.conf.*.forwarding"},
	 "This host routes packets between its interfaces."},
	{"net.ipv4.conf.all.forwarding",
	 BACKEND_SYSCTL,
	 SCOPE_HOST,
	 CLASS_UNSAFE,
	 VALUE_BOOL,
	 UNIT_NONE,
	 0,
	 1,
	 {NULL},
	 NULL,
	 {"net.ipv4.conf.*.accept_redirects", "net.ipv4.conf.*.forwarding"},
	 "The same as net.ipv4.ip_forward."},
	BOOLEAN("net.ipv4.conf.*.forwarding", UNSAFE, "Packets of this device may be routed on."),
	BOOLEAN("net.ipv4.conf.*.accept_redirects", UNSAFE,
		"Routers may redirect traffic of this device."),
	NUMBER("net.ipv4.conf.*.rp_filter", UNSAFE, UNIT_COUNT, 0, 2,
	       "Drop packets whose source is not routed back this way: 0 no, 1 strict, 2 loose."),
	NUMBER("net.ipv4.conf.*.arp_ignore", UNSAFE, UNIT_COUNT, 0, 8,
	       "For which addresses ARP requests are answered on this device."),
	NUMBER("net.ipv4.conf.*.arp_announce", UNSAFE, UNIT_COUNT, 0, 2,
	       "Which source address ARP requests carry on this device."),
	NUMBER("net.ipv4.ipfrag_high_thresh", UNSAFE, UNIT_BYTES, 0, LONG_MAX,
	       "Memory that fragments may hold before new ones are dropped."),
	NUMBER("net.ipv4.ipfrag_low_thresh", UNSAFE, UNIT_BYTES, 0, LONG_MAX,
	       "Memory that fragments are brought down to; without effect in newer kernels."),
	NUMBER("net.ipv4.ipfrag_time", UNSAFE, UNIT_COUNT, 1, INT_MAX / 1000,
	       "Seconds that fragments wait for the rest."),
	NUMBER("net.ipv4.ipfrag_max_dist", UNSAFE, UNIT_COUNT, 0, INT_MAX,
	       "Disorder of fragments of one source that is still taken for reordering."),
	NUMBER("net.netfilter.nf_conntrack_max", UNSAFE, UNIT_COUNT, 1, INT_MAX,
	       "Connections that connection tracking remembers."),
	NUMBER("net.netfilter.nf_conntrack_buckets", UNSAFE, UNIT_COUNT, 1, INT_MAX,
	       "Size of connection tracking's hash table."),
	NUMBER("net.netfilter.nf_conntrack_tcp_timeout_established", UNSAFE, UNIT_COUNT, 1,
	       INT_MAX / 1000, "Seconds an idle established connection stays tracked."),
	BOOLEAN("net.netfilter.nf_conntrack_tcp_be_liberal", UNSAFE,
		"Connection tracking lets packets outside the window pass."),
	BOOLEAN("net.netfilter.nf_conntrack_checksum", UNSAFE,
		"Connection tracking verifies checksums."),
	/* Memory */
	NUMBER("kernel.numa_balancing", SAFE, UNIT_COUNT, 0, 3,
	       "Move pages to the node that uses them: 0 off, 1 on, 2 between tiers of memory."),
	NUMBER("vm.zone_reclaim_mode", SAFE, UNIT_COUNT, 0, 7,
	       "Reclaim memory of the own NUMA node before using another's (bits)."),
	NUMBER("vm.min_free_kbytes", UNSAFE, UNIT_COUNT, 1024, INT_MAX,
	       "KiB that are kept free for interrupts; too much starves the machine."),
	/* What lives in the test's own sockets and processes, and dies with them */
	SOCKET("send_buffer", VALUE_INT, UNIT_BYTES, 0, INT_MAX,
	       "SO_SNDBUF: a fixed send buffer; switches autotuning of it off. 0: not set."),
	SOCKET("receive_buffer", VALUE_INT, UNIT_BYTES, 0, INT_MAX,
	       "SO_RCVBUF: a fixed receive buffer; switches autotuning of it off. 0: not set."),
	SOCKET("message_size", VALUE_INT, UNIT_BYTES, 1, 256 << 20,
	       "Bytes that one send call hands over."),
	SOCKET("receive_size", VALUE_INT, UNIT_BYTES, 1, 256 << 20,
	       "Bytes that one receive call asks for."),
	SOCKET("nodelay", VALUE_BOOL, UNIT_NONE, 0, 1,
	       "TCP_NODELAY: small writes are sent at once."),
	SOCKET("cork", VALUE_BOOL, UNIT_NONE, 0, 1, "TCP_CORK: only full segments are sent."),
	SOCKET("notsent_lowat", VALUE_INT, UNIT_BYTES, 0, INT_MAX,
	       "TCP_NOTSENT_LOWAT: unsent bytes above which the socket does not ask for more."),
	SOCKET("busy_poll", VALUE_INT, UNIT_US, 0, INT_MAX,
	       "SO_BUSY_POLL: how long a read looks at the device queue itself."),
	SOCKET("pacing_rate", VALUE_INT, UNIT_BITRATE, 0, LONG_MAX,
	       "SO_MAX_PACING_RATE: the most that one connection sends. 0: not set."),
	SOCKET("receive_lowat", VALUE_INT, UNIT_BYTES, 0, INT_MAX,
	       "SO_RCVLOWAT: bytes that must be there before the reader is woken. 0: not set."),
	SOCKET("ring", VALUE_INT, UNIT_COUNT, 1, 65536,
	       "Number of buffers that the endpoint sends from or receives into in turn."),
	{"param.*",
	 BACKEND_PARAM,
	 SCOPE_RUN,
	 CLASS_SAFE,
	 VALUE_NONE,
	 UNIT_NONE,
	 INT64_MIN,
	 INT64_MAX,
	 {NULL},
	 NULL,
	 {NULL},
	 "A parameter of a command engine, of any type."},
};

const struct tunable *tunable_catalog(size_t *n)
{
	*n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}
