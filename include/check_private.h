/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One invocation of the check command, shared by the files that find the reference and print. Only
 * sweep/cli/cmd_check.c and check_*.c include this.
 */
#ifndef TUNESWEEP_CHECK_PRIVATE_H
#define TUNESWEEP_CHECK_PRIVATE_H

#include "check_sides.h"
#include "cli.h"
#include "recheck.h"

struct check {
	struct cli *c;
	struct store *store;
	/* Options. */
	double threshold, boot_sd; /* fractions; NaN where not given */
	int64_t boots, samples;	   /* boots 0: this boot only */
	enum compare_metric metric;
	/* The reference: its runs' ids as given back, the first one's object, what was observed. */
	char reference[512];
	json_t *run;
	struct observations observed;
	struct spec *spec;
	const json_t *values; /* of the configuration that is measured; NULL: the baseline */
	/* Here and now. */
	char build[128]; /* of the kernel, as uname -v has it */
	struct recheck_result measured;
	char kept[64]; /* the run in the store that has it */
	double history, history_freedom;
	bool by_samples;
};

/* Fills the reference, its spec and the configuration. */
int check_find_reference(struct check *k, const char *against, struct err *e);
/* The run that was recorded; its status: 0 if it has valid samples. */
int check_print_recorded(const struct check *k);
/* The verdict in words, or as JSON. */
void check_print(const struct check *k, const struct verdict_result *r,
		 const struct check_side *ref, const struct check_side *here);

#endif
