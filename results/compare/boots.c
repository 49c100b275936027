/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The comparison where both sides have several boots: the boot is what varies most, so it is the
 * unit. Called by compare.c.
 */
#include "cleanup.h"
#include "compare_private.h"
#include "intern.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

struct level { /* of one boot: sum of logarithms, each relative to its configuration */
	double sum;
	size_t n;
};

/* Mean logarithm of a cell over both sides: configurations differ more than boots do. */
static double cell_mean(const struct observations *const side[2], const struct compare_cell *c,
			enum compare_metric m)
{
	double mean[2] = {0, 0};
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < c->n[s]; i++) {
			mean[s] += log(compare_value(&side[s]->item[c->sample[s][i]], m)) /
				   (double)c->n[s];
		}
	}
	return (mean[0] + mean[1]) / 2;
}

static void add_cell(const struct observations *o, const struct compare_cell *c, int side,
		     enum compare_metric m, double mean, struct intern *boots, struct level *level)
{
	char boot[512];
	for (size_t i = 0; i < c->n[side]; i++) {
		const struct observation *x = &o->item[c->sample[side][i]];
		observation_label(o->set[x->set].labels, "boot", boot, sizeof(boot));
		size_t at = intern_text(boots, boot);
		if (at != SIZE_MAX) {
			level[at].sum += log(compare_value(x, m)) - mean;
			level[at].n++;
		}
	}
}

/* Mean and variance of the mean of the boots' levels. */
static size_t summarise(const struct level *level, size_t n, double *mean, double *variance)
{
	auto_free double *x = malloc((n + 1) * sizeof(*x));
	size_t known = 0;
	for (size_t i = 0; x && i < n; i++) {
		if (level[i].n) {
			x[known++] = level[i].sum / (double)level[i].n;
		}
	}
	*mean = stats_mean(x, known);
	double sd = stats_sd(x, known);
	*variance = sd * sd / (double)known;
	return known;
}

struct interval compare_by_boots(const struct observations *const side[2],
				 const struct compare_pairing *p, enum compare_metric m,
				 double level)
{
	struct interval r = {NAN, -INFINITY, INFINITY, level};
	double mean[2], variance[2];
	size_t n[2];
	for (int s = 0; s < 2; s++) {
		struct intern boots = {0};
		auto_free struct level *x = calloc(side[s]->n_sets + 1, sizeof(*x));
		for (size_t i = 0; x && i < p->n; i++) {
			const struct compare_cell *c = &p->cell[i];
			if (c->n[0] && c->n[1]) {
				add_cell(side[s], c, s, m, cell_mean(side, c, m), &boots, x);
			}
		}
		n[s] = x ? summarise(x, boots.n, &mean[s], &variance[s]) : 0;
		intern_clear(&boots);
	}
	double sum = variance[0] + variance[1];
	if (n[0] < 2 || n[1] < 2 || !isfinite(sum)) {
		return r;
	}
	double freedom = sum * sum /
			 (variance[0] * variance[0] / (double)(n[0] - 1) +
			  variance[1] * variance[1] / (double)(n[1] - 1));
	double half = sum > 0 ? gsl_cdf_tdist_Pinv((1 + level) / 2, freedom) * sqrt(sum) : 0;
	r.estimate = mean[1] - mean[0];
	r.lo = r.estimate - half;
	r.hi = r.estimate + half;
	return r;
}
