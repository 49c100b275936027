/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is maximised: the service-demand formula, the objective of a spec, its requirements and its
 * guards. Pure: from samples to numbers.
 */
#ifndef TUNESWEEP_SCORE_H
#define TUNESWEEP_SCORE_H

#include "err.h"
#include "sample.h"

/* netperf's definition, us per KB (KB = 1024 bytes): busy fraction x CPUs x 1e6 / (KB/s).
 * NaN unless all are finite and the throughput is positive. */
double score_service_demand(double busy_fraction, int cpus, double bytes_per_s);

enum guards { GUARDS_DEFAULT, GUARDS_STRICT, GUARDS_NONE };

#define OBJECTIVE_REQUIRE_MAX 8

struct requirement {
	char metric[32];
	bool at_least; /* >=, else <= */
	double limit;  /* in the metric's unit of sample.h */
};

struct objective {
	char numerator[32];   /* a metric, or "1" */
	char denominator[32]; /* a metric, or "" */
	bool minimize;	      /* then the numerator alone is the metric */
	bool is_default;      /* throughput / service_demand, nobody asked for another */
	enum guards guards;
	size_t n_require;
	struct requirement require[OBJECTIVE_REQUIRE_MAX];
};

void objective_init(struct objective *o); /* the default one */

/* "METRIC", "METRIC / METRIC" or "1 / METRIC"; ERR_USAGE with the nearest metric. own_metrics:
 * unknown names are allowed (command engines). minimize takes one METRIC. "score" is the default
 * objective by its name. */
int objective_parse(struct objective *o, const char *text, bool minimize, bool own_metrics,
		    struct err *e);
/* "throughput >= 9 Gbit/s", "retransmits_per_GB <= 100". A bare number is in the metric's own unit;
 * rates, sizes, times and percentages may be written with theirs. */
int requirement_parse(struct requirement *r, const char *text, bool own_metrics, struct err *e);
const char *objective_text(const struct objective *o, char *buf, size_t size);

/*
 * The number to maximise: larger is better. Where the objective minimises: 1 / METRIC for those of
 * sample.h, which are positive (counts, which may be 0, as 1 / (1 + METRIC), also below a fraction
 * bar), -METRIC for a command's own, whose sign nobody knows. NaN if a metric it needs is unknown:
 * never half a sum. For the default objective of a sample that brings its own score, that score.
 */
double score_of(const struct objective *o, const struct sample *s);

/* log of how many times better score a is than score b: log(a/b), for negative scores log(b/a). NaN
 * where they have no ratio (0, or different signs). */
double score_log_ratio(double a, double b);

/* Does the sample keep the requirements and guards? baseline may be NULL (no guard then);
 * best_throughput is NaN if not known. On false, why gets one sentence. */
bool score_admissible(const struct objective *o, const struct sample *s,
		      const struct sample *baseline, double best_throughput, char *why,
		      size_t size);

/* The same as numbers, for searches that learn limits: one margin a requirement, then one for the
 * throughput that guards want; >= 0 where it is kept, NaN where it was not measured. A margin is
 * the logarithm of the ratio to the limit, or the difference where either is not positive. Returns
 * how many (at most OBJECTIVE_REQUIRE_MAX + 1); s NULL: only counts. */
size_t score_margins(const struct objective *o, const struct sample *s,
		     const struct sample *baseline, double *margin);

#endif
