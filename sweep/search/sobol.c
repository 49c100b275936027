/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points that fill the cube evenly whatever is told: a Sobol sequence (GSL: up to 40 dimensions;
 * above, its reverse Halton sequence), shifted by the seed (Cranley and Patterson 1976), and plain
 * random points. Cells that are measured already are left out.
 */
#include "search_private.h"

#include "cleanup.h"
#include "stats.h"
#include <errno.h>
#include <gsl/gsl_qrng.h>
#include <math.h>
#include <string.h>

#define SOBOL_DIMS_MAX 40
#define MISSES_MAX     4096 /* points in known cells, one after the other, before it is over */

struct fill {
	struct search_problem p;
	struct search_memory memory;
	gsl_qrng *sequence; /* NULL: random */
	double shift[SEARCH_DIMS_MAX], next[SEARCH_DIMS_MAX];
	struct stats_rng rng;
	bool outstanding;
};

static void fill_destroy(void *state)
{
	struct fill *f = state;
	if (f->sequence) {
		gsl_qrng_free(f->sequence);
	}
	search_forget(&f->memory);
	free(f);
}

static int fill_create(const struct search_problem *p, bool sequence, void **state, struct err *e)
{
	struct fill *f = calloc(1, sizeof(*f));
	if (!f) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	f->p = *p;
	stats_rng_seed(&f->rng, p->seed);
	for (size_t i = 0; i < p->n; i++) {
		f->shift[i] = stats_rng_uniform(&f->rng);
	}
	if (sequence) {
		f->sequence = gsl_qrng_alloc(p->n <= SOBOL_DIMS_MAX ? gsl_qrng_sobol
								    : gsl_qrng_reversehalton,
					     (unsigned)p->n);
		if (!f->sequence) {
			fill_destroy(f);
			return err_set(e, -ENOMEM, "out of memory for the search");
		}
	}
	*state = f;
	return 0;
}

static int sobol_create(const struct search_problem *p, const char *algorithm, void **state,
			struct err *e)
{
	(void)algorithm;
	return fill_create(p, true, state, e);
}

static int random_create(const struct search_problem *p, const char *algorithm, void **state,
			 struct err *e)
{
	(void)algorithm;
	return fill_create(p, false, state, e);
}

static void draw(struct fill *f)
{
	if (f->sequence) {
		gsl_qrng_get(f->sequence, f->next);
		for (size_t i = 0; i < f->p.n; i++) {
			f->next[i] = fmod(f->next[i] + f->shift[i], 1);
		}
	} else {
		for (size_t i = 0; i < f->p.n; i++) {
			f->next[i] = stats_rng_uniform(&f->rng);
		}
	}
	search_snap(&f->p, f->next);
}

static int fill_ask(void *state, double *x, struct err *e)
{
	struct fill *f = state;
	struct search_told known;
	(void)e;
	for (int misses = 0; !f->outstanding; misses++) {
		if (misses == MISSES_MAX) {
			return 0;
		}
		draw(f);
		if (!search_recall(&f->memory, &f->p, f->next, &known)) {
			f->outstanding = true;
		}
	}
	memcpy(x, f->next, f->p.n * sizeof(*x));
	return 1;
}

static void fill_tell(void *state, const double *x, double y, bool failed)
{
	struct fill *f = state;
	(void)failed;
	f->outstanding = false;
	search_remember(&f->memory, &f->p, x, y);
}

const struct search_ops search_sobol = {
	.name = "sobol",
	.help = "points that fill the space evenly, whatever is measured",
	.create = sobol_create,
	.ask = fill_ask,
	.tell = fill_tell,
	.destroy = fill_destroy,
};

const struct search_ops search_random = {
	.name = "random",
	.help = "points drawn at random, to compare other searches with",
	.create = random_create,
	.ask = fill_ask,
	.tell = fill_tell,
	.destroy = fill_destroy,
};
