/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine: a sample of a stream, of datagrams or of requests between the agents'
 * endpoints. Opens, measures the hosts at rest if that is wanted, starts, waits for the steady
 * state, marks both ends of one window on both hosts, stops. It moves no bytes itself (the
 * endpoints do) and sets nothing but the sockets' run-scope values.
 */
#include "builtin_private.h"
#include "monotonic.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum phase { IDLE, REST, WARMUP, WINDOW };

struct builtin {
	struct engine_env env;
	struct builtin_host host[BUILTIN_HOSTS];
	struct builtin_host *sender, *receiver; /* of the data */
	bool one_host;
	struct builtin_test test;
	struct builtin_path path[BUILTIN_PATHS];
	enum builtin_type type;
	enum phase phase;
	double duration, started, window_from, due; /* s, this machine's clock */
	double stop_below;			    /* bit/s; 0: never */
	size_t window_start;
	bool steady;
	struct builtin_series series;
};

static void host_init(struct builtin_host *h, struct agent *agent, int index, const char *side,
		      bool sends)
{
	*h = (struct builtin_host){.agent = agent,
				   .index = index,
				   .side = side,
				   .role = sends ? "sender" : "receiver",
				   .background = NAN};
}

static bool is_one_host(const struct agent *a, const struct agent *b)
{
	const struct agent_info *x = agent_info(a), *y = agent_info(b);
	return a == b || (x->boot_id[0] && strcmp(x->boot_id, y->boot_id) == 0);
}

/* The enum builtin_type of a name, or -1. */
static int type_find(const char *name)
{
	static const struct {
		const char *name;
		enum builtin_type type;
	} types[] = {{"tcp_stream", BUILTIN_STREAM},
		     {"tcp_maerts", BUILTIN_STREAM},
		     {"tcp_bidir", BUILTIN_BIDIR},
		     {"udp_stream", BUILTIN_UDP},
		     {"tcp_rr", BUILTIN_RR}};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(name, types[i].name) == 0) {
			return (int)types[i].type;
		}
	}
	return -1;
}

static int builtin_create(const struct engine_env *env, void **state, struct err *e)
{
	const struct spec_test *test = &env->spec->test;
	bool reverse = strcmp(test->type, "tcp_maerts") == 0;
	int type = type_find(test->type);
	if (type < 0) {
		return err_usage(e, "the built-in engine has no test type %s", test->type);
	}
	if (!env->sender || !env->receiver || !env->receiver_address) {
		return err_usage(e, "the built-in engine wants two hosts: test.from and test.to");
	}
	struct builtin *b = calloc(1, sizeof(*b));
	if (!b) {
		return err_set(e, -ENOMEM, "builtin: no memory");
	}
	b->env = *env;
	host_init(&b->host[BUILTIN_FROM], env->sender, test->from, "connect", !reverse);
	host_init(&b->host[BUILTIN_TO], env->receiver, test->to, "listen", reverse);
	b->sender = &b->host[reverse ? BUILTIN_TO : BUILTIN_FROM];
	b->receiver = &b->host[reverse ? BUILTIN_FROM : BUILTIN_TO];
	b->one_host = is_one_host(env->sender, env->receiver);
	b->test = (struct builtin_test){.test = test,
					.address = env->receiver_address,
					.autotune = builtin_autotune(env->space),
					.one_host = b->one_host};
	b->type = (enum builtin_type)type;
	*state = b;
	return 0;
}

static void reads_clear(struct builtin *b)
{
	for (int i = 0; i < BUILTIN_HOSTS; i++) {
		builtin_read_clear(&b->host[i].first);
		builtin_read_clear(&b->host[i].last);
	}
}

/* Reads both hosts into first or last; with cpu, such a pair of reads is an end of the window. */
static int read_both(struct builtin *b, bool first, bool cpu, struct err *e)
{
	struct builtin_read *s = first ? &b->sender->first : &b->sender->last;
	struct builtin_read *r = first ? &b->receiver->first : &b->receiver->last;
	int rc = builtin_read_host(b->sender, &b->test, cpu, s, e);
	if (rc == 0) {
		rc = builtin_read_host(b->receiver, &b->test, cpu, r, e);
	}
	if (rc == 0) {
		builtin_series_add(&b->series, s, r);
	}
	return rc;
}

/* Samples of one path have their addresses and ports in common, so that both arms of a comparison
 * take the same queues and CPUs: a few fixed ones in turn. A port that is gone is another one. */
static int open_both(struct builtin *b, const struct engine_run *run, struct err *e)
{
	int number = run->path > 0 ? run->path : (run->number + 1) / 2;
	struct builtin_path *path = &b->path[number % BUILTIN_PATHS];
	struct builtin_test *t = &b->test;
	t->port = t->test->port > 0 ? t->test->port : path->port;
	t->local_ports = path->local_ports;
	path->local_ports = NULL;
	int r = builtin_open(&b->host[BUILTIN_TO], t, run, e);
	if (r < 0 && r != -EHOSTDOWN && t->test->port == 0 && t->port > 0) {
		t->port = 0;
		r = builtin_open(&b->host[BUILTIN_TO], t, run, e);
	}
	if (r == 0) {
		path->port = t->port;
		r = builtin_open(&b->host[BUILTIN_FROM], t, run, e);
	}
	path->local_ports = t->local_ports;
	t->local_ports = NULL;
	return r;
}

/* The data's receiver first: it is to be ready, and where it listens it waits for all. */
static int start_both(struct builtin *b, struct err *e)
{
	int r = builtin_start(b->receiver, &b->test, e);
	r = r < 0 ? r : builtin_start(b->sender, &b->test, e);
	/* Without a warm-up the window's own first read follows at once. */
	if (r == 0 && !b->test.test->no_warmup) {
		r = read_both(b, false, false, e);
	}
	b->started = monotonic_seconds();
	b->due = b->started + BUILTIN_INTERVAL_S;
	b->phase = WARMUP;
	return r;
}

static int window_begin(struct builtin *b, struct err *e)
{
	b->window_start = b->series.n;
	int r = read_both(b, true, true, e);
	b->window_from = monotonic_seconds();
	b->phase = WINDOW;
	return r;
}

static int test_begin(struct builtin *b, struct err *e)
{
	int r = start_both(b, e);
	return r == 0 && b->test.test->no_warmup ? window_begin(b, e) : r;
}

static int builtin_begin(void *state, const struct engine_run *run, struct err *e)
{
	struct builtin *b = state;
	double rest = b->test.test->background;
	reads_clear(b);
	b->series.n = 0;
	b->steady = false;
	b->duration = run->duration;
	b->stop_below = run->stop_below;
	int r = builtin_token(b->test.token, e);
	r = r < 0 ? r : open_both(b, run, e);
	if (r == 0 && rest > 0) {
		r = read_both(b, true, true, e);
		b->phase = REST;
		b->due = monotonic_seconds() + rest;
	} else if (r == 0) {
		r = test_begin(b, e);
	}
	b->phase = r == 0 ? b->phase : IDLE;
	return r;
}

static int rest_poll(struct builtin *b, struct err *e)
{
	int r = read_both(b, false, true, e);
	for (int i = 0; r == 0 && i < BUILTIN_HOSTS; i++) {
		b->host[i].background = builtin_cpu_of(&b->host[i]).fraction;
	}
	b->series.n = 0;
	return r < 0 ? r : test_begin(b, e);
}

static double warmup_limit(const struct builtin *b)
{
	double rtt = isfinite(b->sender->last.rtt) ? b->sender->last.rtt * 1e-6 : 0;
	return fmin(fmax(BUILTIN_WARMUP_S, 8 * rtt), BUILTIN_WARMUP_MAX_S);
}

static int warmup_poll(struct builtin *b, struct err *e)
{
	int r = read_both(b, false, false, e);
	if (r < 0) {
		return r;
	}
	b->steady = builtin_series_steady(&b->series);
	if (!b->steady && monotonic_seconds() - b->started < warmup_limit(b)) {
		return 0;
	}
	return window_begin(b, e);
}

static int window_end(struct builtin *b, struct sample *out, struct err *e)
{
	struct builtin_window w = {
		.test = b->test.test,
		.type = b->type,
		.sender = b->sender,
		.receiver = b->receiver,
		.one_host = b->one_host,
		.one_process = b->env.sender == b->env.receiver,
		.series = &b->series,
		.window_start = b->window_start,
		.warmup = b->window_from - b->started,
		.steady = b->steady,
	};
	int r = read_both(b, false, true, e);
	if (r == 0) {
		r = builtin_result(&w, out, e);
	}
	b->phase = IDLE;
	return r < 0 ? r : 1;
}

static int phase_poll(struct builtin *b, struct sample *out, struct err *e)
{
	if (b->phase == REST) {
		return rest_poll(b, e);
	}
	if (b->phase == WARMUP) {
		return warmup_poll(b, e);
	}
	if (monotonic_seconds() >= b->window_from + b->duration - 0.0005) {
		return window_end(b, out, e);
	}
	int r = read_both(b, false, false, e);
	bool worse = b->stop_below > 0 && r == 0 &&
		     builtin_series_below(&b->series, b->window_start, b->stop_below);
	return worse ? window_end(b, out, e) : r;
}

/* Until the next read; a long window is read less often, so that its series stays short. */
static int next_ms(struct builtin *b)
{
	double now = monotonic_seconds();
	double interval = BUILTIN_INTERVAL_S;
	if (b->phase == WINDOW) {
		interval = fmax(interval, b->duration / 200);
	}
	b->due = now + interval;
	if (b->phase == WINDOW) {
		b->due = fmin(b->due, b->window_from + b->duration);
	}
	return (int)fmax(1, ceil((b->due - now) * 1000));
}

static int builtin_poll(void *state, struct sample *out, int *poll_ms, struct err *e)
{
	struct builtin *b = state;
	double early = b->due - monotonic_seconds();
	if (b->phase == IDLE) {
		return err_set(e, -EINVAL, "builtin: no sample is under way");
	}
	if (early > 0.001) {
		*poll_ms = (int)ceil(early * 1000);
		return 0;
	}
	int r = phase_poll(b, out, e);
	if (r == 0) {
		*poll_ms = next_ms(b);
	}
	return r;
}

static void builtin_end(void *state)
{
	struct builtin *b = state;
	builtin_stop(b->sender);
	builtin_stop(b->receiver);
	b->phase = IDLE;
}

static void builtin_destroy(void *state)
{
	struct builtin *b = state;
	if (b) {
		builtin_end(b);
		reads_clear(b);
		for (int i = 0; i < BUILTIN_PATHS; i++) {
			json_decref(b->path[i].local_ports);
		}
		free(b);
	}
}

const struct engine_ops engine_builtin = {
	.name = "builtin",
	.help = "streams, datagrams and requests between the agents",
	.create = builtin_create,
	.start = builtin_begin,
	.poll = builtin_poll,
	.stop = builtin_end,
	.destroy = builtin_destroy,
};
