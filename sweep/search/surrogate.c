/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The surrogate search: known-good points, a few points by NLopt's GN_DIRECT_L, then wherever one
 * more measurement is expected to teach most about the best configuration (which may be one that is
 * known: it repeats by itself where that pays). It ends when nothing worth its time is left to
 * learn. Points are told in any order, also ones that were never asked for.
 */
#include "cleanup.h"
#include "surrogate_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Expected gain (fraction of the score) below which a proposal is idle. */
#define WORTH_LEARNING 2e-4
#define NOTHING	       (-30.0) /* log of a gain that is but rounding: one point is all there is */
#define SNAP_DISTANCE2 4e-4    /* squared scaled distance under which a proposal is a replicate */
#define PAIR_EVERY     6       /* asks, one of which tries two categories at once, ... */
#define PAIR_FROM      20      /* ... once so many measurements are known */
#define REFUSALS       64      /* first points in a row that are not allowed */

struct surrogate {
	struct search_problem p;
	struct beliefs beliefs;
	struct stats_rng rng;
	void *explorer, *fallback;	     /* GN_DIRECT_L; Sobol where most of its points fail */
	bool explorer_waits;		     /* for the value of explorer_at */
	double explorer_at[SEARCH_DIMS_MAX]; /* what it asked, ... */
	double explorer_stands[SEARCH_DIMS_MAX]; /* ... and what is measured for that */
	int initial, explored, explored_failed;
	int asked;
	int idle; /* proposals in a row that were hardly worth it */
	bool outstanding;
	double next[SEARCH_DIMS_MAX]; /* the answer of ask, until it is told */
	double *suggested;	      /* rows, asked first */
	size_t n_suggested, next_suggested;
	int now; /* measurements of the present group, for drift */
};

static int clamp(int x, int lo, int hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static void surrogate_destroy(void *state)
{
	struct surrogate *s = state;
	if (s->explorer) {
		search_nlopt.destroy(s->explorer);
	}
	if (s->fallback) {
		search_sobol.destroy(s->fallback);
	}
	beliefs_clear(&s->beliefs);
	free(s->suggested);
	free(s);
}

static int surrogate_create(const struct search_problem *p, const char *algorithm, void **state,
			    struct err *e)
{
	(void)algorithm;
	struct surrogate *s = calloc(1, sizeof(*s));
	if (!s) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	s->p = *p;
	s->initial = clamp(p->budget / 4, 4, 12);
	stats_rng_seed(&s->rng, p->seed);
	int rc = beliefs_init(&s->beliefs, &s->p, e);
	rc = rc ? rc : search_nlopt.create(&s->p, "GN_DIRECT_L", &s->explorer, e);
	rc = rc ? rc : search_sobol.create(&s->p, "sobol", &s->fallback, e);
	if (rc < 0) {
		surrogate_destroy(s);
		return rc;
	}
	*state = s;
	return 0;
}

static bool same(const struct surrogate *s, const double *x, const double *y)
{
	return memcmp(x, y, s->p.n * sizeof(double)) == 0;
}

static bool is_pending(const struct surrogate *s, const double *x)
{
	for (size_t i = 0; i < s->beliefs.n_pending; i++) {
		if (same(s, s->beliefs.pending[i], x)) {
			return true;
		}
	}
	return false;
}

static bool ask_suggested(struct surrogate *s, double *x)
{
	struct acquisition_view v = beliefs_view(&s->beliefs);
	while (s->next_suggested < s->n_suggested) {
		memcpy(x, s->suggested + s->next_suggested++ * s->p.n, s->p.n * sizeof(double));
		if (acquisition_settle(&v, x)) {
			return true;
		}
	}
	return false;
}

/* One point of DIRECT_L, whose value it must be told before it gives another; of Sobol otherwise.
 * With more than half of the first points failing, DIRECT_L's value is gone (it divides where
 * values are good): Sobol points cover the space instead. */
static int explorer_point(struct surrogate *s, double *x, struct err *e)
{
	bool failing = s->explored >= 4 && 2 * s->explored_failed > s->explored;
	if (!failing && !s->explorer_waits) {
		int rc = search_nlopt.ask(s->explorer, x, e);
		if (rc != 0) {
			s->explorer_waits = rc == 1;
			memcpy(s->explorer_at, x, sizeof(s->explorer_at));
			memcpy(s->explorer_stands, x, sizeof(s->explorer_stands));
			return rc;
		}
	}
	int rc = search_sobol.ask(s->fallback, x, e);
	if (rc == 1) {
		search_sobol.tell(s->fallback, x, 0, false);
	}
	return rc;
}

static void answer_explorer(struct surrogate *s, const double *x, double y, bool failed)
{
	if (s->explorer_waits && same(s, s->explorer_stands, x)) {
		search_nlopt.tell(s->explorer, s->explorer_at, y, failed);
		s->explorer_waits = false;
	}
}

/* What was last measured at x; false: nothing yet. */
static bool recall(const struct surrogate *s, const double *x, struct told *out)
{
	for (size_t i = s->beliefs.n; i-- > 0;) {
		if (same(s, s->beliefs.x + i * s->p.n, x)) {
			*out = s->beliefs.told[i];
			return true;
		}
	}
	return false;
}

/* Moves one of the first points to what would be measured for it. False: not to be measured, and
 * DIRECT_L goes on, as if this were a bad place or with what is known already. */
static bool settle_first(struct surrogate *s, double *x)
{
	struct acquisition_view v = beliefs_view(&s->beliefs);
	double canonical[SEARCH_DIMS_MAX];
	struct told known = {.y = -1000, .failed = true};
	memcpy(canonical, x, sizeof(canonical));
	bool allowed = acquisition_settle(&v, canonical) && !is_pending(s, canonical);
	bool moved = !same(s, canonical, x);
	if (!allowed || (moved && recall(s, canonical, &known))) {
		answer_explorer(s, x, known.failed ? -1000 : known.y, known.failed);
		return false;
	}
	if (s->explorer_waits && same(s, s->explorer_at, x)) {
		memcpy(s->explorer_stands, canonical, sizeof(canonical));
	}
	memcpy(x, canonical, sizeof(canonical));
	return true;
}

/* The first points, until there are enough and one has worked. */
static int ask_explorer(struct surrogate *s, double *x, struct err *e)
{
	if (s->explored + (int)s->beliefs.n_pending >= s->initial &&
	    s->beliefs.n > s->beliefs.n_failed) {
		return 0;
	}
	for (int i = 0; i < REFUSALS; i++) {
		int rc = explorer_point(s, x, e);
		if (rc <= 0) {
			return rc;
		}
		if (settle_first(s, x)) {
			return 1;
		}
	}
	return 0;
}

/* A proposal so near to a known point that the model cannot tell them apart is that point. */
static void snap_to_known(struct surrogate *s, double *x)
{
	const struct beliefs *b = &s->beliefs;
	size_t d = s->p.n, nearest = 0;
	double least = INFINITY;
	for (size_t i = 0; i < b->n_points; i++) {
		double r2 = 0;
		for (size_t j = 0; j < d; j++) {
			double delta = x[j] - b->points[i * d + j], l = gp_length(b->model, j);
			bool other = s->p.dims[j].category && fabs(delta) > 1e-9;
			r2 += other ? INFINITY : delta * delta / (l * l);
		}
		if (r2 < least) {
			least = r2;
			nearest = i;
		}
	}
	if (least < SNAP_DISTANCE2) {
		memcpy(x, b->points + nearest * d, d * sizeof(double));
	}
}

/* In units of y. With seconds in the gain it is one per second of an average trial. */
static bool is_worth_it(struct surrogate *s, double log_gain, const double *x)
{
	double seconds = s->p.seconds ? fmax(s->p.seconds(s->p.ctx, x), 1e-3) : 1;
	double worth = s->p.plain ? WORTH_LEARNING * s->beliefs.warp : WORTH_LEARNING;
	s->idle = exp(log_gain) * seconds * s->beliefs.scale < worth ? s->idle + 1 : 0;
	int enough = clamp((int)s->p.n / 2, 3, 64);
	return s->p.whole_budget || s->idle < enough || s->beliefs.n < 4 * s->p.n;
}

static int propose(struct surrogate *s, double *x, struct err *e)
{
	struct beliefs *b = &s->beliefs;
	struct acquisition q;
	int rc = beliefs_update(b, e);
	if (rc < 0) {
		return rc == -ENODATA ? 0 : rc; /* all failed, and there is no other first point */
	}
	struct acquisition_view v = beliefs_view(b);
	rc = acquisition_init(&q, &v, e);
	if (rc < 0) {
		return rc;
	}
	if (s->asked % PAIR_EVERY == 0 && b->n >= PAIR_FROM && acquisition_pair(&q, &s->rng, x)) {
		acquisition_clear(&q);
		return 1; /* no sign of how much is left to learn elsewhere */
	}
	double log_gain = acquisition_maximise(&q, &s->rng, x);
	bool searching = q.m == 0; /* nothing known keeps the limits */
	acquisition_clear(&q);
	bool nothing = log_gain < NOTHING && !searching && !s->p.whole_budget;
	if (nothing || log_gain == -INFINITY) {
		return 0;
	}
	snap_to_known(s, x);
	return is_worth_it(s, log_gain, x) || searching ? 1 : 0;
}

static int next_point(struct surrogate *s, double *x, struct err *e)
{
	if (s->asked >= s->p.budget) {
		return 0;
	}
	int rc = ask_suggested(s, x) ? 1 : ask_explorer(s, x, e);
	rc = rc ? rc : propose(s, x, e);
	if (rc == 1) {
		s->asked++;
		memcpy(s->beliefs.pending[s->beliefs.n_pending++], x, s->p.n * sizeof(double));
	}
	return rc;
}

static int surrogate_ask(void *state, double *x, struct err *e)
{
	struct surrogate *s = state;
	int rc = s->outstanding ? 1 : next_point(s, s->next, e);
	s->outstanding = rc == 1;
	if (rc == 1) {
		memcpy(x, s->next, s->p.n * sizeof(double));
	}
	return rc;
}

static int surrogate_ask_more(void *state, double *x, struct err *e)
{
	struct surrogate *s = state;
	double point[SEARCH_DIMS_MAX];
	int rc = s->beliefs.n_pending < PENDING_MAX ? next_point(s, point, e) : 0;
	if (rc == 1) {
		memcpy(x, point, s->p.n * sizeof(double));
	}
	return rc;
}

/* A point that is told is no longer pending. */
static bool settle_pending(struct surrogate *s, const double *x)
{
	struct beliefs *b = &s->beliefs;
	for (size_t i = 0; i < b->n_pending; i++) {
		if (same(s, b->pending[i], x)) {
			memmove(&b->pending[i], &b->pending[i + 1],
				(b->n_pending - i - 1) * sizeof(b->pending[0]));
			b->n_pending--;
			return true;
		}
	}
	return false;
}

static void surrogate_learn(void *state, const struct search_observation *o)
{
	struct surrogate *s = state;
	struct search_observation known = *o;
	if (o->group == 0) {
		known.when = s->now++;
	}
	/* out of memory: the point is forgotten, which only costs a measurement */
	beliefs_add(&s->beliefs, &known);
	const double *at = o->asked ? o->asked : o->x;
	bool asked = settle_pending(s, at);
	if (s->outstanding && same(s, s->next, at)) {
		s->outstanding = false;
	}
	if (asked && s->explored < s->initial) {
		s->explored++;
		s->explored_failed += o->failed;
	}
	answer_explorer(s, at, o->y, o->failed);
}

static void surrogate_tell(void *state, const double *x, double y, bool failed)
{
	struct search_observation o = {.x = x, .y = y, .failed = failed};
	surrogate_learn(state, &o);
}

static void surrogate_suggest(void *state, const double *x)
{
	struct surrogate *s = state;
	size_t bytes = s->p.n * sizeof(double);
	double *more = realloc(s->suggested, (s->n_suggested + 1) * bytes);
	if (more) {
		s->suggested = more;
		memcpy(s->suggested + s->n_suggested++ * s->p.n, x, bytes);
	}
}

/* The model of all that was told, without believers. */
static bool is_up_to_date(struct surrogate *s)
{
	struct err ignored;
	size_t pending = s->beliefs.n_pending;
	s->beliefs.n_pending = 0;
	int rc = beliefs_update(&s->beliefs, &ignored);
	s->beliefs.n_pending = pending;
	return rc == 0;
}

static int surrogate_recommend(void *state, double *x, double *mean, double *sd)
{
	struct surrogate *s = state;
	return is_up_to_date(s) ? beliefs_recommend(&s->beliefs, x, mean, sd) : 0;
}

static bool surrogate_predict(void *state, const double *x, double *mean, double *sd)
{
	struct surrogate *s = state;
	if (!is_up_to_date(s)) {
		return false;
	}
	beliefs_predict(&s->beliefs, x, mean, sd);
	return true;
}

static bool surrogate_remaining(void *state, double *gain)
{
	struct surrogate *s = state;
	struct stats_rng rng; /* its own: asking for this must not change what is asked next */
	stats_rng_seed(&rng, s->p.seed + 1);
	return is_up_to_date(s) && beliefs_remaining(&s->beliefs, &rng, gain);
}

static json_t *surrogate_explain(void *state)
{
	struct surrogate *s = state;
	return is_up_to_date(s) ? beliefs_explain(&s->beliefs) : NULL;
}

const struct search_ops search_surrogate = {
	.name = "surrogate",
	.help = "a model of all measurements (Gaussian process) asks where one more teaches most",
	.create = surrogate_create,
	.ask = surrogate_ask,
	.tell = surrogate_tell,
	.destroy = surrogate_destroy,
	.learn = surrogate_learn,
	.ask_more = surrogate_ask_more,
	.suggest = surrogate_suggest,
	.recommend = surrogate_recommend,
	.predict = surrogate_predict,
	.remaining = surrogate_remaining,
	.explain = surrogate_explain,
};
