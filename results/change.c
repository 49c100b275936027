/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The change-point test. Knows no kernel and no store. Called by the timeline for each series.
 */
#include "change.h"
#include "cleanup.h"
#include "stats.h"
#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* Simulated series a segment: the smallest p that matters is 5 % shared among some series. */
enum { ROUNDS_MAX = 4000, ROUNDS_MIN = 1000, VALUES = 4000000 };

/* Published numbers have three or four digits: values that repeat exactly are not exact. */
#define FLOOR 1e-4

static const double normal_mad = 0.674489750196082; /* median of |x|, x standard normal */

struct scratch {
	double *differences, *simulated;
};

static double spread_of(const double *x, size_t n, double *differences)
{
	if (n < 2) {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		differences[i - 1] = fabs(x[i] - x[i - 1]);
	}
	gsl_sort(differences, 1, n - 1);
	return gsl_stats_median_from_sorted_data(differences, 1, n - 1) / (normal_mad * M_SQRT2);
}

double change_spread(const double *x, size_t n)
{
	auto_free double *work = malloc((n + 1) * sizeof(*work));
	return work ? spread_of(x, n, work) : NAN;
}

/* The largest step of a segment in units of its standard error, over the boundaries between
 * groups. at: the index that begins the second part; 0 if there is no boundary. */
static double largest_step(const double *x, const size_t *group, size_t n, double spread,
			   size_t *at)
{
	double total = 0, left = 0, best = 0;
	*at = 0;
	for (size_t i = 0; i < n; i++) {
		total += x[i];
	}
	for (size_t i = 1; i < n; i++) {
		left += x[i - 1];
		if (group[i] == group[i - 1]) {
			continue;
		}
		double a = (double)i, b = (double)(n - i);
		double step = fabs(left / a - (total - left) / b) / sqrt(1 / a + 1 / b);
		if (step > best || *at == 0) {
			best = step;
			*at = i;
		}
	}
	return best / spread;
}

/* How often chance alone makes a step as large; stops when it is clear that it is too often. */
static double chance(const size_t *group, size_t n, double step, double alpha, struct scratch *s)
{
	struct stats_rng rng;
	size_t rounds = VALUES / n, as_large = 0, i;
	rounds = rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds;
	stats_rng_seed(&rng, n); /* the same series, the same verdict */
	for (i = 1; i <= rounds; i++) {
		size_t at;
		for (size_t j = 0; j < n; j++) {
			s->simulated[j] = stats_rng_normal(&rng);
		}
		double spread = spread_of(s->simulated, n, s->differences);
		as_large += largest_step(s->simulated, group, n, spread, &at) >= step;
		if ((double)as_large > alpha * (double)(rounds + 1)) {
			break;
		}
	}
	i = i > rounds ? rounds : i;
	return (double)(as_large + 1) / (double)(i + 1);
}

/* The boundary of the segment's change, and its p; 0 if there is none. */
static size_t test_segment(const double *x, const size_t *group, size_t n, double alpha, double *p,
			   struct scratch *s)
{
	size_t at;
	double spread = fmax(spread_of(x, n, s->differences), FLOOR);
	double step = largest_step(x, group, n, spread, &at);
	if (at == 0 || !(step > 1)) {
		return 0;
	}
	*p = chance(group, n, step, alpha, s);
	return *p <= alpha ? at : 0;
}

struct part {
	size_t from, length;
	double alpha;
};

/* Parts that are still to be tested are on a stack. Each half of what was split is tested with half
 * of its alpha, so that those at any one moment add up to no more than the whole's. */
static void segment(const double *level, const size_t *group, size_t n, double alpha,
		    struct change *out, struct part *stack, struct scratch *s)
{
	size_t depth = 0;
	stack[depth++] = (struct part){0, n, alpha};
	while (depth > 0) {
		struct part t = stack[--depth];
		double p;
		size_t at = test_segment(level + t.from, group + t.from, t.length, t.alpha, &p, s);
		if (at > 0) {
			out[group[t.from + at]] = (struct change){true, p};
			stack[depth++] = (struct part){t.from, at, t.alpha / 2};
			stack[depth++] = (struct part){t.from + at, t.length - at, t.alpha / 2};
		}
	}
}

int change_find(const double *level, const size_t *group, size_t n, double alpha,
		struct change *out)
{
	auto_free double *differences = malloc((n + 1) * sizeof(*differences));
	auto_free double *simulated = malloc((n + 1) * sizeof(*simulated));
	auto_free struct part *stack = malloc((n + 2) * sizeof(*stack));
	if (!differences || !simulated || !stack) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		out[group[i]] = (struct change){false, NAN};
	}
	if (n > 1) {
		struct scratch s = {differences, simulated};
		segment(level, group, n, alpha, out, stack, &s);
	}
	return 0;
}
