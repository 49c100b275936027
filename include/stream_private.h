/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the files of profiles/agent/stream/, bottom up: options (what was asked), tcp and udp
 * (sockets), flow (one connection and its threads), acceptor (who may connect), endpoint (all of
 * one side), host_counters (what the host says besides). serve.c puts them behind the JSON lines of
 * stream.h. Not for anyone outside that folder; flow_private.h is for the flow's own files.
 */
#ifndef TUNESWEEP_STREAM_PRIVATE_H
#define TUNESWEEP_STREAM_PRIVATE_H

#include "err.h"
#include "numa_place.h"
#include "sysfile.h"
#include <jansson.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_STREAMS_MAX    256
#define STREAM_TOKEN_MAX      64
#define STREAM_CONNECT_S      5.0
#define STREAM_STALL_S	      1.0
#define STREAM_NAME_MAX	      112
#define STREAM_CONGESTION_MAX 16

/* CLOCK_MONOTONIC in seconds. */
double stream_now(void);

/* ---- options.c: one request, checked ---- */

enum { STREAM_NOT_ASKED = -1 };

/* The socket.* tunables by their names; STREAM_NOT_ASKED where the request has none. */
struct stream_wishes {
	int64_t send_buffer, receive_buffer; /* bytes, as SO_SNDBUF takes them */
	int64_t message_size, receive_size;  /* bytes a call */
	int64_t nodelay, cork;
	int64_t notsent_lowat, receive_lowat; /* bytes */
	int64_t busy_poll;		      /* us */
	int64_t pacing_rate;		      /* bit/s */
	int64_t ring;			      /* send buffers in turn */
};

enum stream_type { STREAM_TCP, STREAM_MAERTS, STREAM_BIDIR, STREAM_UDP, STREAM_RR };
enum stream_send { SEND_PLAIN, SEND_SENDFILE, SEND_SPLICE, SEND_ZEROCOPY, SEND_GSO };

/* ---- placement.c: the numa.* tunables ---- */

struct stream_placement { /* of all threads that move bytes */
	bool asked, has_cpus;
	struct numa_policy policy;
	cpu_set_t cpus;
};

/* "numa" of a request to address; -EINVAL, or -ENODEV where this host has no such node. */
int placement_parse(const json_t *numa, const char *address, struct stream_placement *out,
		    struct err *e);
int placement_apply(const struct stream_placement *p); /* of the calling thread; an errno */
/* Share of the pages (by node) that lie on nodes without any of the CPUs (bits) on which the
 * threads were seen; NaN where it is not known, or nothing can be far. */
double placement_remote(const struct sysroot *root, const uint64_t pages[CPU_SETSIZE],
			const uint64_t cpus[2]);
/* What became of it, with the pages that hold these addresses: {"cpus", "pages", "remote"}. null
 * where nothing was asked and there is one node. */
json_t *placement_json(const struct sysroot *root, const struct stream_placement *p,
		       const void *const *memory, size_t n, const uint64_t cpus[2]);

struct stream_options {
	enum stream_type type;
	bool leads; /* the sender, by name: of a test in both directions, the connecting side */
	bool sends; /* this side sends data by itself */
	bool receives;
	bool connects; /* this side opens the connections */
	bool light;
	bool autotune; /* no buffer of light's own: the kernel's settings are what is tested */
	int streams;
	int port;
	char address[64];
	char token[STREAM_TOKEN_MAX + 1];
	struct stream_wishes asked;
	size_t send_size, receive_size; /* bytes a call, a datagram, or a request and its answer */
	int ring;
	enum stream_send send;
	bool discard; /* received bytes are not copied (MSG_TRUNC) */
	bool gro;     /* datagrams are received in bundles */
	struct stream_placement placement;
	double rate;				/* bit/s that UDP offers; 0: as fast as it goes */
	int n_cpus, cpus[STREAM_STREAMS_MAX];	/* stream i runs on cpus[i % n]; none: anywhere */
	int n_local, local[STREAM_STREAMS_MAX]; /* the connecting side's own ports; 0: any */
};

/* -EINVAL, ERR_USAGE with a sentence for what is unknown or out of range. */
int stream_options_parse(const json_t *request, bool connects, struct stream_options *out,
			 struct err *e);
const char *stream_role(const struct stream_options *o); /* "sender" or "receiver" */

/* ---- socket.c: what TCP and UDP sockets have in common ---- */

struct stream_address {
	struct sockaddr_storage addr;
	socklen_t len;
};

/* A new non-blocking socket of o's address (SOCK_STREAM or SOCK_DGRAM), with its buffers. */
int socket_open(const struct stream_options *o, int kind, struct stream_address *addr, int *out,
		struct err *e);
int socket_set(int fd, int level, int name, int value, const char *what,
	       const struct stream_options *o, struct err *e);
int socket_pacing(int fd, const struct stream_options *o, struct err *e);
/* Binds to o's address; the port that it got. Of a port that is taken: -EADDRINUSE. */
int socket_bind(int fd, const struct stream_options *o, struct stream_address *addr, int *port,
		struct err *e);
/* Binds a connecting socket to the port that stream i had before, if it is still free. */
void socket_bind_local(int fd, const struct stream_options *o, int i,
		       const struct stream_address *to);
int socket_port(int fd); /* its own; 0 if none */

/* ---- tcp.c: sockets ---- */

/* "ADDRESS port N" of a socket's far (or near) end, "?" if it has none. Returns buf. */
const char *tcp_name(int fd, bool far, char *buf, size_t size);

/* A new listening socket, non-blocking; its port. */
int tcp_listen(const struct stream_options *o, int *fd, int *port, struct err *e);

/* Stream i: a connected, blocking socket that has sent the token; deadline as stream_now. */
int tcp_connect(const struct stream_options *o, int i, double deadline, int *fd, struct err *e);

/* What may be set only on a connected socket; after the token went through. */
int tcp_prepare(int fd, const struct stream_options *o, struct err *e);

/* ---- udp.c: sockets of datagrams ---- */

#define UDP_HEADER   8 /* bytes of each datagram: its number, from 1 on, big endian */
#define UDP_SIZE_MAX 65507

int udp_listen(const struct stream_options *o, int *fd, int *port, struct err *e);

/* Waits until fd is readable, ms at the most, or until it has done something else meanwhile. */
struct udp_wait {
	void (*run)(void *arg, int fd, int ms);
	void *arg;
};

/* Stream i: a blocking socket whose token the far side has sent back. The far side may be this very
 * process: wait is where it can let the newcomer in. */
int udp_connect(const struct stream_options *o, int i, double deadline, const struct udp_wait *wait,
		int *fd, struct err *e);

/* A socket for the next newcomer at a listening one that has brought the token, answered, or -1.
 * One that sends its token twice is told apart by its name (tcp_name). */
int udp_accept(int listen_fd, const struct stream_options *o);
uint64_t udp_drops(int fd); /* datagrams that found this socket's buffer full */

struct tcp_counts { /* over several sockets: rtt is the mean, all others are sums */
	int n;
	double rtt, min_rtt;			   /* us */
	double cwnd;				   /* bytes */
	double retransmits;			   /* packets */
	double busy, rwnd_limited, sndbuf_limited; /* us */
	double delivery_rate;			   /* bytes/s */
	uint64_t acked;				   /* bytes that the far end has acknowledged */
	uint64_t moved;		 /* bytes that the far end acknowledged or that came in */
	uint64_t lost;		 /* packets that the sender holds for lost, at this moment */
	uint64_t unsent, unread; /* bytes in the sockets' queues: not yet sent, not yet read */
	uint64_t reordered;
};
void tcp_counts_add(struct tcp_counts *sum, int fd);

struct tcp_effective {
	bool known;
	int send_buffer, receive_buffer, receive_lowat; /* bytes, as the kernel reports them */
	double pacing_rate; /* bit/s that the socket may not exceed; NaN: no limit */
	char congestion_control[STREAM_CONGESTION_MAX];
};
void tcp_effective_read(int fd, struct tcp_effective *out);

/* ---- latency.c: how long things took ---- */

#define LATENCY_BUCKETS 2048

/* One thread adds, others read. Buckets grow with the value: 64 to each doubling, from 1 ns on. */
struct latency {
	_Atomic uint32_t count[LATENCY_BUCKETS];
};
void latency_add(struct latency *l, uint64_t ns);
/* Adds [[bucket, count], ...] to an array of LATENCY_BUCKETS sums. */
void latency_sum(struct latency *l, uint64_t sums[LATENCY_BUCKETS]);

/* ---- flow.c: one connection ---- */

struct flow;

struct flow_counts {			    /* sums over lanes and flows */
	uint64_t sent, received;	    /* bytes */
	uint64_t packets_out, packets_in;   /* datagrams; requests or answers of tcp_rr */
	uint64_t offered;		    /* datagrams that the kernel was asked to send */
	uint64_t expected;		    /* datagrams, by the highest number seen */
	uint64_t bursts;		    /* sleeps between groups of paced datagrams */
	uint64_t told;			    /* datagrams, by the senders' end markers */
	uint64_t late;			    /* with a number up to that of the last flow_mark */
	uint64_t zerocopy, zerocopy_copied; /* sends completed, and those copied after all */
	double cpu, waited;		    /* s of the threads: running, waiting for a CPU */
	double busiest_cpu, busiest_waited; /* s, of the one with the most of both together */
	uint64_t cpus[2];		    /* bit set of CPUs below 128 that ran a thread last */
	const char *note;		    /* a way of sending that was fallen back from */
};

/* Takes the descriptor, also on error. No thread yet. o must live as long. */
int flow_create(int fd, const struct stream_options *o, int index, struct flow **out,
		struct err *e);
/* Starts the threads that send by themselves, or those that do not. */
int flow_start(struct flow *f, bool senders, struct err *e);
int flow_fd(const struct flow *f); /* -1 after flow_stop */
void flow_count(struct flow *f, struct flow_counts *sum);
void flow_count_threads(struct flow *f, struct flow_counts *sum); /* reads /proc: slower */
size_t flow_memory(struct flow *f, const void **out, size_t max); /* of its buffers */
struct latency *flow_latency(struct flow *f);			  /* NULL if it times nothing */

/* Writes why the flow has ended by itself, if it has. */
bool flow_failed(const struct flow *f, char *why, size_t size);
/* From here on, datagrams that are numbered up to the highest seen are late ones. */
void flow_mark(struct flow *f);
/* Ends the sending in order; does not wait. */
void flow_finish(struct flow *f);
/* Waits until all has been sent and has arrived, or has come in up to the far end's end; false if
 * that was not before the deadline (as stream_now). Call flow_finish before. */
bool flow_drain(struct flow *f, double deadline);
void flow_wake(struct flow *f); /* makes the threads end; does not wait */
void flow_stop(struct flow *f); /* waits for the threads and closes the socket */
void flow_destroy(struct flow *f);

/* ---- acceptor.c: a listening socket, and the token that each newcomer must bring ---- */

#define ACCEPTOR_PENDING_MAX 16

struct acceptor {
	int listen_fd; /* -1 when it is closed */
	char token[STREAM_TOKEN_MAX + 1];
	struct {
		int fd; /* -1: free */
		size_t got;
		double since;
	} pending[ACCEPTOR_PENDING_MAX];
};

/* Takes listen_fd. */
void acceptor_init(struct acceptor *a, int listen_fd, const char *token);
size_t acceptor_poll(const struct acceptor *a, struct pollfd *p); /* at most PENDING_MAX + 1 */

/* The next connection that has brought the token (blocking, the caller's), or -1. */
int acceptor_next(struct acceptor *a);
void acceptor_close(struct acceptor *a);

/* ---- endpoint.c: one side of a test ---- */

struct endpoint;

struct endpoint_counts {
	double t;	/* s, CLOCK_MONOTONIC, of bytes */
	uint64_t bytes; /* received, of the side that only sends: sent */
	struct flow_counts flow;
	struct tcp_counts tcp;
	struct tcp_effective effective;
	uint64_t udp_drops;
	char error[256]; /* "" if all is well */
};

/* own: an endpoint of this process that listens, or NULL; it lets newcomers in while this one
 * connects, which may be to it. */
int endpoint_create(const struct stream_options *o, struct endpoint *own, struct endpoint **out,
		    int *port, struct err *e);
int endpoint_start(struct endpoint *ep, struct err *e);
void endpoint_read(struct endpoint *ep, struct endpoint_counts *out);
/* An end of the window: datagrams that were sent before it and come after it are told apart. */
void endpoint_mark(struct endpoint *ep);
/* Adds what the threads used, which takes longer. */
void endpoint_read_threads(struct endpoint *ep, struct endpoint_counts *out);
const struct stream_options *endpoint_options(const struct endpoint *ep);
json_t *endpoint_latency(struct endpoint *ep);	   /* [[bucket, count], ...]; NULL if none */
json_t *endpoint_local_ports(struct endpoint *ep); /* of the connections, in order */
json_t *endpoint_incoming_cpus(struct endpoint *ep);
const char *endpoint_device(struct endpoint *ep); /* that carries its connections, or "" */
/* Ends the sending in order, and waits until what was sent has come in, at most so long (s). A test
 * of requests has nothing to drain. finish alone does not wait. */
void endpoint_finish(struct endpoint *ep);
bool endpoint_drain(struct endpoint *ep, double limit);
/* {"cpus": "2-3", "pages": {"0": n}} of the buffers, as the kernel has them; null if nothing of
 * numa.* was asked. */
json_t *endpoint_placement(struct endpoint *ep, const uint64_t cpus[2]);
void endpoint_stop(struct endpoint *ep);
void endpoint_destroy(struct endpoint *ep);
size_t endpoint_poll(const struct endpoint *ep, struct pollfd *p);

/* Lets newcomers in; call when a descriptor of endpoint_poll is ready, or each second. */
void endpoint_accept(struct endpoint *ep);

/* ---- host_counters.c: what the host counts besides ---- */

/* The interface that has the socket's own address; false if there is none. */
bool host_device(int fd, char name[IF_NAMESIZE]);
/* Of the interface ("": none), the protocols, the queues of the CPUs: a flat object of numbers that
 * only grow, and "device". per_cpu: with what each CPU has handled, as lists: packets, and ms in
 * softirq and stolen, of CPU_METER_CPUS_MAX CPUs at the most. */
json_t *host_counters(const struct sysroot *root, const char *device, bool per_cpu);

/* ---- spin.c: time that a hypervisor takes away ---- */

struct spin {
	double least; /* s, the shortest so far; 0 at first */
	double worst; /* s, the longest since the last spin_stolen; 0: none */
	uint32_t value;
};
void spin_look(struct spin *s);
/* The share that was taken away of the worst look since the last call, with a few more now; NaN if
 * this machine's own scheduler was always in the way. */
double spin_stolen(struct spin *s);

#endif
