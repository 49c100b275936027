/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store of many samples, through the store's own writers: runs with a baseline, a search and a
 * proof, fingerprints of two hosts, and a time series in each sample. Says how long a sample took.
 * Usage: store FILE RUNS SAMPLES_A_RUN
 */
#include "store.h"
#include "cleanup.h"
#include "stats.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct bench {
	struct store *s;
	struct stats_rng rng;
	double slowest, sum; /* seconds of store_add_sample */
	long n;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static json_t *fingerprint(int run, const char *host)
{
	char kernel[32], boot[48];
	snprintf(kernel, sizeof(kernel), "6.%d.%d", run / 40, run / 4 % 10);
	snprintf(boot, sizeof(boot), "boot-%s-%d", host, run / 2);
	return json_pack("{s:s,s:s,s:s,s:i,s:[{s:s,s:s,s:s}]}", "kernel", kernel, "boot_id", boot,
			 "cpu", "Some CPU @ 3 GHz", "cpus", 16, "nics", "device", "eth0", "driver",
			 "ice", "firmware", "4.40");
}

/* A short time series: 12 intervals. */
static json_t *series(struct stats_rng *rng)
{
	json_t *o = json_object(), *list = json_array();
	for (int i = 0; i < 12; i++) {
		json_array_append_new(list,
				      json_pack("[f, I, f, f]", 0.05 * i, (json_int_t)(i * 12e6),
						40000 * stats_rng_uniform(rng), 1e6));
	}
	json_object_set_new(o, "intervals", list);
	return o;
}

static int add(struct bench *b, int64_t trial, double level, struct err *e)
{
	struct sample m;
	sample_init(&m);
	m.ok = stats_rng_uniform(&b->rng) > 0.01;
	m.m[METRIC_THROUGHPUT] = level * exp(0.03 * stats_rng_normal(&b->rng));
	m.m[METRIC_SERVICE_DEMAND] = 0.5 * exp(0.05 * stats_rng_normal(&b->rng));
	m.m[METRIC_RTT] = 40000;
	strcpy(m.cpu_source, "timer_list");
	m.detail = series(&b->rng);
	double started = now();
	int rc = store_add_sample(b->s, trial, &m,
				  m.m[METRIC_THROUGHPUT] / m.m[METRIC_SERVICE_DEMAND], e);
	double took = now() - started;
	b->sum += took;
	b->slowest = fmax(b->slowest, took);
	b->n++;
	sample_clear(&m);
	return rc;
}

static int add_trial(struct bench *b, const char *run, const char *phase, int x, int samples,
		     struct err *e)
{
	int64_t trial;
	json_t *values = json_pack("{s:i,s:i,s:s}", "net.ipv4.tcp_rmem.max@receiver",
				   1 << 20 | x << 6, "net.ipv4.tcp_wmem.max@sender", 1 << 20 | x,
				   "net.ipv4.tcp_congestion_control@sender",
				   x % 2 ? "bbr" : "cubic");
	int rc = store_add_trial(b->s, run, phase, values, NULL, &trial, e);
	json_decref(values);
	for (int i = 0; !rc && i < samples; i++) {
		rc = add(b, trial, 1e9 * (1 + 0.5 * sin(x)), e);
	}
	return rc;
}

static int add_run(struct bench *b, int number, int samples, struct err *e)
{
	json_t *hosts = json_pack("{s:o,s:o}", "sender", fingerprint(number, "tx"), "receiver",
				  fingerprint(number, "rx"));
	struct store_run r = {.name = "nightly", .spec = "tunesweep: 1\n", .hosts = hosts};
	int rc = store_begin_run(b->s, &r, e);
	rc = rc ? rc : store_begin(b->s, e); /* the generator does not wait for the disk */
	rc = rc ? rc : add_trial(b, r.id, "baseline", 0, 8, e);
	for (int x = 1; !rc && x <= samples - 48; x++) {
		rc = add_trial(b, r.id, "search", x, 1, e);
	}
	rc = rc ? rc : add_trial(b, r.id, "proof", 7, 20, e);
	rc = rc ? rc : add_trial(b, r.id, "proof", 0, 20, e);
	rc = rc ? rc : store_commit(b->s, e);
	json_t *result = json_pack("{s:s, s:{s:f,s:f,s:{s:i}}, s:{s:f, s:[f,f], s:f, s:b}, s:s}",
				   "status", "complete", "best", "throughput", 2e9,
				   "service_demand", 0.4, "values", "x", 7, "gain", "percent", 12.0,
				   "interval", 11.0, 13.0, "level", 0.95, "significant", 1,
				   "recommended", "best");
	rc = rc ? rc : store_end_run(b->s, r.id, "complete", result, e);
	json_decref(result);
	json_decref(hosts);
	return rc;
}

/* One by one, as a sweep does. */
static int time_samples(struct bench *b, struct err *e)
{
	struct store_run r = {.name = "one by one", .spec = ""};
	int rc = store_begin_run(b->s, &r, e);
	b->sum = b->slowest = 0;
	b->n = 0;
	rc = rc ? rc : add_trial(b, r.id, "search", 1, 1000, e);
	printf("a sample into the store: %.3f ms on average, %.3f ms the slowest of %ld\n",
	       1000 * b->sum / (double)b->n, 1000 * b->slowest, b->n);
	return rc;
}

int main(int argc, char **argv)
{
	struct err e = {0};
	struct bench b = {0};
	if (argc != 4) {
		fprintf(stderr, "usage: store FILE RUNS SAMPLES_A_RUN\n");
		return 2;
	}
	int runs = atoi(argv[2]), samples = atoi(argv[3]);
	stats_rng_seed(&b.rng, 1);
	int rc = store_open(argv[1], true, &b.s, &e);
	for (int i = 0; !rc && i < runs; i++) {
		rc = add_run(&b, i, samples, &e);
	}
	rc = rc ? rc : time_samples(&b, &e);
	store_close(b.s);
	if (rc) {
		fprintf(stderr, "store: %s\n", e.text);
	}
	return rc ? 1 : 0;
}
