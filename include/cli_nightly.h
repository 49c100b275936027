/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One invocation of the nightly command, shared by the file that arranges the night and the one
 * that starts this program's other commands. Only sweep/cli/cmd_nightly.c and nightly_child.c
 * include it.
 */
#ifndef TUNESWEEP_CLI_NIGHTLY_H
#define TUNESWEEP_CLI_NIGHTLY_H

#include "cli.h"
#include "nightly.h"

struct nightly {
	struct cli *c;
	struct nightly_config config;
	char store_path[PATH_MAX], state[PATH_MAX];
	struct store *store;
	json_t *fingerprint;
	time_t clock_ahead; /* of --now */
	enum nightly_format format;
	int lock;
};

/* nightly_child.c: members of struct nightly_world; ctx is the struct nightly. */
int nightly_child_sweep(void *ctx, const struct nightly_call *call, json_t **result, int *status,
			struct err *e);
int nightly_child_doctor(void *ctx, json_t **report, int *status, struct err *e);
int nightly_child_apply(void *ctx, const struct spec *spec, const char *profile, struct err *e);
/* One night at a time; held until the descriptor in lock is closed. -EBUSY with who holds it. */
int nightly_lock(struct nightly *n, struct err *e);

#endif
