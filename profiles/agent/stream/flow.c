/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One connection and the threads that move its bytes: made, started, counted, stopped. What the
 * threads do stands in flow_tcp.c, flow_udp.c and flow_rr.c. They read no clock for a byte count;
 * who wants a rate takes the counter and the time together (endpoint.c).
 */
#include "cleanup.h"
#include "flow_private.h"
#include "short_slice.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define STACK_SIZE (256 * 1024)

static int lane_cpu(const struct flow *f)
{
	return f->o->cpus[f->index % f->o->n_cpus];
}

/* The thread's CPU, chosen before it touches its memory. */
static int lane_pin(const struct flow *f)
{
	cpu_set_t set;
	if (f->o->n_cpus == 0 || f->o->placement.has_cpus) {
		return 0;
	}
	CPU_ZERO(&set);
	CPU_SET((unsigned)lane_cpu(f), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		return errno == EINVAL ? FLOW_NO_CPU : errno;
	}
	return 0;
}

static void *lane_main(void *arg)
{
	struct flow_lane *lane = arg;
	atomic_store(&lane->tid, (int)gettid());
	usual_slice();
	int error = placement_apply(&lane->flow->o->placement);
	error = error ? error : lane_pin(lane->flow);
	if (!error) {
		error = lane->run(lane);
	}
	if (error && !flow_is_stopping(lane)) {
		atomic_store(&lane->error, error);
	}
	flow_tell_end(lane);
	return NULL;
}

static void lane_add(struct flow *f, bool sends, int (*run)(struct flow_lane *lane))
{
	struct flow_lane *lane = &f->lane[f->n_lanes++];
	lane->flow = f;
	lane->sends = sends;
	lane->run = run;
}

static void lanes_choose(struct flow *f)
{
	const struct stream_options *o = f->o;
	if (o->type == STREAM_UDP) {
		lane_add(f, o->sends, o->sends ? flow_udp_send : flow_udp_receive);
	} else if (o->type == STREAM_RR) {
		lane_add(f, o->sends, o->sends ? flow_rr_ask : flow_rr_answer);
	} else {
		if (o->receives) {
			lane_add(f, false, flow_tcp_receive);
		}
		if (o->sends) {
			lane_add(f, true, flow_tcp_send);
		}
	}
}

int flow_create(int fd, const struct stream_options *o, int index, struct flow **out, struct err *e)
{
	struct flow *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	if (f) {
		memset(f, 0, sizeof(*f));
		f->latency = o->type == STREAM_RR && o->sends ? calloc(1, sizeof(*f->latency))
							      : NULL;
	}
	if (!f || (o->type == STREAM_RR && o->sends && !f->latency)) {
		free(f);
		close(fd);
		return err_set(e, -ENOMEM, "%s: no memory for a stream", stream_role(o));
	}
	f->fd = fd;
	f->o = o;
	f->index = index;
	lanes_choose(f);
	tcp_name(fd, true, f->peer, sizeof(f->peer));
	*out = f;
	return 0;
}

static int lane_start(struct flow_lane *lane)
{
	pthread_attr_t attr;
	sigset_t all, old;
	/* Signals are for the thread that serves the requests. */
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&lane->thread, &attr, lane_main, lane);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	lane->running = r == 0;
	return r;
}

int flow_start(struct flow *f, bool senders, struct err *e)
{
	for (int i = 0; i < f->n_lanes; i++) {
		struct flow_lane *lane = &f->lane[i];
		int r = lane->sends == senders && !lane->running ? lane_start(lane) : 0;
		if (r != 0) {
			return err_set(e, -r, "%s: no thread for a stream: %s", stream_role(f->o),
				       strerror(r));
		}
	}
	return 0;
}

int flow_fd(const struct flow *f)
{
	return f->fd;
}

struct latency *flow_latency(struct flow *f)
{
	return f->latency;
}

static uint64_t value_of(const atomic_uint_least64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

void flow_count(struct flow *f, struct flow_counts *sum)
{
	for (int i = 0; i < f->n_lanes; i++) {
		const struct flow_lane *l = &f->lane[i];
		const char *note = atomic_load(&l->note);
		sum->sent += value_of(&l->sent);
		sum->received += value_of(&l->received);
		sum->packets_out += value_of(&l->packets_out);
		sum->packets_in += value_of(&l->packets_in);
		sum->offered += value_of(&l->offered);
		sum->expected += value_of(&l->highest);
		sum->bursts += value_of(&l->bursts);
		sum->told += value_of(&l->told);
		sum->late += value_of(&l->late);
		sum->zerocopy += value_of(&l->zerocopy);
		sum->zerocopy_copied += value_of(&l->zerocopy_copied);
		sum->note = note ? note : sum->note;
	}
}

void flow_mark(struct flow *f)
{
	for (int i = 0; i < f->n_lanes; i++) {
		atomic_store(&f->lane[i].mark, value_of(&f->lane[i].highest));
	}
}

bool flow_failed(const struct flow *f, char *why, size_t size)
{
	for (int i = 0; i < f->n_lanes; i++) {
		int error = atomic_load(&f->lane[i].error);
		if (error == FLOW_NO_CPU) {
			snprintf(why, size, "%s: there is no CPU %d that may be used on this host",
				 stream_role(f->o), lane_cpu(f));
			return true;
		}
		if (error) {
			snprintf(why, size, "%s: connection %s %s: %s", stream_role(f->o),
				 f->o->leads ? "to" : "from", f->peer,
				 error == FLOW_PEER_CLOSED ? "closed by the other side"
							   : strerror(error));
			return true;
		}
	}
	return false;
}

void flow_wake(struct flow *f)
{
	atomic_store(&f->state, FLOW_STOPPING);
	if (f->fd >= 0) {
		shutdown(f->fd, SHUT_RDWR);
	}
}

void flow_stop(struct flow *f)
{
	/* A reset instead of an orderly end: what is still queued must not run into the next
	 * sample. */
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	flow_wake(f);
	for (int i = 0; i < f->n_lanes; i++) {
		if (f->lane[i].running) {
			pthread_join(f->lane[i].thread, NULL);
			f->lane[i].running = false;
		}
	}
	if (f->fd >= 0) {
		setsockopt(f->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(f->fd);
		f->fd = -1;
	}
}

void flow_destroy(struct flow *f)
{
	if (f) {
		flow_stop(f);
		free(f->latency);
		free(f);
	}
}

size_t flow_memory(struct flow *f, const void **out, size_t max)
{
	size_t n = 0;
	for (int i = 0; i < f->n_lanes && n < max; i++) {
		out[n] = atomic_load(&f->lane[i].memory);
		n += out[n] != NULL;
	}
	return n;
}
