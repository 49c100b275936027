/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decision of the check command. Measures nothing, keeps nothing.
 */
#include "verdict.h"
#include "cleanup.h"
#include "stats.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { KNOWN_FREEDOM = 10, FEWEST_FREEDOM = 2, PATHS = 400, BOOTS_MAX = 400 };

/* Wald's bounds of the log likelihood ratio, regression against none. */
static double upper_bound(void)
{
	return log((1 - VERDICT_MISSED) / VERDICT_FALSE_ALARM);
}

static double lower_bound(void)
{
	return log(VERDICT_MISSED / (1 - VERDICT_FALSE_ALARM));
}

/* Of a mean difference d with variance v: N(-delta, v) against N(0, v). */
static double log_ratio(double d, double v, double delta)
{
	return (-d * delta - delta * delta / 2) / v;
}

static double variance_of(const struct verdict_side *s, double n, double sd)
{
	return (sd * sd + s->within * s->within) / n;
}

struct outlook { /* what further boots would bring */
	const struct verdict_input *in;
	double sd, delta, difference;
};

/* Boots until the decision on one simulated path, from where things stand, if the truth is shift.
 */
static double boots_on_path(const struct outlook *o, double shift, struct stats_rng *rng)
{
	const struct verdict_input *in = o->in;
	double n = (double)in->here.n, sum = o->difference * n;
	double fixed = variance_of(&in->reference, (double)in->reference.n, o->sd);
	double one = sqrt(variance_of(&in->here, 1, o->sd));
	for (int more = 1; more <= BOOTS_MAX; more++) {
		sum += shift + one * stats_rng_normal(rng);
		double v = fixed + variance_of(&in->here, n + more, o->sd);
		double ratio = log_ratio(sum / (n + more), v, o->delta);
		if (ratio >= upper_bound() || ratio <= lower_bound()) {
			return more;
		}
	}
	return INFINITY;
}

/* The median over paths, under whichever truth is likelier now. */
static double boots_wanted(const struct outlook *o, double ratio)
{
	struct stats_rng rng;
	double more[PATHS], shift = ratio > 0 ? -o->delta : 0;
	stats_rng_seed(&rng, 1);
	for (int i = 0; i < PATHS; i++) {
		more[i] = boots_on_path(o, shift, &rng);
	}
	gsl_sort(more, 1, PATHS);
	return more[PATHS / 2];
}

static struct verdict_result sequential(const struct verdict_input *in, struct verdict_result r)
{
	double d = log1p(r.percent / 100), delta = -log1p(-in->threshold);
	double v = variance_of(&in->reference, (double)in->reference.n, r.sd) +
		   variance_of(&in->here, (double)in->here.n, r.sd);
	double ratio = log_ratio(d, v, delta);
	if (ratio >= upper_bound()) {
		r.verdict = VERDICT_REGRESSION;
	} else if (ratio <= lower_bound()) {
		r.verdict = VERDICT_GOOD;
	} else {
		struct outlook o = {in, r.sd, delta, d};
		r.more = boots_wanted(&o, ratio);
	}
	return r;
}

/* Looks at the two one-sided intervals; each look has its share of the error rates. */
static struct verdict_result by_t(const struct verdict_input *in, double freedom,
				  struct verdict_result r)
{
	double d = log1p(r.percent / 100), delta = -log1p(-in->threshold);
	double looks = in->looks ? (double)in->looks : 1;
	double error = sqrt(variance_of(&in->reference, (double)in->reference.n, r.sd) +
			    variance_of(&in->here, (double)in->here.n, r.sd));
	double high = d + error * gsl_cdf_tdist_Pinv(1 - VERDICT_FALSE_ALARM / looks, freedom);
	double low = d - error * gsl_cdf_tdist_Pinv(1 - VERDICT_MISSED / looks, freedom);
	if (high < 0 && d < -delta / 2) {
		r.verdict = VERDICT_REGRESSION;
	} else if (low > -delta && d > -delta / 2) {
		r.verdict = VERDICT_GOOD;
	} else {
		struct outlook o = {in, r.sd, delta, d};
		r.more = boots_wanted(&o, d < -delta / 2 ? 1 : -1);
	}
	return r;
}

double verdict_level_sd(const struct verdict_input *in, double *freedom)
{
	double squares = 0;
	if (isfinite(in->boot_sd) && in->boot_sd > 0 && in->boot_freedom >= KNOWN_FREEDOM) {
		*freedom = in->boot_freedom;
		return in->boot_sd;
	}
	*freedom = 0;
	if (isfinite(in->boot_sd) && in->boot_freedom > 0) {
		squares = in->boot_sd * in->boot_sd * in->boot_freedom;
		*freedom = in->boot_freedom;
	}
	const struct verdict_side *sides[] = {&in->reference, &in->here};
	for (int i = 0; i < 2; i++) {
		double sd = stats_sd(sides[i]->boot, sides[i]->n);
		if (sides[i]->n > 1) {
			squares += sd * sd * (double)(sides[i]->n - 1);
			*freedom += (double)(sides[i]->n - 1);
		}
	}
	return *freedom > 0 ? sqrt(squares / *freedom) : NAN;
}

struct verdict_result verdict_by_boots(const struct verdict_input *in)
{
	struct verdict_result r = {VERDICT_CANNOT_TELL, NAN, NAN, NAN};
	if (!in->reference.n || !in->here.n) {
		return r;
	}
	double d = stats_mean(in->here.boot, in->here.n) -
		   stats_mean(in->reference.boot, in->reference.n);
	r.percent = 100 * expm1(d);
	if (isfinite(in->boot_sd) && in->boot_sd > 0 && in->boot_freedom >= KNOWN_FREEDOM) {
		r.sd = in->boot_sd;
		return sequential(in, r);
	}
	double freedom;
	r.sd = verdict_level_sd(in, &freedom);
	return freedom >= FEWEST_FREEDOM && r.sd > 0 ? by_t(in, freedom, r) : r;
}

/* For a difference of two means with both error rates, normal values: samples a side. */
static double samples_wanted(const double *a, size_t n, const double *b, size_t m, double delta)
{
	double z = gsl_cdf_ugaussian_Pinv(1 - VERDICT_FALSE_ALARM) +
		   gsl_cdf_ugaussian_Pinv(1 - VERDICT_MISSED);
	double sd = fmax(n > 1 ? stats_sd(a, n) : 0, m > 1 ? stats_sd(b, m) : 0);
	double wanted = ceil(2 * (z * sd / delta) * (z * sd / delta));
	/* The rank test needs a few, however quiet they are. */
	return fmax(wanted, 6);
}

struct verdict_result verdict_by_samples(const double *reference, size_t n_reference,
					 const double *here, size_t n_here, double threshold)
{
	struct verdict_result r = {VERDICT_CANNOT_TELL, NAN, NAN, NAN};
	double delta = -log1p(-threshold);
	struct interval alarm = stats_shift(reference, n_reference, here, n_here,
					    1 - 2 * VERDICT_FALSE_ALARM);
	struct interval missed = stats_shift(reference, n_reference, here, n_here,
					     1 - 2 * VERDICT_MISSED);
	r.percent = 100 * expm1(alarm.estimate);
	if (alarm.hi < 0 && alarm.estimate < -delta / 2) {
		r.verdict = VERDICT_REGRESSION;
	} else if (missed.lo > -delta && missed.estimate > -delta / 2) {
		r.verdict = VERDICT_GOOD;
	} else {
		double wanted = samples_wanted(reference, n_reference, here, n_here, delta);
		r.more = n_reference < 4 ? INFINITY : fmax(wanted - (double)n_here, 1);
	}
	return r;
}
