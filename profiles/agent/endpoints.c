/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's side of the endpoints' child: forks it, makes it unprivileged, relays one request at
 * a time with a limit, ends it. The streams themselves are in stream/.
 */
#include "agent_private.h"
#include "cleanup.h"
#include "clock_ms.h"
#include "confine.h"
#include "host_meters.h"
#include "privilege.h"
#include "stream.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LEAVE_MS    2000
#define FIRST_METER 4

/* Descriptors 0 to 2, the socket and the meters', nothing else of the agent's. */
static void rearrange(int *sock, struct host_meters *meters)
{
	int least = FIRST_METER + host_meters_count(meters);
	int s = fcntl(*sock, F_DUPFD_CLOEXEC, least);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	host_meters_lift(meters, least);
	dup2(null, 0);
	dup2(null, 1);
	*sock = dup3(s, 3, O_CLOEXEC);
	close_range((unsigned)host_meters_renumber(meters, FIRST_METER), ~0u, 0);
}

/* Signals that the agent blocks to read them come back to their defaults: a group's Ctrl-C does
 * not reach this group, and the agent ends its child by SIGKILL. */
static void endpoints_process(int sock, struct host_meters *meters, pid_t parent)
{
	struct err e = {0};
	sigset_t none;
	sigemptyset(&none);
	prctl(PR_SET_NAME, "ts-endpoints");
	rearrange(&sock, meters);
	if (privilege_become_nobody(parent, &e) || confine(CONFINE_ENDPOINTS, &e)) {
		_exit(1);
	}
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(stream_serve(sock, meters));
}

int endpoints_start(struct endpoints *p, struct err *e)
{
	int pair[2];
	if (p->pid) {
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		return err_set(e, errno, "cannot make a socket: %s", strerror(errno));
	}
	auto_close int ours = pair[0];
	auto_close int theirs = pair[1];
	auto_free struct host_meters *meters = calloc(1, sizeof(*meters));
	if (!meters) {
		return err_set(e, -ENOMEM, "no memory for the endpoints");
	}
	host_meters_open(&(struct sysroot){.prefix = ""}, meters);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		endpoints_process(theirs, meters, parent);
	}
	host_meters_close(meters);
	if (pid < 0 || channel_init(&p->channel, ours, ours)) {
		return err_set(e, errno, "cannot start the endpoints: %s", strerror(errno));
	}
	p->pid = pid;
	(void)take_fd(ours);
	return 0;
}

static int gone(struct err *e)
{
	return err_set(e, -ESRCH, "the endpoints' process is gone");
}

/* 0 when the endpoints have something to say. */
static int await(struct endpoints *p, int64_t deadline, const int wake_fds[2], struct err *e)
{
	for (;;) {
		struct pollfd f[3] = {{.fd = p->channel.in, .events = POLLIN},
				      {.fd = wake_fds[0], .events = POLLIN},
				      {.fd = wake_fds[1], .events = POLLRDHUP}};
		int64_t left = deadline - clock_ms();
		int n = poll(f, 3, left > 0 ? (int)left : 0);
		if (n == 0) {
			return err_set(e, -ETIMEDOUT, "the endpoints do not answer in time");
		}
		if (f[0].revents) {
			return 0;
		}
		if (n > 0 && (f[1].revents || f[2].revents)) {
			return err_set(e, -EINTR, "interrupted");
		}
		if (n < 0 && errno != EINTR) {
			return err_set(e, errno, "poll: %s", strerror(errno));
		}
	}
}

/* Answers to requests that were given up before are passed over. */
static int await_reply(struct endpoints *p, int timeout_ms, const int wake_fds[2], json_t **reply,
		       struct err *e)
{
	int64_t deadline = clock_ms() + timeout_ms;
	for (;;) {
		int rc = channel_pending(&p->channel) ? 0 : await(p, deadline, wake_fds, e);
		if (rc == 0) {
			rc = channel_recv(&p->channel, 0, reply, e);
		}
		if (rc == -ETIMEDOUT && clock_ms() < deadline) {
			continue; /* half a line so far */
		}
		if (rc) {
			return rc == -EPIPE ? gone(e) : rc;
		}
		if (json_integer_value(json_object_get(*reply, "id")) == p->id) {
			return 0;
		}
		json_decref(*reply);
		*reply = NULL;
	}
}

int endpoints_ask(struct endpoints *p, json_t *request, int timeout_ms, const int wake_fds[2],
		  json_t **reply, struct err *e)
{
	*reply = NULL;
	if (!p->pid) {
		return gone(e);
	}
	json_object_set_new(request, "v", json_integer(PROTOCOL_VERSION));
	json_object_set_new(request, "id", json_integer(++p->id));
	int rc = channel_send(&p->channel, request, e);
	if (rc) {
		return rc == -EPIPE ? gone(e) : rc;
	}
	return await_reply(p, timeout_ms, wake_fds, reply, e);
}

/* End of input lets it leave; if it does not, it is killed. */
void endpoints_stop(struct endpoints *p)
{
	if (!p->pid) {
		return;
	}
	close(p->channel.in);
	int64_t end = clock_ms() + LEAVE_MS;
	while (waitpid(p->pid, NULL, WNOHANG) == 0) {
		if (clock_ms() > end) {
			kill(p->pid, SIGKILL);
			waitpid(p->pid, NULL, 0);
			break;
		}
		poll(NULL, 0, 2);
	}
	channel_clear(&p->channel);
	p->pid = 0;
}
