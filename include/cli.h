/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the commands of the program share: the table of commands and options, from which parsing,
 * help and completion are made, and the way to print and to end. Only sweep/cli/ includes this.
 */
#ifndef TUNESWEEP_CLI_H
#define TUNESWEEP_CLI_H

#include "err.h"
#include "launcher.h"
#include "store.h"
#include "value.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define CLI_OPTIONS_MAX 32
#define CLI_HOSTS_MAX	8

enum cli_status { /* INTERFACE, "Exit status" */
		  CLI_DONE = 0,
		  CLI_NO = 1,
		  CLI_USAGE = 2,
		  CLI_REFUSED = 3,
		  CLI_NOT_RESTORED = 4,
		  CLI_CANNOT_TELL = 125, /* check alone, with the next */
		  CLI_SETUP = 129,
		  CLI_INTERRUPTED = 130,
};

struct cli_option {
	const char *name;     /* long name; NULL ends the table */
	char letter;	      /* 0 if it has none */
	const char *argument; /* name of its argument in help; NULL for a flag */
	const char *help;
	bool repeats; /* may be given several times: cli_hosts collects them */
};

struct cli;

struct command {
	const char *name;
	const char *arguments; /* as in help: "SPEC.yaml" */
	int min_args, max_args;
	const char *summary; /* one line, no full stop */
	const char *details; /* a paragraph that --help adds; NULL where the summary says all */
	const struct cli_option *options; /* of its own, besides the common ones; may be NULL */
	bool needs_launcher;		  /* it starts agents or programs */
	bool keeps_privilege;		  /* it becomes the user's program */
	const char
		*background; /* the option with which it goes on after it has answered, or NULL */
	bool verdict;	     /* it answers as git bisect run reads it: every error is CLI_SETUP */
	int (*run)(struct cli *c); /* returns an enum cli_status */
};

struct cli { /* one invocation */
	const struct command *command;
	const struct command *const *commands; /* all of them, NULL-terminated; for help */
	const char *values[CLI_OPTIONS_MAX]; /* by index of the joined option table; "" for flags */
	const char *repeated[CLI_HOSTS_MAX];
	int n_repeated;
	char role[48];	    /* ROLE=local, of an argument NAME:ROLE */
	char program[1024]; /* its path; to be asked for before the mount namespace changes, since a
			       program in a chroot would be told another afterwards; "" if unknown
			     */
	char **args;
	int n_args;
	bool json, quiet, verbose;
	struct launcher *launcher; /* NULL if the command needs none */
	int interrupt_fd;	   /* readable once SIGINT, SIGTERM or SIGHUP has come */
	int ready_fd;		   /* of one in the background: see cli_confirm.h; else 0 */
};

/* options.c */
int cli_parse(struct cli *c, int argc, char **argv, struct err *e);
/* Is it among the words before a "--"? For words that no table of options has told from arguments:
 * those without a command, and those behind an option that is refused. */
bool cli_has_word(int argc, char **argv, const char *word);
const char *cli_value(const struct cli *c, const char *name); /* NULL if it was not given */
/* The strict readers of value.h with the option's name in the error; 0 and *out left as it is if
 * the option was not given. */
int cli_int(const struct cli *c, const char *name, int64_t lo, int64_t hi, int64_t *out,
	    struct err *e);
int cli_time(const struct cli *c, const char *name, double *seconds, struct err *e);
void cli_help(const struct command *c);
/* The command of that name; NULL with the nearest one in *e (ERR_USAGE). */
const struct command *cli_find_command(const struct command *const *commands, const char *name,
				       struct err *e);
void cli_usage(const struct command *const *commands, FILE *out); /* the list of commands */
/* man_tunables.c: the catalogue as the list of tunesweep-tunables.7, and a sentence with what roff
 * would take for itself escaped. */
void cli_mdoc_tunables(void);
void cli_print_roff(const char *text);
const char *cli_unit_word(enum value_unit unit); /* "bytes", "us", ...; "" for plain numbers */
/* The i-th option of a command, the common ones after its own; NULL past the end. */
const struct cli_option *cli_option_at(const struct command *c, size_t i);

/* wrap.c */
/* The rest of a line of help that stands in column `at`, and the lines that it needs below, each
 * beginning in column `indent`: as wide as the terminal, COLUMNS, or 80. */
void cli_print_wrapped(FILE *out, const char *text, size_t at, size_t indent);

/* output.c */
/* Prints the error (on stderr, with --json as an object on stdout too); returns the status. */
int cli_fail(const struct cli *c, const struct err *e);
/* A line on stderr, unless -q. */
void cli_note(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_print_json(const json_t *j);
bool cli_interrupted(const struct cli *c);

/* The store of --store or the default one. */
int cli_open_store(const struct cli *c, bool write, struct store **out, struct err *e);
/* Puts back what a crashed run has left, and says so. Returns a cli_status. */
int cli_restore_crashed(struct cli *c);

/* The commands: a file each. */
extern const struct command command_run, command_init, command_apply, command_rollback,
	command_status, command_verify, command_confirm, command_export, command_capture,
	command_diff, command_restore, command_list, command_show, command_results, command_report,
	command_import, command_timeline, command_compare, command_check, command_export_runs,
	command_test, command_doctor, command_help, command_nightly, command_exec;

#endif
