/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every derivative-free algorithm of NLopt, turned from callbacks into ask and tell: nlopt_optimize
 * runs in a thread of its own, and its objective function hands the point over and waits for the
 * value. The two never run at the same time. Facts that shape this (NLopt 2.7.1): NaN and infinity
 * hang or mislead some algorithms, some run past maxeval, nlopt_srand is thread-local, and after
 * rounding they ask for the same cell again and again, which is answered from memory here.
 */
#include "search_private.h"

#include "cleanup.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <nlopt.h>
#include <pthread.h>
#include <string.h>

#define KNOWN_MAX     2000 /* answers from memory in a row: the algorithm has run itself stuck */
#define CALLS_PER_ASK 200  /* callbacks in all, for each measurement of the budget */
#define CALLS_LEAST   20000
#define TIME_MAX      (30 * 86400.0) /* s; the loop's clock is what counts */
#define TOLERANCE     2e-3	     /* of the cube's side: finer than any noise */

enum phase { PHASE_THINKING, PHASE_ASKING, PHASE_ANSWERED, PHASE_DONE };

struct bridge {
	struct search_problem p;
	nlopt_algorithm algorithm;
	size_t n_free;
	size_t free_dims[SEARCH_DIMS_MAX]; /* dimensions with more than one value */
	/* all below is guarded by lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum phase phase;
	struct search_memory memory;
	double x[SEARCH_DIMS_MAX], y;
	bool outstanding, stop, threaded;
	int asked, result; /* of nlopt_optimize */
	/* the thread's own */
	pthread_t thread;
	nlopt_opt opt;
	struct stats_rng rng;
	long calls, calls_max;
	int known_in_a_row;
	bool is_first; /* no callback of this nlopt_optimize yet */
	double last;
};

/* Hands x over and waits for its value. False: the search is to end. */
static bool hand_over(struct bridge *b, const double *x, double *y)
{
	memcpy(b->x, x, b->p.n * sizeof(*x));
	b->phase = PHASE_ASKING;
	pthread_cond_broadcast(&b->changed);
	while (b->phase == PHASE_ASKING && !b->stop) {
		pthread_cond_wait(&b->changed, &b->lock);
	}
	*y = b->y;
	return !b->stop;
}

/* The value of a full point: known, or measured. False: stop. */
static bool evaluate(struct bridge *b, const double *x, double *y)
{
	pthread_mutex_lock(&b->lock);
	struct search_told known;
	bool go_on = !b->stop && ++b->calls <= b->calls_max;
	if (search_recall(&b->memory, &b->p, x, &known)) {
		*y = known.mean;
		go_on = go_on && ++b->known_in_a_row <= KNOWN_MAX;
	} else if (go_on) {
		b->asked++;
		b->known_in_a_row = 0;
		go_on = hand_over(b, x, y);
	}
	pthread_mutex_unlock(&b->lock);
	return go_on;
}

static void expand(const struct bridge *b, const double *u, double *x)
{
	for (size_t i = 0; i < b->p.n; i++) {
		x[i] = 0.5;
	}
	for (size_t i = 0; i < b->n_free; i++) {
		x[b->free_dims[i]] = u[i];
	}
	search_snap(&b->p, x);
}

/* NLopt minimises. After force_stop some algorithms still come a few times: any finite value. */
static double objective(unsigned n, const double *u, double *gradient, void *data)
{
	struct bridge *b = data;
	double x[SEARCH_DIMS_MAX], y = b->last;
	(void)n;
	(void)gradient;
	expand(b, u, x);
	bool first = b->is_first;
	b->is_first = false;
	if (!evaluate(b, x, &y)) {
		/* the original DIRECT reads an unset index when it is stopped in its first call */
		if (!first) {
			nlopt_force_stop(b->opt);
		}
		return -b->last;
	}
	b->last = y;
	return -y;
}

static bool is_local(const struct bridge *b)
{
	const char *name = nlopt_algorithm_to_string(b->algorithm);
	return strncmp(name, "LN_", 3) == 0 || strncmp(name, "AUGLAG", 6) == 0;
}

/* The first time from the best that is known (the baseline if it was told); then in turn from a
 * random point and from beside the best, since a local search under noise may stop anywhere. */
static void starting_point(struct bridge *b, int round, double *u)
{
	double x[SEARCH_DIMS_MAX];
	search_start(&b->p, x);
	pthread_mutex_lock(&b->lock);
	struct search_told best;
	if (search_best(&b->memory, &best)) {
		memcpy(x, best.x, b->p.n * sizeof(*x));
	}
	pthread_mutex_unlock(&b->lock);
	for (size_t i = 0; i < b->n_free; i++) {
		double v = x[b->free_dims[i]], r = stats_rng_uniform(&b->rng);
		if (round % 2 == 1) {
			v = r;
		} else if (round > 0) {
			v += 0.3 * (r - 0.5);
		}
		u[i] = fmin(fmax(v, 0), 1);
	}
}

static nlopt_opt make_opt(struct bridge *b, nlopt_algorithm algorithm, double step)
{
	nlopt_opt opt = nlopt_create(algorithm, (unsigned)b->n_free);
	if (!opt) {
		return NULL;
	}
	nlopt_set_min_objective(opt, objective, b);
	nlopt_set_lower_bounds1(opt, 0);
	nlopt_set_upper_bounds1(opt, 1);
	nlopt_set_initial_step1(opt, step);
	nlopt_set_xtol_abs1(opt, TOLERANCE);
	nlopt_set_maxeval(opt, (int)fmin((double)b->calls_max, 1e9));
	nlopt_set_maxtime(opt, TIME_MAX);
	return opt;
}

static bool takes_local(nlopt_algorithm a)
{
	return a == NLOPT_G_MLSL || a == NLOPT_G_MLSL_LDS || a == NLOPT_GN_MLSL ||
	       a == NLOPT_GN_MLSL_LDS || a == NLOPT_AUGLAG || a == NLOPT_AUGLAG_EQ ||
	       a == NLOPT_LN_AUGLAG || a == NLOPT_LN_AUGLAG_EQ;
}

static int optimise(struct bridge *b, int round)
{
	double u[SEARCH_DIMS_MAX], value;
	double step = round == 0 ? 0.25 : 0.12;
	b->opt = make_opt(b, b->algorithm, step);
	if (!b->opt) {
		return NLOPT_OUT_OF_MEMORY;
	}
	if (takes_local(b->algorithm)) {
		nlopt_opt local = make_opt(b, NLOPT_LN_SBPLX, step / 2);
		if (local) {
			nlopt_set_xtol_abs1(local, 10 * TOLERANCE);
			nlopt_set_local_optimizer(b->opt, local); /* copies it */
			nlopt_destroy(local);
		}
	}
	b->known_in_a_row = 0;
	b->is_first = true;
	starting_point(b, round, u);
	int result = nlopt_optimize(b->opt, u, &value);
	nlopt_destroy(b->opt);
	return result;
}

static bool may_go_on(struct bridge *b)
{
	pthread_mutex_lock(&b->lock);
	bool go_on = !b->stop && b->calls < b->calls_max;
	pthread_mutex_unlock(&b->lock);
	return go_on;
}

#define BARREN_ROUNDS 20 /* restarts without one new cell: all is known */

static void *run(void *data)
{
	struct bridge *b = data;
	int result = NLOPT_SUCCESS, barren = 0;
	double x[SEARCH_DIMS_MAX], y;
	nlopt_srand((unsigned long)(b->p.seed ^ b->p.seed >> 32) + 1); /* of this thread alone */
	if (b->n_free == 0) {
		search_start(&b->p, x);
		evaluate(b, x, &y);
	}
	for (int round = 0; b->n_free > 0 && barren < BARREN_ROUNDS && may_go_on(b); round++) {
		int before = b->asked;
		result = optimise(b, round);
		barren = b->asked == before ? barren + 1 : 0;
		bool refused = result < 0 && result != NLOPT_FORCED_STOP &&
			       result != NLOPT_ROUNDOFF_LIMITED;
		if (refused || !is_local(b)) {
			break;
		}
	}
	pthread_mutex_lock(&b->lock);
	b->result = result;
	b->phase = PHASE_DONE;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

static int bridge_create(const struct search_problem *p, const char *name, void **state,
			 struct err *e)
{
	int algorithm;
	int rc = search_nlopt_find(name, &algorithm, e);
	if (rc) {
		return rc == -ENOENT ? err_usage(e, "NLopt has no algorithm %.40s", name) : rc;
	}
	struct bridge *b = calloc(1, sizeof(*b));
	if (!b) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	b->p = *p;
	b->algorithm = (nlopt_algorithm)algorithm;
	b->calls_max = (long)CALLS_PER_ASK * p->budget;
	b->calls_max = b->calls_max < CALLS_LEAST ? CALLS_LEAST : b->calls_max;
	for (size_t i = 0; i < p->n; i++) {
		if (p->dims[i].levels != 1) {
			b->free_dims[b->n_free++] = i;
		}
	}
	bool newuoa = b->algorithm == NLOPT_LN_NEWUOA || b->algorithm == NLOPT_LN_NEWUOA_BOUND;
	if (newuoa && b->n_free < 2) {
		free(b);
		return err_usage(e, "NLopt's %s wants at least two dimensions: take LN_SBPLX",
				 name);
	}
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	stats_rng_seed(&b->rng, p->seed);
	*state = b;
	return 0;
}

static int start_thread(struct bridge *b, struct err *e)
{
	int rc = pthread_create(&b->thread, NULL, run, b);
	if (rc) {
		return err_set(e, -rc, "cannot start the search's thread: %s", strerror(rc));
	}
	b->threaded = true;
	return 0;
}

static int bridge_ask(void *state, double *x, struct err *e)
{
	struct bridge *b = state;
	int rc = b->threaded ? 0 : start_thread(b, e);
	if (rc) {
		return rc;
	}
	pthread_mutex_lock(&b->lock);
	while (b->phase != PHASE_ASKING && b->phase != PHASE_DONE) {
		pthread_cond_wait(&b->changed, &b->lock);
	}
	if (b->phase == PHASE_ASKING) {
		memcpy(x, b->x, b->p.n * sizeof(*x));
		b->outstanding = true;
		rc = 1;
	} else if (b->asked == 0 && b->result < 0 && b->result != NLOPT_FORCED_STOP) {
		rc = err_set(e, -EINVAL, "NLopt's %s cannot search this space: %s",
			     nlopt_algorithm_to_string(b->algorithm),
			     nlopt_result_to_string((nlopt_result)b->result));
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

static void bridge_tell(void *state, const double *x, double y, bool failed)
{
	struct bridge *b = state;
	(void)failed;
	pthread_mutex_lock(&b->lock);
	search_remember(&b->memory, &b->p, x, y);
	if (b->outstanding) {
		b->outstanding = false;
		b->y = y;
		b->phase = PHASE_ANSWERED;
		pthread_cond_broadcast(&b->changed);
	} else if (b->asked == 0) {
		b->last = y; /* a finite value to fall back on */
	}
	pthread_mutex_unlock(&b->lock);
}

static void bridge_destroy(void *state)
{
	struct bridge *b = state;
	if (b->threaded) {
		pthread_mutex_lock(&b->lock);
		b->stop = true;
		pthread_cond_broadcast(&b->changed);
		pthread_mutex_unlock(&b->lock);
		pthread_join(b->thread, NULL);
	}
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	search_forget(&b->memory);
	free(b);
}

const struct search_ops search_nlopt = {
	.name = "nlopt",
	.help = "any derivative-free algorithm of NLopt by its name, e.g. GN_DIRECT_L",
	.create = bridge_create,
	.ask = bridge_ask,
	.tell = bridge_tell,
	.destroy = bridge_destroy,
};
