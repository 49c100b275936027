/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the command engine share: the child process with its lines, and the reading of
 * its answer. Seen by sweep/engine/command*.c and their test only.
 */
#ifndef TUNESWEEP_COMMAND_PRIVATE_H
#define TUNESWEEP_COMMAND_PRIVATE_H

#include "err.h"
#include "launcher.h"
#include "sample.h"
#include "score.h"
#include <stdbool.h>

#define COMMAND_LINE_MAX   65536
#define COMMAND_OUTPUT_MAX (16 << 20) /* bytes of one sample */

struct command_child {
	struct launcher *launcher; /* NULL: a child of this process */
	pid_t pid;		   /* 0: none */
	int in, out;		   /* its standard input and output */
	char *line, *last;	   /* [COMMAND_LINE_MAX] each: what comes in, newest whole line */
	size_t used, total;
	bool cut;			  /* what comes in is longer than a line may be */
	bool has_last, too_long, has_nul; /* of the line that is kept */
	bool ended;			  /* end of output */
	bool first_counts;		  /* of several lines the first is kept, not the last */
	bool exited;
	int status; /* as the shell gives it: 128 + signal */
};

int command_child_init(struct command_child *c, struct launcher *l, struct err *e);
void command_child_clear(struct command_child *c); /* kills what still runs */

/* Starts the program in a process group of its own, with LC_ALL=C. serve false: its exit status is
 * reported in exited and status when it ends. */
int command_child_start(struct command_child *c, char *const argv[], bool serve, struct err *e);
/* Writes a line, without ever waiting or raising SIGPIPE. A child that does not read is no error.
 */
int command_child_write(struct command_child *c, const char *line, struct err *e);
/* Reads what is there, without waiting. stop_at_line: until the first whole line, which is kept;
 * what came with it is dropped. */
void command_child_read(struct command_child *c, bool stop_at_line);
void command_child_forget_lines(struct command_child *c);
void command_child_kill(struct command_child *c); /* the whole group, and waits for it */

/* The answer, one line of JSON, into the sample; false with the sample failed and a sentence. */
bool command_answer(const char *line, const struct objective *o, struct sample *out);

#endif
