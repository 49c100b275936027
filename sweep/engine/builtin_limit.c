/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What held a sample back, in a word, with the numbers that it rests on: what the sender's TCP was
 * waiting for (tcp_chrono in the kernel), how much of the time the endpoints' threads had or wanted
 * a CPU, and what lay in the sockets' queues. "" where the numbers do not say. Pure.
 *
 * There is no word for memory or NUMA: a CPU that waits for memory is busy, as one that computes
 * is. Only counters of the processor tell the two apart, which virtual machines and most
 * distributions' settings keep from us; and that buffers lie on another node does not say that it
 * costs anything. So a full CPU is called that, and where the buffers lay is among the evidence.
 */
#include "builtin_private.h"
#include "json_util.h"
#include <math.h>

#define WAITS                                                                                      \
	0.25		 /* of the window: the sender's TCP waited for it; what a window that is   \
			  shut once a round trip gives is 0.4 */
#define FULL	    0.9	 /* of the window: a thread had or wanted a CPU */
#define SHARED	    0.75 /* the same, where some CPU is full */
#define MOSTLY	    0.65 /* the same, where the programs themselves fill it */
#define THEMSELVES  0.7	 /* of one CPU, both threads together */
#define CPU_FULL    0.95
#define IDLE	    0.75 /* below: the sender's TCP had nothing to send for a good part of the time */
#define QUEUE_HELD  0.2	 /* of the receive buffer: the program does not read what is there */
#define LOSS_LEAST  1e-4 /* retransmits a packet: fewer do not hold a stream back */
#define LOSS_MUCH   1e-3 /* so many hold it back, whatever else does a little */
#define WAITS_MORE  0.5	 /* as WAITS, beside much loss */
#define RTT_GROWN   1.2	 /* over the least: a queue stands somewhere */
#define RTT_LOSSY   1.5	 /* the same where packets are lost: waiting to send them again is jitter */
#define RTT_LOSSIER 1.8
#define RTT_FLOOR   500	 /* us; below, the queueing of one interrupt is all there is to see */
#define RTT_LATE    2000 /* the same where a CPU is full, or packets come late after a loss */
#define SOFTIRQ	    0.6	 /* of one CPU */
#define PACED	    0.88 /* of the rate that was asked: headers count in a paced one */
#define PACKET	    1448.0

struct facts {
	double busy, receive_window, send_buffer; /* shares of the window, sender's TCP */
	double sender_thread, receiver_thread;	  /* shares: running or waiting for a CPU */
	double ran;				  /* share: both threads, running */
	double unread;				  /* share of the receive buffer */
	double loss;				  /* retransmits a packet */
	double rtt, min_rtt;			  /* us */
	double busiest_sender_cpu, busiest_receiver_cpu;
	double softirq;		 /* share of the CPU that has the most of it */
	double rate, asked_rate; /* bit/s */
	double paced;		 /* bit/s that the sockets may not exceed; NaN or 0: no limit */
	double sender_remote, receiver_remote; /* share of the buffers' pages; NaN: not known */
	double pauses;			       /* frames that told the sender's interface to wait */
};

static double thread_share(const struct builtin_host *h)
{
	return (builtin_delta(h, "threads", "busiest_cpu") +
		builtin_delta(h, "threads", "busiest_waited")) /
	       builtin_seconds(h);
}

static double ran_share(const struct builtin_host *h)
{
	return builtin_delta(h, "threads", "busiest_cpu") / builtin_seconds(h);
}

static double softirq_share(const struct builtin_host *h)
{
	const json_t *a = json_object_get(json_object_get(h->first.json, "host"), "softirq_ms");
	const json_t *b = json_object_get(json_object_get(h->last.json, "host"), "softirq_ms");
	double most = 0;
	for (size_t i = 0; i < json_array_size(b); i++) {
		most = fmax(most, json_number_value(json_array_get(b, i)) -
					  json_number_value(json_array_get(a, i)));
	}
	return 1e-3 * most / builtin_seconds(h);
}

static double receive_buffer(const struct builtin_host *h)
{
	return json_get_number(json_object_get(h->last.json, "effective"), "receive_buffer");
}

static double remote_share(const struct builtin_host *h)
{
	return json_get_number(builtin_placement(h), "remote");
}

static struct facts facts_of(const struct builtin_window *w)
{
	const struct builtin_read *a = &w->sender->first, *b = &w->sender->last;
	double streams = w->test && w->test->streams > 0 ? w->test->streams : 1;
	double us = builtin_seconds(w->sender) * 1e6 * streams;
	double bytes = builtin_moved(w, w->sender);
	return (struct facts){
		.busy = (b->tcp_busy - a->tcp_busy) / us,
		.receive_window = (b->rwnd_limited - a->rwnd_limited) / us,
		.send_buffer = (b->sndbuf_limited - a->sndbuf_limited) / us,
		.sender_thread = thread_share(w->sender),
		.receiver_thread = thread_share(w->receiver),
		.ran = ran_share(w->sender) + ran_share(w->receiver),
		.unread = builtin_series_unread(w->series, w->window_start) / streams /
			  receive_buffer(w->receiver),
		.loss = (b->retransmits - a->retransmits) / (bytes / PACKET),
		.rtt = builtin_series_rtt(w->series, w->window_start),
		.min_rtt = b->min_rtt,
		.busiest_sender_cpu = builtin_cpu_busiest(w->sender),
		.busiest_receiver_cpu = builtin_cpu_busiest(w->receiver),
		.softirq = fmax(softirq_share(w->sender), softirq_share(w->receiver)),
		.rate = 8 * bytes / builtin_seconds(w->sender),
		.asked_rate = w->test ? w->test->rate : 0,
		.paced = streams *
			 json_get_number(json_object_get(w->sender->last.json, "effective"),
					 "pacing_rate"),
		.sender_remote = remote_share(w->sender),
		.receiver_remote = remote_share(w->receiver),
		.pauses = builtin_delta(w->sender, "host", "rx_pause"),
	};
}

static json_t *facts_json(const struct facts *f)
{
	const struct {
		const char *name;
		double value;
	} all[] = {
		{"sender_tcp_busy", f->busy},
		{"sender_waits_for_receive_window", f->receive_window},
		{"sender_waits_for_send_buffer", f->send_buffer},
		{"sender_thread_on_or_for_cpu", f->sender_thread},
		{"receiver_thread_on_or_for_cpu", f->receiver_thread},
		{"both_threads_on_cpu", f->ran},
		{"receive_queue_filled", f->unread},
		{"retransmits_per_packet", f->loss},
		{"rtt", f->rtt},
		{"min_rtt", f->min_rtt},
		{"busiest_cpu_sender", f->busiest_sender_cpu},
		{"busiest_cpu_receiver", f->busiest_receiver_cpu},
		{"softirq_of_one_cpu", f->softirq},
		{"pause_frames_to_sender", f->pauses},
		{"sender_memory_on_other_nodes", f->sender_remote},
		{"receiver_memory_on_other_nodes", f->receiver_remote},
	};
	json_t *o = json_object();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		json_object_set_new(o, all[i].name, json_number_or_null(all[i].value));
	}
	return o;
}

static bool is_cpu_full(const struct facts *f)
{
	return fmax(f->busiest_sender_cpu, f->busiest_receiver_cpu) > CPU_FULL;
}

static double full(const struct facts *f)
{
	if (!is_cpu_full(f) || f->loss > LOSS_MUCH) {
		return FULL;
	}
	return f->ran > THEMSELVES ? MOSTLY : SHARED;
}

static const char *by_receiver(const struct facts *f)
{
	if (f->receiver_thread > FULL) {
		return "one CPU (receiver program)";
	}
	return f->unread > QUEUE_HELD ? "receiver program" : "receive window";
}

static bool is_queueing(const struct facts *f)
{
	bool lossy = f->loss > LOSS_LEAST;
	double grown = f->loss > LOSS_MUCH ? RTT_LOSSIER : lossy ? RTT_LOSSY : RTT_GROWN;
	double floor_us = lossy || is_cpu_full(f) ? RTT_LATE : RTT_FLOOR;
	return f->rtt > grown * f->min_rtt && f->rtt > f->min_rtt + floor_us;
}

/* Neither end waits for the other: the network, or a CPU in softirq. */
static const char *by_network(const struct facts *f)
{
	if (f->loss > LOSS_LEAST) {
		return is_queueing(f) ? "link rate" : "loss";
	}
	if (is_queueing(f)) {
		return "link rate";
	}
	if (is_cpu_full(f) && f->softirq > SOFTIRQ) {
		return "one CPU (softirq)";
	}
	/* By exclusion, so only where all the rest is known. */
	bool all = isfinite(f->sender_thread) && isfinite(f->receiver_thread);
	return all && f->busy > FULL ? "congestion window" : "";
}

/* Of two that share a full CPU, the one that had or wanted it for longer; NULL if none is full. */
static const char *by_cpu(const struct facts *f)
{
	if (fmax(f->sender_thread, f->receiver_thread) > full(f)) {
		return f->receiver_thread > f->sender_thread ? "one CPU (receiver program)"
							     : "one CPU (sender program)";
	}
	return NULL;
}

static const char *tcp_limit(const struct facts *f)
{
	const char *cpu = by_cpu(f);
	if (f->paced > 0 && f->rate > PACED * f->paced) {
		return "pacing rate";
	}
	if (f->receive_window > WAITS) {
		return by_receiver(f);
	}
	if (cpu) {
		return cpu;
	}
	if (f->send_buffer > (f->loss > LOSS_MUCH ? WAITS_MORE : WAITS)) {
		return "send buffer";
	}
	if (f->busy < IDLE) {
		return "sender program";
	}
	return by_network(f);
}

static const char *udp_limit(const struct builtin_window *w, const struct facts *f)
{
	double sent = builtin_delta(w->sender, "udp", "sent");
	double expected = builtin_delta(w->receiver, "udp", "expected");
	double lost = expected - builtin_delta(w->receiver, "udp", "received");
	double at_socket = builtin_delta(w->receiver, "udp", "drops");
	if (sent > 0 && lost > 0.01 * sent) {
		if (at_socket > 0.5 * lost) {
			return f->receiver_thread > FULL ? "one CPU (receiver program)"
							 : "receiver program";
		}
		return "loss";
	}
	if (f->asked_rate > 0 && f->rate > PACED * f->asked_rate) {
		return "sender program";
	}
	return f->sender_thread > FULL ? "one CPU (sender program)" : "";
}

/* One turn after the other: what no CPU holds up is the time of a turn. */
static const char *rr_limit(const struct facts *f)
{
	const char *cpu = by_cpu(f);
	bool known = isfinite(f->sender_thread) && isfinite(f->receiver_thread);
	return cpu ? cpu : known ? "round trip" : "";
}

const char *builtin_limit(const struct builtin_window *w, json_t **evidence)
{
	struct facts f = facts_of(w);
	*evidence = facts_json(&f);
	switch (w->type) {
	case BUILTIN_UDP:
		return udp_limit(w, &f);
	case BUILTIN_RR:
		return rr_limit(&f);
	default:
		return tcp_limit(&f);
	}
}
