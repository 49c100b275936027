/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine over agents that are not there: the calls of agent.h that it makes are
 * defined here and go straight to endpoints' processes on loopback.
 */
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
};

int agent_stream(struct agent *a, json_t *request, int timeout_ms, json_t **reply, struct err *e)
{
	if (a->gone) {
		return err_set(e, -EPIPE, "host is gone");
	}
	if (a->seen) {
		json_array_append_new(a->seen, json_deep_copy(request));
	}
	int r = channel_send(&a->c, request, e);
	if (r == 0) {
		r = channel_recv(&a->c, timeout_ms, reply, e);
	}
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

static void agent_begin(struct agent *a, const char *boot_id, const struct agent *other)
{
	int fd[2];
	memset(a, 0, sizeof(*a));
	snprintf(a->info.boot_id, sizeof(a->info.boot_id), "%s", boot_id);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	a->pid = fork();
	assert_true(a->pid >= 0);
	if (a->pid == 0) {
		close(fd[0]);
		if (other) {
			close(other->c.in);
		}
		_exit(stream_serve(fd[1], -1));
	}
	close(fd[1]);
	assert_int_equal(channel_init(&a->c, fd[0], fd[0]), 0);
	a->seen = json_array();
}

static void agent_end(struct agent *a)
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

static void fixture_begin(struct fixture *f, const char *type, bool one_host, int streams)
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

static void fixture_end(struct fixture *f)
{
	engine_builtin.destroy(f->state);
	agent_end(&f->b);
	agent_end(&f->a);
}

static int run_one(struct fixture *f, const struct engine_run *run, struct sample *out,
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

static void run_well(struct fixture *f, struct sample *out)
{
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 0.3};
	if (run_one(f, &run, out, &e) != 1) {
		fail_msg("%s", e.text);
	}
	assert_true(out->ok);
	assert_true(out->m[METRIC_THROUGHPUT] > 1e6);
	near(out->m[METRIC_SECONDS], 0.3, 0.15);
	assert_true(out->m[METRIC_SERVICE_DEMAND] > 0.01 && out->m[METRIC_SERVICE_DEMAND] < 1000);
	assert_true(out->m[METRIC_CPU_SENDER] > 0 && out->m[METRIC_CPU_SENDER] <= 1.05);
	assert_true(out->warmup >= 0.3 && out->warmup < 3.5);
	assert_true(out->m[METRIC_RTT] > 0);
	assert_true(out->m[METRIC_CWND] > 0);
	assert_true(out->cpu_error >= 0 && out->cpu_error < 1);
	assert_true(out->cpu_source[0] != '\0');
	assert_true(json_array_size(json_object_get(out->detail, "intervals")) > 5);
}

static void test_two_hosts(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	fixture_begin(&f, "tcp_stream", false, 1);
	for (int i = 0; i < 2; i++) {
		run_well(&f, &s);
		near(s.m[METRIC_SERVICE_DEMAND],
		     s.m[METRIC_SERVICE_DEMAND_SENDER] + s.m[METRIC_SERVICE_DEMAND_RECEIVER], 1e-9);
		sample_clear(&s);
	}
	fixture_end(&f);
}

/* On one host its CPUs are counted once: half of what two hosts with the same CPUs would give. */
static void test_one_host(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	fixture_begin(&f, "tcp_maerts", true, 2);
	run_well(&f, &s);
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND_SENDER]));
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND_RECEIVER]));
	json_t *r = json_object_get(s.detail, "receiver");
	double expected = json_get_number(r, "cpu_busy") / json_get_number(r, "seconds") * 1e6 /
			  (s.m[METRIC_THROUGHPUT] / 8 / 1024);
	near(s.m[METRIC_SERVICE_DEMAND] / expected, 1, 0.15);
	sample_clear(&s);
	fixture_end(&f);
}

static void run_type(const char *type, struct sample *s)
{
	struct fixture f;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 0.3};
	fixture_begin(&f, type, true, 2);
	f.spec.test.background = 0.02;
	/* a sample may fail where others keep the CPUs for a second; three in a row do not */
	int rc = run_one(&f, &run, s, &e);
	for (int again = 0; again < 2 && (rc != 1 || !s->ok); again++) {
		sample_clear(s);
		rc = run_one(&f, &run, s, &e);
	}
	fixture_end(&f);
	if (rc != 1) {
		fail_msg("%s: %s", type, e.text);
	}
	assert_true(s->ok);
	assert_true(s->m[METRIC_THROUGHPUT] > 0);
	assert_true(s->m[METRIC_SERVICE_DEMAND] > 0);
	json_t *sender = json_object_get(s->detail, "sender");
	double background = json_get_number(sender, "cpu_background");
	assert_true(background >= 0 && background <= 1.05);
	assert_true(json_array_size(json_object_get(sender, "per_cpu")) > 0);
}

static void test_types(void **state)
{
	(void)state;
	struct sample s;
	run_type("tcp_bidir", &s);
	assert_true(s.m[METRIC_RETRANSMITS] >= 0);
	sample_clear(&s);
	run_type("udp_stream", &s);
	assert_true(s.m[METRIC_SENT] > 0 && s.m[METRIC_LOST] >= 0);
	assert_true(s.m[METRIC_OFFERED] > 0);
	sample_clear(&s);
	run_type("tcp_rr", &s);
	assert_true(s.m[METRIC_LATENCY_P50] > 1);
	assert_true(s.m[METRIC_LATENCY_P99] >= s.m[METRIC_LATENCY_P50]);
	assert_true(sample_metric(&s, "transactions_per_second") > 10);
	sample_clear(&s);
}

/* Samples of one path have all ports in common, and there are several paths. */
static void test_same_ports(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	double ports[6];
	fixture_begin(&f, "tcp_stream", false, 2);
	f.spec.test.no_warmup = true;
	for (int i = 0; i < 6; i++) {
		struct engine_run run = {.number = i + 1, .duration = 0.05, .path = 1 + i / 2};
		json_array_clear(f.a.seen);
		if (run_one(&f, &run, &s, &e) != 1) {
			fail_msg("%s", e.text);
		}
		ports[i] = json_get_number(json_array_get(f.a.seen, 0), "port");
		json_t *local = json_object_get(json_array_get(f.a.seen, 0), "local_ports");
		assert_int_equal(json_array_size(local), i % 2 ? 2 : 0);
		sample_clear(&s);
	}
	near(ports[1], ports[0], 0);
	near(ports[3], ports[2], 0);
	assert_true(ports[0] != ports[2] || ports[2] != ports[4]);
	fixture_end(&f);
}

static void test_one_agent(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	fixture_begin(&f, "tcp_stream", true, 1);
	engine_builtin.destroy(f.state);
	f.env.receiver = &f.a;
	assert_int_equal(engine_builtin.create(&f.env, &f.state, &e), 0);
	run_well(&f, &s);
	sample_clear(&s);
	fixture_end(&f);
}

static void test_refusals(void **state)
{
	(void)state;
	struct fixture f;
	struct err e = {0};
	void *none;
	fixture_begin(&f, "tcp_stream", false, 1);
	struct engine_env env = f.env;
	env.sender = NULL;
	assert_true(engine_builtin.create(&env, &none, &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
	snprintf(f.spec.test.type, sizeof(f.spec.test.type), "udp_maerts");
	assert_true(engine_builtin.create(&f.env, &none, &e) < 0);
	assert_non_null(strstr(e.text, "udp_maerts"));
	fixture_end(&f);
}

static void test_frozen_receiver(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 20};
	int ms;
	fixture_begin(&f, "tcp_stream", false, 1);
	assert_int_equal(engine_builtin.start(f.state, &run, &e), 0);
	kill(f.b.pid, SIGSTOP);
	int r = 0;
	for (int i = 0; i < 100 && r == 0; i++) {
		struct timespec ts = {0, 50000000};
		nanosleep(&ts, NULL);
		r = engine_builtin.poll(f.state, &s, &ms, &e);
	}
	assert_int_equal(r, -EIO);
	assert_non_null(strstr(e.text, "receiver"));
	assert_non_null(strstr(e.text, "127.0.0.1 port "));
	kill(f.b.pid, SIGCONT);
	fixture_end(&f);
}

static void test_agent_gone(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 5};
	int ms;
	fixture_begin(&f, "tcp_stream", false, 1);
	assert_int_equal(engine_builtin.start(f.state, &run, &e), 0);
	f.b.gone = true;
	struct timespec ts = {0, 60000000};
	nanosleep(&ts, NULL);
	assert_int_equal(engine_builtin.poll(f.state, &s, &ms, &e), -EHOSTDOWN);
	engine_builtin.stop(f.state);
	assert_int_equal(engine_builtin.start(f.state, &run, &e), -EHOSTDOWN);
	engine_builtin.stop(f.state);
	/* no sample is under way */
	assert_true(engine_builtin.poll(f.state, &s, &ms, &e) < 0);
	fixture_end(&f);
}

static void test_no_way_through(void **state)
{
	(void)state;
	struct fixture f;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 1};
	fixture_begin(&f, "tcp_stream", false, 1);
	engine_builtin.destroy(f.state);
	f.env.receiver_address = "198.51.100.9";
	assert_int_equal(engine_builtin.create(&f.env, &f.state, &e), 0);
	int r = engine_builtin.start(f.state, &run, &e);
	assert_true(r < 0 && r != -EHOSTDOWN && r != -ETIMEDOUT && r != -EPIPE);
	assert_non_null(strstr(e.text, "198.51.100.9"));
	engine_builtin.stop(f.state);
	fixture_end(&f);
}

/* ---- what is asked of the endpoints ---- */

static const struct tunable any_tunable = {.name = "any"};

static void dimension_set(struct dimension *d, struct spec_tunable *t, const char *name, int host)
{
	memset(d, 0, sizeof(*d));
	memset(t, 0, sizeof(*t));
	t->host = host;
	d->tunable = t;
	d->target.setting.tunable = &any_tunable;
	snprintf(d->target.setting.name, sizeof(d->target.setting.name), "%s", name);
}

static json_t *first_request(const struct agent *a)
{
	return json_array_get(a->seen, 0);
}

static void test_run_scope_values(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	struct dimension d[4];
	struct spec_tunable t[4];
	struct space space = {.n = 4, .dims = d};
	auto_free struct configuration *c = calloc(1, sizeof(*c));
	struct engine_run run = {.number = 1, .duration = 0.05, .space = &space, .config = c};
	dimension_set(&d[0], &t[0], "socket.message_size", -1);
	dimension_set(&d[1], &t[1], "socket.receive_buffer", 1);
	dimension_set(&d[2], &t[2], "socket.send_buffer", 0);
	dimension_set(&d[3], &t[3], "net.ipv4.tcp_congestion_control", 0);
	c->n = 4;
	c->v[0] = value_int(65536);
	c->v[1] = value_int(100000);
	c->v[2] = value_int(0);
	c->v[3] = value_text("cubic");
	fixture_begin(&f, "tcp_stream", false, 1);
	if (run_one(&f, &run, &s, &e) != 1) {
		fail_msg("%s", e.text);
	}
	json_t *from = json_object_get(first_request(&f.a), "socket");
	json_t *to = json_object_get(first_request(&f.b), "socket");
	assert_int_equal(json_object_size(from), 2);
	near(json_get_number(from, "message_size"), 65536, 0);
	near(json_get_number(from, "send_buffer"), 0, 0);
	assert_int_equal(json_object_size(to), 2);
	near(json_get_number(to, "receive_buffer"), 100000, 0);
	/* a fresh token for each sample */
	const char *token = json_get_text(first_request(&f.a), "token", "");
	assert_int_equal(strlen(token), 32);
	assert_string_equal(token, json_get_text(first_request(&f.b), "token", ""));
	json_t *effective = json_object_get(json_object_get(s.detail, "receiver"), "effective");
	near(json_get_number(effective, "receive_buffer"), 200000, 0);
	sample_clear(&s);
	fixture_end(&f);
}

static void test_autotune(void **state)
{
	(void)state;
	struct dimension d[2];
	struct spec_tunable t[2];
	struct space space = {.n = 2, .dims = d};
	dimension_set(&d[0], &t[0], "socket.message_size", -1);
	dimension_set(&d[1], &t[1], "net.ipv4.tcp_congestion_control", 0);
	assert_false(builtin_autotune(&space));
	assert_false(builtin_autotune(NULL));
	dimension_set(&d[1], &t[1], "net.core.wmem_max", 0);
	assert_true(builtin_autotune(&space));
	dimension_set(&d[1], &t[1], "net.ipv4.tcp_rmem", 1);
	assert_true(builtin_autotune(&space));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_hosts),	cmocka_unit_test(test_one_host),
		cmocka_unit_test(test_one_agent),	cmocka_unit_test(test_types),
		cmocka_unit_test(test_same_ports),	cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_frozen_receiver), cmocka_unit_test(test_agent_gone),
		cmocka_unit_test(test_no_way_through),	cmocka_unit_test(test_run_scope_values),
		cmocka_unit_test(test_autotune),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
