/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The knowledge gradient of a discrete set: expected rise of the maximum of lines a_i + b_i Z, by
 * the upper envelope of the lines, with logarithms that stay exact far out in the tails: on a flat
 * acquisition no maximiser can move. Called by acquisition.c.
 */
#include "acquisition.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#define TAIL 12.0 /* from here the asymptotic series is better than the difference */

struct line {
	double a, b;
};

static int by_slope(const void *x, const void *y)
{
	const struct line *p = x, *q = y;
	if (p->b != q->b) {
		return p->b < q->b ? -1 : 1;
	}
	return p->a < q->a ? -1 : p->a > q->a;
}

/* log of phi(c) - c Q(c) for c >= 0. */
static double log_loss(double c)
{
	double log_phi = -0.5 * c * c - 0.5 * log(2 * M_PI);
	if (c < TAIL) {
		double mills = gsl_cdf_ugaussian_Q(c) / gsl_ran_ugaussian_pdf(c);
		return log_phi + log1p(-c * mills);
	}
	double q = 1 / (c * c);
	return log_phi + log(q) + log1p(-3 * q + 15 * q * q - 105 * q * q * q);
}

/* Keeps the lines of the upper envelope; overtake[i] is where line i passes line i - 1. */
static size_t upper_envelope(struct line *l, size_t m, double *overtake)
{
	size_t n = 0;
	for (size_t i = 0; i < m; i++) {
		struct line x = l[i];
		while (n > 0) {
			const struct line *top = &l[n - 1];
			bool same = x.b - top->b <= 0;
			double z = same ? -INFINITY : (top->a - x.a) / (x.b - top->b);
			if (n > 1 ? z > overtake[n - 1] : !same) {
				overtake[n] = z;
				break;
			}
			n--;
		}
		l[n++] = x;
	}
	return n;
}

double kg_log(const double *a, const double *b, size_t m)
{
	struct line l[ACQUISITION_ANCHORS + 1];
	double overtake[ACQUISITION_ANCHORS + 2], term[ACQUISITION_ANCHORS + 1], top = -INFINITY,
										 sum = 0;
	for (size_t i = 0; i < m; i++) {
		l[i] = (struct line){a[i], b[i]};
	}
	qsort(l, m, sizeof(*l), by_slope);
	size_t n = upper_envelope(l, m, overtake);
	for (size_t i = 1; i < n; i++) {
		term[i] = log(l[i].b - l[i - 1].b) + log_loss(fabs(overtake[i]));
		top = fmax(top, term[i]);
	}
	for (size_t i = 1; i < n && isfinite(top); i++) {
		sum += exp(term[i] - top);
	}
	return isfinite(top) ? top + log(sum) : -INFINITY;
}
