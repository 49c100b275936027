/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One invocation of the run command, shared by the files that sweep, print and write. Only
 * sweep/cli/cmd_run.c and run_*.c include this.
 */
#ifndef TUNESWEEP_CLI_RUN_H
#define TUNESWEEP_CLI_RUN_H

#include "allocation.h"
#include "cli.h"
#include "fleet.h"
#include "hosts.h"
#include "loop.h"

struct run {
	struct cli *c;
	struct spec *spec;
	struct store *store;
	struct store_run record;
	struct allocation nodes; /* of a pool that wants Slurm's */
	struct hosts hosts;
	bool hosts_up;
	struct fleet *fleet; /* of a pool: the further pairs */
	struct space *space;
	const struct engine_ops *engine;
	void *engine_state;
	struct warm warm;		   /* of --warm */
	struct configuration against;	   /* of --against */
	char against_name[VALUE_TEXT_MAX]; /* "" if it was not given */
	struct replay replay;		   /* of --resume */
	struct loop_result result;
	json_t *machines; /* {host: fingerprint}; NULL without hosts */
	json_t *earlier;  /* of --boots: the result that this boot is added to */
	json_t *rollback; /* {host: [items]} */
	bool restored;
	int folder_fd;	/* the folder of -o, locked while this run lasts; -1 if there is none */
	bool line_open; /* a progress line without its newline is on the terminal */
};

/* run_against.c: the values of --against as a configuration; what the profile does not name is at
 * its baseline, what it names and this space lacks is told. */
int run_load_against(struct run *r, struct err *e);

/* run_boots.c. find: is there a run of this spec that waits for another boot? Then earlier and
 * record.id are its. */
enum { BOOTS_NONE, BOOTS_SAME, BOOTS_WAITING };
int run_boots_find(struct run *r, struct err *e);
int run_boots_measure(struct run *r, struct trial_env *env, struct err *e);
int run_boots_write(struct run *r, struct err *e);
int run_boots_tell_same(const struct run *r); /* returns the exit status */
/* The first boot's part of the result, where --boots is given and a gain is proved. */
int run_boots_start(struct run *r, json_t *result, struct err *e);

/* run_resume.c: takes up an unfinished run: its id, its seed, its samples. */
int run_resume(struct run *r, struct err *e);
void run_tell_pairs(const struct run *r);

/* run_panel.c: the panel as result.json has it, NULL if nothing was measured; and what got worse in
 * words. */
json_t *run_panel_json(const struct panel *p);
void run_panel_print(const struct panel *p);

/* run_print.c: a line a sample on stderr, or one that is rewritten on a terminal. */
void run_print_progress(void *ctx, const struct loop_progress *p);
void run_print_progress_end(struct run *r);
/* The result in words on stdout; written is the folder of the files. */
void run_print_result(const struct run *r, const char *written);

/* run_folder.c: may the folder of -o be written to, and does no other run write to it? Asked before
 * the night, not after it; from here on the folder is this run's. With --dry-run nothing is made,
 * and the store is looked at, too. */
int run_check_output(struct run *r, struct err *e);
int run_check_places(const struct run *r, struct err *e);

/* run_folder.c: the folder of -o, else STATE/runs/ID; made if it is not there. */
int run_output_folder(const struct run *r, char *dir, size_t size, struct err *e);

/* run_files.c: result.json, best.yaml, report.html and the run's end in the store; then prints the
 * result (with --json the result.json object). */
int run_write_files(struct run *r, const char *status, struct err *e);

#endif
