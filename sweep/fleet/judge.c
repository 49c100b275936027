/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Are the pairs of a pool alike? Levels and noise of the same configuration on each; what is off is
 * left out, and the rest is brought to the first pair's level. Measures nothing. Called by the
 * loop.
 */
#include "cleanup.h"
#include "fleet_private.h"
#include "json_util.h"
#include "stats.h"
#include <math.h>
#include <stdlib.h>

#define LEVEL_OFF 0.25 /* of the score, from the median of all pairs */
#define NOISE_OFF 4    /* times the median noise of all pairs */
#define NOISE_LOW 0.05 /* up to this nothing is called noisy */

struct seen {						 /* of one pair */
	double throughput, service_demand, score, noise; /* medians; NaN if it did not work */
};

static double median_of(const struct fleet_trial *t, size_t n, size_t stride, enum metric m)
{
	double x[16];
	size_t k = 0;
	for (size_t i = 0; i < n && k < 16; i++) {
		if (t[i * stride].sample.ok) {
			x[k++] = t[i * stride].sample.m[m];
		}
	}
	return stats_median(x, k);
}

static double noise_of(const struct fleet_trial *t, size_t n, size_t stride)
{
	double x[16];
	size_t k = 0;
	for (size_t i = 0; i < n && k < 16; i++) {
		double score = t[i * stride].sample.ok ? t[i * stride].sample.m[METRIC_SCORE] : NAN;
		if (score > 0) {
			x[k++] = log(score);
		}
	}
	return stats_sd(x, k);
}

static struct seen look(const struct fleet_trial *t, size_t rounds, size_t width)
{
	return (struct seen){median_of(t, rounds, width, METRIC_THROUGHPUT),
			     median_of(t, rounds, width, METRIC_SERVICE_DEMAND),
			     median_of(t, rounds, width, METRIC_SCORE), noise_of(t, rounds, width)};
}

static void medians(const struct seen *s, size_t n, double *score, double *noise)
{
	double a[FLEET_MAX], b[FLEET_MAX];
	size_t k = 0, l = 0;
	for (size_t i = 0; i < n; i++) {
		if (isfinite(s[i].score)) {
			a[k++] = s[i].score;
		}
		if (isfinite(s[i].noise)) {
			b[l++] = s[i].noise;
		}
	}
	*score = stats_median(a, k);
	*noise = stats_median(b, l);
}

/* What is wrong with a pair; "" if nothing. Of two, nobody knows which one is off. */
static const char *fault(const struct seen *s, size_t width, double score, double noise)
{
	if (!isfinite(s->score)) {
		return "no sample of the baseline was valid";
	}
	if (width > 2 && score > 0 && s->score > 0 &&
	    fabs(log(s->score / score)) > -log1p(-LEVEL_OFF)) {
		return "its level is off";
	}
	if (width > 2 && s->noise > NOISE_LOW && s->noise > NOISE_OFF * noise) {
		return "its noise is off";
	}
	return "";
}

static double ratio(double first, double here)
{
	return first > 0 && here > 0 ? first / here : 1;
}

static json_t *hosts_of(const struct spec *s)
{
	json_t *names = json_array();
	for (size_t h = 0; h < s->n_hosts; h++) {
		char **argv = s->hosts[h].via.argv;
		size_t last = 0;
		while (argv && argv[last] && argv[last + 1]) {
			last++;
		}
		json_array_append_new(names, json_text_or_null(argv ? argv[last]
							       : *s->hosts[h].via.netns
								       ? s->hosts[h].via.netns
								       : s->hosts[h].name));
	}
	return names;
}

void fleet_judge(struct fleet *f, const struct fleet_trial *t, size_t rounds, json_t **report)
{
	struct seen seen[FLEET_MAX];
	double score, noise;
	size_t width = fleet_width(f);
	*report = json_array();
	for (size_t i = 0; i < width; i++) {
		seen[i] = look(&t[i], rounds, width);
	}
	medians(seen, width, &score, &noise);
	for (size_t i = 0; i < width; i++) {
		struct fleet_pair *p = &f->pair[t[i].pair];
		const char *why = fault(&seen[i], width, score, noise);
		p->factor = (struct fleet_factor){
			ratio(seen[0].throughput, seen[i].throughput),
			ratio(seen[0].service_demand, seen[i].service_demand),
			ratio(seen[0].score, seen[i].score)};
		p->off = i > 0 && *why; /* without the first there is no sweep: that is told only */
		json_array_append_new(
			*report, json_pack("{s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "pair",
					   (json_int_t)t[i].pair + 1, "hosts", hosts_of(&p->spec),
					   "throughput", json_number_or_null(seen[i].throughput),
					   "noise", json_number_or_null(seen[i].noise), "level",
					   json_number_or_null(seen[i].score / score), "used",
					   !p->off, "why", json_text_or_null(why)));
	}
}

void fleet_normalize(const struct fleet *f, size_t pair, struct sample *s)
{
	static const enum metric demands[] = {METRIC_SERVICE_DEMAND, METRIC_SERVICE_DEMAND_SENDER,
					      METRIC_SERVICE_DEMAND_RECEIVER};
	if (!f || pair == 0) {
		return;
	}
	const struct fleet_factor *k = &f->pair[pair].factor;
	s->m[METRIC_THROUGHPUT] *= k->throughput;
	s->m[METRIC_SCORE] *= k->score;
	for (size_t i = 0; i < ARRAY_SIZE(demands); i++) {
		s->m[demands[i]] *= k->service_demand;
	}
}
