/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The proof: best against baseline in randomised ABBA / BAAB order. The order cancels drift, the
 * fresh pairs cancel the winner's optimism (it was chosen for being best), and the confidence
 * sequence allows a look after each pair. Called by loop.c.
 */
#include "validate.h"
#include "cleanup.h"
#include "fleet.h"
#include "monotonic.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define NO_DIFFERENCE_PERCENT 1.0

enum { BEST, BASELINE };
enum pair_metric { PAIR_SCORE, PAIR_THROUGHPUT, PAIR_SERVICE_DEMAND };

static double half_of(const struct pair *p, enum pair_metric metric, int half)
{
	switch (metric) {
	case PAIR_THROUGHPUT:
		return p->throughput[half];
	case PAIR_SERVICE_DEMAND:
		return p->service_demand[half];
	default:
		return p->score[half];
	}
}

static double percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/* Estimate and interval of one metric over the pairs; NaN where a pair does not know it. */
static struct interval metric_gain(const struct pair *pairs, size_t n, enum pair_metric metric,
				   bool as_difference)
{
	struct interval none = {NAN, NAN, NAN, VALIDATE_LEVEL};
	auto_free double *x = calloc(n + 1, sizeof(*x));
	if (!x || n == 0) {
		return none;
	}
	for (size_t i = 0; i < n; i++) {
		double a = half_of(&pairs[i], metric, BEST),
		       b = half_of(&pairs[i], metric, BASELINE);
		x[i] = as_difference ? a - b : log(a / b);
		if (!isfinite(x[i])) {
			return none;
		}
	}
	struct interval s = stats_confidence_sequence(x, n, VALIDATE_LEVEL);
	s.estimate = stats_hodges_lehmann(x, n, VALIDATE_LEVEL).estimate;
	if (!as_difference) {
		s.estimate = percent(s.estimate);
		s.lo = percent(s.lo);
		s.hi = percent(s.hi);
	}
	return s;
}

static double half_median(const struct pair *pairs, size_t n, enum pair_metric metric, int half)
{
	auto_free double *x = calloc(n + 1, sizeof(*x));
	for (size_t i = 0; x && i < n; i++) {
		x[i] = half_of(&pairs[i], metric, half);
	}
	return x ? stats_median(x, n) : NAN;
}

/* A log ratio wants positive scores; where any is not, gains are differences. */
static bool any_not_positive(const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(pairs[i].score[BEST] > 0 && pairs[i].score[BASELINE] > 0)) {
			return true;
		}
	}
	return false;
}

void validate_gain(const struct pair *pairs, size_t n, struct gain *out)
{
	out->as_difference = any_not_positive(pairs, n);
	out->score = metric_gain(pairs, n, PAIR_SCORE, out->as_difference);
	out->throughput = metric_gain(pairs, n, PAIR_THROUGHPUT, false);
	out->service_demand = metric_gain(pairs, n, PAIR_SERVICE_DEMAND, false);
	out->significant = out->score.lo > 0 || out->score.hi < 0;
	out->decided = out->significant ||
		       (!out->as_difference && out->score.lo > -NO_DIFFERENCE_PERCENT &&
			out->score.hi < NO_DIFFERENCE_PERCENT);
	out->pairs = (int)n;
	out->score_a = half_median(pairs, n, PAIR_SCORE, BEST);
	out->score_b = half_median(pairs, n, PAIR_SCORE, BASELINE);
	out->throughput_a = half_median(pairs, n, PAIR_THROUGHPUT, BEST);
	out->throughput_b = half_median(pairs, n, PAIR_THROUGHPUT, BASELINE);
	out->sd_a = half_median(pairs, n, PAIR_SERVICE_DEMAND, BEST);
	out->sd_b = half_median(pairs, n, PAIR_SERVICE_DEMAND, BASELINE);
}

struct round { /* pairs that are measured at the same time; large */
	struct fleet_trial t[FLEET_MAX];
	struct pair pair[FLEET_MAX];
	size_t host[FLEET_MAX]; /* which pair of hosts */
	bool ok[FLEET_MAX];
};

struct proof { /* one validate_run under way */
	struct trial_env *env;
	const struct configuration *config[2];
	const struct validate_options *o;
	struct gain *gain;
};

/* One half of a pair that was measured: into the pair, and told. ok: the sample counts. */
static int take_half(struct proof *p, int half, struct fleet_trial *t, struct pair *pair, bool *ok,
		     struct err *e)
{
	struct sample *s = &t->sample;
	int rc = 0;
	*ok = *ok && s->ok;
	p->env->replayed = t->replayed;
	if (p->o->seen) {
		rc = p->o->seen(p->o->ctx, half == BEST, &t->effective, s, p->gain, e);
	}
	fleet_normalize(p->env->fleet, t->pair, s);
	pair->score[half] = s->m[METRIC_SCORE];
	pair->throughput[half] = s->m[METRIC_THROUGHPUT];
	pair->service_demand[half] = s->m[METRIC_SERVICE_DEMAND];
	return rc;
}

/* One half of n pairs, at the same time on as many pairs of hosts. */
static int measure_halves(struct proof *p, const int *first, int turn, struct round *r, size_t n,
			  struct err *e)
{
	memset(r->t, 0, sizeof(r->t));
	for (size_t i = 0; i < n; i++) {
		r->t[i].asked = p->config[turn ? 1 - first[i] : first[i]];
	}
	int rc = fleet_run(p->env, r->t, n, e);
	for (size_t i = 0; i < n; i++) {
		int half = turn ? 1 - first[i] : first[i];
		/* a pair of hosts that changes within a pair is no pair */
		r->ok[i] = r->ok[i] && (!turn || r->t[i].pair == r->host[i]);
		r->host[i] = r->t[i].pair;
		rc = rc < 0 ? rc : take_half(p, half, &r->t[i], &r->pair[i], &r->ok[i], e);
		sample_clear(&r->t[i].sample);
	}
	return rc;
}

static int measure_round(struct proof *p, const int *first, struct round *r, size_t n,
			 struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		r->ok[i] = true;
	}
	int rc = measure_halves(p, first, 0, r, n, e);
	return rc < 0 ? rc : measure_halves(p, first, 1, r, n, e);
}

int validate_run(struct trial_env *env, const struct configuration *best,
		 const struct configuration *baseline, const struct validate_options *o,
		 struct gain *out, struct err *e)
{
	*out = (struct gain){0};
	struct proof proof = {env, {best, baseline}, o, out};
	struct stats_rng rng;
	double end = monotonic_seconds() + o->time;
	auto_free struct pair *pairs = calloc((size_t)o->pairs + 1, sizeof(*pairs));
	auto_free struct round *round = calloc(1, sizeof(*round));
	int rc = 0, first[FLEET_MAX], last = BEST;
	size_t n = 0;

	if (!pairs || !round) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	stats_rng_seed(&rng, o->seed);
	validate_gain(pairs, 0, out);
	for (int i = 0; i < o->pairs && !out->decided && monotonic_seconds() < end;) {
		size_t width = fleet_width(env->fleet), left = (size_t)(o->pairs - i);
		width = width < left ? width : left;
		env->path = i + 1;
		for (size_t k = 0; k < width; k++, i++) {
			/* The second pair of a block runs the other way round: ABBA or BAAB. */
			last = i % 2 ? 1 - last : (stats_rng_uniform(&rng) < 0.5 ? BEST : BASELINE);
			first[k] = last;
		}
		rc = measure_round(&proof, first, round, width, e);
		if (rc < 0) {
			break;
		}
		for (size_t k = 0; k < width; k++) {
			pairs[n] = round->pair[k];
			n += round->ok[k];
			out->failed += !round->ok[k];
		}
		validate_gain(pairs, n, out);
		/* A winner that often fails is none, however good it is when it works. */
		out->significant = out->significant && out->failed <= out->pairs / 3;
	}
	env->path = 0;
	return rc;
}
