/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One invocation of the test command, shared by the files that read its options, measure and print.
 * Only sweep/cli/cmd_test.c, test_options.c and test_print.c include this.
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

/* test_print.c */
void test_print(const struct cli *c, const struct test_options *o, const struct test_result *r);

#endif
