/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The family of searches: ask for a point of the unit cube, measure, tell. A search knows neither
 * tunables nor hosts. Each member is one const table of operations at the end of its file;
 * search.c is the only file that names them. Values told are to be maximised.
 */
#ifndef TUNESWEEP_SEARCH_H
#define TUNESWEEP_SEARCH_H

#include "err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_DIMS_MAX	   64
#define SEARCH_MARGINS_MAX 9

struct search_dim {
	bool category; /* order means nothing */
	int levels;    /* number of distinct values, evenly spaced cells of [0,1]; 0: continuous */
	double start;  /* coordinate of the baseline, NaN if unknown */
};

struct search_problem {
	size_t n;
	struct search_dim dims[SEARCH_DIMS_MAX];
	int budget; /* measurements in all */
	uint64_t seed;
	/* What follows may be left zero. */
	size_t n_margins;  /* measured limits ("require") that observations carry */
	bool plain;	   /* y is no logarithm (scores that may be negative) */
	bool whole_budget; /* asks until the budget is used, also when little is left to learn */
	/* Moves x to the canonical point of its configuration (settings without effect at their
	 * default); false: this configuration is forbidden. NULL: every point is its own. */
	bool (*canonical)(const void *ctx, double *x);
	/* Expected seconds of a trial at x, setting it included. NULL: all cost the same. */
	double (*seconds)(const void *ctx, const double *x);
	const void *ctx;
};

/* All that may be known of one measurement; the rest zero. */
struct search_observation {
	const double *x;     /* what was measured (the effective values) */
	const double *asked; /* what had been asked for; NULL: x */
	double y;	     /* to be maximised; not looked at where failed */
	bool failed;	     /* also where y is not finite */
	bool cut_link;	     /* the host was lost: this configuration is not gone near again */
	double se;	     /* standard error of y; 0: not known */
	int group;    /* boot and host; 0: the present ones, others have levels of their own */
	bool earlier; /* of another night: the surface may have changed a little since */
	double when;  /* in measurements since the group's first; for drift. 0 with group 0: now */
	double margin[SEARCH_MARGINS_MAX]; /* >= 0: the limit is kept, best as a logarithm of the
					      ratio to it; NaN: not measured */
};

struct search;

struct search_ops {
	const char *name;
	const char *help;
	int (*create)(const struct search_problem *p, const char *algorithm, void **state,
		      struct err *e);
	/* Writes the next point. 1: a point; 0: the search has nothing more to ask; < 0: error. */
	int (*ask)(void *state, double *x, struct err *e);
	/* y is finite; failed: y is already a value below all that were seen. */
	void (*tell)(void *state, const double *x, double y, bool failed);
	void (*destroy)(void *state);
	/* The rest may be NULL; what they do stands at the function of the same name below. */
	void (*learn)(void *state, const struct search_observation *o);
	int (*ask_more)(void *state, double *x, struct err *e);
	void (*suggest)(void *state, const double *x);
	int (*recommend)(void *state, double *x, double *mean, double *sd);
	bool (*predict)(void *state, const double *x, double *mean, double *sd);
	bool (*remaining)(void *state, double *gain);
	json_t *(*explain)(void *state);
};

/* algorithm: auto (which is surrogate), surrogate, sobol, random, grid, coordinate, or any
 * derivative-free NLopt algorithm by its name, e.g. GN_DIRECT_L (an NLOPT_ in front is allowed).
 * ERR_USAGE with the nearest name. */
int search_create(const char *algorithm, const struct search_problem *p, struct search **out,
		  struct err *e);
bool search_known(const char *algorithm, struct err *e);

/* 1: x is the next point to measure; 0: nothing more to ask (all is measured, or the budget is
 * used); < 0: error. Asking again before telling gives the same point. */
int search_ask(struct search *s, double *x, struct err *e);

/* Answers the last ask; also allowed without one, for points that were measured otherwise (the
 * baseline). ok false: a failed trial; y is ignored and the search is told a value below the worst
 * seen, never NaN or infinite. */
void search_tell(struct search *s, const double *x, double y, bool ok);
void search_destroy(struct search *s);

/* search_tell with all that is known. Members that cannot use more are told x, y and failed of what
 * belongs to this sweep, and nothing of other groups. */
void search_learn(struct search *s, const struct search_observation *o);

/* It learns limits from margins and repeats measurements by itself where that pays. */
bool search_learns(const struct search *s);

/* A further point while others are being measured (other hosts): those count as measured with the
 * value that is expected of them. 0: none before something is told. */
int search_ask_more(struct search *s, double *x, struct err *e);

/* A point known to be good elsewhere: asked before anything else. */
void search_suggest(struct search *s, const double *x);

/* The measured point to use now, what is expected of it and how sure that is (standard deviation,
 * units of y). 1: there is one; 0: nothing has worked yet, or the member has no opinion. */
int search_recommend(struct search *s, double *x, double *mean, double *sd);

/* What is believed of any point, in units of y. false: not known. */
bool search_predict(struct search *s, const double *x, double *mean, double *sd);

/* How much more than the recommended point the best not yet known one may have, in units of y (an
 * optimistic figure: mean and one standard deviation). false: not known. */
bool search_remaining(struct search *s, double *gain);

/* {"noise": sd, "effects": [{"dim", "share", "low", "high", "gain", "gain_sd"}], "interactions":
 * [{"dims": [i, j], "share", "gain", "gain_sd"}]}, strongest first; shares in percent of the
 * explained variance. The caller's; NULL: the member explains nothing. */
json_t *search_explain(struct search *s);

/* All names, NULL-terminated, for help and suggestions. */
const char *const *search_names(void);

#endif
