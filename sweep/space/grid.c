/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The distinct values of one numeric dimension: evenly spaced, or log-spaced at 1/16 octave, since
 * steps finer than the noise only keep a search from measuring the same thing twice. The ends are
 * always exact. Called by space.c (to make) and space/codec.c (to look up).
 */
#include "space.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define PER_OCTAVE    16
#define LINEAR_LEVELS (1 << 20) /* a wider range of integers gets a coarser natural step */

static double snap(const struct dimension *d, double v)
{
	double step = d->step > 0 ? d->step : 1;
	v = d->lo + round((v - d->lo) / step) * step;
	return fmin(fmax(v, d->lo), d->hi);
}

static int log_grid(struct dimension *d, struct err *e)
{
	double octaves = log2(d->hi / d->lo);
	size_t intervals = (size_t)fmax(1, ceil(PER_OCTAVE * octaves - 1e-9));
	d->grid = calloc(intervals + 1, sizeof(*d->grid));
	if (!d->grid) {
		return err_set(e, -ENOMEM, "out of memory for the space");
	}
	d->grid[0] = d->lo;
	d->levels = 1;
	for (size_t k = 1; k <= intervals; k++) {
		double v = k == intervals
				   ? d->hi
				   : snap(d, d->lo * exp2(octaves * (double)k / (double)intervals));
		if (v > d->grid[d->levels - 1]) {
			d->grid[d->levels++] = v;
		}
	}
	return 0;
}

int dimension_make_grid(struct dimension *d, struct err *e)
{
	free(d->grid);
	d->grid = NULL;
	double width = d->hi - d->lo;
	if (width <= 0) {
		d->levels = 1;
		return 0;
	}
	if (d->log && (d->integer || d->step > 0)) {
		return log_grid(d, e);
	}
	if (d->step <= 0 && !d->integer) {
		d->levels = 0;
		return 0;
	}
	if (d->step <= 0) {
		d->step = ceil(width / LINEAR_LEVELS);
	}
	/* the small slack forgives a quotient such as 0.3 / 0.1 */
	d->levels = (size_t)floor(width / d->step + 1e-9) + 1;
	if (d->lo + (double)(d->levels - 1) * d->step < d->hi - 1e-9 * width) {
		d->levels++; /* the upper end is a value, whatever the step */
	}
	return 0;
}

double dimension_value(const struct dimension *d, size_t k)
{
	if (k + 1 >= d->levels) {
		return d->levels > 1 ? d->hi : d->lo;
	}
	return d->grid ? d->grid[k] : d->lo + (double)k * d->step;
}

static double distance(const struct dimension *d, double a, double b)
{
	return d->log && a > 0 && b > 0 ? fabs(log(a / b)) : fabs(a - b);
}

/* Last index whose value is not above v. */
static size_t grid_below(const struct dimension *d, double v)
{
	size_t lo = 0, hi = d->levels - 1;
	while (lo < hi) {
		size_t middle = (lo + hi + 1) / 2;
		if (d->grid[middle] <= v) {
			lo = middle;
		} else {
			hi = middle - 1;
		}
	}
	return lo;
}

size_t dimension_nearest(const struct dimension *d, double v)
{
	if (d->levels < 2 || !(v > d->lo)) {
		return 0;
	}
	if (v >= d->hi) {
		return d->levels - 1;
	}
	size_t k = d->grid ? grid_below(d, v) : (size_t)((v - d->lo) / d->step);
	k = k > d->levels - 2 ? d->levels - 2 : k;
	double below = distance(d, v, dimension_value(d, k));
	return distance(d, v, dimension_value(d, k + 1)) < below ? k + 1 : k;
}
