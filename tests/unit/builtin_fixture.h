/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the tests of the built-in engine: agents that are not there (the calls of agent.h that the
 * engine makes are defined here and go straight to endpoints' processes on loopback), and one whole
 * sample over them.
 */
#ifndef TUNESWEEP_BUILTIN_FIXTURE_H
#define TUNESWEEP_BUILTIN_FIXTURE_H

#include "builtin_private.h"
#include "cleanup.h"
#include "json_util.h"
#include "protocol.h"
#include "stream.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#define near(a, b, eps)                                                                            \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (eps))) {                                                   \
			fail_msg(#a " is %.9g, not %.9g", a_, b_);                                 \
		}                                                                                  \
	} while (0)

extern const struct engine_ops engine_builtin;

struct agent {
	struct agent_info info;
	pid_t pid;
	struct channel c;
	bool gone;
	json_t *seen; /* the requests so far */
	int lines;    /* that carried them */
};

int agent_stream_send(struct agent *a, json_t *request, int timeout_ms, struct err *e)
{
	size_t i;
	json_t *one, *all = json_object_get(request, "requests");
	(void)timeout_ms;
	if (a->gone) {
		return err_set(e, -EPIPE, "host is gone");
	}
	json_array_foreach(all, i, one)
	{
		json_array_append_new(a->seen, json_deep_copy(one));
	}
	if (!all) {
		json_array_append_new(a->seen, json_deep_copy(request));
	}
	a->lines++;
	return channel_send(&a->c, request, e);
}

int agent_stream_take(struct agent *a, int timeout_ms, json_t **reply, struct err *e)
{
	int r = channel_recv(&a->c, timeout_ms, reply, e);
	return r < 0 ? r : protocol_result(*reply, e);
}

const struct agent_info *agent_info(const struct agent *a)
{
	return &a->info;
}

int agent_ping(struct agent *a, struct err *e)
{
	return a->gone ? err_set(e, -EPIPE, "gone") : 0;
}

static inline void agent_begin(struct agent *a, const char *boot_id, const struct agent *other)
{
	int fd[2];
	memset(a, 0, sizeof(*a));
	snprintf(a->info.boot_id, sizeof(a->info.boot_id), "%s", boot_id);
	a->info.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	a->pid = fork();
	assert_true(a->pid >= 0);
	if (a->pid == 0) {
		close(fd[0]);
		if (other) {
			close(other->c.in);
		}
		_exit(stream_serve(fd[1], NULL));
	}
	close(fd[1]);
	assert_int_equal(channel_init(&a->c, fd[0], fd[0]), 0);
	a->seen = json_array();
}

static inline void agent_end(struct agent *a)
{
	int status;
	close(a->c.in);
	channel_clear(&a->c);
	json_decref(a->seen);
	assert_int_equal(waitpid(a->pid, &status, 0), a->pid);
}

struct fixture {
	struct spec spec;
	struct agent a, b;
	struct engine_env env;
	void *state;
};

static inline void fixture_begin(struct fixture *f, const char *type, bool one_host, int streams)
{
	struct err e = {0};
	memset(f, 0, sizeof(*f));
	agent_begin(&f->a, "boot-a", NULL);
	agent_begin(&f->b, one_host ? "boot-a" : "boot-b", &f->a);
	f->spec.test = (struct spec_test){.from = 0, .to = 1, .streams = streams};
	snprintf(f->spec.test.type, sizeof(f->spec.test.type), "%s", type);
	f->env = (struct engine_env){.spec = &f->spec,
				     .sender = &f->a,
				     .receiver = &f->b,
				     .receiver_address = "127.0.0.1"};
	if (engine_builtin.create(&f->env, &f->state, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static inline void fixture_end(struct fixture *f)
{
	engine_builtin.destroy(f->state);
	agent_end(&f->b);
	agent_end(&f->a);
}

static inline int run_one(struct fixture *f, const struct engine_run *run, struct sample *out,
			  struct err *e)
{
	int ms, polls = 0;
	sample_init(out);
	int r = engine_builtin.start(f->state, run, e);
	while (r == 0) {
		r = engine_builtin.poll(f->state, out, &ms, e);
		if (r == 0) {
			struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
			assert_true(ms > 0 && ms <= 1000);
			assert_true(++polls < 1000);
			nanosleep(&ts, NULL);
		}
	}
	engine_builtin.stop(f->state);
	return r;
}

#endif
