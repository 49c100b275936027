/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One invocation of the run command, shared by the files that sweep, print and write. Only
 * sweep/cli/cmd_run.c, run_print.c and run_files.c include this.
 */
#ifndef TUNESWEEP_CLI_RUN_H
#define TUNESWEEP_CLI_RUN_H

#include "cli.h"
#include "hosts.h"
#include "loop.h"

struct run {
	struct cli *c;
	struct spec *spec;
	struct store *store;
	struct store_run record;
	struct hosts hosts;
	bool hosts_up;
	struct space *space;
	const struct engine_ops *engine;
	void *engine_state;
	struct replay replay; /* of --resume */
	struct loop_result result;
	json_t *rollback; /* {host: [items]} */
	bool restored;
	bool line_open; /* a progress line without its newline is on the terminal */
};

/* run_print.c: a line a sample on stderr, or one that is rewritten on a terminal. */
void run_print_progress(void *ctx, const struct loop_progress *p);
void run_print_progress_end(struct run *r);
/* The result in words on stdout; written is the folder of the files. */
void run_print_result(const struct run *r, const char *written);

/* run_files.c: can the folder of -o be written to? Asked before the night, not after it. */
int run_check_output(const struct run *r, struct err *e);

/* run_files.c: result.json, best.yaml, report.html and the run's end in the store; then prints the
 * result (with --json the result.json object). */
int run_write_files(struct run *r, const char *status, struct err *e);

#endif
