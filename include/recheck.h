/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One configuration of a spec measured again, some times over, alone or in turns with the baseline:
 * nothing is searched, everything is rolled back. Called by the commands check and nightly.
 */
#ifndef TUNESWEEP_RECHECK_H
#define TUNESWEEP_RECHECK_H

#include "hosts.h"
#include "sample.h"
#include "validate.h"

struct recheck {
	const struct spec *spec;
	const json_t *values; /* of the configuration, as in result.json; NULL: the baseline */
	struct launcher *launcher;
	int interrupt_fd;
	int samples; /* of the configuration; 0: only what hosts these are, and how used */
	bool paired; /* as many of the baseline, in turns with it (ABBA) */
};

struct recheck_result {
	json_t *hosts; /* {name: fingerprint} */
	json_t *use;   /* {name: agent_use's} of hosts behind a command, where samples is 0; or NULL
			*/
	json_t *values; /* what the hosts had in the end */
	struct sample *sample;
	size_t n, failed;
	bool interrupted;
	/* Of paired ones: the baseline's, and the gain of the configuration over it. */
	json_t *baseline_values;
	struct sample *baseline;
	size_t n_baseline;
	struct gain gain;
};

/* 0 also when interrupted or when samples failed; ERR_RESTORE outweighs other errors. The result is
 * cleared by the caller in every case. */
int recheck_run(const struct recheck *o, struct recheck_result *out, struct err *e);
void recheck_clear(struct recheck_result *r);

#endif
