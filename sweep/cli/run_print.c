/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sweep says while it runs and at its end. Progress goes to stderr, so that stdout holds
 * the result alone. Called by cmd_run.c and run_files.c.
 */
#include "cli_run.h"
#include "report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void describe_sample(const struct sample *s, char *out, size_t size)
{
	char rate[32], sd[32];
	if (!s->ok) {
		snprintf(out, size, "failed: %s", s->reason);
	} else if (isfinite(s->m[METRIC_THROUGHPUT])) {
		snprintf(out, size, "%s, %s us/KB%s%s",
			 report_rate(s->m[METRIC_THROUGHPUT], rate, sizeof(rate)),
			 report_number(s->m[METRIC_SERVICE_DEMAND], sd, sizeof(sd)),
			 *s->limited_by ? ", limited by " : "", s->limited_by);
	} else {
		snprintf(out, size, "score %s", report_number(s->m[METRIC_SCORE], sd, sizeof(sd)));
	}
}

static void describe_gain_so_far(const struct run *r, const struct loop_progress *p, char *out,
				 size_t size)
{
	const char *of = p->stage == PROOF_HOST_ONLY	      ? " of the host's settings alone"
			 : p->stage == PROOF_APPLICATION_ONLY ? " of the application's alone"
			 : p->stage == PROOF_AGAINST	      ? " over the other profile"
			 : p->stage == PROOF_EFFECT	      ? " of "
							      : "";
	const struct interval *i = &p->gain->score;
	*out = '\0';
	if (isfinite(i->estimate)) {
		snprintf(out, size, ", gain%s%s so far %+.1f %s", of,
			 p->stage == PROOF_EFFECT ? r->space->dims[p->dimension].key : "",
			 i->estimate, p->gain->as_difference ? "(difference)" : "%");
	}
}

static void describe_best_so_far(const struct loop_progress *p, char *out, size_t size)
{
	double over = 100 * (p->best_score / p->baseline_score - 1);
	*out = '\0';
	if (isfinite(over) && p->baseline_score > 0) {
		snprintf(out, size, ", best so far %+.1f %% over the baseline", over);
	}
}

/* Columns of a terminal on which one line can be written over and over; 0: lines one by one. */
static size_t one_line_width(void)
{
	struct winsize size = {0};
	const char *kind = getenv("TERM");
	if (!isatty(STDERR_FILENO) || !kind || !strcmp(kind, "dumb")) {
		return 0;
	}
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 ? 79 : size.ws_col - 1u;
}

void run_print_progress(void *ctx, const struct loop_progress *p)
{
	static const char *const names[] = {
		[LOOP_BASELINE] = "baseline", [LOOP_SEARCH] = "search", [LOOP_PROOF] = "proof"};
	struct run *r = ctx;
	char sample[320], best[256] = "", left[48] = "";
	if (r->c->quiet) {
		return;
	}
	describe_sample(p->sample, sample, sizeof(sample));
	if (p->phase == LOOP_PROOF) {
		describe_gain_so_far(r, p, best, sizeof(best));
	} else {
		describe_best_so_far(p, best, sizeof(best));
	}
	if (isfinite(p->seconds_left)) {
		snprintf(left, sizeof(left), ", about %.0f s left", fmax(p->seconds_left, 0));
	}
	char line[700];
	size_t width = r->c->verbose ? 0 : one_line_width();
	snprintf(line, sizeof(line), "%s %d/%d: %s%s%s", names[p->phase], p->done, p->budget,
		 sample, best, left);
	if (width && width < sizeof(line)) {
		line[width] = '\0'; /* a longer one would leave its first part behind */
	}
	fprintf(stderr, "%s%s%s", width ? "\r\033[K" : "", line, width ? "" : "\n");
	r->line_open = width > 0;
	fflush(stderr);
}

void run_print_progress_end(struct run *r)
{
	if (r->line_open) {
		fputc('\n', stderr);
		r->line_open = false;
	}
}

static void print_values(const struct run *r)
{
	char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];
	printf("%-44s %16s %16s\n", "setting", "baseline", "best");
	for (size_t i = 0; i < r->space->n; i++) {
		const struct dimension *d = &r->space->dims[i];
		enum value_unit unit = d->target.setting.tunable->unit;
		printf("%-44s %16s %16s\n", d->key,
		       value_format(&r->result.baseline.v[i], unit, a, sizeof(a)),
		       value_format(&r->result.winner.v[i], unit, b, sizeof(b)));
	}
}

static void print_metric(const char *name, double baseline, double best, bool rate)
{
	char a[32], b[32];
	if (isfinite(baseline) || isfinite(best)) {
		printf("%-44s %16s %16s\n", name,
		       rate ? report_rate(baseline, a, sizeof(a))
			    : report_number(baseline, a, sizeof(a)),
		       rate ? report_rate(best, b, sizeof(b)) : report_number(best, b, sizeof(b)));
	}
}

static void print_interval(const char *what, const struct interval *i, const char *unit)
{
	if (isfinite(i->estimate)) {
		printf("  %-40s %+.1f %s (%.0f %% interval %+.1f to %+.1f)\n", what, i->estimate,
		       unit, 100 * i->level, i->lo, i->hi);
	}
}

/* What the parts of a proved gain bring, where the budget allowed to measure it. */
static void print_parts(const struct run *run)
{
	const struct proof *p = &run->result.proof;
	if (p->against.pairs > 0) {
		char what[96];
		snprintf(what, sizeof(what), "against %.60s", run->against_name);
		print_interval(what, &p->against.score, "%");
	}
	if (p->host_only.pairs > 0) {
		print_interval("host settings alone", &p->host_only.score, "%");
	}
	if (p->application_only.pairs > 0) {
		print_interval("application alone", &p->application_only.score, "%");
	}
	for (size_t i = 0; i < run->space->n; i++) {
		if (p->effect[i].pairs > 0) {
			print_interval(run->space->dims[i].key, &p->effect[i].score, "%");
		}
	}
}

static void print_gain(const struct run *run)
{
	const struct loop_result *r = &run->result;
	const struct gain *g = &r->proof.gain;
	if (!r->baseline_sample.ok) {
		printf("The baseline failed, so there is no gain to speak of.\n");
		return;
	}
	if (!r->has_gain) {
		printf("%s\n",
		       r->best_is_baseline
			       ? "No gain: nothing better than the baseline was found. Keep "
				 "the defaults."
			       : "No gain is claimed: it was not proved.");
		return;
	}
	if (g->significant && g->score.lo > 0) {
		printf("Proved gain, best and baseline measured again side by side in %d pairs:\n",
		       g->pairs);
	} else {
		printf("No significant gain in %d pairs measured side by side: keep the "
		       "defaults.\n",
		       g->pairs);
	}
	print_interval("score", &g->score, g->as_difference ? "(difference)" : "%");
	print_interval("throughput", &g->throughput, "%");
	print_interval("service demand", &g->service_demand, "%");
	print_parts(run);
	run_panel_print(&run->result.panel);
}

static void print_restored(const struct run *r)
{
	size_t hosts = json_object_size(r->rollback), settings = 0;
	const char *host;
	json_t *items;
	json_object_foreach(r->rollback, host, items)
	{
		settings += json_array_size(items);
	}
	if (hosts > 0 && r->restored) {
		printf("Rolled back: %zu settings on %zu hosts are as they were.\n", settings,
		       hosts);
	}
}

void run_print_result(const struct run *r, const char *written)
{
	const struct loop_result *x = &r->result;
	const struct gain *g = x->has_gain ? &x->proof.gain : NULL;
	if (x->has_best) {
		printf("\n");
		print_values(r);
		print_metric("throughput",
			     g ? g->throughput_b : x->baseline_sample.m[METRIC_THROUGHPUT],
			     g ? g->throughput_a : x->best_sample.m[METRIC_THROUGHPUT], true);
		print_metric("service demand, us/KB",
			     g ? g->sd_b : x->baseline_sample.m[METRIC_SERVICE_DEMAND],
			     g ? g->sd_a : x->best_sample.m[METRIC_SERVICE_DEMAND], false);
		print_metric("score", g ? g->score_b : x->baseline_score,
			     g ? g->score_a : x->best_score, false);
		printf("\n");
		print_gain(r);
	} else if (x->samples > x->failed && x->baseline_sample.ok) {
		printf("Nothing that was tried, the baseline included, is what the objective "
		       "requires: there is no best.\n");
	}
	if (x->pruned > 0) {
		printf("Back to the baseline before the proof, since the model sees no gain in it: "
		       "%d of the best's settings.\n",
		       x->pruned);
	}
	if (x->exhausted && x->knows_remaining && x->baseline_score > 0 && x->remaining < 1) {
		printf("The search stopped by itself: at most about %.1f %% more may be there.\n",
		       100 * expm1(fmax(x->remaining, 0)));
	}
	printf("%d samples (%d failed) in %.0f s.\n", x->samples, x->failed, x->seconds);
	if (x->failed > 0 && *x->first_failure) {
		printf("The first failure: %s\n", x->first_failure);
	}
	print_restored(r);
	if (written) {
		printf("Written: %s/best.yaml, report.html, result.json\n", written);
	}
}
