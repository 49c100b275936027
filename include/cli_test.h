/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One invocation of the test command, shared by the files that read its options, measure and print.
 * Only sweep/cli/cmd_test.c and test_*.c include this.
 */
#ifndef TUNESWEEP_CLI_TEST_H
#define TUNESWEEP_CLI_TEST_H

#include "cli.h"
#include "hosts.h"
#include "modes.h"
#include "sample.h"
#include "stats.h"

struct test_options {
	struct spec spec; /* its hosts and its test; nothing is searched */
	char *words;	  /* storage of a command that leads to the other host */
	bool loopback;
	int repeats_max, repeats_min; /* 1, 1: no confidence is wanted */
	double level, width;	      /* of the interval, the full width as a fraction */
	char unit; /* of the printed throughput, netperf's letters; 0: by itself */
};

/* What repeats say of one metric. */
struct test_figure {
	double median;
	struct interval interval; /* valid at any number of repeats */
	double width;		  /* full, over the estimate; infinite while it is not bounded */
};

struct test_result {
	struct sample *samples;
	int n, failed;
	bool reached; /* or no confidence was wanted */
	struct test_figure figure[METRIC_COUNT];
	struct modes modes; /* of the throughput */
};

/* test_options.c */
extern const struct cli_option test_option_table[];
int test_options_read(const struct cli *c, struct test_options *out, struct err *e);
void test_options_clear(struct test_options *o);

/* test_sizes.c: -m -M -s -S and --preset; -T and -W. option: the letter, for the sentence of an
 * error (ERR_USAGE). */
int test_read_sizes(const struct cli *c, struct spec_test *t, struct err *e);
int test_read_cpus(const struct cli *c, struct spec_test *t, struct err *e);
/* "A", "A,B", "A," or ",B" as two texts, "" for the one that is not there; a single one is both. */
int test_pair_split(const char *option, const char *text, char a[64], char b[64], struct err *e);
/* A whole number of lo to hi. */
int test_number(const char *option, const char *text, int64_t lo, int64_t hi, int64_t *out,
		struct err *e);

/* test_print.c */
void test_print(const struct cli *c, const struct test_options *o, const struct test_result *r);

#endif
