/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside a flow: one connection and its lanes, a thread each. flow.c makes, starts and stops them;
 * flow_tcp.c, flow_udp.c and flow_rr.c are what they do, flow_drain.c ends them in order. Not for
 * anyone else.
 */
#ifndef TUNESWEEP_FLOW_PRIVATE_H
#define TUNESWEEP_FLOW_PRIVATE_H

#include "stream_private.h"
#include <pthread.h>
#include <stdatomic.h>

/* End of stream, told apart from every errno. */
#define FLOW_PEER_CLOSED 100000
#define FLOW_NO_CPU	 100001 /* the thread's CPU is not there, or not allowed */

#define FLOW_LANES 2

struct flow_lane { /* written by its thread alone, read by others */
	struct flow *flow;
	bool sends; /* waits for the start of the test */
	/* Returns 0 when it was stopped, else why it ended: an errno or FLOW_PEER_CLOSED. */
	int (*run)(struct flow_lane *lane);
	pthread_t thread;
	bool running;
	atomic_int tid, error;
	_Atomic(const char *) note;
	_Atomic(const void *) memory; /* its buffers; NULL before they are there */
	/* A cache line of its own: it is written at each call. */
	_Alignas(64) atomic_uint_least64_t sent;
	atomic_uint_least64_t received, packets_out, packets_in, offered, highest, bursts;
	atomic_uint_least64_t zerocopy, zerocopy_copied;
	/* Datagrams: how many there were by the sender's end marker, and when it came (us, 0: not
	 * yet); those that came with a number up to `mark`, which the reader sets. */
	atomic_uint_least64_t told, told_at, late, mark;
};

/* FINISHING: what is under way is sent to its end, and the far end is told. */
enum { FLOW_RUNS, FLOW_FINISHING, FLOW_STOPPING };

struct flow {
	int fd;
	const struct stream_options *o;
	int index;
	char peer[STREAM_NAME_MAX];
	atomic_int state;
	struct latency *latency;
	int n_lanes;
	struct flow_lane lane[FLOW_LANES];
};

/* Of a thread that has sent its last: tells the far end. */
void flow_tell_end(struct flow_lane *lane);
int flow_tcp_send(struct flow_lane *lane);
int flow_tcp_receive(struct flow_lane *lane);
int flow_udp_send(struct flow_lane *lane);
int flow_udp_receive(struct flow_lane *lane);
int flow_rr_ask(struct flow_lane *lane);
int flow_rr_answer(struct flow_lane *lane);

/* Only the lane's own thread adds: no locked instruction is needed. */
static inline void flow_add(atomic_uint_least64_t *counter, uint64_t n)
{
	uint64_t v = atomic_load_explicit(counter, memory_order_relaxed);
	atomic_store_explicit(counter, v + n, memory_order_relaxed);
}

static inline bool flow_is_stopping(const struct flow_lane *lane)
{
	int state = atomic_load_explicit(&lane->flow->state, memory_order_relaxed);
	return state >= (lane->sends ? FLOW_FINISHING : FLOW_STOPPING);
}

/* Memory with a content that is not all zeros, touched by the thread that uses it; NULL if there is
 * none. flow_unmap gives it back. */
void *flow_map(struct flow_lane *lane, size_t size);
void flow_unmap(struct flow_lane *lane, void *p, size_t size);

#endif
