/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The winner under other tests. The samples are shown nowhere else and kept in no store: they are
 * of other tests than the run's. Called by loop.c.
 */
#include "panel.h"
#include "cleanup.h"
#include "monotonic.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS	      6 /* the fewest that bound an interval at 95 % */
#define DURATION_MOST 2.0
#define AROUND	      1.5 /* s of a sample besides its duration */
#define SMALL_MESSAGE 512
#define LEVEL	      0.95

enum { WINNER, BASELINE };

struct ratios { /* of one test */
	double throughput[PAIRS], service_demand[PAIRS], latency[PAIRS];
};

const char *panel_name(enum panel_kind k)
{
	static const char *const names[] = {
		[PANEL_STREAMS_1] = "1 stream",	       [PANEL_STREAMS_4] = "4 streams",
		[PANEL_STREAMS_16] = "16 streams",     [PANEL_SMALL_MESSAGES] = "small messages",
		[PANEL_REVERSE] = "reverse direction", [PANEL_REQUESTS] = "request and response",
	};
	return names[k];
}

static bool is_tcp_stream(const struct spec_test *t)
{
	return strcmp(t->type, "tcp_stream") == 0 || strcmp(t->type, "tcp_maerts") == 0;
}

/* False: that is the run's own test, or none that can be made of it. */
static bool set_streams(struct spec_test *t, int streams)
{
	bool other = t->streams != streams;
	t->streams = streams;
	return other && is_tcp_stream(t);
}

static bool set_small(struct spec_test *t)
{
	for (size_t i = 0; i < t->n_fixed; i++) {
		if (strcmp(t->fixed[i].name, "message_size") == 0) {
			return false; /* the user's own choice */
		}
	}
	if (t->n_fixed == SPEC_FIXED_MAX || !is_tcp_stream(t)) {
		return false;
	}
	struct spec_fixed *f = &t->fixed[t->n_fixed++];
	*f = (struct spec_fixed){.end = -1, .value = SMALL_MESSAGE};
	strcpy(f->name, "message_size");
	return true;
}

static bool make_variant(struct spec *s, enum panel_kind k)
{
	struct spec_test *t = &s->test;
	bool reversed = strcmp(t->type, "tcp_maerts") == 0,
	     requests = strcmp(t->type, "tcp_rr") == 0;
	t->duration = fmin(t->duration, DURATION_MOST);
	objective_init(&s->objective);
	s->objective.is_default = false;
	strcpy(s->objective.numerator, k == PANEL_REQUESTS ? "latency_p99" : "throughput");
	s->objective.denominator[0] = '\0';
	s->objective.minimize = k == PANEL_REQUESTS;
	switch (k) {
	case PANEL_STREAMS_1:
		return set_streams(t, 1);
	case PANEL_STREAMS_4:
		return set_streams(t, 4);
	case PANEL_STREAMS_16:
		return set_streams(t, 16);
	case PANEL_SMALL_MESSAGES:
		return set_small(t);
	case PANEL_REVERSE:
		strcpy(t->type, reversed ? "tcp_stream" : "tcp_maerts");
		return !requests && strncmp(t->type, "udp", 3) != 0;
	default:
		strcpy(t->type, "tcp_rr");
		t->send[0] = '\0';
		t->streams = 1;
		return !requests;
	}
}

/* Small messages are the test's, also where the size of messages is a setting of the space. */
static struct configuration with_small(const struct space *s, const struct configuration *c,
				       enum panel_kind k)
{
	struct configuration out = *c;
	for (size_t i = 0; i < s->n && k == PANEL_SMALL_MESSAGES; i++) {
		if (strcmp(s->dims[i].target.setting.name, "socket.message_size") == 0) {
			out.v[i] = value_int(SMALL_MESSAGE);
		}
	}
	return out;
}

static double ratio(const struct sample s[2], enum metric m)
{
	return log(s[WINNER].m[m] / s[BASELINE].m[m]);
}

static int measure_pair(struct trial_env *env, const struct configuration c[2], bool turned,
			struct ratios *r, int *n, struct err *e)
{
	struct sample s[2];
	struct configuration effective;
	sample_init(&s[0]);
	sample_init(&s[1]);
	int rc = trial_run(env, &c[turned], &s[turned], &effective, e);
	rc = rc < 0 ? rc : trial_run(env, &c[!turned], &s[!turned], &effective, e);
	if (rc == 0 && s[0].ok && s[1].ok) {
		r->throughput[*n] = ratio(s, METRIC_THROUGHPUT);
		r->service_demand[*n] = ratio(s, METRIC_SERVICE_DEMAND);
		r->latency[*n] = ratio(s, METRIC_LATENCY_P99);
		++*n;
	}
	sample_clear(&s[0]);
	sample_clear(&s[1]);
	return rc;
}

static struct interval in_percent(const double *log_ratios, int n)
{
	struct interval i = stats_hodges_lehmann(log_ratios, (size_t)n, LEVEL);
	if (!isfinite(i.estimate)) {
		return (struct interval){NAN, NAN, NAN, LEVEL};
	}
	i.estimate = 100 * expm1(i.estimate);
	i.lo = 100 * expm1(i.lo);
	i.hi = 100 * expm1(i.hi);
	return i;
}

static void judge(const struct ratios *r, int n, bool requests, struct panel_item *out)
{
	out->pairs = n;
	out->throughput = in_percent(r->throughput, n);
	out->service_demand = in_percent(r->service_demand, n);
	out->latency_p99 = in_percent(r->latency, n);
	out->worse = (!requests && out->throughput.hi < 0) || out->service_demand.lo > 0 ||
		     (requests && out->latency_p99.lo > 0);
}

static int run_one(struct trial_env *env, const struct configuration c[2], enum panel_kind k,
		   struct stats_rng *rng, struct panel_item *out, struct err *e)
{
	struct ratios r;
	bool turned = false;
	int n = 0, rc = 0;
	for (int i = 0; rc == 0 && i < PAIRS; i++) {
		turned = i % 2 ? !turned : stats_rng_uniform(rng) < 0.5;
		env->path = i + 1;
		rc = measure_pair(env, c, turned, &r, &n, e);
	}
	if (n > 0) {
		judge(&r, n, k == PANEL_REQUESTS, out);
	}
	return rc;
}

/* A test that cannot be made here (an engine's refusal) is one that is not measured. */
static int run_variant(const struct trial_env *env, const struct configuration *winner,
		       const struct configuration *baseline, const struct panel_options *o,
		       enum panel_kind k, struct panel_item *out, struct err *e)
{
	auto_free struct spec *variant = malloc(sizeof(*variant));
	struct trial_env here = *env;
	struct stats_rng rng;
	if (!variant) {
		return err_set(e, -ENOMEM, "out of memory for the panel");
	}
	*variant = *env->spec; /* what it points at stays the run's */
	if (!make_variant(variant, k) ||
	    monotonic_seconds() + 2 * PAIRS * (variant->test.duration + AROUND) > o->end ||
	    o->engine(o->ctx, variant, &here.engine_state, e) < 0) {
		return 0;
	}
	struct configuration c[2] = {with_small(env->space, winner, k),
				     with_small(env->space, baseline, k)};
	here.spec = variant;
	here.replay = NULL; /* the store has no such samples */
	stats_rng_seed(&rng, o->seed + (uint64_t)k);
	int rc = run_one(&here, c, k, &rng, out, e);
	here.engine->destroy(here.engine_state);
	return rc;
}

int panel_run(const struct trial_env *env, const struct configuration *winner,
	      const struct configuration *baseline, const struct panel_options *o,
	      struct panel *out, struct err *e)
{
	int rc = 0;
	*out = (struct panel){0};
	for (int k = 0; rc == 0 && k < PANEL_KINDS; k++) {
		rc = run_variant(env, winner, baseline, o, (enum panel_kind)k, &out->item[k], e);
	}
	return rc;
}
