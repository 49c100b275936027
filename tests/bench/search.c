/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bench program of the searches. "run" plays methods over surfaces and seeds and prints a line
 * a run with the regret after each test; "serve" is the machine for a search that lives elsewhere
 * (points in, noisy values out); "report" makes tables of such lines; "describe" and "time" look at
 * surfaces and at the time of a step.
 */
#include "search_bench.h"
#include "search_report.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct options {
	const char *surfaces, *methods, *label, *out;
	int budget, batch, warm, jobs, from, to;
	struct bench_noise noise;
};

static const struct option long_options[] = {
	{"surfaces", 1, NULL, 's'}, {"methods", 1, NULL, 'm'}, {"budget", 1, NULL, 'b'},
	{"seeds", 1, NULL, 'n'},    {"sigma", 1, NULL, 'e'},   {"drift", 1, NULL, 'd'},
	{"batch", 1, NULL, 'q'},    {"warm", 1, NULL, 'w'},    {"jobs", 1, NULL, 'j'},
	{"label", 1, NULL, 'l'},    {"out", 1, NULL, 'o'},     {NULL, 0, NULL, 0},
};

static void parse_options(int argc, char **argv, struct options *o)
{
	int c;
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 's':
			o->surfaces = optarg;
			break;
		case 'm':
			o->methods = optarg;
			break;
		case 'b':
			o->budget = atoi(optarg);
			break;
		case 'n':
			if (sscanf(optarg, "%d-%d", &o->from, &o->to) == 1) {
				o->to = o->from;
			}
			break;
		case 'e':
			o->noise.sigma = atof(optarg);
			break;
		case 'd':
			o->noise.drift = atof(optarg);
			break;
		case 'q':
			o->batch = atoi(optarg);
			break;
		case 'w':
			o->warm = atoi(optarg);
			break;
		case 'j':
			o->jobs = atoi(optarg);
			break;
		case 'l':
			o->label = optarg;
			break;
		case 'o':
			o->out = optarg;
			break;
		default:
			exit(2);
		}
	}
}

/* Is word one of list, which is separated by commas? "all" is. */
static bool listed(const char *list, const char *word)
{
	size_t n = strlen(word);
	if (strcmp(list, "all") == 0) {
		return true;
	}
	for (const char *p = list; (p = strstr(p, word)) != NULL; p += n) {
		if ((p == list || p[-1] == ',') && (p[n] == ',' || p[n] == '\0')) {
			return true;
		}
	}
	return false;
}

/* A night of random and good points on a slightly different surface, told with other levels. */
static void earlier_night(const struct bench_world *now, int n, double *x, double *y)
{
	struct bench_world night = *now;
	struct stats_rng rng;
	struct search *search;
	struct err e;
	stats_rng_seed(&rng, now->seed + 99);
	night.bend = 0.03;
	night.shift = 0.05 * stats_rng_normal(&rng);
	night.problem.seed += 5000;
	night.problem.budget = n;
	night.problem.whole_budget = true;
	if (search_create("surrogate", &night.problem, &search, &e) < 0) {
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		bool ok;
		double *at = x + (size_t)i * now->problem.n;
		if (search_ask(search, at, &e) != 1) {
			exit(1);
		}
		y[i] = bench_measure(&night, at, &ok);
		y[i] = ok ? y[i] : NAN;
		search_tell(search, at, y[i], ok);
	}
	search_destroy(search);
}

static void print_run(FILE *f, const char *surface, int seed, const char *method,
		      const double *regret, int budget)
{
	fprintf(f, "%s %d %s", surface, seed, method);
	for (int i = 0; i < budget; i++) {
		fprintf(f, " %.4g", regret[i]);
	}
	fprintf(f, "\n");
	fflush(f);
}

static void play_one(const struct options *o, const struct bench_surface *s, int seed,
		     const char *method, FILE *out)
{
	struct bench_world w;
	struct err e;
	struct bench_run run = {.budget = o->budget, .batch = o->batch, .n_warm = (size_t)o->warm};
	double *x = calloc((size_t)o->warm * s->d + 1, sizeof(double));
	double *y = calloc((size_t)o->warm + 1, sizeof(double));
	run.regret = calloc((size_t)o->budget, sizeof(double));
	bench_world_init(&w, s, (uint64_t)seed, &o->noise, o->budget);
	if (o->warm) {
		earlier_night(&w, o->warm, x, y);
	}
	run.warm_x = x;
	run.warm_y = y;
	if (bench_play(&w, method, &run, &e) < 0) {
		fprintf(stderr, "%s: %s\n", method, e.text);
		exit(1);
	}
	print_run(out, s->name, seed, o->label ? o->label : method, run.regret, o->budget);
	free(run.regret);
	free(x);
	free(y);
}

/* The share of one of the parallel workers. */
static void play_share(const struct options *o, int worker, FILE *out)
{
	int k = 0;
	for (int seed = o->from; seed <= o->to; seed++) {
		for (size_t i = 0; bench_surfaces[i]; i++) {
			if (!listed(o->surfaces, bench_surfaces[i]->name)) {
				continue;
			}
			char methods[256], *rest = methods;
			snprintf(methods, sizeof(methods), "%s", o->methods);
			for (char *m; (m = strsep(&rest, ",")) != NULL; k++) {
				if (k % o->jobs == worker) {
					play_one(o, bench_surfaces[i], seed, m, out);
				}
			}
		}
	}
}

static int run(const struct options *o)
{
	int status = 0;
	for (int worker = 0; worker < o->jobs; worker++) {
		if (fork() == 0) {
			FILE *out = o->out ? fopen(o->out, "a") : stdout;
			if (!out) {
				perror(o->out);
				_exit(1);
			}
			play_share(o, worker, out);
			fclose(out);
			_exit(0);
		}
	}
	for (int one; wait(&one) > 0;) {
		status |= one;
	}
	return status ? 1 : 0;
}

/* First the dimensions, a line each: levels (0: continuous), category, start. Then points in,
 * "value" or "failed" out. At the end the run's line, with what best observed means recommend. */
static int serve(const struct options *o)
{
	struct bench_world w;
	const struct bench_surface *s = bench_find(o->surfaces);
	if (!s) {
		return 1;
	}
	bench_world_init(&w, s, (uint64_t)o->from, &o->noise, o->budget);
	struct bench_tally *tally = bench_tally_create(s->d);
	double *regret = calloc((size_t)o->budget, sizeof(double)), x[SEARCH_DIMS_MAX] = {0};
	printf("%zu\n", s->d);
	for (size_t j = 0; j < s->d; j++) {
		const struct search_dim *d = &w.problem.dims[j];
		printf("%d %d %.17g\n", d->levels, d->category, d->start);
	}
	for (int n = 0; n < o->budget; n++) {
		bool ok;
		fflush(stdout);
		for (size_t j = 0; j < s->d; j++) {
			if (scanf("%lf", &x[j]) != 1) {
				return 1;
			}
		}
		double y = bench_measure(&w, x, &ok);
		bench_tally_add(tally, x, y, ok);
		regret[n] = bench_regret(&w, bench_tally_best(tally));
		printf(ok ? "%.17g\n" : "failed\n", y);
	}
	FILE *out = o->out ? fopen(o->out, "a") : stderr;
	print_run(out, s->name, o->from, o->label, regret, o->budget);
	fclose(out);
	free(regret);
	bench_tally_destroy(tally);
	return 0;
}

static int describe(const struct options *o)
{
	printf("%-8s %3s %9s %8s %10s %10s\n", "surface", "d", "default", "invalid", "within 2%",
	       "within 5%");
	for (size_t i = 0; bench_surfaces[i]; i++) {
		const struct bench_surface *s = bench_surfaces[i];
		double near[2] = {0}, invalid = 0, start = 0, x[SEARCH_DIMS_MAX];
		int draws = 200000, seeds = o->to - o->from + 1;
		for (int seed = o->from; seed <= o->to; seed++) {
			struct bench_world w;
			struct stats_rng rng;
			bench_world_init(&w, s, (uint64_t)seed, &o->noise, 1);
			stats_rng_seed(&rng, 1);
			for (size_t j = 0; j < s->d; j++) {
				x[j] = w.problem.dims[j].start;
			}
			start += bench_regret(&w, x);
			for (int k = 0; k < draws; k++) {
				for (size_t j = 0; j < s->d; j++) {
					x[j] = stats_rng_uniform(&rng);
				}
				double regret = bench_regret(&w, x);
				invalid += regret == 100;
				near[0] += regret < 2;
				near[1] += regret < 5;
				if (regret < -0.01) {
					printf("%s %d: the optimum is not the best: %g\n", s->name,
					       seed, regret);
				}
			}
		}
		double all = (double)draws * seeds / 100;
		printf("%-8s %3zu %8.1f%% %7.1f%% %9.4f%% %9.4f%%\n", s->name, s->d, start / seeds,
		       invalid / all, near[0] / all, near[1] / all);
	}
	return 0;
}

/* Fifteen dimensions, four of them categories; a bowl. */
static double bowl(const double *x, size_t n)
{
	double sum = 0;
	for (size_t j = 0; j < n; j++) {
		sum += (x[j] - 0.4) * (x[j] - 0.4);
	}
	return -sum;
}

/* Of this process: other programs on the machine do not count. */
static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time of the next steps when so many measurements are known. */
static int time_steps(int known)
{
	struct search_problem p = {.n = 15, .budget = known + 100, .seed = 1};
	struct stats_rng rng;
	struct search *s;
	struct err e;
	double x[SEARCH_DIMS_MAX], sum = 0, worst = 0;
	const int steps = 24;
	stats_rng_seed(&rng, 1);
	for (size_t j = 0; j < p.n; j++) {
		p.dims[j] = (struct search_dim){.category = j >= 11, .levels = j >= 11 ? 3 : 100};
	}
	p.whole_budget = true;
	if (search_create("surrogate", &p, &s, &e) < 0) {
		return 1;
	}
	for (int i = 0; i < known + steps; i++) {
		double before = cpu_seconds();
		if (i >= known || i < 12) {
			search_ask(s, x, &e);
		} else {
			for (size_t j = 0; j < p.n; j++) {
				x[j] = stats_rng_uniform(&rng);
			}
		}
		double took = cpu_seconds() - before;
		if (i >= known) {
			sum += took;
			worst = fmax(worst, took);
		}
		search_tell(s, x, bowl(x, p.n) + 0.03 * stats_rng_normal(&rng), true);
	}
	printf("%5d measurements, 15 dimensions: a step takes %.0f ms of CPU in the mean, %.0f ms "
	       "at worst (of %d)\n",
	       known, 1e3 * sum / steps, 1e3 * worst, steps);
	search_destroy(s);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {
		.surfaces = "all",
		.methods = "surrogate,GN_DIRECT_L,coordinate,random",
		.budget = 200,
		.batch = 1,
		.jobs = 1,
		.from = 1,
		.to = 20,
		.noise = {.sigma = 0.03, .outliers = 0.03, .drift = 0.015},
	};
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "report") == 0) {
		return bench_report(argc - 2, argv + 2);
	}
	if (argc > 1) {
		parse_options(argc - 1, argv + 1, &o);
	}
	if (strcmp(what, "run") == 0) {
		return run(&o);
	}
	if (strcmp(what, "serve") == 0) {
		return serve(&o);
	}
	if (strcmp(what, "describe") == 0) {
		return describe(&o);
	}
	if (strcmp(what, "time") == 0) {
		return time_steps(100) | time_steps(300) | time_steps(1000);
	}
	fprintf(stderr, "usage: search time\n       search run|serve|describe [--surfaces A,B] "
			"[--methods A,B] "
			"[--seeds 1-20] [--budget N]\n       [--sigma S] [--drift S] [--batch N] "
			"[--warm N] [--jobs N] [--label L] [--out FILE]\n       search report "
			"METHOD FILE...\n");
	return 2;
}
