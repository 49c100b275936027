/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the files of profiles/agent/stream/, bottom up: options (what was asked), tcp (sockets),
 * flow (one connection and its thread), acceptor (who may connect), endpoint (all of one side).
 * serve.c puts them behind the JSON lines of stream.h. Not for anyone outside that folder.
 */
#ifndef TUNESWEEP_STREAM_PRIVATE_H
#define TUNESWEEP_STREAM_PRIVATE_H

#include "err.h"
#include <jansson.h>
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

struct stream_options {
	bool sends;    /* this side sends the data */
	bool connects; /* this side opens the connections */
	bool light;
	bool autotune; /* no buffer of light's own: the kernel's settings are what is tested */
	int streams;
	int port;
	char address[64];
	char token[STREAM_TOKEN_MAX + 1];
	struct stream_wishes asked;
	size_t call_size; /* of this side's send or receive calls */
	int ring;
};

/* -EINVAL, ERR_USAGE with a sentence for what is unknown or out of range. */
int stream_options_parse(const json_t *request, bool connects, struct stream_options *out,
			 struct err *e);
const char *stream_role(const struct stream_options *o); /* "sender" or "receiver" */

/* ---- tcp.c: sockets ---- */

struct stream_address {
	struct sockaddr_storage addr;
	socklen_t len;
};

/* "ADDRESS port N" of a socket's far (or near) end, "?" if it has none. Returns buf. */
const char *tcp_name(int fd, bool far, char *buf, size_t size);

/* A new listening socket, non-blocking; its port. */
int tcp_listen(const struct stream_options *o, int *fd, int *port, struct err *e);

/* A connected, blocking socket that has sent the token; deadline as stream_now. */
int tcp_connect(const struct stream_options *o, double deadline, int *fd, struct err *e);

/* What may be set only on a connected socket; after the token went through. */
int tcp_prepare(int fd, const struct stream_options *o, struct err *e);

struct tcp_counts { /* over several sockets: rtt is the mean, all others are sums */
	int n;
	double rtt;				   /* us */
	double cwnd;				   /* bytes */
	double retransmits;			   /* packets */
	double busy, rwnd_limited, sndbuf_limited; /* us */
	double delivery_rate;			   /* bytes/s */
	uint64_t acked;				   /* bytes that the far end has acknowledged */
	uint64_t moved; /* bytes that the far end acknowledged or that came in */
};
void tcp_counts_add(struct tcp_counts *sum, int fd);

struct tcp_effective {
	bool known;
	int send_buffer, receive_buffer, receive_lowat; /* bytes, as the kernel reports them */
	char congestion_control[STREAM_CONGESTION_MAX];
};
void tcp_effective_read(int fd, struct tcp_effective *out);

/* ---- flow.c: one connection ---- */

struct flow;

/* Takes the descriptor, also on error. No thread yet. */
int flow_create(int fd, const struct stream_options *o, struct flow **out, struct err *e);
int flow_start(struct flow *f, struct err *e);
int flow_fd(const struct flow *f); /* -1 after flow_stop */
uint64_t flow_bytes(const struct flow *f);

/* Writes why the flow has ended by itself, if it has. */
bool flow_failed(const struct flow *f, char *why, size_t size);
void flow_wake(struct flow *f); /* makes the thread end; does not wait */
void flow_stop(struct flow *f); /* waits for the thread and closes the socket */
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
	double t; /* s, CLOCK_MONOTONIC, of bytes */
	uint64_t bytes;
	struct tcp_counts tcp;
	struct tcp_effective effective;
	char error[256]; /* "" if all is well */
};

int endpoint_create(const struct stream_options *o, struct endpoint **out, int *port,
		    struct err *e);
int endpoint_start(struct endpoint *ep, struct err *e);
void endpoint_read(struct endpoint *ep, struct endpoint_counts *out);
void endpoint_stop(struct endpoint *ep);
void endpoint_destroy(struct endpoint *ep);
size_t endpoint_poll(const struct endpoint *ep, struct pollfd *p);

/* Lets newcomers in; call when a descriptor of endpoint_poll is ready, or each second. */
void endpoint_accept(struct endpoint *ep);

#endif
