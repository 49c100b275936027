/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The proof: best against baseline in randomised ABBA / BAAB order. The order cancels drift, the
 * fresh pairs cancel the winner's optimism (it was chosen for being best), and the confidence
 * sequence allows a look after each pair. Called by loop.c.
 */
#include "validate.h"
#include "cleanup.h"
#include "monotonic.h"
#include <errno.h>
#include <math.h>

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

struct proof { /* one validate_run under way */
	struct trial_env *env;
	const struct configuration *config[2];
	const struct validate_options *o;
	struct gain *gain;
};

/* Measures one half into the pair; ok tells whether the sample counts. */
static int measure_half(struct proof *p, int half, struct pair *pair, bool *ok, struct err *e)
{
	struct sample s;
	struct configuration effective;
	int rc = trial_run(p->env, p->config[half], &s, &effective, e);
	if (rc == 0) {
		*ok = *ok && s.ok;
		pair->score[half] = s.m[METRIC_SCORE];
		pair->throughput[half] = s.m[METRIC_THROUGHPUT];
		pair->service_demand[half] = s.m[METRIC_SERVICE_DEMAND];
		if (p->o->seen) {
			rc = p->o->seen(p->o->ctx, half == BEST, &effective, &s, p->gain, e);
		}
	}
	sample_clear(&s);
	return rc;
}

static int measure_pair(struct proof *p, int first, struct pair *pair, bool *ok, struct err *e)
{
	*ok = true;
	int rc = measure_half(p, first, pair, ok, e);
	return rc < 0 ? rc : measure_half(p, 1 - first, pair, ok, e);
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
	int rc = 0, first = BEST;
	size_t n = 0;

	if (!pairs) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	stats_rng_seed(&rng, o->seed);
	validate_gain(pairs, 0, out);
	for (int i = 0; i < o->pairs && !out->decided && monotonic_seconds() < end; i++) {
		bool ok;
		/* The second pair of a block runs the other way round: ABBA or BAAB. */
		first = i % 2 ? 1 - first : (stats_rng_uniform(&rng) < 0.5 ? BEST : BASELINE);
		env->path = i + 1;
		rc = measure_pair(&proof, first, &pairs[n], &ok, e);
		if (rc < 0) {
			break;
		}
		n += ok;
		out->failed += !ok;
		validate_gain(pairs, n, out);
		/* A winner that often fails is none, however good it is when it works. */
		out->significant = out->significant && out->failed <= out->pairs / 3;
	}
	env->path = 0;
	return rc;
}
