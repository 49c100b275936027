/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of the catalogue: what belongs to one interface, its link, its hardware, its routes and its
 * queueing discipline. A part of catalog.c's table, read there only.
 */

#define LINK(name, class, type, unit, min, max, ...)                                               \
	DEVICE_ENTRY("link." name, BACKEND_LINK, class, type, unit, min, max, __VA_ARGS__)
#define NIC(name, class, type, unit, min, max, ...)                                                \
	DEVICE_ENTRY("nic." name, BACKEND_ETHTOOL, class, type, unit, min, max, __VA_ARGS__)
#define CHANNELS(name, min, says)                                                                  \
	NIC("channels." name, DISRUPTIVE, VALUE_INT, UNIT_COUNT, min, 65535, .cost = COST_RESET,   \
	    .affects = {"nic.rss_queues", "irq.affinity", "xps.cpus", "rps.cpus",                  \
			"rps.flow_entries", "napi.defer_hard_irqs", "napi.gro_flush_timeout",      \
			"napi.irq_suspend_timeout", "napi.threaded"},                              \
	    .help = says)
#define RING(name, unit, says)                                                                     \
	NIC("rings." name, DISRUPTIVE, VALUE_INT, unit, 1, INT_MAX, .cost = COST_RESET,            \
	    .help = says)
#define COALESCE(name, unit, says)                                                                 \
	NIC("coalesce." name, SAFE, VALUE_INT, unit, 0, INT_MAX, .help = says)
#define SWITCH(name, class, ...) NIC(name, class, VALUE_BOOL, UNIT_NONE, 0, 1, __VA_ARGS__)
#define NAPI(name, type, unit, max, says)                                                          \
	DEVICE_ENTRY("napi." name, BACKEND_NAPI, SAFE, type, unit, 0, max, .help = says)
#define ROUTE(name, type, unit, min, max, ...)                                                     \
	DEVICE_ENTRY("route." name, BACKEND_ROUTE, SAFE, type, unit, min, max, __VA_ARGS__)
#define QDISC(name, type, unit, max, says)                                                         \
	DEVICE_ENTRY("qdisc.root." name, BACKEND_QDISC, SAFE, type, unit, 0, max, .help = says)

/* Below 1280 the kernel takes IPv6 off the device, and does not give the addresses back. */
LINK("mtu", DISRUPTIVE, VALUE_INT, UNIT_BYTES, 1280, 65536, .cost = COST_RESET,
     .affects = {"nic.rings.rx", "nic.rings.tx", "nic.features.lro"},
     .help = "Largest packet; the other end and all between must carry it."),
	LINK("txqueuelen", SAFE, VALUE_INT, UNIT_PACKETS, 0, INT_MAX,
	     .help = "Packets that a queueing discipline without a limit of its own may hold."),
	LINK("gso_max_size", SAFE, VALUE_INT, UNIT_BYTES, 1, 524280,
	     .affects = {"link.gso_ipv4_max_size"},
	     .help = "Largest packet that is cut up only below the stack; the most is the "
		     "driver's tso_max_size."),
	LINK("gso_max_segs", SAFE, VALUE_INT, UNIT_COUNT, 1, 65535,
	     .help = "Segments that one such packet may become; the most is the driver's."),
	LINK("gro_max_size", SAFE, VALUE_INT, UNIT_BYTES, 0, 524280,
	     .affects = {"link.gro_ipv4_max_size"},
	     .help = "Largest packet that received segments are put together to."),
	LINK("gso_ipv4_max_size", SAFE, VALUE_INT, UNIT_BYTES, 1, 524280,
	     .help = "As link.gso_max_size, of IPv4 alone (Linux 6.3)."),
	LINK("gro_ipv4_max_size", SAFE, VALUE_INT, UNIT_BYTES, 0, 524280,
	     .help = "As link.gro_max_size, of IPv4 alone (Linux 6.3)."),
	LINK("gro_flush_timeout", SAFE, VALUE_INT, UNIT_NS, 0, INT_MAX,
	     .affects = {"napi.gro_flush_timeout"},
	     .help = "How long NAPI holds packets back to put more together, and its IRQ off."),
	LINK("napi_defer_hard_irqs", SAFE, VALUE_INT, UNIT_COUNT, 0, INT_MAX,
	     .affects = {"napi.defer_hard_irqs"},
	     .help = "Empty polls after which NAPI turns its IRQ on again; works with "
		     "link.gro_flush_timeout."),
	LINK("threaded", SAFE, VALUE_BOOL, UNIT_NONE, 0, 1, .affects = {"napi.threaded"},
	     .help = "NAPI polls in kernel threads, which the scheduler can move."),
	/* NAPI instances, each with values of its own */
	NAPI("defer_hard_irqs", VALUE_INT, UNIT_COUNT, INT_MAX,
	     "As link.napi_defer_hard_irqs, of each NAPI instance (Linux 6.13)."),
	NAPI("gro_flush_timeout", VALUE_INT, UNIT_NS, INT_MAX,
	     "As link.gro_flush_timeout, of each NAPI instance (Linux 6.13)."),
	NAPI("irq_suspend_timeout", VALUE_INT, UNIT_NS, INT_MAX,
	     "How long IRQs stay off while a program that busy polls finds packets, in each "
	     "NAPI instance (Linux 6.13)."),
	NAPI("threaded", VALUE_BOOL, UNIT_NONE, 1,
	     "As link.threaded, of each NAPI instance (Linux 6.17)."),
	DEVICE_ENTRY("link.ipoib_mode", BACKEND_IPOIB, DISRUPTIVE, VALUE_TEXT, UNIT_NONE, 0, 0,
		     .choices = WORDS("datagram", "connected"), .cost = COST_RESET,
		     .affects = {"link.mtu"}, .capabilities = OF_ROOT,
		     .help = "IP over InfiniBand: datagrams, or connections with an MTU of up to "
			     "65520; the MTU changes with it."),
	/* The hardware's queues */
	CHANNELS("rx", 1, "Receive queues that share nothing with sending."),
	CHANNELS("tx", 1, "Send queues that share nothing with receiving."),
	CHANNELS("combined", 1, "Queue pairs, each of them with an interrupt for both ways."),
	CHANNELS("other", 0, "Queues for neither receiving nor sending."),
	NIC("rss_queues", SAFE, VALUE_INT, UNIT_COUNT, 1, 65535,
	    .help = "Receive queues over which flows are spread, equally."),
	RING("rx", UNIT_PACKETS, "Received packets that one queue can hold; more cost cache."),
	RING("rx_mini", UNIT_PACKETS, "As nic.rings.rx, of small packets where they have rings."),
	RING("rx_jumbo", UNIT_PACKETS, "As nic.rings.rx, of large packets where they have rings."),
	RING("tx", UNIT_PACKETS, "Packets to be sent that one queue can hold."),
	RING("rx_buf_len", UNIT_BYTES, "Size of one receive buffer."),
	SWITCH("rings.tcp_data_split", DISRUPTIVE, .cost = COST_RESET,
	       .help = "Headers and data go into buffers of their own."),
	COALESCE("rx_usecs", UNIT_US, "How long a received packet may wait for its interrupt."),
	COALESCE("rx_frames", UNIT_PACKETS, "Received packets that make an interrupt at once."),
	COALESCE("tx_usecs", UNIT_US, "How long a sent packet may wait for its interrupt."),
	COALESCE("tx_frames", UNIT_PACKETS, "Sent packets that make an interrupt at once."),
	SWITCH("coalesce.adaptive_rx", SAFE,
	       .affects = {"nic.coalesce.rx_usecs", "nic.coalesce.rx_frames"},
	       .help = "The driver chooses nic.coalesce.rx_usecs and rx_frames by the traffic."),
	SWITCH("coalesce.adaptive_tx", SAFE,
	       .affects = {"nic.coalesce.tx_usecs", "nic.coalesce.tx_frames"},
	       .help = "The driver chooses nic.coalesce.tx_usecs and tx_frames by the traffic."),
	SWITCH("coalesce.cqe_mode_rx", SAFE,
	       .help = "The wait of nic.coalesce.rx_usecs begins anew with each packet."),
	SWITCH("coalesce.cqe_mode_tx", SAFE,
	       .help = "The wait of nic.coalesce.tx_usecs begins anew with each packet."),
	SWITCH("pause.autoneg", DISRUPTIVE, .cost = COST_RESET,
	       .affects = {"nic.pause.rx", "nic.pause.tx"},
	       .help = "Both ends agree on pause frames."),
	SWITCH("pause.rx", DISRUPTIVE, .cost = COST_RESET,
	       .help = "Stop sending when the other end asks for a pause."),
	SWITCH("pause.tx", DISRUPTIVE, .cost = COST_RESET,
	       .help = "Ask the other end for a pause instead of dropping."),
	SWITCH("features.*", SAFE, .affects = {"nic.features.*"},
	       .help = "An offload by the kernel's name, or tso, gso, gro, lro, rx, tx, sg."),
	SWITCH("flags.*", DISRUPTIVE, .affects = {"nic.flags.*", "nic.features.*"},
	       .cost = COST_RESET, .help = "A private flag of the driver, by its own name."),
	/* Routes in the main table that lead out of the device */
	ROUTE("initcwnd", VALUE_INT, UNIT_PACKETS, 0, 65535,
	      .help = "Segments that a new connection sends at once; 0 leaves it to the kernel."),
	ROUTE("initrwnd", VALUE_INT, UNIT_PACKETS, 0, 65535,
	      .help = "Segments that a new connection lets be sent; 0 leaves it to the kernel."),
	ROUTE("quickack", VALUE_BOOL, UNIT_NONE, 0, 1,
	      .help = "Acknowledge at once instead of waiting for data to go along."),
	ROUTE("congctl", VALUE_TEXT, UNIT_NONE, 0, 0,
	      .help = "Congestion control of new connections over these routes; default: the "
		      "system's."),
	ROUTE("rto_min", VALUE_INT, UNIT_US, 0, 120000000,
	      .help = "Shortest time before a retransmission, in whole ms; 0: the kernel's."),
	ROUTE("features", VALUE_TEXT, UNIT_NONE, 0, 0, .choices = route_features,
	      .help = "Explicit congestion notification over these routes: ecn asks for it."),
	/* The queueing discipline */
	DEVICE_ENTRY("qdisc.root", BACKEND_QDISC, SAFE, VALUE_TEXT, UNIT_NONE, 0, 0,
		     .affects = {"qdisc.root.*"},
		     .help = "Queueing discipline at the device's root; packets in the old one "
			     "are lost."),
	QDISC("limit", VALUE_INT, UNIT_COUNT, UINT_MAX, "Packets (bfifo: bytes) that it may hold."),
	QDISC("flow_limit", VALUE_INT, UNIT_PACKETS, UINT_MAX,
	      "Packets of one flow that it may hold (fq)."),
	QDISC("quantum", VALUE_INT, UNIT_BYTES, INT_MAX, "Bytes of a flow before the next's turn."),
	QDISC("initial_quantum", VALUE_INT, UNIT_BYTES, INT_MAX,
	      "As qdisc.root.quantum, of a flow's first turn (fq)."),
	QDISC("pacing", VALUE_BOOL, UNIT_NONE, 1, "Keep to the rates that sockets ask for (fq)."),
	QDISC("maxrate", VALUE_INT, UNIT_BITRATE, LONG_MAX,
	      "The most that one flow sends (fq); 0: no limit."),
	QDISC("low_rate_threshold", VALUE_INT, UNIT_BITRATE, LONG_MAX,
	      "Flows below this rate are paced packet by packet (fq)."),
	QDISC("refill_delay", VALUE_INT, UNIT_US, UINT_MAX,
	      "Idle time after which a flow counts as new (fq)."),
	QDISC("buckets_log", VALUE_INT, UNIT_COUNT, 18, "Size of the flows' table, log2 (fq)."),
	QDISC("orphan_mask", VALUE_INT, UNIT_COUNT, UINT_MAX,
	      "Flows that packets without a socket are spread over (fq)."),
	QDISC("ce_threshold", VALUE_INT, UNIT_US, UINT_MAX,
	      "Delay above which packets are marked (fq)."),
	QDISC("timer_slack", VALUE_INT, UNIT_NS, UINT_MAX, "How late pacing may be (fq)."),
	QDISC("horizon", VALUE_INT, UNIT_US, UINT_MAX,
	      "How far ahead a packet's sending time may lie (fq)."),
	QDISC("horizon_drop", VALUE_BOOL, UNIT_NONE, 1,
	      "Drop what lies beyond the horizon, instead of sending it then (fq)."),
	QDISC("target", VALUE_INT, UNIT_US, UINT_MAX,
	      "Delay that is put up with (fq_codel, cake)."),
	QDISC("interval", VALUE_INT, UNIT_US, UINT_MAX,
	      "How long the delay may be above the target (fq_codel)."),
	QDISC("ecn", VALUE_BOOL, UNIT_NONE, 1, "Mark instead of dropping (fq_codel)."),
	QDISC("drop_batch", VALUE_INT, UNIT_PACKETS, UINT_MAX,
	      "Packets dropped at once when it is full (fq_codel)."),
	QDISC("memory_limit", VALUE_INT, UNIT_BYTES, UINT_MAX,
	      "Bytes that it may hold (fq_codel, cake)."),
	QDISC("bandwidth", VALUE_INT, UNIT_BITRATE, LONG_MAX,
	      "Rate that it shapes to (cake); 0: no shaping."),
	QDISC("rtt", VALUE_INT, UNIT_US, UINT_MAX, "Round-trip time that it is made for (cake)."),
	QDISC("split_gso", VALUE_BOOL, UNIT_NONE, 1,
	      "Cut large packets up before queueing (cake)."),
