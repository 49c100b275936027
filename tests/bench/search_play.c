/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of one method over one bench world, as a sweep would do it: the kernel's defaults first,
 * then ask, measure, tell; after each test the true regret of what would be recommended then.
 */
#include "monotonic.h"
#include "search_bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX   16
#define LOOK_ALWAYS 60 /* tests after each of which the recommendation is looked at, ... */
#define LOOK_EVERY  5  /* then after every fifth: it costs a model */

struct bench_entry {
	double x[SEARCH_DIMS_MAX], sum;
	int n;
};

struct bench_tally {
	size_t d, n, room;
	struct bench_entry *items;
};

struct bench_tally *bench_tally_create(size_t d)
{
	struct bench_tally *t = calloc(1, sizeof(*t));
	if (t) {
		t->d = d;
	}
	return t;
}

void bench_tally_destroy(struct bench_tally *t)
{
	if (t) {
		free(t->items);
		free(t);
	}
}

void bench_tally_add(struct bench_tally *t, const double *x, double y, bool ok)
{
	size_t i = 0;
	while (i < t->n && memcmp(t->items[i].x, x, t->d * sizeof(double)) != 0) {
		i++;
	}
	if (!ok) {
		return;
	}
	if (i == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->items = realloc(t->items, t->room * sizeof(*t->items));
		if (!t->items) {
			abort();
		}
	}
	if (i == t->n) {
		t->items[t->n++] = (struct bench_entry){0};
		memcpy(t->items[i].x, x, t->d * sizeof(double));
	}
	t->items[i].sum += y;
	t->items[i].n++;
}

const double *bench_tally_best(const struct bench_tally *t)
{
	const struct bench_entry *best = NULL;
	for (size_t i = 0; i < t->n; i++) {
		const struct bench_entry *x = &t->items[i];
		if (!best || x->sum / x->n > best->sum / best->n) {
			best = x;
		}
	}
	return best ? best->x : NULL;
}

struct play {
	struct bench_world *w;
	struct bench_run *run;
	struct search *search;
	struct bench_tally *tally;
	int done;
};

static void measure(struct play *p, const double *x)
{
	bool ok;
	double recommended[SEARCH_DIMS_MAX], mean, sd;
	double y = bench_measure(p->w, x, &ok);
	bench_tally_add(p->tally, x, y, ok);
	search_tell(p->search, x, y, ok);
	int n = p->done++;
	if (n >= LOOK_ALWAYS && p->done % LOOK_EVERY != 0) {
		p->run->regret[n] = p->run->regret[n - 1];
		return;
	}
	bool own = search_recommend(p->search, recommended, &mean, &sd) == 1;
	p->run->regret[n] = bench_regret(p->w, own ? recommended : bench_tally_best(p->tally));
}

/* One batch; 0: the search has nothing more to ask. */
static int step(struct play *p, struct err *e)
{
	double x[BATCH_MAX][SEARCH_DIMS_MAX], before = monotonic_seconds();
	int most = p->run->batch > 1 ? p->run->batch : 1, n = 0, rc = 1;
	while (n < most && n < BATCH_MAX && rc == 1) {
		rc = n == 0 ? search_ask(p->search, x[n], e) : search_ask_more(p->search, x[n], e);
		n += rc == 1;
	}
	double took = monotonic_seconds() - before;
	p->run->step_sum += took;
	p->run->step_worst = fmax(p->run->step_worst, took);
	for (int i = 0; i < n && p->done < p->run->budget; i++) {
		measure(p, x[i]);
	}
	return rc < 0 ? rc : n > 0;
}

static void tell_earlier_night(struct play *p)
{
	for (size_t i = 0; i < p->run->n_warm; i++) {
		struct search_observation o = {
			.x = p->run->warm_x + i * p->w->problem.n,
			.y = p->run->warm_y[i],
			.failed = !isfinite(p->run->warm_y[i]),
			.group = 1,
			.earlier = true,
			.when = (double)i,
		};
		search_learn(p->search, &o);
	}
}

static void start_point(const struct search_problem *p, double *x)
{
	for (size_t j = 0; j < p->n; j++) {
		int levels = p->dims[j].levels;
		x[j] = p->dims[j].start;
		if (levels) {
			int k = (int)(x[j] * levels);
			x[j] = ((k < levels ? k : levels - 1) + 0.5) / levels;
		}
	}
}

int bench_play(struct bench_world *w, const char *algorithm, struct bench_run *run, struct err *e)
{
	struct play p = {.w = w, .run = run};
	double x[SEARCH_DIMS_MAX];
	w->problem.whole_budget = true;
	int rc = search_create(algorithm, &w->problem, &p.search, e);
	if (rc < 0) {
		return rc;
	}
	p.tally = bench_tally_create(w->problem.n);
	tell_earlier_night(&p);
	start_point(&w->problem, x);
	measure(&p, x);
	do {
		rc = step(&p, e);
	} while (rc == 1 && p.done < run->budget);
	for (; p.done < run->budget; p.done++) { /* it ended early: the last advice stands */
		run->regret[p.done] = run->regret[p.done - 1];
	}
	search_destroy(p.search);
	bench_tally_destroy(p.tally);
	return rc < 0 ? rc : 0;
}
