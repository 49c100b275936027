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

/* What is under way is waited for at the end, so that all that was sent is counted. */
#define DRAIN_MIN_S 0.05
#define DRAIN_MAX_S 0.25

/* So long before its end a window's last reads are asked for: the hosts wait for the instant by
 * their own clocks, so that no message's way makes the window longer than was asked. */
#define LEAD_S	   0.02
#define LEAD_MAX_S 0.5

/* Between two looks at what the hosts count besides: at least, and so many in a window at most. */
#define COUNTERS_S   0.25
#define COUNTERS_MAX 40

enum phase { IDLE, REST, WARMUP, WINDOW };

struct builtin {
	struct engine_env env;
	struct builtin_pair pair;
	bool one_host;
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

static void pair_init(struct builtin_pair *p, const struct engine_env *env, bool reverse,
		      bool one_host)
{
	const struct spec_test *test = &env->spec->test;
	host_init(&p->host[BUILTIN_FROM], env->sender, test->from, "connect", !reverse);
	host_init(&p->host[BUILTIN_TO], env->receiver, test->to, "listen", reverse);
	p->sender = &p->host[reverse ? BUILTIN_TO : BUILTIN_FROM];
	p->receiver = &p->host[reverse ? BUILTIN_FROM : BUILTIN_TO];
	p->one_process = env->sender == env->receiver;
	p->test = (struct builtin_test){.test = test,
					.address = env->receiver_address,
					.autotune = builtin_autotune(env->space),
					.one_host = one_host};
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
	b->one_host = is_one_host(env->sender, env->receiver);
	pair_init(&b->pair, env, reverse, b->one_host);
	b->pair.series = &b->series;
	b->type = (enum builtin_type)type;
	*state = b;
	return 0;
}

/* Samples of one path have their addresses and ports in common, so that both arms of a comparison
 * take the same queues and CPUs: a few fixed ones in turn. A port that is gone is another one. */
static struct builtin_path *path_of(struct builtin *b, const struct engine_run *run)
{
	int number = run->path > 0 ? run->path : (run->number + 1) / 2;
	return &b->path[number % BUILTIN_PATHS];
}

static int listen_on(struct builtin *b, const struct builtin_path *path,
		     const struct engine_run *run, struct err *e)
{
	struct builtin_test *t = &b->pair.test;
	t->port = t->test->port > 0 ? t->test->port : path->port;
	int r = builtin_pair_listen(&b->pair, run, e);
	if (r < 0 && r != -EHOSTDOWN && t->test->port == 0 && t->port > 0) {
		t->port = 0;
		r = builtin_pair_listen(&b->pair, run, e);
	}
	return r;
}

/* When a window's last reads are asked for. */
static double last_call(const struct builtin *b)
{
	return b->window_from + b->duration - fmin(LEAD_S + b->pair.trip, LEAD_MAX_S);
}

/* run: it is to connect, too. Without a warm-up the window begins with the test. */
static int test_begin(struct builtin *b, const struct engine_run *run, struct err *e)
{
	bool at_once = b->pair.test.test->no_warmup;
	b->window_start = 0;
	b->series.n = 0; /* of the hosts at rest */
	for (int i = 0; i < BUILTIN_HOSTS; i++) {
		builtin_counters_clear(&b->pair.host[i].counters);
	}
	int r = builtin_pair_begin(&b->pair, run, at_once, e);
	b->started = b->window_from = monotonic_seconds();
	b->due = fmin(b->started + BUILTIN_INTERVAL_S, at_once ? last_call(b) : INFINITY);
	b->phase = at_once ? WINDOW : WARMUP;
	return r;
}

static int rest_begin(struct builtin *b, const struct engine_run *run, double rest, struct err *e)
{
	int r = builtin_pair_connect(&b->pair, run, e);
	r = r < 0 ? r : builtin_pair_read(&b->pair, true, true, e);
	b->phase = REST;
	b->due = monotonic_seconds() + rest;
	return r;
}

static int builtin_begin(void *state, const struct engine_run *run, struct err *e)
{
	struct builtin *b = state;
	struct builtin_test *t = &b->pair.test;
	struct builtin_path *path = path_of(b, run);
	builtin_pair_clear(&b->pair);
	b->steady = false;
	b->pair.trip = 0;
	b->pair.counters_every = fmax(COUNTERS_S, run->duration / COUNTERS_MAX);
	b->duration = run->duration;
	b->stop_below = run->stop_below;
	int r = builtin_token(t->token, e);
	r = r < 0 ? r : listen_on(b, path, run, e);
	if (r == 0) {
		path->port = t->port;
		t->local_ports = path->local_ports;
		r = t->test->background > 0 ? rest_begin(b, run, t->test->background, e)
					    : test_begin(b, run, e);
		path->local_ports = t->local_ports;
		t->local_ports = NULL;
	}
	b->phase = r == 0 ? b->phase : IDLE;
	return r;
}

static int rest_poll(struct builtin *b, struct err *e)
{
	int r = builtin_pair_read(&b->pair, false, true, e);
	for (int i = 0; r == 0 && i < BUILTIN_HOSTS; i++) {
		b->pair.host[i].background = builtin_cpu_of(&b->pair.host[i]).fraction;
	}
	return r < 0 ? r : test_begin(b, NULL, e);
}

static double warmup_limit(const struct builtin *b)
{
	double rtt = b->pair.sender->last.rtt;
	return fmin(fmax(BUILTIN_WARMUP_S, isfinite(rtt) ? 8e-6 * rtt : 0), BUILTIN_WARMUP_MAX_S);
}

static int warmup_poll(struct builtin *b, struct err *e)
{
	int r = builtin_pair_read(&b->pair, false, false, e);
	if (r < 0) {
		return r;
	}
	b->steady = builtin_series_steady(&b->series);
	if (!b->steady && monotonic_seconds() - b->started < warmup_limit(b)) {
		return 0;
	}
	b->window_start = b->series.n;
	r = builtin_pair_read(&b->pair, true, true, e);
	b->window_from = monotonic_seconds();
	b->phase = WINDOW;
	return r;
}

/* early: at once, or else when the window is as long as was asked. */
static int window_end(struct builtin *b, bool early, struct sample *out, struct err *e)
{
	struct builtin_window w = {
		.test = b->pair.test.test,
		.at = &b->pair.test,
		.type = b->type,
		.sender = b->pair.sender,
		.receiver = b->pair.receiver,
		.one_host = b->one_host,
		.one_process = b->pair.one_process,
		.series = &b->series,
		.window_start = b->window_start,
		.warmup = b->window_from - b->started,
		.steady = b->steady,
	};
	double drain = fmin(fmax(b->duration / 4, DRAIN_MIN_S), DRAIN_MAX_S);
	int r = builtin_pair_end(&b->pair, early ? 0 : b->duration, drain, e);
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
	if (monotonic_seconds() >= last_call(b) - 0.0005) {
		return window_end(b, false, out, e);
	}
	int r = builtin_pair_read(&b->pair, false, false, e);
	bool worse = b->stop_below > 0 && r == 0 &&
		     builtin_series_below(&b->series, b->window_start, b->stop_below);
	return worse ? window_end(b, true, out, e) : r;
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
	if (b->phase == WINDOW && last_call(b) < b->due + interval / 3) {
		b->due = last_call(b);
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
	builtin_pair_stop(&b->pair);
	b->phase = IDLE;
}

static void builtin_destroy(void *state)
{
	struct builtin *b = state;
	if (b) {
		builtin_end(b);
		builtin_pair_clear(&b->pair);
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
